/*
** noncentralt.c - NoncentralT(df, noncentrality, loc, scale), a Normal number about `noncentrality`
** over an estimate of its standard deviation
**
** With z = (x - loc)/scale, d = noncentrality and b = df/2, z is (d + normal)/s, where b s^2 has
** the law Gamma(b, 1). Over t = log s^2, with its density w (logvariance.h),
**
**   p = int w s phi(z s - d) dt,    F = int w Phi(z s - d) dt,    1 - F = int w Phi(d - z s) dt
**
** Nothing is negative, so that no tail cancels, and each of these functions has one peak (peak.h).
** That of the first is where u = R s, R^2 = df + z^2, solves u^2 - v u = df + 1, v = d z/R; t is
** measured from there, which leaves z s - d its digits.
*/
#include "kernel/betalaw.h"
#include "kernel/implicit.h"
#include "kernel/logvariance.h"
#include "kernel/quantile_search.h"
#include "random/gammas.h"
#include "random/noise.h"
#include "special/constants.h"
#include "special/legendre.h"
#include "special/peak.h"
#include "special/verf.h"

static const double DF_MOST = 1e200, D_MOST = 1e20, DF_LEAST = 1e-100;

/* beyond D_MOST the Normal number does not count, and the law is that of d/s: in units of it */
typedef struct Shape { double df, d, unit; } Shape;

static Shape shape_of (double df, double d) {
  double unit = fabs(d) > D_MOST ? fabs(d) / D_MOST : 1;
  return (Shape) {fmin(df, DF_MOST), d / unit, unit};
}

/* sqrt(x^2 + y^2), with the same bits everywhere, which hypot has not */
static double length (double x, double y) {
  double large = fmax(fabs(x), fabs(y)), r = fmin(fabs(x), fabs(y)) / large;
  return large > 0 ? large * sqrt(fma(r, r, 1.0)) : 0;
}

/* z, and t measured from the peak: there is s, and z s - d = gap + at expm1(t/2) */
typedef struct Place {
  double df, u, log_s, s, gap, at;
  LogVariance variance;
  int side;   /* of the tail: 1 is the upper one */
} Place;

static Place place_of (Shape s, double z) {
  double root = sqrt(s.df), far = length(root, z), v = s.d * (z / far), m = sqrt(s.df + 1);
  double h = length(v, 2 * m), u = v > 0 ? 0.5 * (v + h) : 2 * m * (m / (h - v)), b = 0.5 * s.df;
  Place p = {.df = s.df, .u = u, .s = u / far};
  p.log_s = fabs(p.s - 1) < 0.5 ? vlog1p((u - far) / far) : vlog(u) - vlog(far);
  p.gap = m * (m / u) * (z / far) - s.d * (root / far) * (root / far);
  p.at = p.s * z;
  p.variance = log_variance(b, 2 * p.log_s, b * p.s * p.s, digamma_rest(b));
  return p;
}

/* the scale of t about the peak */
static double step_of (const Place *p) { return 2 / length(p->u, sqrt(p->df + 1)); }

VECTOR double log_weight (const Place *p, double t) {
  return variance_log_density(&p->variance, t);
}

/* z s - d */
VECTOR double score_at (const Place *p, double t) { return fma(p->at, vexpm1(0.5 * t), p->gap); }

/* d log w/d df */
static double by_df (const Place *p, double t) { return 0.5 * variance_by_shape(&p->variance, t); }

VECTOR double density_at (const Place *p, double t) {
  double x = score_at(p, t);
  return log_weight(p, t) + (p->log_s + 0.5 * t) - fma(0.5 * x, x, HALF_LOG_2PI);
}

VECTOR double mass_at (const Place *p, double t) {
  double x = score_at(p, t);
  return log_weight(p, t) + vlog_ndtr(p->side ? -x : x);
}

static double density_level (const void *place, double t) { return density_at(place, t); }
static double tail_level (const void *place, double t) { return mass_at(place, t); }

static void density_levels (const void *place, const double t[], double level[]) {
  const Place p = *(const Place *)place;
  EVERY for (int i = 0; i < LEGENDRE; i++) level[i] = density_at(&p, t[i]);
}

