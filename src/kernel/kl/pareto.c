/*
** pareto.c - KL(Pareto || q)
**
** To Pareto, with r = alpha2/alpha1:
**
**   KL = (r - 1 - log r) + alpha2 log(scale1/scale2),    scale1 >= scale2, else infinite
*/
#include "kernel/kernel.h"
#include "special/vratio.h"


/* 0 where p begins no earlier than q, infinite elsewhere */
VECTOR double beyond (double scale1, double scale2) {
  double inside = scale1 >= scale2 ? 0.0 : (double) NAN;
  return scale1 < scale2 ? HUGE_VAL : inside;
}

static void to_pareto (size_t n, const double *const in[], double *out) {
  const double *scale1 = in[0], *alpha1 = in[1], *scale2 = in[2], *alpha2 = in[3];
  uint64_t odd = 0;
  EVERY for (size_t i = 0; i < n; i++) {
    double inverse = 1 / alpha1[i], r = alpha2[i] * inverse;
    double shift = vlog_ratio(scale1[i], scale2[i]);
    double kl = fma(alpha2[i], shift, vexcess(r, (alpha2[i] - alpha1[i]) * inverse));
    out[i] = scale1[i] >= scale2[i] ? kl : beyond(scale1[i], scale2[i]);
    odd |= !vratio_plain(r, alpha1[i]);
  }
  for (size_t i = 0; odd && i < n; i++)
    if (!vratio_plain(alpha2[i] * (1 / alpha1[i]), alpha1[i]) && scale1[i] >= scale2[i])
      out[i] = fma(alpha2[i], vlog_ratio(scale1[i], scale2[i]), vexcess_wide(alpha2[i], alpha1[i]));
}

static void to_pareto_partials (size_t n, const double *const in[], double *const d[]) {
  const double *scale1 = in[0], *alpha1 = in[1], *scale2 = in[2], *alpha2 = in[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double e = (alpha2[i] - alpha1[i]) / alpha1[i], within = scale1[i] >= scale2[i] ? 1 : 0;
    double shift = scale1[i] >= scale2[i] ? vlog_ratio(scale1[i], scale2[i]) : 0;
    d[0][i] = within * (alpha2[i] / scale1[i]);
    d[1][i] = within * (-e / alpha1[i]);
    d[2][i] = within * (-alpha2[i] / scale2[i]);
    d[3][i] = within * (e / alpha2[i] + shift);
  }
}


const Kernel perilune_kl_pareto[] = {
  {.name = "Pareto", .n_in = 4, .value = to_pareto, .partials = to_pareto_partials},
  {.name = NULL}
};
