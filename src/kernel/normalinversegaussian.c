/*
** normalinversegaussian.c - NormalInverseGaussian(tail, skew, loc, scale), Normals whose
** variance is an inverse Gaussian variable
**
** With a = tail, b = skew, c = sqrt(a^2 - b^2) and z = (x - loc)/scale = sinh t,
**
**   p(x) = a K1(a r)/(pi r scale) e^(c + b z),    r = sqrt(1 + z^2) = cosh t
**
** c + b z - a r is -q^2/(a r - b z + c) with q = a z - b r. Tails are integrals over t, in which
** the density g(t) = r p is analytic between -pi/2 i and pi/2 i, and has one peak.
**
** Where a r is next to nothing, g is that of a Cauchy law, 1/(pi r). For |b| = a it falls like
** e^(-t/2) on the side of b, and where a r is vast it is that of a Levy law:
**
**   P(Z > z) = erf(sqrt(a e^-t)),   b = a
*/
#include "kernel/implicit.h"
#include "kernel/quantile_search.h"
#include "random/noise.h"
#include "special/bessel_k.h"
#include "special/constants.h"
#include "special/legendre.h"
#include "special/verf.h"
#include "special/vhyperbolic.h"
#include "special/vtrig.h"

typedef struct Shape { double a, b, c; } Shape;
typedef struct Place { double z, r, t; } Place;

static Shape shape_of (double a, double b) {
  return (Shape) {a, b, sqrt(a - fabs(b)) * sqrt(a + fabs(b))};
}

static Place place_of (double z) {
  double size = fabs(z), r = size < 1e150 ? sqrt(fma(z, z, 1)) : size;
  double t = size < 1e150 ? vlog1p(size * (1 + size / (1 + r))) : vlog(size) + LN2;
  return (Place) {z, r, copysign(t, z)};
}

VECTOR Place place_at (double t) {
  double e = vexpm1(fabs(t)), half = 0.5 * (e < HUGE_VAL ? e + e / (1 + e) : e);
  return (Place) {copysign(half, t), half < 1e150 ? sqrt(fma(half, half, 1)) : half, t};
}

/* the mean, as t; infinite for |b| = a */
static double mean_at (Shape s) {
  double t = place_of(s.b / s.c).t;
  return fabs(t) < 700 ? t : copysign(700, s.b);
}


/* {=====================================================
** Density
** ====================================================== */

/* a z - b r where no square overflows; if both have one sign, by the difference of squares */
VECTOR double plain_gap (Shape s, Place p) {
  double v = s.c * p.z, size = fabs(s.b), with = s.a * fabs(p.z) + size * p.r;
  double near = (fabs(v) - size) * (fabs(v) + size) / with;
  return s.b * p.z > 0 ? p.z > 0 ? near : -near : s.a * p.z - s.b * p.r;
}

/* a r - b z, which is positive */
VECTOR double plain_fall (Shape s, Place p) {
  double same = s.b * p.z, up = s.a * p.r, v = s.c * p.z;
  return same > 0 ? fma(s.a, s.a, v * v) / (up + same) : up - same;
}

/* c + b z - a r */
VECTOR double plain_exponent (Shape s, Place p) {
  double q = plain_gap(s, p);
  return -q / (plain_fall(s, p) + s.c) * q;
}

static int is_large (Shape s, Place p) {
  double v = s.c * p.z;
  return !(s.a * p.r < 1e150 && v * v < 1e300);
}

/* a z - b r for |b| = a: a e^-t or, on the other side of 0, a e^t */
static double even_gap (Shape s, Place p) {
  double far = p.r + fabs(p.z);
  return -copysign(s.b * p.z > 0 ? s.a / far : s.a * far, s.b);
}

static double gap (Shape s, Place p) {
  if (s.c == 0) return even_gap(s, p);
  return is_large(s, p) ? s.a * p.z - s.b * p.r : plain_gap(s, p);
}

static double exponent (Shape s, Place p) {
  if (s.c == 0) return -fabs(even_gap(s, p));
  if (!is_large(s, p)) return plain_exponent(s, p);
  double half = place_at(0.5 * (p.t - mean_at(s))).z;   /* -2 c sinh^2 of half the way to the mean */
  return -2 * s.c * half * half;
}