static void tail_levels (const void *place, const double t[], double level[]) {
  const Place p = *(const Place *)place;
  EVERY for (int i = 0; i < LEGENDRE; i++) level[i] = mass_at(&p, t[i]);
}

static Peaked density_of (const Place *p, PeakFactors *factors, int n) {
  return (Peaked) {p, density_level, factors, n, -HUGE_VAL, HUGE_VAL, 0, density_levels};
}

static Peaked tail_of (const Place *p, PeakFactors *factors, int n) {
  return (Peaked) {p, tail_level, factors, n, -HUGE_VAL, HUGE_VAL, 0, tail_levels};
}


/* {=====================================================
** Density
** ====================================================== */

/* of z */
static double log_standard (Shape s, double z) {
  if (fabs(z) == HUGE_VAL) return -HUGE_VAL;
  Place p = place_of(s, z);
  Peaked f = density_of(&p, NULL, 0);
  PeakSums sum = peak_integral(&f, 0, step_of(&p));
  return sum.top + vlog(sum.sum[0]);
}

/* log p(z) and its slopes */
typedef struct Slopes { double value, by_z, by_df, by_d; } Slopes;

static void slope_factors (const void *place, double t, double level, double f[]) {
  const Place *p = place;
  (void)level;
  double x = score_at(p, t);
  f[0] = -x * (p->s * vexp(0.5 * t));
  f[1] = by_df(p, t);
  f[2] = x;
}

static Slopes slopes_of (Shape s, double z) {
  if (!(fabs(z) < HUGE_VAL)) return (Slopes) {-HUGE_VAL, 0, 0, 0};
  Place p = place_of(s, z);
  Peaked f = density_of(&p, slope_factors, 3);
  PeakSums m = peak_integral(&f, 0, step_of(&p));
  double mass = m.sum[0];
  Slopes d = {m.top + vlog(mass), m.sum[1] / mass, m.sum[2] / mass, m.sum[3] / mass};
  if (s.unit > 1) d.by_d = -fma(z, d.by_z, 1.0) / (s.d * s.unit);
  return d;
}

/* at {x, df, noncentrality, loc, scale} */
static double score (const double v[], Shape s) { return (v[0] - v[3]) / v[4] / s.unit; }

static double log_density (const double v[]) {
  Shape s = shape_of(v[1], v[2]);
  double z = score(v, s);
  return z == z ? log_standard(s, z) - vlog(v[4]) - vlog(s.unit) : z;
}

static void log_density_slopes (const double v[], double d[]) {
  Shape s = shape_of(v[1], v[2]);
  double z = score(v, s);
  Slopes at = slopes_of(s, z);
  d[0] = at.by_z / (v[4] * s.unit);
  d[1] = at.by_df;
  d[2] = at.by_d;
  d[3] = -d[0];
  d[4] = fabs(z) < HUGE_VAL ? -fma(z, at.by_z, 1.0) / v[4] : 0;
}

/* }====================================================== */


/* {=====================================================
** Tails
** ====================================================== */

/* With next to no df, s is anything between 0 and infinity: the sign of d + normal is all that tells, as long as
   what lies between 0 and z, at most 1500 df of the mass on that side, is rounding. `none` is log P(Z > 0), or of
   the other sign. */
static int is_flat (Shape s, double none, int is_across) {
  static const double LOG_1E19 = 43.749118376936274;
  return vlog(s.df) + LOG_1E19 < (is_across ? none : 0);
}

/* {-----------------------------------------------------
** Tails across 0, P(Z > -e) = Phi(-m) + P(-e < Z < 0) and its mirror image, where df is small and the Normal number
** about -m is hardly ever positive. The first part has its mass where s is next to nothing, the second its own
** where e s is about 1 + m, so that one peak would hide the other. From there t is measured.
** ------------------------------------------------------ */

/* `none` is log Phi(-m); without its weight where that is constant */
typedef struct Across { double m, none, log_m1, log_s; LogVariance variance; int is_weighted; } Across;

