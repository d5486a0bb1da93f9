/*
** noncentralf.c - NoncentralF(df1, df2, noncentrality), the quotient of two estimated variances, of
** which the first is that of Normals not all about 0
**
** x = (Y/m)/(V/b) with Y of Marcum's law (marcum.h), m = df1/2, a = noncentrality/2, and V from
** Gamma(b, 1), b = df2/2. Over t = log(V/b), with its density w (logvariance.h), and over log y,
**
**   p(x) = int w g(y) y/x dt,  y = m x e^t,      1 - F(x) = int g(y) y P(V < b y/(m x)) dlog y
**
** and F with the other tail of V. Nothing is negative, so that no tail cancels, and each of these
** functions has one peak (peak.h). For x near 0 and near infinity they are powers. Where parameters
** are not large they are sums (noncentralf_sums.h).
*/
#include "kernel/implicit.h"
#include "kernel/logvariance.h"
#include "kernel/noncentralf_sums.h"
#include "kernel/quantile_search.h"
#include "random/gammas.h"
#include "special/incgamma.h"
#include "special/legendre.h"
#include "special/marcum.h"
#include "special/peak.h"

static const double MOST = 1e16, B_MOST = 1e16;   /* of m and a, and of b */
static const double LEAST_MEAN = 1e-200, MOST_MEANS = 1e200;   /* beyond as many means of Y/m the law is a power */
static const double TINY = 1e-290, LEAST = 1e-100;

/* beyond MOST only the mean of Y counts: x is in units of it */
static Shape shape_of (double df1, double df2, double noncentrality) {
  double m = fmax(0.5 * df1, 0x1p-1074), a = 0.5 * noncentrality, less = fmin(m, MOST), few = fmin(a, MOST);
  double unit = a / m < HUGE_VAL ? (1 + a / m) / (1 + few / less) : (m + a) / (less + few) * (less / m);
  return (Shape) {less, fmax(0.5 * df2, 0x1p-1074), few, unit};
}

/* Is Y narrower than V, in logarithms? */
static int is_narrow (Shape s) { return (s.m + s.a) / (s.m + 2 * s.a) * (s.m + s.a) > s.b; }

/* x, and log y measured from y */
typedef struct Place {
  Shape s;
  double x, y, log_y;
  LogVariance variance;
  int side;   /* of the tail: 1 is the upper one */
} Place;

/* measured from the middle of Y or of V, whichever is narrower, if the other is not far from it */
static Place place_of (Shape s, double x) {
  double middle = s.m + s.a, own = s.m * x, gap = vlog(middle) - vlog(s.m) - vlog(x);
  int from_y = fabs(gap) > 30 ? gap < 0 : is_narrow(s);
  double centre = from_y ? gap : 0, log_y = from_y ? vlog(middle) : vlog(s.m) + vlog(x);
  Place p = {.s = s, .x = x, .y = from_y ? middle : own, .log_y = log_y};
  p.variance = log_variance(s.b, centre, s.b * vexp(centre), digamma_rest(s.b));
  return p;
}

static double noise_of (Shape s) { return MARCUM_NOISE * sqrt(s.m + s.a + s.b); }

static double step_of (const Place *p) {
  double m = p->s.m, a = p->s.a, y = (m + a) / (m + 2 * a) * (m + a);
  return 1 / sqrt(1 + fmax(y, p->s.b));
}

static double y_at (const Place *p, double t) {
  return p->y > TINY ? p->y * vexp(t) : vexp(p->log_y + t);
}

/* log(y g(y)) at y e^t; where that is next to nothing only K = 0 and K = 1 count */
static double log_share (const Place *p, double t) {
  double y = y_at(p, t), m = p->s.m;
  if (y < TINY) {
    double log_y = p->log_y + t, more = vlogaddexp(0, vlog(p->s.a) - vlog(m) + log_y);
    return fma(m, log_y, -p->s.a) - vlgamma_pos(m) + more;
  }
  return marcum_log_density(p->s.m, p->s.a, y) + p->log_y + t;
}