static double log_k1 (Shape s, Place p) {
  double u = s.a * p.r;
  if (u < 1e-300 || u > 1e300) {
    double l = vlog(s.a) + vlog(p.r);
    return l < 0 ? -l : 0.5 * (LOG_PI - LN2 - l);
  }
  return vlog(vk1e(u));
}

/* log(r p) */
static double log_height (Shape s, Place p) {
  if (fabs(p.z) == HUGE_VAL) return -HUGE_VAL;
  return vlog(s.a) + log_k1(s, p) + exponent(s, p) - LOG_PI;
}

/* the same where it is_plain: nothing overflows */
VECTOR double plain_height (Shape s, Place p) {
  return vlog(s.a) + vlog(vk1e(s.a * p.r)) + plain_exponent(s, p) - LOG_PI;
}

static int is_plain (Shape s, double t) { return s.a > 1e-150 && vlog(s.a) + fabs(t) < 320; }

/* K0(a r)/K1(a r) */
static double k_ratio (Shape s, Place p) {
  double u = s.a * p.r;
  return u > 1e15 ? 1 - 0.5 / u : vk0e(u) / vk1e(u);
}

/* slopes of log(r p) in t, a and b */
typedef struct Scores { double by_t, by_a, by_b; } Scores;

static Scores scores_of (Shape s, Place p) {
  double ratio = k_ratio(s, p), u = s.a * p.r, sine = p.z / p.r;
  double less = u < 1e16 ? s.a * p.z * vk_gap(u) : 0.5 * sine;
  return (Scores) {.by_t = less - gap(s, p) - sine,
                   .by_a = s.a / s.c - p.r * ratio, .by_b = p.z - s.b / s.c};
}

/* at {x, tail, skew, loc, scale} */
static double score (const double v[]) { return (v[0] - v[3]) / v[4]; }

static double log_density (const double v[]) {
  Place p = place_of(score(v));
  if (fabs(p.z) == HUGE_VAL) return -HUGE_VAL;
  return log_height(shape_of(v[1], v[2]), p) - vlog(p.r) - vlog(v[4]);
}

static void log_density_slopes (const double v[], double d[]) {
  Place p = place_of(score(v));
  Scores s = scores_of(shape_of(v[1], v[2]), p);
  double by_z = (s.by_t - p.z / p.r) / p.r;
  d[0] = by_z / v[4];
  d[1] = s.by_a;
  d[2] = s.by_b;
  d[3] = -d[0];
  d[4] = -fma(p.z, by_z, 1.0) / v[4];
}

/* }====================================================== */


/* {=====================================================
** Integrals over t, from a place in one direction to where nothing is left
** ====================================================== */

enum { PANELS = 4 };
static const double PANEL_MOST = 4;

/* what is integrated beside g */
typedef struct Sums { double by_a, by_b, entropy, entropy_by_a, entropy_by_b; } Sums;

/* nearly the bend of log g */
static double bend_at (Shape s, Place p) {
  double fall = s.c == 0 ? fabs(even_gap(s, p)) : is_large(s, p) ? s.a * p.r : plain_fall(s, p);
  return fall + 1 / (p.r * p.r);
}

static double height_at (Shape s, double t) { return log_height(s, place_at(t)); }

/* how far to go from t, beyond the peak, for log g to fall to `least` */
static double reach (Shape s, double t, double side, double least) {
  Place p = place_at(t);
  double slope = fmax(-side * scores_of(s, p).by_t, 0), depth = 2 * fabs(log_height(s, p) - least);
  double guess = depth / (slope + sqrt(fma(slope, slope, depth * bend_at(s, p))));   /* of a bell curve */
  double low = guess > 1e-300 && guess < 1 ? guess : 1, high;
  while (low > 1e-300 && !(height_at(s, t + side * low) > least)) low *= 0.5;
  for (high = 2 * low; high < 1500 && height_at(s, t + side * high) > least; high *= 2) low = high;
  for (int step = 0; step < 12; step++) {
    double middle = 0.5 * (low + high);
    if (height_at(s, t + side * middle) > least) low = middle;
    else high = middle;
  }
  return high;
}

