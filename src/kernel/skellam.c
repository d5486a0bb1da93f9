/*
** skellam.c - Skellam(rate1, rate2), the difference of two Poisson variables
**
**   P(k) = e^(-r1 - r2) (r1/r2)^(k/2) I_|k|(2 sqrt(r1 r2))
**
** which for k >= 0 is Marcum's density of order k + 1 with a = r2 at y = r1
** (src/special/marcum.h), and P(K > k) is its lower tail; for k < 0 rates and sides change places.
** The slopes of P(K > k) in r1 and r2 are P(k) and -P(k + 1).
*/
#include "kernel/discrete_quantile.h"
#include "kernel/poisson.h"
#include "special/constants.h"
#include "special/marcum.h"
#include "special/verf.h"

static int is_outcome (double k) { return k == floor(k) && fabs(k) < HUGE_VAL; }

/*
** From s = r1 + r2 = 1e17 on it is a bell curve about r1 - r2 = s e, but for what its lean e/sqrt(s) does to it, and
** counts are further apart than their probabilities are rounded by. (Edgeworth's series, to its first term.)
*/
static const double MANY = 1e17, NEAR = 1e4;

static double normal_z (double k, double r1, double r2) { return (k - (r1 - r2)) / sqrt(r1 + r2); }

/* less far out than its tails are of use */
static int is_normal (double k, double r1, double r2) {
  return r1 + r2 > MANY && fabs(normal_z(k, r1, r2)) < NEAR;
}

static double lean (double r1, double r2) { return (r1 - r2) / (r1 + r2) / sqrt(r1 + r2); }

/* the normal number with the same lower tail */
static double straight_z (double k, double r1, double r2) {
  double z = normal_z(k + 0.5, r1, r2);
  return z - lean(r1, r2) * (z * z - 1) / 6;
}

/* at an integer */
static double log_mass (double k, double r1, double r2) {
  if (is_normal(k, r1, r2)) {
    double z = normal_z(k, r1, r2), leant = lean(r1, r2) * (z * z - 3) * z / 6;
    return fma(-0.5 * z, z, leant) - 0.5 * vlog(r1 + r2) - HALF_LOG_2PI;
  }
  return k < 0 ? marcum_log_density(1 - k, r1, r2) : marcum_log_density(k + 1, r2, r1);
}

/* a point {k, rate1, rate2} */
static double log_density (const double v[]) {
  if (v[0] != v[0]) return v[0];
  return is_outcome(v[0]) ? log_mass(v[0], v[1], v[2]) : -HUGE_VAL;
}

static void log_density_slopes (const double v[], double d[]) {
  double k = v[0];
  d[0] = 0;
  d[1] = d[2] = k == k ? 0.0 : k;
  if (!is_outcome(k)) return;
  if (is_normal(k, v[1], v[2])) {
    double z = normal_z(k, v[1], v[2]), root = sqrt(v[1] + v[2]), both = 0.5 * (z - 1) * (z + 1) / root / root;
    d[1] = both + z / root;
    d[2] = both - z / root;
    return;
  }
  MarcumSlopes s = k < 0 ? marcum_log_density_slopes(1 - k, v[1], v[2])
                         : marcum_log_density_slopes(k + 1, v[2], v[1]);
  d[1] = k < 0 ? s.by_a : s.by_y;
  d[2] = k < 0 ? s.by_y : s.by_a;
}

static double log_tail (const double v[], int upper) {
  double k = floor(v[0]);
  if (!(fabs(k) < HUGE_VAL)) return k != k ? k : (k > 0) == upper ? -HUGE_VAL : 0;
  if (is_normal(k, v[1], v[2])) return vlog_ndtr((upper ? -1 : 1) * straight_z(k, v[1], v[2]));
  if (k < 0) return marcum_log_tail(-k, v[1], v[2], upper);
  return marcum_log_tail(k + 1, v[2], v[1], !upper);
}