static Across across_of (double df, double m, double e, double none) {
  Across k = {.m = m, .none = none, .log_m1 = vlog1p(m), .is_weighted = 1};
  k.log_s = k.log_m1 - vlog(e);
  k.variance = log_variance(0.5 * df, 2 * k.log_s, 0.5 * df * vexp(2 * k.log_s), 0);
  return k;
}

/* log(Phi(h - m) - Phi(-m)), h = e s; about h phi(h/2 - m) where h is next to nothing */
VECTOR double log_between (double m, double none, double log_m1, double t) {
  double rise = (1 + m) * vexpm1(0.5 * t), end = vlog_ndtr(1 + rise);
  double h = (1 + m) + rise, x = 0.5 * h - m, far = end + vlog1mexp(none < end ? none - end : 0);
  return h * m < 1e-4 ? log_m1 + 0.5 * t - fma(0.5 * x, x, HALF_LOG_2PI) : far;
}

static double across_level (const void *across, double t) {
  const Across *k = across;
  return (k->is_weighted ? variance_log_density(&k->variance, t) : 0) + log_between(k->m, k->none, k->log_m1, t);
}

static void across_levels (const void *across, const double t[], double level[]) {
  const Across k = *(const Across *)across;
  EVERY for (int i = 0; i < LEGENDRE; i++) level[i] = log_between(k.m, k.none, k.log_m1, t[i]);
  if (k.is_weighted) EVERY for (int i = 0; i < LEGENDRE; i++) level[i] += variance_log_density(&k.variance, t[i]);
}

/* up to `high`, from where it is not 0 */
static double across_integral (const Across *k, double high, double start) {
  Peaked f = {k, across_level, NULL, 0, -HUGE_VAL, high, 0, across_levels};
  PeakSums sum = peak_integral(&f, fmin(start, 0), 2 / (2 + k->m));
  return sum.top + vlog(sum.sum[0]);
}

/* w is b up to where b s^2 is about 1: what lies between is b Phi(m) (-log b - EULER_GAMMA - 2 E log(M/e)) for M normal
   about m, M > 0 */
static double log_plateau (const Across *k) {
  static const double SERIES = 1000;
  double b = k->variance.b, length = -vlog(b) - EULER_GAMMA - 2 * k->log_s;
  if (k->m > SERIES) length += 2 * vlog1p(1 / k->m) + 1 / (k->m * k->m);
  else {
    double end = 2 * (vlog(k->m + 10) - k->log_m1);   /* from there on all M count */
    length += vexp(across_integral(k, end, 0)) / vndtr(k->m) - end;
  }
  return vlog(b) + vlog_ndtr(k->m) + vlog(length);
}

static double log_across (double df, double m, double e, double none) {
  static const double APART = 50, NEGLIGIBLE = 1e-17;
  if ((1 + m) * e < NEGLIGIBLE * sqrt(df)) return none;
  Across k = across_of(df, m, e, none);
  double width = -vlog(0.5 * df) - 2 * k.log_s;
  k.is_weighted = !(df < 1e-20 && width > APART);
  return vlogaddexp(none, k.is_weighted ? across_integral(&k, HUGE_VAL, width) : log_plateau(&k));
}

/* }----------------------------------------------------- */

static double log_integral (Shape s, double z, int upper) {
  static const double HIDDEN = -20, DF_SMALL = 0.2;
  double none = vlog_ndtr(upper ? s.d : -s.d);
  int is_across = upper ? z < 0 : z > 0;
  if (is_flat(s, none, is_across)) return none;
  if (is_across && s.df < DF_SMALL && none < HIDDEN) return log_across(s.df, fabs(s.d), fabs(z), none);
  Place p = place_of(s, z);
  p.side = upper;
  Peaked f = tail_of(&p, NULL, 0);
  PeakSums sum = peak_integral(&f, 0, step_of(&p));
  return sum.top + vlog(sum.sum[0]);
}

/* the smaller tail */
typedef struct Tail { double log; int upper; } Tail;

