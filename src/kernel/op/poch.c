/*
** poch.c - the logarithm of a ratio of gamma functions
**
**   log_poch(a, k) = log|Gamma(a + k)| - log|Gamma(a)|
**
** For |k| <= a/2 this is k psi(a) plus the remainder of log Gamma (vshape.h), which uses all digits
** of k, however small it is beside a.
*/
#include "kernel/kernel.h"
#include "special/vgamma.h"
#include "special/vmath.h"
#include "special/vratio.h"
#include "special/vshape.h"


/* for k > a/2; below 1 the poles at 0 are taken out */
static double log_poch_far (double a, double k, double s) {
  double near = (lgamma1p_near(s) - lgamma1p_near(a)) - vlog_ratio(s, a);
  return s < 1 ? near : vlgamma_delta(a, k);
}

static double log_poch_at (double a, double k) {
  double s = a + k;
  if (!((a > 0) & (s > 0))) return vlgamma(s) - vlgamma(a);
  if (s == HUGE_VAL) return a == HUGE_VAL ? (double)NAN : s;
  if (k > 0.5 * a) return log_poch_far(a, k, s);
  if (k < -0.5 * a) return -log_poch_far(s, -k, a);
  double bent = fma(s, vexcess(a / s, -k / s), shape_wide(a, s, k));
  return fma(k, vdigamma_pos(a), bent);
}

/*@ peri.log_poch(a, k) -> number or Tensor
 * log |Gamma(a + k)/Gamma(a)|, the logarithm of a (a + 1) ... (a + k - 1) for an integer k,
 * without the cancellation of two lgammas.
 * > log_poch(1e10, 1)
 * 23.02585092994 */
static void log_poch (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = log_poch_at(in[0][i], in[1][i]);
}

/* psi(a + k) - psi(a) */
static double digamma_gap (double a, double k) {
  double s = a + k;
  if (!((a > 0) & (s > 0))) return vdigamma(s) - vdigamma(a);
  double gap = fabs(k) < 0.5 * a ? vlog1p(k / (1 + a)) : vlog_ratio(1 + s, 1 + a);
  return digamma_rest(a, s, k) + gap;
}

static void log_poch_partials (size_t n, const double *const in[], double *const d[]) {
  const double *a = in[0], *k = in[1];
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = digamma_gap(a[i], k[i]);
  EVERY for (size_t i = 0; i < n; i++) d[1][i] = vdigamma(a[i] + k[i]);
}


const Kernel perilune_op_poch[] = {
  {.name = "log_poch", .n_in = 2, .value = log_poch, .partials = log_poch_partials},
  {.name = NULL}
};
