/*
** loggamma.c - the logarithm of a gamma variable of shape a, as samplers on the simplex need
** it: a draw far below 1e-308 still has one
*/
#include "kernel/kernel.h"
#include "random/gammas.h"
#include "special/incgamma.h"
#include "special/vgamma.h"
#include "special/vmath.h"

static const double LEADING = -650;   /* below, P(a, x) is its leading term x^a/Gamma(a + 1) */


static void rsample (const Philox *g, uint64_t first, size_t n, const double *const in[],
                     double *out) {
  double size[GAMMAS_BLOCK], depth[GAMMAS_BLOCK];
  for (size_t i = 0, block; i < n; i += block) {
    block = n - i < GAMMAS_BLOCK ? n - i : GAMMAS_BLOCK;
    gammas(g, 0, first + i, block, in[0] + i, size, depth);
    for (size_t k = 0; k < block; k++) out[i + k] = vlog(size[k]) - depth[k];
  }
}

/* at fixed P(a, e^y): (dx/da)/x, or from the leading term (psi(a + 1) - y)/a */
static void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  const double *y = in[0], *a = in[1];
  for (size_t i = 0; i < n; i++) {
    double x = vexp(y[i]);
    d[0][i] = 1;
    d[1][i] = y[i] < LEADING ? (vdigamma_pos(1 + a[i]) - y[i]) / a[i]
                             : special_gamma_dx_da(a[i], x) / x;
  }
}


const Kernel perilune_loggamma[] = {
  {.name = "rsample", .n_in = 2, .draw = rsample, .partials = rsample_partials},
  {.name = NULL}
};