static Tail small_tail (Shape s, double z) {
  if (fabs(z) == HUGE_VAL) return (Tail) {-HUGE_VAL, z > 0};
  int upper = z >= s.d;
  double first = log_integral(s, z, upper);
  return first > -LN2 ? (Tail) {log_integral(s, z, !upper), !upper} : (Tail) {first, upper};
}

static double log_side (Shape s, double z, int upper) {
  Tail t = small_tail(s, z);
  if (t.upper == upper) return t.log;
  return t.log < 0 ? vlog1mexp(t.log) : -HUGE_VAL;
}

static double log_tail (const double v[], int upper) {
  Shape s = shape_of(v[1], v[2]);
  double z = score(v, s);
  return z == z ? log_side(s, z, upper) : z;
}

static double tail (const double v[], int upper) {
  Shape s = shape_of(v[1], v[2]);
  double z = score(v, s);
  if (z != z) return z;
  Tail t = small_tail(s, z);
  double small = vexp(t.log);
  return t.upper == upper ? small : 1 - small;
}

/* of -F_d */
static double shift_level (const void *place, double t) {
  const Place *p = place;
  double x = score_at(p, t);
  return log_weight(p, t) - fma(0.5 * x, x, HALF_LOG_2PI);
}

/* dz/dd = -F_d/p */
static double path_by_d (Shape s, double z, double log_p) {
  Place p = place_of(s, z);
  Peaked f = {&p, shift_level, NULL, 0, -HUGE_VAL, HUGE_VAL, 0, NULL};
  PeakSums sum = peak_integral(&f, 0, step_of(&p));
  return vexp(sum.top - log_p) * sum.sum[0];
}

static void df_factor (const void *place, double t, double level, double f[]) {
  (void)level;
  f[0] = by_df(place, t);
}

/* dz/d df = -F_df/p, by the smaller tail; F_df no longer changes below DF_LEAST */
static double path_by_df (Shape s, double z, double log_p) {
  s.df = fmax(s.df, DF_LEAST);
  Place p = place_of(s, z);
  p.side = small_tail(s, z).upper;
  Peaked f = tail_of(&p, df_factor, 1);
  PeakSums sum = peak_integral(&f, 0, step_of(&p));
  return (p.side ? 1 : -1) * vexp(sum.top - log_p) * sum.sum[1];
}

static void slopes (const double *at, double *dx) {
  Shape s = shape_of(at[1], at[2]);
  double z = score(at, s);
  dx[0] = dx[1] = dx[3] = 0;
  dx[2] = 1;
  if (!(fabs(z) < HUGE_VAL)) return;
  double log_p = log_standard(s, z);
  dx[0] = at[4] * s.unit * path_by_df(s, z, log_p);
  dx[1] = at[4] * path_by_d(s, z, log_p);
  dx[3] = z * s.unit;
}

/* at {z, df, noncentrality}, |noncentrality| <= D_MOST */
static double standard_log_tail (const double v[], int upper) {
  return log_integral(shape_of(v[1], v[2]), v[0], upper);
}

static double standard_log_density (const double v[]) {
  return log_standard(shape_of(v[1], v[2]), v[0]);
}

/* the mean of W^2, and its square over the variance: W is d + normal, if that is positive */
typedef struct Square { double mean, shape; } Square;

static Square square_of (double d) {
  if (d > 3) return (Square) {1 + d * d, (1 + d * d) / (2 + 4 * d * d) * (1 + d * d)};
  if (d < -30) return (Square) {2 / (d * d), 0.2};   /* exponential */
  double first = d + vexp(-0.5 * d * d - HALF_LOG_2PI - vlog_ndtr(d)), second = fma(d, first, 1);
  double fourth = d * fma(d, second, 2 * first) + 3 * second;
  return (Square) {second, second * second / (fourth - second * second)};
}

/* z > 0 near the quantile. Its normal score q is nearly (c z - d)/sqrt(1 + z^2/(2 df)), with
   c = 1 - 1/(4 df); where that has no good solution, W^2 is taken for a gamma variable */
