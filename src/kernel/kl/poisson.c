/*
** poisson.c - KL(Poisson || q)
**
** To Poisson, the deviance of the rates:  KL = r1 log(r1/r2) + r2 - r1
*/
#include "kernel/kernel.h"
#include "special/vgamma.h"


static void to_poisson (size_t n, const double *const in[], double *out) {
  const double *rate1 = in[0], *rate2 = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double value = vbd0(rate1[i], rate2[i]);
    double known = ((rate1[i] >= 0) & (rate2[i] >= 0)) ? value : (double)NAN;
    out[i] = rate1[i] == rate2[i] ? 0 : known;
  }
}

/* log(r1/r2), and 1 - r1/r2 */
static void to_poisson_partials (size_t n, const double *const in[], double *const d[]) {
  const double *rate1 = in[0], *rate2 = in[1];
  double *d1 = d[0], *d2 = d[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double slope1 = vlog_ratio(rate1[i], rate2[i]), slope2 = (rate2[i] - rate1[i]) / rate2[i];
    d1[i] = rate1[i] == rate2[i] ? 0 : slope1;
    d2[i] = rate1[i] == rate2[i] ? 0 : slope2;
  }
}


const Kernel perilune_kl_poisson[] = {
  {.name = "Poisson", .n_in = 2, .value = to_poisson, .partials = to_poisson_partials},
  {.name = NULL}
};
