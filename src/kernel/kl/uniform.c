/*
** uniform.c - KL(Uniform || q)
**
** To Uniform, log(width2/width1) where [low1, high1] lies within the other,
** else infinite.
*/
#include "kernel/kernel.h"
#include "special/vmath.h"


/* width2 - width1 as a sum of two gaps, neither negative: nothing cancels */
static void to_uniform (size_t n, const double *const in[], double *out) {
  const double *low1 = in[0], *high1 = in[1], *low2 = in[2], *high2 = in[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double gaps = (low1[i] - low2[i]) + (high2[i] - high1[i]);
    double kl = vlog1p(gaps / (high1[i] - low1[i]));
    int known = (low1[i] < high1[i]) & (low2[i] < high2[i]);
    double beyond = known ? HUGE_VAL : (double)NAN;
    out[i] = ((low2[i] <= low1[i]) & (high1[i] <= high2[i])) ? kl : beyond;
  }
}

static void to_uniform_partials (size_t n, const double *const in[], double *const d[]) {
  const double *low1 = in[0], *high1 = in[1], *low2 = in[2], *high2 = in[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double within = ((low2[i] <= low1[i]) & (high1[i] <= high2[i])) ? 1 : 0;
    double slope1 = within / (high1[i] - low1[i]);
    double slope2 = within / (high2[i] - low2[i]);
    d[0][i] = slope1;
    d[1][i] = -slope1;
    d[2][i] = -slope2;
    d[3][i] = slope2;
  }
}


const Kernel perilune_kl_uniform[] = {
  {.name = "Uniform", .n_in = 4, .value = to_uniform, .partials = to_uniform_partials},
  {.name = NULL}
};