static double quantile_near (Shape s, double p, int upper) {
  double q = upper ? -vndtri(p) : vndtri(p), c = 1 - 0.25 / s.df, half = 0.5 / s.df;
  double a = c * c - half * q * q, root = c * c + half * (s.d * s.d - q * q);
  double z = fma(q, sqrt(fmax(root, 0)), c * s.d) / a;
  if (c > 0.5 && a > 0.1 && z > 0 && z < HUGE_VAL) return z;
  Square w = square_of(s.d);
  double all = vndtr(s.d), part = (upper ? p : p - (1 - all)) / all;
  double square = gamma_quotient_quantile(w.shape, 0.5 * s.df, clamp(part, 0, 1), upper);
  return clamp(sqrt(w.mean) * sqrt(square), 1e-300, 1e300);
}

/* is the quantile of the upper tail q surely beyond all numbers? With next to no df P(Z > z) is about
   Phi(d) (df/(2 z^2))^(df/2), the more exactly the larger z */
static int overflows (Shape s, double q) {
  if (!(s.df < 1e-3)) return 0;
  return vlog_ndtr(s.d) + 0.5 * s.df * (vlog(0.5 * s.df) - 2 * vlog(DBL_MAX)) > vlog(q) + 0.1;
}

/* F(0) = Phi(-d) tells on which side of 0 it is; the negative side is that of -z, with -d */
static double quantile (const double *at, int upper) {
  SearchedLaw law = {3, standard_log_tail, standard_log_density, 0, HUGE_VAL, NULL};
  Shape s = shape_of(at[1], at[2]);
  double p = at[0], at_zero = vndtr(upper ? s.d : -s.d), size;
  if (!(p >= 0 && p <= 1)) return (double)NAN;
  if (p == 0 || p == 1) return (p == 0) == upper ? HUGE_VAL : -HUGE_VAL;
  int below = upper ? p > at_zero : p < at_zero;
  double v[3] = {p, s.df, below ? -s.d : s.d};
  int is_upper = below ? !upper : upper;
  Shape side = {s.df, v[2], 1};
  double near = quantile_near(side, p, is_upper);
  if (p == at_zero) size = 0;
  else if (overflows(side, is_upper ? p : 1 - p)) size = HUGE_VAL;
  else size = search_quantile(law, v, is_upper, near);
  return fma(at[4] * s.unit, below ? -size : size, at[3]);
}

enum { OPERANDS = 5 };

static const Implicit family = {
  .log_density = log_density, .log_density_slopes = log_density_slopes, .slopes = slopes,
  .tail = tail, .log_tail = log_tail, .quantile = quantile
};

#include "kernel/implicit_kernels.h"
#include "kernel/density_kernels.h"

/* }====================================================== */


/* {=====================================================
** Mode: -(df + 1) + df d^2/R^2 + df d A/(z R) = 0, A = E[u] - v with weights u^df e^(-(u - v)^2/2)
** ====================================================== */

/* A, and its slopes in v and in df: A' = df - A E[u], or where u is far from 0
   -df E[(u - E u)^2/(u E u)], and Cov(u, log u) */
typedef struct Mean { double value, by_v, by_df; } Mean;

/* of e = u/peak - 1 */
static void mean_factors (const void *place, double t, double level, double f[]) {
  (void)place;
  (void)level;
  double e = vexpm1(0.5 * t);
  f[0] = e;
  f[1] = 1 / (1 + e);
  f[2] = e * e * f[1];
  f[3] = 0.5 * t;
  f[4] = 0.5 * t * e;
}

static Mean mean_of (const Place *p) {
  Peaked f = density_of(p, mean_factors, 5);
  PeakSums m = peak_integral(&f, 0, step_of(p));
  double e = m.sum[1] / m.sum[0], inverse = m.sum[2] / m.sum[0];
  double value = fma(p->u, e, (p->df + 1) / p->u), by_v = p->df - value * (p->u * (1 + e));
  double spread = m.sum[3] / m.sum[0] - 2 * e * (1 - inverse) + e * e * inverse;
  if (p->u - (p->df + 1) / p->u > 20) by_v = -p->df * spread / (1 + e);
  return (Mean) {value, by_v, p->u * ((m.sum[5] - e * m.sum[4]) / m.sum[0])};
}