/* from the side that marcum.h computes, which is the smaller one */
static double tail (const double v[], int upper) {
  double k = floor(v[0]);
  if (!(fabs(k) < HUGE_VAL)) return vexp(log_tail(v, upper));
  int is_upper = k < 0 ? v[2] >= v[1] - k : v[1] < k + 1 + v[2];
  double small = vexp(log_tail(v, is_upper));
  return upper == is_upper ? small : 1 - small;
}

static void tail_slopes (const double v[], int upper, double d[]) {
  double k = floor(v[0]), sign = upper ? 1 : -1;
  int inside = fabs(k) < HUGE_VAL;
  d[0] = 0;
  d[1] = inside ? sign * vexp(log_mass(k, v[1], v[2])) : 0.0;
  d[2] = inside ? -sign * vexp(log_mass(k + 1, v[1], v[2])) : 0.0;
}

static void log_tail_slopes (const double v[], int upper, double d[]) {
  double k = floor(v[0]), sign = upper ? 1 : -1;
  int inside = fabs(k) < HUGE_VAL;
  double divisor = inside ? log_tail(v, upper) : 0;
  d[0] = 0;
  d[1] = inside ? sign * vexp(log_mass(k, v[1], v[2]) - divisor) : 0.0;
  d[2] = inside ? -sign * vexp(log_mass(k + 1, v[1], v[2]) - divisor) : 0.0;
}


/* Outcomes counted from v[3], below which there is no double's worth of mass. */
static double shifted_tail (const double v[], int upper) {
  double at[] = {v[0] + v[3], v[1], v[2]};
  return tail(at, upper);
}

/* an outcome near the one whose score is z: Cornish and Fisher */
static double outcome_near (double z, double r1, double r2) {
  double mean = r1 - r2, variance = r1 + r2, lean = mean / variance;
  return mean + sqrt(variance) * z + lean * (z * z - 1) / 6
         + z * ((z * z - 3) / 24 - lean * lean * (2 * z * z - 5) / 36) / sqrt(variance);
}

/* Newton's method on the logarithm of a tail, which falls by log(1 - P(k + 1)/P(K > k)) from k to
   k + 1, until a step leads no further */
static double refined (double k, double r1, double r2, Level v) {
  double level = vlog(v.p);
  for (int step = 0; step < 12; step++) {
    double at[] = {k, r1, r2}, reached = log_tail(at, v.upper), rest = reached - level;
    double share = vexp(log_mass(v.upper ? k + 1 : k, r1, r2) - reached);
    double next = floor(k + (v.upper ? 1 : -1) * rest / -vlog1p(-fmin(share, 0.999)));
    if (!(fabs(next - k) >= 1 && fabs(next - k) <= 1e3 + fabs(k))) break;
    k = next;
  }
  return k;
}

static double quantile (const double v[], int upper) {
  double p = v[0], r1 = v[1], r2 = v[2];
  if (!(p >= 0 && p <= 1)) return (double)NAN;
  if (p == 0 || p == 1) return (p == 0) == upper ? HUGE_VAL : -HUGE_VAL;
  double score = upper ? -vndtri(p) : vndtri(p);
  if (r1 + r2 > MANY) return ceil(outcome_near(score, r1, r2) - 0.5);
  double first = -ceil(r2 + 45 * sqrt(r1 + r2) + 1200), point[] = {0, r1, r2, first};
  Stairs s = {.tail = shifted_tail, .first = 0, .last = HUGE_VAL, .operands = 4, .point = point};
  Level level = level_of(p, upper, quantile_log_slack(p));
  double near = floor(outcome_near(score, r1, r2));
  return outcome_quantile(&s, refined(near, r1, r2, level) - first, level) + first;
}

static const SidedLaw law = {
  .operands    = 3,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .tail        = tail,        .tail_slopes        = tail_slopes,
  .log_tail    = log_tail,    .log_tail_slopes    = log_tail_slopes,
  .quantile    = quantile
};