/* g between from and from + width, in units of e^top */
static double panel_mass (Shape s, double from, double width, double top) {
  double mass[LEGENDRE];
  if (is_plain(s, fabs(from) + fabs(width)))
    for (int i = 0; i < LEGENDRE; i++)
      mass[i] = vexp(plain_height(s, place_at(fma(width, legendre_node[i], from))) - top);
  else
    for (int i = 0; i < LEGENDRE; i++)
      mass[i] = vexp(height_at(s, fma(width, legendre_node[i], from)) - top);
  return fabs(width) * legendre_sum(mass);
}

typedef struct Range { double panels, width; } Range;

static Range range_of (Shape s, double t, double side, double top) {
  double length = reach(s, t, side, top - LEGENDRE_DEPTH);
  double panels = fmax(PANELS, ceil(length / PANEL_MOST));
  return (Range) {panels, length / panels};
}

/* For |b| = a, from which |t| on the tail on the side of b is that of a Levy law; and that, of
   q = a e^-|t| */
static double levy_from (Shape s) { return vlog(fmax(2e17 / s.a, 2e9)); }
static double levy_far (double q) { return verf(sqrt(q)); }

static double mass_beyond (Shape s, double t, double side, double top) {
  Range range = range_of(s, t, side, top);
  double sum = 0, end = levy_from(s);
  if (s.c == 0 && side * s.b > 0 && fabs(t) + range.panels * range.width > end) {
    double length = end - side * t;
    range.panels = fmax(PANELS, ceil(length / PANEL_MOST));
    range.width = length / range.panels;
    sum = vexp(vlog(levy_far(s.a * vexp(-end))) - top);
  }
  double width = side * range.width;
  for (int j = (int)range.panels - 1; j >= 0; j--)
    sum += panel_mass(s, fma(width, j, t), width, top);
  return sum;
}

/* in units of e^top, with slopes; the entropy is that of z */
static Sums integrate (Shape s, double t, double side, double top) {
  Range range = range_of(s, t, side, top);
  double width = range.width;
  Sums sum = {0, 0, 0, 0, 0};
  for (int j = (int)range.panels - 1; j >= 0; j--) {
    double f[5][LEGENDRE];
    for (int i = 0; i < LEGENDRE; i++) {
      Place p = place_at(t + side * width * (j + legendre_node[i]));
      double h = log_height(s, p), g = vexp(h - top);
      for (int k = 0; k < 5; k++) f[k][i] = 0;
      if (!(g > 0)) continue;
      Scores d = scores_of(s, p);
      f[0][i] = g * d.by_a;
      f[1][i] = g * d.by_b;
      f[2][i] = -g * (h - vlog(p.r));
      f[3][i] = f[2][i] * d.by_a;
      f[4][i] = f[2][i] * d.by_b;
    }
    sum.by_a += width * legendre_sum(f[0]);
    sum.by_b += width * legendre_sum(f[1]);
    sum.entropy += width * legendre_sum(f[2]);
    sum.entropy_by_a += width * legendre_sum(f[3]);
    sum.entropy_by_b += width * legendre_sum(f[4]);
  }
  return sum;
}

/* }====================================================== */


/* {=====================================================
** Tails
** ====================================================== */

/* Is p beyond the peak of g, which is between 0 and the mean? */
static int falls_at (Shape s, Place p) {
  double mean = mean_at(s);
  if (p.t > fmax(0, mean)) return 1;
  return p.t >= fmin(0, mean) && scores_of(s, p).by_t < 0;
}

/* From here on the law is normal. */
static int is_normal (Shape s) { return s.c > 1e32; }
static double normal_mean (Shape s) { return s.b / s.c; }
static double normal_scale (Shape s) { return s.a / s.c / sqrt(s.c); }

/* its quantile; so far from the mean that z bends, by the exponent of g */
static double normal_score (Shape s, Place p) {
  double y = (p.z - normal_mean(s)) / normal_scale(s);
  return fabs(y) < 1e-14 * sqrt(s.c) ? y : copysign(sqrt(-2 * exponent(s, p)), y);
}

static int is_cauchy (Shape s, Place p) { return s.a * p.r < 1e-18; }

/* Is the tail on the side of b that of a Levy law, from here on? Are both? */
static int is_levy_far (Shape s, Place p) {
  return s.c == 0 && s.b * p.z > 0 && fabs(p.t) > levy_from(s);
}