/* z R^2/df of the slope of log p: positive below the mode */
static double mode_rest (Shape s, double z) {
  Place p = place_of(s, z);
  double far = length(sqrt(s.df), z), own = s.d / far;
  return own * own + own * mean_of(&p).value / z - (1 + 1 / s.df);
}

/* of d > 0: bounds of van Aubel and Gawronski (2003) */
static double positive_mode (Shape s) {
  double low = s.d * sqrt(s.df / (s.df + 2.5)) * (1 - 1e-14);
  double high = s.d / sqrt(1 + 1 / s.df) * (1 + 1e-14);
  for (int step = 0; step < 100; step++) {
    double z = 0.5 * (low + high);
    if (!(z > low && z < high)) break;
    if (mode_rest(s, z) > 0) low = z;
    else high = z;
  }
  return 0.5 * (low + high);
}

/* the mode and its slopes; near d = 0 it is proportional to d, near df = 0 to sqrt(df) */
typedef struct Mode { double z, by_df, by_d; } Mode;

static Mode mode_of (double df, double d, int with_slopes) {
  static const double D_LEAST = 1e-9;
  Shape s = shape_of(fmax(df, DF_LEAST), fmax(fabs(d), D_LEAST));
  double z = positive_mode(s), shrink = fabs(d) < D_LEAST ? fabs(d) / D_LEAST : s.unit;
  double narrow = df < DF_LEAST ? sqrt(df / DF_LEAST) : 1;
  Mode m = {copysign(z * shrink * narrow, d), 0, 1};
  if (!with_slopes) return m;
  Place p = place_of(s, z);
  Mean a = mean_of(&p);
  double n = s.df, q = n + z * z, r = sqrt(q), g = s.d / (z * r);
  double by_z = -2 * s.d * s.d * z / (q * q)
                + g * (a.by_v * s.d * n / (q * r) - a.value * (1 / z + z / q));
  double by_d = 2 * s.d / q + (a.value + s.d * z / r * a.by_v) / (z * r);
  double by_n = 1 / (n * n) - s.d / q * (s.d / q)
                + g * (a.by_df - 0.5 * a.by_v * s.d * z / (q * r) - 0.5 * a.value / q);
  m.by_d = narrow * (s.unit > 1 ? z / s.d : -by_d / by_z);
  m.by_df = copysign(shrink, d) * (-by_n / by_z) / narrow;
  return m;
}

static void mode (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = fma(in[3][i], mode_of(in[0][i], in[1][i], 0).z, in[2][i]);
}

static void mode_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    Mode m = mode_of(in[0][i], in[1][i], 1);
    d[0][i] = in[3][i] * m.by_df;
    d[1][i] = in[3][i] * m.by_d;
    d[2][i] = 1;
    d[3][i] = m.z;
  }
}

/* }====================================================== */


/* {=====================================================
** Entropy: over h in z = centre + width sinh(h), up to |z| = FAR; beyond it p is a power
** ====================================================== */

static const double FAR = 1e150;

typedef struct Stretch { Shape s; double centre, width; } Stretch;

static double stretched (const Stretch *k, double h) {
  double e = vexpm1(fabs(h)), sinh = 0.5 * (e + e / (1 + e));
  return fma(k->width, copysign(sinh, h), k->centre);
}

/* log dz/dh */
static double log_stretch (const Stretch *k, double h) {
  return fabs(h) + vlog1p(vexp(-2 * fabs(h))) + vlog(0.5 * k->width);
}

static double entropy_level (const void *stretch, double h) {
  const Stretch *k = stretch;
  return log_standard(k->s, stretched(k, h)) + log_stretch(k, h);
}

static void entropy_value (const void *stretch, double h, double level, double f[]) {
  f[0] = log_stretch(stretch, h) - level;
}

