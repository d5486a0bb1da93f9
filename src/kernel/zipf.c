/*
** zipf.c - Zipf(exponent), ranks whose probabilities fall like a power
**
**   P(k) = k^-s/zeta(s),    P(K > k) = zeta(s, k + 1)/zeta(s),    k = 1, 2, ...
**
** s = exponent > 1. Sums over ranks are in zipf.h.
*/
#include <float.h>
#include "kernel/discrete_quantile.h"
#include "kernel/zipf.h"

/* from 1 to k: the integral from N to k does not cancel for s near 1 */
static double sum_up_to (double s, double k) {
  double from = smooth_from(s), sum = 0, t = s - 1, j = 1;
  for (; j <= k && j < from; j++) {
    double p = vpow(j, -s);
    sum += p;
    if (p * j <= 1e-18 * t * sum) return sum;
  }
  if (j > k) return sum;
  double whole = vpow(j, -t) * -vexpm1(-t * vlog(k / j)) / t;
  double first = correction(s, j, vpow(j, -s)).sum, last = vpow(k, -s);
  return sum + (whole + (first - correction(s, k, last).sum) + last);
}


static double log_mass (double k, double s, double log_whole) {
  if (k != k) return k;
  if (!(k >= 1 && k == floor(k) && k < HUGE_VAL)) return -HUGE_VAL;
  double fall = k == 1 ? 0 : -s * vlog(k);
  return fall - log_whole;
}

/* log zeta of the last exponents: neighbours have one s, or those of a mixture in turn */
enum { EXPONENTS = 4 };
typedef struct Whole { double s[EXPONENTS], log_zeta[EXPONENTS]; int next; } Whole;

static double log_whole (Whole *w, double s) {
  for (int k = 0; k < EXPONENTS; k++)
    if (w->s[k] == s) return w->log_zeta[k];
  int k = w->next;
  w->next = (k + 1) % EXPONENTS;
  w->s[k] = s;
  return w->log_zeta[k] = vlog1p(zeta_rest(s).sum);
}

static void log_prob (size_t n, const double *const in[], double *out) {
  Whole whole = {.s = {-1, -1, -1, -1}};
  for (size_t i = 0; i < n; i++)
    out[i] = log_mass(in[0][i], in[1][i], log_whole(&whole, in[1][i]));
}

/* a point {k, s}: -log k + E log K */
static void log_density_slopes (const double v[], double d[]) {
  double k = v[0];
  Powers rest = zeta_rest(v[1]);
  int inside = k >= 1 && k == floor(k) && k < HUGE_VAL;
  d[0] = 0;
  d[1] = inside ? rest.logs / (1 + rest.sum) - vlog(k) : k == k ? 0 : k;
}

/* from k + 1 on, also where the first term underflows but not all of them together */
static double sum_beyond (double k, double s) {
  double first = vpow(k + 1, -s), sum = sum_from(s, k + 1).sum;
  if (first >= DBL_MIN && sum < HUGE_VAL) return first * sum;
  if (k > 0x1p60) return vpow(k, 1 - s) / (s - 1);
  double root = vpow(k + 1, -0.5 * s);
  return root * sum * root;
}

/* at {k, s, zeta(s)} */
static double part_of (const double v[], int upper) {
  double k = floor(v[0]), s = v[1], whole = v[2];
  if (!(k >= 1)) return k != k ? k : upper;
  if (k == HUGE_VAL) return !upper;
  double above = sum_beyond(k, s) / whole;
  if (above < 0.5) return upper ? above : 1 - above;
  double below = sum_up_to(s, k) / whole;
  return upper ? 1 - below : below;
}

static double tail (const double v[], int upper) {
  double at[] = {v[0], v[1], 1 + zeta_rest(v[1]).sum};
  return part_of(at, upper);
}

/* in logarithms where it underflows */
static double log_tail (const double v[], int upper) {
  double k = floor(v[0]), s = v[1], other = tail(v, !upper), own = tail(v, upper);
  if (own > 0.5) return vlog1p(-other);
  if (own > 1e-290 || !(upper && k < HUGE_VAL)) return vlog(own);
  return vlog(sum_from(s, k + 1).sum) - s * vlog(k + 1) - vlog1p(zeta_rest(s).sum);
}

/* d log P(K > k)/ds = E log K - E[log K | K > k] */
static void log_upper_slope (const double v[], double *slope) {
  double k = floor(v[0]), s = v[1];
  Powers whole = zeta_rest(s), above = sum_from(s, k + 1);
  double own = above.sum > 0 ? above.logs / above.sum : vlog(k + 1);
  *slope = whole.logs / (1 + whole.sum) - own;
}

static void tail_slopes (const double v[], int upper, double d[]) {
  double k = floor(v[0]), slope = 0;
  if (k >= 1 && k < HUGE_VAL) log_upper_slope(v, &slope);
  slope = slope == 0 ? 0 : slope * tail(v, 1);
  d[0] = 0;
  d[1] = upper ? slope : -slope;
}

static void log_tail_slopes (const double v[], int upper, double d[]) {
  double k = floor(v[0]), slope = 0;
  if (k >= 1 && k < HUGE_VAL) log_upper_slope(v, &slope);
  d[0] = 0;
  d[1] = upper ? slope : slope == 0 ? 0 : -slope * vexp(log_tail(v, 1) - log_tail(v, 0));
}