static void log_shares (const Place *p, const double t[], double level[]) {
  double y[LEGENDRE], least = HUGE_VAL;
  for (int i = 0; i < LEGENDRE; i++) {
    y[i] = y_at(p, t[i]);
    least = fmin(least, y[i]);
  }
  int is_vector = least >= TINY && marcum_log_densities(p->s.m, p->s.a, y, level);
  for (int i = 0; i < LEGENDRE; i++)
    level[i] = is_vector ? level[i] + p->log_y + t[i] : log_share(p, t[i]);
}

static double log_share_by_m (const Place *p, double t) {
  double y = y_at(p, t);
  if (y < TINY) return p->log_y + t - vdigamma_pos(p->s.m);
  return marcum_log_density_by_m(p->s.m, p->s.a, y);
}


/* {=====================================================
** b next to nothing: V/b is nearly 0, with a density b/v beyond. With q = b/(m x)
**
**   x p(x) = b E[e^(-q Y)] = b (1 + q)^-m e^(-a q/(1 + q)),    F = int_q^inf of that dlog q
**
** in which, if m is next to nothing as well, the part of K = 0 counts m/(m + b). Where q is next to nothing x p(x)
** does not depend on it.
** ====================================================== */

static int is_flat (Shape s) { return s.b < 1e-20; }

static double flat_log_q (Shape s, double x) { return vlog(s.b) - vlog(s.m) - vlog(x); }

/* of 1 - e^(-a part) b/(m + b), where the other share, m/(m + b), is `own` */
static inline double flat_log_share (double a, double own, double part) {
  return vlog(own - (1 - own) * vexpm1(-a * part));
}

/* without b, at log q */
static inline double flat_level_of (double m, double a, double own, double t) {
  double least = vexp(-fabs(t)), small = least / (1 + least), large = 1 / (1 + least);
  double part = t > 0 ? large : small, rest = t > 0 ? small : large, top = t > 0 ? t : 0;
  return flat_log_share(a, own, rest) - m * (top + vlog1p(least)) - a * part;
}

static double own_share (Shape s) { return s.m / (s.m + s.b); }

static double flat_level (const void *shape, double t) {
  const Shape *s = shape;
  return flat_level_of(s->m, s->a, own_share(*s), t);
}

static void flat_levels (const void *shape, const double t[], double level[]) {
  const Shape *s = shape;
  double m = s->m, a = s->a, own = own_share(*s);
  EVERY for (int i = 0; i < LEGENDRE; i++) level[i] = flat_level_of(m, a, own, t[i]);
}

/* over log q between low and high */
static double flat_log_integral (Shape s, double low, double high) {
  if (!(low < high)) return -HUGE_VAL;
  Peaked p = {&s, flat_level, NULL, 0, low, high, 0, flat_levels};
  PeakSums sum = peak_integral(&p, low, 1 / (1 + s.m / (1 + vexp(-low))));
  return sum.top + vlog(sum.sum[0]);
}

/* Up to `near` it is a line in q, of which e^near is next to nothing; from `far` on one in 1/q, times q^-m. */
static double flat_log_cdf (Shape s, double x) {
  static const double NEGLIGIBLE = 19;   /* its square is */
  double own = own_share(s), most = vexp(flat_log_share(s.a, own, 1));
  double fall = (s.m + s.a) * most + (1 - own) * s.a * vexp(-s.a);
  double low = flat_log_q(s, x), near = fmax(low, -NEGLIGIBLE - vlog1p(s.m + s.a));
  double line = near > low ? most * (near - low) - fall * (vexp(near) - vexp(low)) : 0;
  double far = fmax(near, NEGLIGIBLE + vlog1p(s.m + s.a)), part = vexp(-far) / (s.m + 1);
  double rest = -s.a - s.m * far - vlog(s.m + s.b) + vlog1p(part * ((s.a - s.m) * s.m + s.a * s.b));
  return fmin(vlogaddexp(vlogaddexp(rest, flat_log_integral(s, near, far)), vlog(line)) + vlog(s.b), 0);
}

/* }====================================================== */


/* {=====================================================
** Density
** ====================================================== */

/* of log x */
static double density_level (const void *place, double t) {
  const Place *p = place;
  return variance_log_density(&p->variance, t) + log_share(p, t);
}