static void entropy_slopes (const void *stretch, double h, double level, double f[]) {
  const Stretch *k = stretch;
  Slopes d = slopes_of(k->s, stretched(k, h));
  entropy_value(k, h, level, f);
  f[1] = f[0] * d.by_df;
  f[2] = f[0] * d.by_d;
}

typedef struct Entropy { double value, by_df, by_d; } Entropy;

/* beyond z: p falls like z^-(df + 1) */
static void add_far (Shape s, double z, Entropy *sum) {
  if (s.df > 0.5) return;   /* nothing is left there */
  Slopes d = slopes_of(s, z);
  double mass = vexp(d.value + vlog(fabs(z)) - vlog(s.df)), part = 1 + 1 / s.df - d.value;
  sum->value += mass * part;
  sum->by_df += mass * ((d.by_df - 1 / s.df) * part - d.by_df - 1 / s.df / s.df);
  sum->by_d += mass * d.by_d * (part - 1);
}

static Entropy entropy_of (double df, double d, int with_slopes) {
  Shape s = shape_of(df, d);
  double root = sqrt(s.df / (1 + s.df)), width = 1.5 * root * length(1, s.d / sqrt(1 + s.df));
  Stretch k = {s, s.d * root, width};
  double end = vlog(FAR) - vlog(width) + LN2;
  Peaked f = {&k, entropy_level, with_slopes ? entropy_slopes : entropy_value, with_slopes ? 3 : 1,
              -end, end, 100 * 0x1p-52 * fabs(k.centre) / width, NULL};
  PeakSums m = peak_integral(&f, 0, 0.5);
  double unit = vexp(m.top);
  Entropy sum = {unit * m.sum[1], unit * m.sum[2], unit * m.sum[3]};
  add_far(s, FAR, &sum);
  add_far(s, -FAR, &sum);
  sum.value += vlog(s.unit);
  if (s.unit > 1) sum.by_d = 1 / d;
  if (s.df < DF_LEAST) sum.by_df = -1 / s.df / s.df;
  return sum;
}

static void entropy (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++)
    out[i] = vlog(in[3][i]) + entropy_of(in[0][i], in[1][i], 0).value;
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    Entropy sum = entropy_of(in[0][i], in[1][i], 1);
    d[0][i] = sum.by_df;
    d[1][i] = sum.by_d;
    d[2][i] = 0;
    d[3][i] = 1 / in[3][i];
  }
}

/* }====================================================== */


static void draw (const Philox *g, uint64_t first, size_t n, const double *const in[],
                  double *out) {
  double shape[GAMMAS_BLOCK] = {0}, size[GAMMAS_BLOCK], depth[GAMMAS_BLOCK];
  for (size_t i = 0; i < n; i++) shape[i] = 0.5 * fmin(in[0][i], DF_MOST);
  gammas(g, 0, first, n, shape, size, depth);
  noise_normal(g, GAMMAS_LANES, first, n, out);
  for (size_t i = 0; i < n; i++) {
    double stretch = sqrt(shape[i] / size[i]) * vexp(0.5 * depth[i]);
    out[i] = fma(in[3][i], (out[i] + in[1][i]) * stretch, in[2][i]);
  }
}


const Kernel perilune_noncentralt[] = {
  {.name = "log_prob", .n_in = 5, .slow = 1, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 5, .slow = 1, .value = cdf,     .partials = cdf_partials},
  {.name = "sf",       .n_in = 5, .slow = 1, .value = sf,      .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 5, .slow = 1, .value = log_cdf, .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 5, .slow = 1, .value = log_sf,  .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 5, .slow = 1, .value = icdf,    .partials = icdf_partials},
  {.name = "isf",      .n_in = 5, .slow = 1, .value = isf,     .partials = isf_partials},
  {.name = "mode",     .n_in = 4, .slow = 1, .value = mode,    .partials = mode_partials},
  {.name = "entropy",  .n_in = 4, .slow = 1, .value = entropy, .partials = entropy_partials},
  {.name = "rsample", .n_in = 5, .slow = 1, .partials = draw_partials,
   .sampler = &(const Sampler) {.draw = draw}},
  {.name = NULL}
};