/* near the level q of P(K > k), about (k + 1/2)^-t/(t zeta); its logarithm is rounded, and by so
   much further out k is put right */
static double start_of (double q, double s, double whole) {
  double t = s - 1, k = vexp(clamp(-vlog(q * t * whole) / t, 0.0, 700.0)) - 0.5;
  double at[] = {k, s, whole};
  if (k > 16) k *= vexp(clamp(vlog(part_of(at, 1) / q) / t, -1.0, 1.0));
  return k;
}

static double quantile (const double v[], int upper) {
  double p = v[0], q = upper ? p : 1 - p, point[] = {0, v[1], 1 + zeta_rest(v[1]).sum};
  if (!(p >= 0 && p <= 1)) return (double)NAN;
  if (q == 0) return HUGE_VAL;
  if (q == 1) return 1;
  Stairs s = {.tail = part_of, .first = 1, .last = HUGE_VAL, .operands = 3, .point = point};
  double start = start_of(q, v[1], point[2]);
  return outcome_quantile(&s, start, level_of(p, upper, quantile_log_slack(p)));
}

VECTOR double from_uniform (const double v[]) { return quantile(v, 1); }

static const SidedLaw law = {
  .operands = 2,
  .tail     = tail,     .tail_slopes     = tail_slopes,
  .log_tail = log_tail, .log_tail_slopes = log_tail_slopes,
  .quantile = quantile
};

#include "kernel/sided_kernels.h"

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  pointwise_partials(law.operands, n, in, d, log_density_slopes);
}


/* zeta(s - 1)/zeta(s) */
static void mean (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) {
    double s = in[0][i];
    out[i] = s > 2 ? (1 + zeta_rest(s - 1).sum) / (1 + zeta_rest(s).sum) : s == s ? HUGE_VAL : s;
  }
}

/* d log zeta(s)/ds = -E log K */
static void mean_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double s = in[0][i];
    if (!(s > 2)) {
      d[0][i] = 0;
      continue;
    }
    Powers one = zeta_rest(s - 1), none = zeta_rest(s);
    double m = (1 + one.sum) / (1 + none.sum);
    d[0][i] = m * (none.logs / (1 + none.sum) - one.logs / (1 + one.sum));
  }
}

/* with z_j = zeta(s - j) - 1: (z2 - 2 z1 + z0 + z2 z0 - z1^2)/zeta(s)^2 */
static void variance (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) {
    double s = in[0][i];
    if (!(s > 3)) {
      out[i] = s == s ? HUGE_VAL : s;
      continue;
    }
    double z0 = zeta_rest(s).sum, z1 = zeta_rest(s - 1).sum, z2 = zeta_rest(s - 2).sum;
    out[i] = ((z2 - 2 * z1) + z0 + (z2 * z0 - z1 * z1)) / (1 + z0) / (1 + z0);
  }
}

/* d z_j/ds is minus the sum of logarithms l_j */
static void variance_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double s = in[0][i];
    if (!(s > 3)) {
      d[0][i] = 0;
      continue;
    }
    Powers p0 = zeta_rest(s), p1 = zeta_rest(s - 1), p2 = zeta_rest(s - 2);
    double z0 = p0.sum, z1 = p1.sum, z2 = p2.sum, whole = 1 + z0;
    double top = (z2 - 2 * z1) + z0 + (z2 * z0 - z1 * z1);
    double fall = (p2.logs - 2 * p1.logs) + p0.logs;
    fall += p2.logs * z0 + z2 * p0.logs - 2 * z1 * p1.logs;
    d[0][i] = (2 * top / whole * p0.logs - fall) / whole / whole;
  }
}

/* s E log K + log zeta(s) */
static void entropy (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) {
    Powers z = zeta_rest(in[0][i]);
    out[i] = fma(in[0][i], z.logs / (1 + z.sum), vlog1p(z.sum));
  }
}

/* -s Var log K */
static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    Powers z = zeta_rest(in[0][i]);
    double whole = 1 + z.sum, mean = z.logs / whole;
    d[0][i] = -in[0][i] * fma(-mean, mean, z.squares / whole);
  }
}

/* Just above s = 1 draws may be beyond the largest number: then it is that. */
static void sample (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) {
    double x = from_uniform((const double[]) {in[0][i], in[1][i]});
    out[i] = x > DBL_MAX ? DBL_MAX : x;
  }
}


const Kernel perilune_zipf[] = {
  {.name = "log_prob", .n_in = 2, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 2, .slow = 1, .value = cdf,     .partials = cdf_partials},
  {.name = "sf",       .n_in = 2, .slow = 1, .value = sf,      .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 2, .slow = 1, .value = log_cdf, .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 2, .slow = 1, .value = log_sf,  .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 2, .slow = 1, .value = icdf, .flat = 1},
  {.name = "isf",      .n_in = 2, .slow = 1, .value = isf, .flat = 1},
  {.name = "mean",     .n_in = 1, .value = mean,     .partials = mean_partials},
  {.name = "variance", .n_in = 1, .value = variance, .partials = variance_partials},
  {.name = "entropy",  .n_in = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "sample", .n_in = 2, .slow = 1, .value = sample, .integer = 1,
   .sampler = &(const Sampler) {.noise = "uniform"}},
  {.name = NULL}
};