/* of the least q, log(2 sqrt(q/pi)) */
static double log_levy_far (Shape s, Place p) {
  double q = fabs(even_gap(s, p)), log_q = vlog(s.a) - vlog(p.r) - LN2;
  return q < 0x1p-1022 ? fma(0.5, log_q - LOG_PI, LN2) : vlog(levy_far(q));
}

static int is_levy (Shape s) { return s.c == 0 && s.a > 1e20; }

static double log_cauchy_tail (double z) {
  double angle = fabs(z) > 1 ? vatan(1 / fabs(z)) : 0.5 * PI - vatan(fabs(z));
  return vlog(angle) - LOG_PI;
}

/* the tail from p outwards; `upper` says where that is. Deep in it g is an exponential. */
static double log_tail_beyond (Shape s, Place p, int upper) {
  if (is_cauchy(s, p)) return log_cauchy_tail(p.z);
  if (is_levy_far(s, p) && upper == (s.b > 0)) return log_levy_far(s, p);
  if (is_levy(s)) return LN2 + vlog_ndtr(-sqrt(2 * fabs(even_gap(s, p))));
  double top = log_height(s, p), slope = (upper ? -1 : 1) * scores_of(s, p).by_t;
  if (!(top > -HUGE_VAL)) return top;
  if (slope > 1e15 && bend_at(s, p) / slope < 1e-14 * slope) return top - vlog(slope);
  return top + vlog(mass_beyond(s, p.t, upper ? 1 : -1, top));
}

static double log_side_of (Shape s, Place p, int upper) {
  if (fabs(p.z) == HUGE_VAL) return (p.z > 0) == upper ? -HUGE_VAL : 0;
  if (is_normal(s)) return vlog_ndtr((upper ? -1 : 1) * normal_score(s, p));
  int is_upper = falls_at(s, p);
  double small = log_tail_beyond(s, p, is_upper);
  if (upper == is_upper) return fmin(small, 0);
  return small < 0 ? vlog1mexp(small) : -HUGE_VAL;
}

static double log_tail (const double v[], int upper) {
  Place p = place_of(score(v));
  return p.z == p.z ? log_side_of(shape_of(v[1], v[2]), p, upper) : p.z;
}

static double tail (const double v[], int upper) {
  Shape s = shape_of(v[1], v[2]);
  Place p = place_of(score(v));
  if (p.z != p.z) return p.z;
  if (fabs(p.z) == HUGE_VAL) return (p.z > 0) != upper;
  int is_upper = falls_at(s, p);
  double small = vexp(log_side_of(s, p, is_upper));
  return upper == is_upper ? small : 1 - small;
}

/* dz/da = -F_a/p: the slope of the smaller tail over the density */
static void slopes (const double *at, double *dx) {
  Shape s = shape_of(at[1], at[2]);
  Place p = place_of(score(at));
  dx[0] = dx[1] = dx[3] = 0;
  dx[2] = 1;
  double side = falls_at(s, p) ? 1 : -1, top = log_height(s, p);
  if (!(top > -HUGE_VAL)) return;
  Sums sum = integrate(s, p.t, side, top);
  dx[0] = at[4] * side * sum.by_a * p.r;
  dx[1] = at[4] * side * sum.by_b * p.r;
  dx[3] = p.z;
}

/* the peak of g, between 0 and the mean */
static double peak_of (Shape s) {
  double far = mean_at(s), low = fmin(0, far), high = fmax(0, far);
  for (int step = 0; step < 60; step++) {
    double t = 0.5 * (low + high);
    if (falls_at(s, place_at(t))) high = t;
    else low = t;
  }
  return 0.5 * (low + high);
}

/* at {t, a, b} */
static double standard_log_tail (const double v[], int upper) {
  return log_side_of(shape_of(v[1], v[2]), place_at(v[0]), upper);
}

static double standard_log_density (const double v[]) {
  return height_at(shape_of(v[1], v[2]), v[0]);
}

static double standard_log_density_slope (const double v[]) {
  return scores_of(shape_of(v[1], v[2]), place_at(v[0])).by_t;
}