static void density_levels (const void *place, const double t[], double level[]) {
  const Place *p = place;
  log_shares(p, t, level);
  EVERY for (int i = 0; i < LEGENDRE; i++) level[i] += variance_log_density(&p->variance, t[i]);
}

/* log p, with the slope of log p + log x in log x, and those in m, b and a */
typedef struct Slopes { double value, by_x, by_m, by_b, by_a; } Slopes;

/* dlog x/da and dlog x/db at a fixed probability */
typedef struct Paths { double by_a, by_b; } Paths;

/* dlog V/db - 1/b at a fixed probability, V = b e^t */
static double log_slope (const LogVariance *l, double t) {
  double v = l->weight * vexp(t);
  if (v < TINY) return (vdigamma_pos(1 + l->b) - vlog(l->b) - l->centre - t) / l->b - 1 / l->b;
  return v < HUGE_VAL ? special_gamma_dx_da(l->b, v) / v - 1 / l->b : 0;
}

static void slope_factors (const void *place, double t, double level, double f[]) {
  const Place *p = place;
  double y = y_at(p, t), ratio = marcum_dy_da(p->s.m, p->s.a, y);
  (void)level;
  f[0] = fma(p->s.a, ratio, p->s.m - y);
  f[1] = fma(1 / p->s.m, f[0], log_share_by_m(p, t));
  f[2] = variance_by_shape(&p->variance, t);
  f[3] = ratio - 1;
}

static void path_factors (const void *place, double t, double level, double f[]) {
  const Place *p = place;
  double y = y_at(p, t);
  (void)level;
  f[0] = y > 0 ? marcum_dy_da(p->s.m, p->s.a, y) / y : 1 / p->s.m;
  f[1] = -log_slope(&p->variance, t);
}

static double mean_of (Shape s) { return fmin(1 + s.a / s.m, DBL_MAX); }

/* there K = 1 must be nothing, too: its share is about a x (1 + m/b) */
static double least_x (Shape s) {
  return fmin(LEAST_MEAN * mean_of(s), 1e-20 / fmax(s.a * (1 + s.m / s.b), 0x1p-1000));
}

static double most_x (Shape s) { return fmin(MOST_MEANS * mean_of(s), DBL_MAX); }

/* x, or the end of the range that it is beyond */
static double inside (Shape s, double x) { return clamp(x, least_x(s), most_x(s)); }

/* the power of x that the density is there */
static double power_beyond (Shape s, double x) {
  return x < least_x(s) ? s.m - 1 : x > most_x(s) ? -(s.b + 1) : 0;
}

static double log_beyond (Shape s, double x) { return vlog(x) - vlog(inside(s, x)); }

/* with the means of factors from sum[1] on */
static PeakSums density_means (Shape s, double x, PeakFactors *factors, int n) {
  Place p = place_of(s, x);
  Peaked f = {&p, density_level, factors, n, -HUGE_VAL, HUGE_VAL, noise_of(s), density_levels};
  PeakSums m = peak_integral(&f, 0, step_of(&p));
  for (int k = 1; k <= n; k++) m.sum[k] /= m.sum[0];
  return m;
}

/* of x in units */
static double log_standard (Shape s, double x) {
  if (x == HUGE_VAL) return -HUGE_VAL;
  if (x == 0) return s.m > 1 ? -HUGE_VAL : s.m < 1 ? HUGE_VAL : -s.a;
  double near = inside(s, x), power = power_beyond(s, x);
  if (s.b > B_MOST) return marcum_log_density(s.m, s.a, s.m * x) + vlog(s.m);
  if (is_flat(s)) return vlog(s.b) + flat_level(&s, flat_log_q(s, x)) - vlog(x);
  double level = has_series(s) ? log_mixture(s, near, DENSITY) : (double)NAN;
  if (level != level) {
    PeakSums sum = density_means(s, near, NULL, 0);
    level = sum.top + vlog(sum.sum[0]);
  }
  double value = level - vlog(near);
  return power == 0 ? value : fma(power, log_beyond(s, x), value);
}

