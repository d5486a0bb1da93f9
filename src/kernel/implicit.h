/*
** implicit.h - derivatives of tails, quantiles and draws, from density and slopes alone
**
** If x moves as dx/dtheta when a parameter moves and the probability below x stays, then
**
**   dF/dtheta = -p dx/dtheta,   d quantile/dtheta = dx/dtheta,   d draw/dtheta = dx/dtheta
**
** A family gives its log density and these slopes at one point, {x, parameters...}; the
** loops are written here, once (and the kernels themselves in implicit_kernels.h). They are for
** families whose tails are dear: nothing here vectorises.
*/
#ifndef PERILUNE_IMPLICIT_H
#define PERILUNE_IMPLICIT_H

#include "kernel/kernel.h"
#include "special/vmath.h"

enum { IMPLICIT_MAX = 3 };   /* parameters */

/* a function of {x, parameters...}, or of {p, parameters...} */
typedef double Pointwise (const double *at);

typedef struct Implicit {
  int params;
  Pointwise *log_density;
  void (*slopes) (const double *at, double *dx);   /* dx/d parameter, each of them */
} Implicit;

/* what implicit_kernels.h makes kernels of */
typedef struct ImplicitTails {
  Pointwise *cdf, *sf, *log_cdf, *log_sf, *icdf, *isf;
} ImplicitTails;


static inline void implicit_point (const Implicit *f, size_t i, const double *const in[],
                                   double *at) {
  for (int k = 0; k <= f->params; k++) at[k] = in[k][i];
}

static inline void implicit_value (const Implicit *f, size_t n, const double *const in[],
                                   double *out, Pointwise *value) {
  double at[1 + IMPLICIT_MAX];
  for (size_t i = 0; i < n; i++) {
    implicit_point(f, i, in, at);
    out[i] = value(at);
  }
}

/* where there is no density, or x does not move, nothing changes */
static inline double implicit_product (double density, double dx) {
  return density == 0 || dx == 0 ? 0.0 : -density * dx;
}

/*
** of a tail (sign 1 for the lower, -1 for the upper; log_tail is NULL) or of its
** logarithm, for which the density is divided by the tail
*/
static inline void implicit_tail_partials (const Implicit *f, size_t n, const double *const in[],
                                           double *const d[], double sign,
                                           Pointwise *log_tail) {
  double at[1 + IMPLICIT_MAX], dx[IMPLICIT_MAX];
  for (size_t i = 0; i < n; i++) {
    implicit_point(f, i, in, at);
    double log_density = f->log_density(at);
    double divisor = log_tail && log_density > -HUGE_VAL ? log_tail(at) : 0;
    double density = sign * vexp(log_density - divisor);
    f->slopes(at, dx);
    d[0][i] = density;
    for (int k = 0; k < f->params; k++) d[1 + k][i] = implicit_product(density, dx[k]);
  }
}

/* of a quantile, lower (sign 1) or upper (sign -1) */
static inline void implicit_quantile_partials (const Implicit *f, size_t n,
                                               const double *const in[], double *const d[],
                                               double sign, Pointwise *quantile) {
  double at[1 + IMPLICIT_MAX], dx[IMPLICIT_MAX];
  for (size_t i = 0; i < n; i++) {
    implicit_point(f, i, in, at);
    at[0] = quantile(at);
    f->slopes(at, dx);
    d[0][i] = sign * vexp(-f->log_density(at));
    for (int k = 0; k < f->params; k++) d[1 + k][i] = dx[k];
  }
}

/* of a sampler that draws by itself */
static inline void implicit_draw_partials (const Implicit *f, size_t n, const double *const in[],
                                           double *const d[]) {
  double at[1 + IMPLICIT_MAX], dx[IMPLICIT_MAX];
  for (size_t i = 0; i < n; i++) {
    implicit_point(f, i, in, at);
    f->slopes(at, dx);
    d[0][i] = 1;
    for (int k = 0; k < f->params; k++) d[1 + k][i] = dx[k];
  }
}

#endif