/* t near where the tail of this side has this logarithm. It is about g/h, h being that of a bell
   curve which has the slope of log g there, and its bend. */
static double quantile_near (Shape s, double side, double level) {
  double far = vlog1p(s.a) + 2, t = clamp(mean_at(s), -far, far), way = 0;
  for (int step = 0; step < 60; step++) {
    Place p = place_at(t);
    double slope = -side * scores_of(s, p).by_t, bend = bend_at(s, p);
    double root = sqrt(fma(slope, slope, bend * (8 / PI)));
    double h = 0.5 * (slope > 0 ? slope + root : bend * (8 / PI) / (root - slope));
    double rest = fmin(log_height(s, p) - vlog(h), 0) - level, next = side * rest / h;
    double most = fmax(1, fabs(way));
    if (!(fabs(rest) > 0.02)) break;
    next = t + clamp(next, -most, most);
    if (!(fabs(next) < 700)) break;
    way += next - t;
    t = next;
  }
  return t;
}

/* z if that is where the law is a Cauchy law, else NaN */
static double cauchy_quantile (Shape s, double p, int upper) {
  double half = 0.5 - p, small = p > 0.5 ? 1 - p : p, part = PI * (small < 0.25 ? small : half);
  double tangent = vsin(part) / vcos(part);
  double z = small < 0.25 ? copysign(1 / tangent, half) : tangent;
  return s.a * fmax(1, fabs(z)) < 1e-18 ? (upper ? z : -z) : (double)NAN;
}

/* z if that is where the law is a Levy law, else NaN */
static double levy_quantile (Shape s, double p, int upper) {
  int is_far = upper == (s.b > 0);
  double root = is_far ? verfinv(p) : verfcinv(p), e = s.a / root / root;   /* e^|t| */
  double z = 0.5 * (e - 1 / e), rest = is_far ? p : 1 - p;
  int holds = is_levy(s) || (s.c == 0 && rest < 0.5 && e > 1 && vlog(e) > levy_from(s));
  return holds ? copysign(z, s.b) : (double)NAN;
}

/* z by a formula, or NaN */
static double closed_quantile (Shape s, double p, int upper) {
  double z = (double)NAN;
  if (s.b == 0 && p == 0.5) return 0;
  if (is_normal(s)) return fma(normal_scale(s), upper ? -vndtri(p) : vndtri(p), normal_mean(s));
  if (s.a < 1e-18) z = cauchy_quantile(s, p, upper);
  return s.c == 0 && z != z ? levy_quantile(s, p, upper) : z;
}

static double quantile (const double *at, int upper) {
  static const double LEAST = -1000, LAST = 750;   /* no probability is e^LEAST; sinh(LAST) overflows */
  SearchedLaw law = {3, standard_log_tail, standard_log_density, -HUGE_VAL, HUGE_VAL,
                     standard_log_density_slope};
  Shape s = shape_of(at[1], at[2]);
  double p = at[0], start = 0;
  if (p > 0 && p < 1) {
    double z = closed_quantile(s, p, upper);
    if (z == z) return fma(at[4], z, at[3]);
  }
  if (p > 0 && p < 1 && s.a < 1e20) {
    law.low = -LAST;
    law.high = LAST;
    start = quantile_near(s, (p > 0.5) == upper ? -1 : 1, vlog(p > 0.5 ? 1 - p : p));
  } else if (p > 0 && p < 1) {
    start = peak_of(s);
    law.low = start - reach(s, start, -1, LEAST);
    law.high = start + reach(s, start, 1, LEAST);
  }
  double t = search_quantile(law, at, upper, start);
  return fabs(t) == HUGE_VAL ? t : fma(at[4], place_at(t).z, at[3]);
}

enum { OPERANDS = 5 };

static const Implicit family = {
  .log_density = log_density, .log_density_slopes = log_density_slopes, .slopes = slopes,
  .tail = tail, .log_tail = log_tail, .quantile = quantile, .falls_on = 1
};

#include "kernel/implicit_kernels.h"
#include "kernel/density_kernels.h"

/* }====================================================== */


/* {=====================================================
** Mode and entropy
** ====================================================== */