/* of b > B_MOST: x = Y/m */
static Slopes limit_slopes (Shape s, double x) {
  double y = s.m * x;
  if (!(y > 0 && y < HUGE_VAL)) return (Slopes) {-HUGE_VAL, 0, 0, 0, 0};
  MarcumSlopes d = marcum_log_density_slopes(s.m, s.a, y);
  double by_x = fma(d.by_y, y, 1);
  return (Slopes) {log_standard(s, x), by_x, by_x / s.m + marcum_log_density_by_m(s.m, s.a, y), 0,
                   d.by_a};
}

/* for 0 < x < inf */
static Slopes slopes_of (Shape s, double x) {
  if (s.b > B_MOST) return limit_slopes(s, x);
  double near = inside(s, x), beyond = log_beyond(s, x);
  PeakSums m = density_means(s, near, slope_factors, 4);
  Slopes d = {m.top + vlog(m.sum[0]) - vlog(near), m.sum[1], m.sum[2], m.sum[3], m.sum[4]};
  d.value = beyond == 0 ? d.value : fma(power_beyond(s, x), beyond, d.value);
  d.by_m += x < near ? beyond : 0;
  d.by_b -= x > near ? beyond : 0;
  return d;
}

/* at {x, df1, df2, noncentrality} */
static Shape shape_at (const double v[]) { return shape_of(v[1], v[2], v[3]); }

/* what is above 0 stays so */
static double in_units (double x, Shape s) { return x > 0 ? fmax(x / s.unit, 0x1p-1074) : x / s.unit; }

static double log_density (const double v[]) {
  if (!(v[0] >= 0)) return v[0] < 0 ? -HUGE_VAL : v[0];
  Shape s = shape_at(v);
  return log_standard(s, in_units(v[0], s)) - vlog(s.unit);
}

/* the unit is (1 + a/m)/...: dlog unit/dm and /da, where they are not left out */
static double unit_by_m (const double v[]) {
  double m = 0.5 * v[1], a = 0.5 * v[3];
  return m > MOST || a > MOST ? -a / m / (m + a) : 0;
}

static double unit_by_a (const double v[]) {
  double m = 0.5 * v[1], a = 0.5 * v[3];
  return a > MOST ? 1 / (m + a) : 0;
}

static void log_density_slopes (const double v[], double d[]) {
  d[0] = d[1] = d[2] = d[3] = 0;
  if (!(v[0] > 0 && v[0] < HUGE_VAL)) return;
  Shape s = shape_at(v);
  Slopes at = slopes_of(s, in_units(v[0], s));
  d[0] = (at.by_x - 1) / v[0];
  d[1] = 0.5 * (s.m == MOST || s.a == MOST ? -at.by_x * unit_by_m(v) : at.by_m);
  d[2] = 0.5 * at.by_b;
  d[3] = 0.5 * (s.a == MOST ? -at.by_x * unit_by_a(v) : at.by_a);
}

/* }====================================================== */


/* {=====================================================
** Tails
** ====================================================== */

/* P(V < b e^q e^t), or the other tail of it */
static double log_variance_tail (const LogVariance *l, double t, int upper) {
  double v = l->weight * vexp(t);
  if (v < TINY && !upper) return fma(l->b, vlog(l->b) + l->centre + t, -vlgamma1p(l->b));
  Pair pair = l->centre == 0 && fabs(t) < 0.5 ? exact_sum(l->b, l->b * vexpm1(t)) : (Pair) {v, 0};
  return special_log_gamma_tail(l->b, pair, upper);
}

static double tail_level (const void *place, double t) {
  const Place *p = place;
  return log_share(p, t) + log_variance_tail(&p->variance, t, !p->side);
}

static void tail_levels (const void *place, const double t[], double level[]) {
  const Place *p = place;
  log_shares(p, t, level);
  for (int i = 0; i < LEGENDRE; i++) level[i] += log_variance_tail(&p->variance, t[i], !p->side);
}

static void tail_factors (const void *place, double t, double level, double f[]) {
  (void)level;
  f[0] = log_share_by_m(place, t);
}

/* from this log y on; with n = 1 the slope in m as well */
static PeakSums tail_integral (Shape s, double x, int upper, double from, int n) {
  Place p = place_of(s, x);
  double low = from - p.log_y;
  p.side = upper;
  Peaked f = {&p, tail_level, tail_factors, n, low, HUGE_VAL, noise_of(s), tail_levels};
  return peak_integral(&f, fmax(0, low), step_of(&p));
}

