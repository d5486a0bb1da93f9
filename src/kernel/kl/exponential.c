/*
** exponential.c - KL(Exponential || q)
**
** To Exponential, the excess of r = rate2/rate1:  KL = r - 1 - log r.
*/
#include "kernel/kernel.h"
#include "special/vratio.h"


static void to_exponential (size_t n, const double *const in[], double *out) {
  const double *rate1 = in[0], *rate2 = in[1];
  uint64_t odd = 0;
  EVERY for (size_t i = 0; i < n; i++) {
    double inverse = 1 / rate1[i], r = rate2[i] * inverse;
    out[i] = vexcess(r, (rate2[i] - rate1[i]) * inverse);
    odd |= !vratio_plain(r, rate1[i]);
  }
  for (size_t i = 0; odd && i < n; i++)
    if (!vratio_plain(rate2[i] * (1 / rate1[i]), rate1[i]))
      out[i] = vexcess_wide(rate2[i], rate1[i]);
}

static void to_exponential_partials (size_t n, const double *const in[], double *const d[]) {
  const double *rate1 = in[0], *rate2 = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double e = (rate2[i] - rate1[i]) / rate1[i];
    d[0][i] = -e / rate1[i];
    d[1][i] = e / rate2[i];
  }
}


const Kernel perilune_kl_exponential[] = {
  {.name = "Exponential", .n_in = 2, .value = to_exponential,
   .partials = to_exponential_partials},
  {.name = NULL}
};