/* between 0 and the mean, where the slope of log p changes its sign */
static double mode_of (Shape s) {
  double far = mean_at(s), low = fmin(0, far), high = fmax(0, far);
  for (int step = 0; step < 200; step++) {
    double t = 0.5 * (low + high);
    if (!(t > low && t < high)) break;
    Place p = place_at(t);
    if (scores_of(s, p).by_t > p.z / p.r) low = t;
    else high = t;
  }
  return place_at(0.5 * (low + high)).z;
}

static void mode (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++)
    out[i] = fma(in[3][i], mode_of(shape_of(in[0][i], in[1][i])), in[2][i]);
}

/* by b r - a z k - 2 z/r = 0, k = K0/K1 at u = a r, whose slope is k^2 + k/u - 1 */
static void mode_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    Shape s = shape_of(in[0][i], in[1][i]);
    Place p = place_of(mode_of(s));
    double k = k_ratio(s, p), u = s.a * p.r, bend = fma(k, k, k / u) - 1, az = s.a * p.z;
    double by_t = s.b * p.z - u * k - az * az * bend - 2 / (p.r * p.r);
    d[0][i] = in[3][i] * p.r * (p.z * fma(u, bend, k)) / by_t;
    d[1][i] = -in[3][i] * p.r * p.r / by_t;
    d[2][i] = 1;
    d[3][i] = p.z;
  }
}

/* of z, and its slopes */
static Sums entropy_of (double a, double b) {
  Shape s = shape_of(a, b);
  double t = peak_of(s), top = height_at(s, t), unit = vexp(top);
  Sums up = integrate(s, t, 1, top), down = integrate(s, t, -1, top);
  return (Sums) {.entropy = unit * (up.entropy + down.entropy),
                 .entropy_by_a = unit * (up.entropy_by_a + down.entropy_by_a),
                 .entropy_by_b = unit * (up.entropy_by_b + down.entropy_by_b)};
}

static void entropy (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = vlog(in[3][i]) + entropy_of(in[0][i], in[1][i]).entropy;
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    Sums sum = entropy_of(in[0][i], in[1][i]);
    d[0][i] = sum.entropy_by_a;
    d[1][i] = sum.entropy_by_b;
    d[2][i] = 0;
    d[3][i] = 1 / in[3][i];
  }
}

/* }====================================================== */


/* an inverse Gaussian variable of mean m and shape 1: one of two roots (Michael, Schucany, Haas) */
static double variance_from (double m, double normal, double uniform) {
  if (m == HUGE_VAL) return 1 / (normal * normal);
  double w = m * (normal * normal);
  double small = m / (1 + 0.5 * (w + sqrt(w) * sqrt(w + 4)));
  return uniform * (m + small) <= m ? small : m / small * m;
}

static void draw (const Philox *g, uint64_t first, size_t n, const double *const in[],
                  double *out) {
  double other[KERNEL_DRAW_MAX], uniform[KERNEL_DRAW_MAX];
  noise_normal(g, 0, first, n, out);
  noise_normal(g, 1, first, n, other);
  noise_uniform(g, 2, first, n, uniform);
  for (size_t i = 0; i < n; i++) {
    double v = variance_from(1 / shape_of(in[0][i], in[1][i]).c, other[i], uniform[i]);
    out[i] = fma(in[3][i], fma(in[1][i], v, sqrt(v) * out[i]), in[2][i]);
  }
}


const Kernel perilune_normalinversegaussian[] = {
  {.name = "log_prob", .n_in = 5, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 5, .slow = 1, .value = cdf,     .partials = cdf_partials},
  {.name = "sf",       .n_in = 5, .slow = 1, .value = sf,      .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 5, .slow = 1, .value = log_cdf, .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 5, .slow = 1, .value = log_sf,  .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 5, .slow = 1, .value = icdf,    .partials = icdf_partials},
  {.name = "isf",      .n_in = 5, .slow = 1, .value = isf,     .partials = isf_partials},
  {.name = "mode",     .n_in = 4, .slow = 1, .value = mode, .partials = mode_partials},
  {.name = "entropy",  .n_in = 4, .slow = 1, .value = entropy, .partials = entropy_partials},
  {.name = "rsample", .n_in = 5, .slow = 1, .partials = draw_partials,
   .sampler = &(const Sampler) {.draw = draw}},
  {.name = NULL}
};