/* Below y0 only K = 0 counts, and both tails of V are powers: with v = b y/(m x)
**
**   int g(y) y P(V < v) dlog y = e^-a y0^m/G(1 + m) m/(m + b) v0^b/G(1 + b)
**
** or with P(V > v) what that lacks of e^-a y0^m/G(1 + m). If m is small this stretch is too long for panels. */
static double log_y0 (Shape s, double x) {
  static const double NEGLIGIBLE = -46;   /* y, its share of K = 1, and v */
  return NEGLIGIBLE + fmin(0, fmin(vlog(s.m) - vlog(s.a), vlog(s.m) + vlog(x) - vlog(s.b)));
}

static double log_below (Shape s, double x, double log_y, int upper) {
  double log_v = vlog(s.b) + log_y - vlog(s.m) - vlog(x);
  double power = fma(s.b, log_v, -vlgamma1p(s.b)), own = own_share(s), other = s.b / (s.m + s.b);
  double whole = fma(s.m, log_y, -s.a) - vlgamma1p(s.m);
  return whole + (upper ? vlog(own) + power : vlog(other - own * vexpm1(power)));
}

static double log_tail_integral (Shape s, double x, int upper) {
  static const double SMALL = 0.01;
  int is_cut = s.m + (upper ? s.b : 0) < SMALL;
  double cut = is_cut ? log_y0(s, x) : -HUGE_VAL, below = is_cut ? log_below(s, x, cut, upper) : -HUGE_VAL;
  PeakSums sum = tail_integral(s, x, upper, cut, 0);
  return vlogaddexp(below, sum.top + vlog(sum.sum[0]));
}

static double log_integral (Shape s, double x, int upper) {
  if (s.b > B_MOST) return marcum_log_tail(s.m, s.a, s.m * x, upper);
  double level = has_series(s) ? log_mixture(s, x, upper ? UPPER : LOWER) : (double)NAN;
  if (level == level) return level;
  double other = has_series(s) ? log_mixture(s, x, upper ? LOWER : UPPER) : (double)NAN;
  if (other < -0.01) return vlog1mexp(other);
  return log_tail_integral(s, x, upper);
}

/* the smaller tail */
typedef struct Tail { double log; int upper; } Tail;

/* from the one next to it: the tail towards x is a power, of which little may be left, or nearly all */
static Tail tail_beyond (Shape s, double x, Tail near) {
  int upper = x > most_x(s);
  double level = near.upper == upper ? near.log : vlog1mexp(near.log);
  double log = fma(upper ? -s.b : s.m, log_beyond(s, x), level);
  return log < -LN2 ? (Tail) {log, upper} : (Tail) {vlog1mexp(log), !upper};
}

static Tail small_tail (Shape s, double x) {
  if (!(x > 0 && x < HUGE_VAL)) return (Tail) {-HUGE_VAL, x > 0};
  if (is_flat(s)) return (Tail) {flat_log_cdf(s, x), 0};
  double near = inside(s, x);
  int upper = s.m * near >= s.m + s.a;
  double first = log_integral(s, near, upper);
  Tail t = {first, upper};
  if (first > -LN2) t = (Tail) {log_integral(s, near, !upper), !upper};
  return x == near ? t : tail_beyond(s, x, t);
}

static double log_tail (const double v[], int upper) {
  Shape s = shape_at(v);
  if (v[0] != v[0]) return v[0];
  Tail t = small_tail(s, in_units(v[0], s));
  if (t.upper == upper) return t.log;
  return t.log < 0 ? vlog1mexp(t.log) : -HUGE_VAL;
}

static double tail (const double v[], int upper) {
  Shape s = shape_at(v);
  if (v[0] != v[0]) return v[0];
  Tail t = small_tail(s, in_units(v[0], s));
  double small = vexp(t.log);
  return t.upper == upper ? small : 1 - small;
}

