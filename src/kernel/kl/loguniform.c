/*
** loguniform.c - KL(LogUniform || q)
**
** To LogUniform, log(w2/w1) with w = log(high/low), where [low1, high1] lies within the other,
** else infinite.
*/
#include "kernel/kernel.h"
#include "special/vmath.h"


/* w2 - w1 as a sum of two gaps, neither negative: nothing cancels */
static void to_loguniform (size_t n, const double *const in[], double *out) {
  const double *low1 = in[0], *high1 = in[1], *low2 = in[2], *high2 = in[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double gaps = vlog_ratio(low1[i], low2[i]) + vlog_ratio(high2[i], high1[i]);
    double kl = vlog1p(gaps / vlog_ratio(high1[i], low1[i]));
    int known = (low1[i] < high1[i]) & (low2[i] < high2[i]);
    double beyond = known ? HUGE_VAL : (double)NAN;
    out[i] = ((low2[i] <= low1[i]) & (high1[i] <= high2[i])) ? kl : beyond;
  }
}

static void to_loguniform_partials (size_t n, const double *const in[], double *const d[]) {
  const double *low1 = in[0], *high1 = in[1], *low2 = in[2], *high2 = in[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double within = ((low2[i] <= low1[i]) & (high1[i] <= high2[i])) ? 1 : 0;
    double slope1 = within / vlog_ratio(high1[i], low1[i]);
    double slope2 = within / vlog_ratio(high2[i], low2[i]);
    d[0][i] = slope1 / low1[i];
    d[1][i] = -slope1 / high1[i];
    d[2][i] = -slope2 / low2[i];
    d[3][i] = slope2 / high2[i];
  }
}


const Kernel perilune_kl_loguniform[] = {
  {.name = "LogUniform", .n_in = 4, .value = to_loguniform, .partials = to_loguniform_partials},
  {.name = NULL}
};