#include "kernel/density_kernels.h"
#include "kernel/sided_kernels.h"


/* the density rises up to the mode and falls from there on */
static void mode (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) {
    double r1 = in[0][i], r2 = in[1][i], k = floor(r1 - r2 + 0.5);
    for (int step = 0; step < 8 && log_mass(k - 1, r1, r2) > log_mass(k, r1, r2); step++) k--;
    for (int step = 0; step < 8 && log_mass(k + 1, r1, r2) > log_mass(k, r1, r2); step++) k++;
    out[i] = k;
  }
}

/* -sum P log P; where there are too many outcomes (log(2 pi e s) - d^2/(6 s^3))/2, s = r1 + r2,
   d = r1 - r2 */
static double entropy_of (double r1, double r2) {
  double s = r1 + r2, d = r1 - r2, sum = 0;
  if (!(r1 >= 0 && r2 >= 0)) return (double)NAN;
  if (!(s < 1e6)) return fma(0.5, vlog(s), 0.5 + HALF_LOG_2PI) - d / s * (d / s) / s / 12;
  double middle = floor(d), reach = floor(12 * sqrt(s)) + 60;
  for (double k = middle - reach; k <= middle + reach; k++) {
    double l = log_mass(k, r1, r2);
    if (l > -700) sum -= l * vexp(l);
  }
  return sum;
}

static void entropy (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = entropy_of(in[0][i], in[1][i]);
}

/* -sum P log P d log P */
static void entropy_slopes (double r1, double r2, double slope[2]) {
  double s = r1 + r2, d = r1 - r2, u = d / s;
  slope[0] = slope[1] = (double)NAN;
  if (!(r1 >= 0 && r2 >= 0)) return;
  if (!(s < 1e6)) {
    double even = (0.5 + 0.25 * u * u / s) / s, odd = u / s / s / 6;
    slope[0] = even - odd;
    slope[1] = even + odd;
    return;
  }
  double middle = floor(d), reach = floor(12 * sqrt(s)) + 60;
  slope[0] = slope[1] = 0;
  for (double k = middle - reach; k <= middle + reach; k++) {
    double by[3], l = log_mass(k, r1, r2), weight = -l * vexp(l);
    if (!(l > -700)) continue;
    log_density_slopes((const double[]) {k, r1, r2}, by);
    for (int j = 0; j < 2; j++) slope[j] = fma(weight, by[j + 1], slope[j]);
  }
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double slope[2];
    entropy_slopes(in[0][i], in[1][i], slope);
    d[0][i] = slope[0];
    d[1][i] = slope[1];
  }
}

static void sample (const Philox *g, uint64_t first, size_t n, const double *const in[],
                    double *out) {
  double other[KERNEL_DRAW_MAX];
  Philox second = *g;   /* the same counters under another key */
  second.key[0] ^= 0x6c6c656b;
  poisson_draw(g, first, n, in[0], out);
  poisson_draw(&second, first, n, in[1], other);
  for (size_t i = 0; i < n; i++) out[i] -= other[i];
}


const Kernel perilune_skellam[] = {
  {.name = "log_prob", .n_in = 3, .slow = 1, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .slow = 1, .value = cdf,     .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .slow = 1, .value = sf,      .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .slow = 1, .value = log_cdf, .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .slow = 1, .value = log_sf,  .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .slow = 1, .value = icdf, .flat = 1},
  {.name = "isf",      .n_in = 3, .slow = 1, .value = isf, .flat = 1},
  {.name = "mode",     .n_in = 2, .slow = 1, .value = mode, .flat = 1},
  {.name = "entropy",  .n_in = 2, .slow = 1, .value = entropy, .partials = entropy_partials},
  {.name = "sample", .n_in = 3, .integer = 1, .sampler = &(const Sampler) {.draw = sample}},
  {.name = NULL}
};