/* dlog x/dm: of m x, -F_m/p by the smaller tail, less 1/m */
static double path_by_m (Shape s, double x, double log_p) {
  if (s.b > B_MOST) return marcum_dy_dm(s.m, s.a, s.m * x) / (s.m * x) - 1 / s.m;
  double near = inside(s, x), sign = small_tail(s, near).upper ? 1 : -1;
  PeakSums sum = tail_integral(s, near, sign > 0, -HUGE_VAL, 1);
  double own = sign * vexp(sum.top - log_p - vlog(near)) * sum.sum[1];
  return own - 1 / s.m - (x < near ? log_beyond(s, x) / s.m : 0);
}

static Paths paths_of (Shape s, double x) {
  if (s.b > B_MOST) return (Paths) {marcum_dy_da(s.m, s.a, s.m * x) / (s.m * x), 0};
  double near = inside(s, x);
  PeakSums m = density_means(s, near, path_factors, 2);
  return (Paths) {m.sum[1], m.sum[2] - (x > near ? log_beyond(s, x) / s.b : 0)};
}

static void slopes (const double *at, double *dx) {
  Shape s = shape_at(at);
  double x = in_units(at[0], s);
  dx[0] = dx[1] = dx[2] = 0;
  if (!(x > 0 && x < HUGE_VAL)) return;
  Paths d = paths_of(s, x);
  double log_p = log_standard(s, inside(s, x));
  int is_limit = s.m == MOST || s.a == MOST;
  dx[0] = 0.5 * at[0] * (is_limit ? unit_by_m(at) : path_by_m(s, x, log_p));
  dx[1] = 0.5 * at[0] * d.by_b;
  dx[2] = 0.5 * at[0] * (s.a == MOST ? unit_by_a(at) : d.by_a);
}

/* is nearly all above x, with a peak too far from x to be found? */
static int is_far_below (Shape s, double x) { return s.a > 1 && s.m * x < 1e-13 * (s.m + s.a); }

/* at {x, df1, df2, noncentrality}, x in units */
static double standard_log_tail (const double v[], int upper) {
  Shape s = shape_at(v);
  if (!is_flat(s) && v[0] == inside(s, v[0]))
    return upper && is_far_below(s, v[0]) ? vlog1mexp(log_integral(s, v[0], 0)) : log_integral(s, v[0], upper);
  Tail t = small_tail(s, v[0]);
  return t.upper == upper ? t.log : vlog1mexp(t.log);
}

static double standard_log_density (const double v[]) { return log_standard(shape_at(v), v[0]); }

/* x in units near the quantile: Y is about a gamma variable with its mean and variance (Patnaik);
   near 0, with K = 0, one of its own shape */
static double quantile_near (Shape s, double p, int upper) {
  double part = upper ? 1 - p : p;
  if (is_flat(s)) return clamp(vexp(part / s.b + vlog(s.b) - vlog(s.m)), 1e-300, 1e300);
  if (s.b > B_MOST) return marcum_near(s.m, s.a, p, upper) / s.m;
  double mean = s.m + s.a, m = mean / (s.m + 2 * s.a) * mean, none = p * vexp(s.a);
  double x = fmin(mean / s.m, 1e300) * gamma_quotient_quantile(m, s.b, p, upper);
  if (!upper && none < 1) x = fmin(x, gamma_quotient_quantile(s.m, s.b, none, 0));
  return clamp(x, 1e-300, 1e300);
}

static double quantile (const double *at, int upper) {
  SearchedLaw law = {4, standard_log_tail, standard_log_density, 0, HUGE_VAL, NULL};
  Shape s = shape_at(at);
  double p = at[0], v[POINT_MAX] = {p, 2 * s.m, at[2], 2 * s.a};
  double near = p > 0 && p < 1 ? quantile_near(s, p, upper) : 1;
  return s.unit * search_quantile(law, v, upper, near);
}

enum { OPERANDS = 4 };

static const Implicit family = {
  .log_density = log_density, .log_density_slopes = log_density_slopes, .slopes = slopes,
  .tail = tail, .log_tail = log_tail, .quantile = quantile
};

#include "kernel/implicit_kernels.h"
#include "kernel/density_kernels.h"

/* }====================================================== */


/* {=====================================================
** Mode: E[h] = 0, h = m - 1 + a R - y the slope of log g in log y, R = g_(m+1)/g_m
** ====================================================== */

