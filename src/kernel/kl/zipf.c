/*
** zipf.c - KL(Zipf || q)
**
** To Zipf, with A(s) = log zeta(s), A' = -E log K and A'' = Var log K, D = s2 - s1:
**
**   KL = A(s2) - A(s1) - A'(s1) D = D^2 int_0^1 (1 - v) A''(s1 + v D) dv
**
** the second where s2 is near s1.
*/
#include "kernel/kernel.h"
#include "kernel/zipf.h"
#include "special/legendre.h"

typedef struct Moments { double log_zeta, mean, variance; } Moments;

static Moments moments_of (double s) {
  Powers rest = zeta_rest(s);
  double whole = 1 + rest.sum, mean = rest.logs / whole;
  return (Moments) {vlog1p(rest.sum), mean, rest.squares / whole - mean * mean};
}

static int is_near (double s1, double s2) { return fabs(s2 - s1) <= 0.25 * (fmin(s1, s2) - 1); }

/* int_0^1 (1 - v)^n Var(s1 + v D) dv, n = 0 or 1 */
static double mean_variance (double s1, double s2, int n) {
  double f[LEGENDRE];
  for (int i = 0; i < LEGENDRE; i++) {
    double v = legendre_node[i];
    f[i] = (n > 0 ? 1 - v : 1) * moments_of(fma(v, s2 - s1, s1)).variance;
  }
  return legendre_sum(f);
}

static double divergence (double s1, double s2) {
  double d = s2 - s1;
  if (d == 0) return 0;
  if (is_near(s1, s2)) return d * d * mean_variance(s1, s2, 1);
  Moments p = moments_of(s1), q = moments_of(s2);
  return fma(d, p.mean, q.log_zeta - p.log_zeta);
}

static void to_zipf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = divergence(in[0][i], in[1][i]);
}

static void to_zipf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double s1 = in[0][i], s2 = in[1][i], gap = s2 - s1;
    Moments p = moments_of(s1);
    d[0][i] = gap == 0 ? 0 : -gap * p.variance;
    d[1][i] = is_near(s1, s2) ? gap * mean_variance(s1, s2, 0) : p.mean - moments_of(s2).mean;
  }
}


const Kernel perilune_kl_zipf[] = {
  {.name = "Zipf", .n_in = 2, .slow = 1, .value = to_zipf, .partials = to_zipf_partials},
  {.name = NULL}
};