/* E h, and for its slopes E of what h changes by and of h times the slopes of the logarithm */
static void mode_factors (const void *place, double t, double level, double f[]) {
  const Place *p = place;
  double y = y_at(p, t), m = p->s.m, a = p->s.a;
  MarcumRatio r = marcum_ratio(m, a, y);
  double h = fma(a, r.value, m - 1 - y);
  (void)level;
  f[0] = h;
  f[1] = y * fma(a, r.by_y, -1) + h * h;
  f[2] = fma(a, r.by_m, 1) + f[1] / m + h * marcum_log_density_by_m(m, a, y);
  f[3] = h * variance_by_shape(&p->variance, t);
  f[4] = fma(y, r.by_y, h * (r.value - 1));
}

static void rest_factor (const void *place, double t, double level, double f[]) {
  const Place *p = place;
  double y = y_at(p, t);
  (void)level;
  f[0] = fma(p->s.a, marcum_dy_da(p->s.m, p->s.a, y), p->s.m - 1 - y);
}

/* of the sign of E h */
static double mode_rest (Shape s, double x) {
  if (s.b > B_MOST) return marcum_log_density_slopes(s.m, s.a, s.m * x).by_y;
  return density_means(s, x, rest_factor, 1).sum[1];
}

static double mode_of (Shape s) {
  if (s.m < 1 || (s.m == 1 && s.a <= 1)) return 0;
  if (is_flat(s)) {   /* (m - 1) q^2 + (m + a - 2) q = 1 */
    double half = 0.5 * (s.m + s.a - 2), q = 1 / (half + sqrt(fma(half, half, s.m - 1)));
    return s.b / s.m / q;
  }
  double high = 1 + s.a / s.m, low = high;
  while (high < most_x(s) && mode_rest(s, high) > 0) low = high, high *= 2;
  while (low > least_x(s) && !(mode_rest(s, low) > 0)) high = low, low *= 0.5;
  for (int step = 0; step < 60; step++) {
    double x = 0.5 * (low + high);
    if (!(x > low && x < high)) break;
    if (mode_rest(s, x) > 0) low = x;
    else high = x;
  }
  return 0.5 * (low + high);
}

static void mode (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) {
    Shape s = shape_of(in[0][i], in[1][i], in[2][i]);
    out[i] = s.unit * mode_of(s);
  }
}

static void mode_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double v[] = {0, in[0][i], in[1][i], in[2][i]};
    Shape s = shape_at(v);
    double x = mode_of(s), size = 0.5 * s.unit * x;
    d[0][i] = size * unit_by_m(v);
    d[1][i] = 0;
    d[2][i] = size * unit_by_a(v);
    if (x == 0 || s.m == MOST || s.a == MOST || s.b > B_MOST) continue;
    PeakSums means = density_means(s, x, mode_factors, 5);
    const double *sum = means.sum;
    d[0][i] = -size * sum[3] / sum[2];
    d[1][i] = -size * sum[4] / sum[2];
    d[2][i] = -size * sum[5] / sum[2];
  }
}

/* }====================================================== */


/* {=====================================================
** Entropy: over log x, between least_x and most_x; beyond them p is a power
** ====================================================== */

static double entropy_level (const void *shape, double h) {
  return log_standard(*(const Shape *)shape, vexp(h)) + h;
}

static void entropy_value (const void *shape, double h, double level, double f[]) {
  (void)shape;
  f[0] = h - level;
}

static void entropy_slopes (const void *shape, double h, double level, double f[]) {
  Slopes d = slopes_of(*(const Shape *)shape, vexp(h));
  f[0] = h - level;
  f[1] = f[0] * d.by_m;
  f[2] = f[0] * d.by_b;
  f[3] = f[0] * d.by_a;
}

typedef struct Entropy { double value, by_m, by_b, by_a; } Entropy;

/* beyond x, where p is x^(m - 1) or x^-(b + 1): `power` is m or -b */
static void add_far (Shape s, double x, double power, Entropy *sum) {
  if (fabs(power) > 0.25) return;   /* nothing is left there */
  Slopes d = slopes_of(s, x);
  double size = fabs(power), mass = vexp(d.value + vlog(x) - vlog(size));
  double part = 1 - 1 / power - d.value;
  sum->value += mass * part;
  sum->by_m += mass * d.by_m * part;
  sum->by_b += mass * d.by_b * part;
  sum->by_a += mass * d.by_a * part;
  *(power > 0 ? &sum->by_m : &sum->by_b) += mass / size * (1 / power - part - 1);
}

static Entropy entropy_of (Shape s, int with_slopes) {
  Peaked f = {&s, entropy_level, with_slopes ? entropy_slopes : entropy_value, with_slopes ? 4 : 1,
              vlog(least_x(s)), vlog(most_x(s)), noise_of(s), NULL};
  double spread = (s.m + 2 * s.a) / (s.m + s.a) / (s.m + s.a) + 1 / s.b;
  PeakSums m = peak_integral(&f, vlog1p(s.a / s.m), sqrt(spread / (1 + spread)));
  double unit = vexp(m.top);
  Entropy sum = {unit * m.sum[1], unit * m.sum[2], unit * m.sum[3], unit * m.sum[4]};
  add_far(s, least_x(s), s.m, &sum);
  add_far(s, most_x(s), -s.b, &sum);
  if (s.m < LEAST) sum.by_m = vexp(-s.a) / s.m / s.m;   /* of -e^-a/m and 1/b */
  if (s.b < LEAST) sum.by_b = -1 / s.b / s.b;
  return sum;
}

static void entropy (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) {
    Shape s = shape_of(in[0][i], in[1][i], in[2][i]);
    out[i] = vlog(s.unit) + entropy_of(s, 0).value;
  }
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double v[] = {0, in[0][i], in[1][i], in[2][i]};
    Shape s = shape_at(v);
    Entropy sum = entropy_of(s, 1);
    d[0][i] = 0.5 * (s.m == MOST || s.a == MOST ? unit_by_m(v) : sum.by_m);
    d[1][i] = 0.5 * sum.by_b;
    d[2][i] = 0.5 * (s.a == MOST ? unit_by_a(v) : sum.by_a);
  }
}

/* }====================================================== */


/* (Y/m)/(V/b), Y from Gamma(m + K, 1) with K from Poisson(a) */
static void draw (const Philox *g, uint64_t first, size_t n, const double *const in[],
                  double *out) {
  double shape[GAMMAS_BLOCK] = {0}, size[GAMMAS_BLOCK], depth[GAMMAS_BLOCK];
  double own[GAMMAS_BLOCK] = {0}, below[GAMMAS_BLOCK], lift[GAMMAS_BLOCK];
  for (size_t i = 0; i < n; i++) {
    Shape s = shape_of(in[0][i], in[1][i], in[2][i]);
    shape[i] = s.a;
    own[i] = s.b;
  }
  poisson_draw(g, first, n, shape, out);
  for (size_t i = 0; i < n; i++)
    shape[i] = shape_of(in[0][i], in[1][i], in[2][i]).m + out[i];
  gammas(g, 1024, first, n, shape, size, depth);
  gammas(g, 1024 + GAMMAS_LANES, first, n, own, below, lift);
  for (size_t i = 0; i < n; i++) {
    Shape s = shape_of(in[0][i], in[1][i], in[2][i]);
    out[i] = s.unit * (size[i] / s.m / (below[i] / s.b)) * vexp(lift[i] - depth[i]);
  }
}


const Kernel perilune_noncentralf[] = {
  {.name = "log_prob", .n_in = 4, .slow = 1, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 4, .slow = 1, .value = cdf,     .partials = cdf_partials},
  {.name = "sf",       .n_in = 4, .slow = 1, .value = sf,      .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 4, .slow = 1, .value = log_cdf, .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 4, .slow = 1, .value = log_sf,  .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 4, .slow = 1, .value = icdf,    .partials = icdf_partials},
  {.name = "isf",      .n_in = 4, .slow = 1, .value = isf,     .partials = isf_partials},
  {.name = "mode",     .n_in = 3, .slow = 1, .value = mode,    .partials = mode_partials},
  {.name = "entropy",  .n_in = 3, .slow = 1, .value = entropy, .partials = entropy_partials},
  {.name = "rsample", .n_in = 4, .slow = 1, .partials = draw_partials,
   .sampler = &(const Sampler) {.draw = draw}},
  {.name = NULL}
};
