/*
** incbeta.c - regularised incomplete beta function and its inverse
**
** With D = x^a y^b / B(a,b), y = 1 - x, and lambda = a y - b x, the distance
** from the mean, a tail is D times a factor F of moderate size:
**
**   min(a,b) <= 1, x small   power series in x; both tails come from it
**   min(a,b) <= 1, elsewhere continued fraction for the other tail
**   1 < min(a,b) <= 40       continued fraction for the tail beyond x
**   min(a,b) > 40            Gauss-Legendre integral over that tail
**
** (The division of the domain follows Didonato and Morris, ACM TOMS 18
** (1992), 360-373; the integral replaces their expansion for large a and b.)
**
** D is formed from deviations from the mode a/(a+b), as Loader does for
** binomial probabilities, with its exponent as a pair of doubles, so that
** exp(-700) is as accurate as exp(-7).
*/
#include <math.h>

#include "special/incbeta.h"
#include "special/vgamma.h"
#include "special/vmath.h"


/*
** x, y: a point and its complement, exactly x + y = 1
** lambda = a y - b x
*/
typedef struct Point {
  double a, b;
  Pair x, y, lambda;
} Point;

/*
** A tail probability mantissa * exp(exponent), upper (1 - I) or lower (I).
** slope = D/tail, the rate |d log tail / d logit x|
*/
typedef struct Tail {
  int upper;
  double mantissa;
  Pair exponent;
  double slope;
} Tail;


/* {=====================================================
** Pairs
** ====================================================== */

static Pair exact_product (double a, double b) {
  double p = a * b;
  return (Pair) {p, fma(a, b, -p)};
}

static Pair pair_add (Pair a, Pair b) {
  Pair s = exact_sum(a.hi, b.hi);
  return fast_sum(s.hi, s.lo + (a.lo + b.lo));
}

static Pair pair_negative (Pair a) {
  return (Pair) {-a.hi, -a.lo};
}

static Pair pair_scale (double k, Pair a) {
  Pair p = exact_product(k, a.hi);
  return fast_sum(p.hi, fma(k, a.lo, p.lo));
}

static Pair pair_divide (Pair a, Pair b) {
  double q = a.hi / b.hi;
  double rest = fma(-q, b.hi, a.hi) + fma(-q, b.lo, a.lo);
  return fast_sum(q, rest / b.hi);
}

/* log w for a pair w > 0 */
static Pair log_of_pair (Pair w) {
  Pair l = log_pair(w.hi);
  return fast_sum(l.hi, l.lo + w.lo / w.hi);
}

/*
** log(1+u) - u for |u| <= 0.4: with s = u/(2+u), log(1+u) = 2 atanh(s) and
** 2s - u = -u s, hence -u s + 2 s^3 (1/3 + s^2/5 + ...), |s| <= 1/4
*/
static Pair log1pmx_of_pair (Pair u) {
  Pair s = pair_divide(u, pair_add((Pair) {2.0, 0.0}, u));
  double z = s.hi * s.hi, sum = 0.0;
  for (int k = 29; k >= 3; k -= 2)
    sum = fma(sum, z, 2.0 / k);
  Pair lead = pair_product(u, s);
  return fast_sum(-lead.hi, fma(s.hi * z, sum, -lead.lo));
}

/* }====================================================== */


/* {=====================================================
** Points
** ====================================================== */

/* 1 - x, exactly, for 0 <= x <= 1 */
static Pair complement (double x) {
  return exact_sum(1.0, -x);
}

static Point point_at (double a, double b, double x, double y) {
  Point s = {.a = a, .b = b, .x = {x, 0.0}, .y = {y, 0.0}};
  if (x <= y)
    s.y = complement(x);
  else
    s.x = complement(y);
  s.lambda = pair_add(pair_scale(a, s.y), pair_scale(-b, s.x));
  return s;
}

/* the same point seen from the other end: the law of 1 - X */
static Point mirrored (Point s) {
  return (Point) {.a = s.b, .b = s.a, .x = s.y, .y = s.x,
                  .lambda = pair_negative(s.lambda)};
}

/* log y, from x where y is near 1 */
static Pair log_y (Point s) {
  if (s.x.hi > 0.3) return log_of_pair(s.y);
  Pair minus = pair_negative(s.x);
  return pair_add(minus, log1pmx_of_pair(minus));
}

/* }====================================================== */


/* {=====================================================
** The factor D = x^a y^b / B(a,b)
** ====================================================== */

/* k (log(1+u) - u) where 1 + u = x n/k, n = a + b */
static Pair deviation (double k, Pair x, Pair n, Pair u) {
  if (fabs(u.hi) <= 0.4) return pair_scale(k, log1pmx_of_pair(u));
  Pair ratio = pair_divide(pair_product(x, n), (Pair) {k, 0.0});
  return pair_scale(k, pair_add(log_of_pair(ratio), pair_negative(u)));
}

/*
** Exponent of D relative to the mode: a log(x/x0) + b log(y/y0) with
** x/x0 = 1 - lambda/a, y/y0 = 1 + lambda/b; the linear terms cancel.
*/
static Pair mode_exponent (Point s) {
  Pair n = exact_sum(s.a, s.b);
  Pair u = pair_divide(s.lambda, (Pair) {-s.a, 0.0});
  Pair v = pair_divide(s.lambda, (Pair) {s.b, 0.0});
  return pair_add(deviation(s.a, s.x, n, u), deviation(s.b, s.y, n, v));
}

/* D at the mode: sqrt(a b/(2 pi (a+b))) and Stirling's corrections; a, b > 1 */
static double mode_height (double a, double b) {
  const double inverse_2pi = 0.15915494309189533577;
  double n = a + b;
  double root = (a < b) ? a * (b / n) : b * (a / n);
  double correction = vstirlerr(n) - vstirlerr(a) - vstirlerr(b);
  return sqrt(root * inverse_2pi) * vexp(correction);
}

/*
** d(z+a) - d(z) for Stirling's correction d(z) = 1/(12 z) - 1/(360 z^3) + ...
** and z >= 16, with relative accuracy for small a: with r = 1/z, q = 1/(z+a),
** q^n - r^n = (q - r) sum q^i r^(n-1-i)
*/
static double stirling_difference (double a, double z) {
  static const double coefficient[] = {  /* B_2k / (2k (2k-1)) */
    0.083333333333333333333, -0.0027777777777777777778, 0.00079365079365079365079,
    -0.00059523809523809523810, 0.00084175084175084175084, -0.0019175269175269175269
  };
  double r = 1.0 / z, q = 1.0 / (z + a);
  double power = 1.0, bundle = 1.0, sum = 0.0;
  for (int k = 0; k < 6; k++) {
    sum = fma(coefficient[k], bundle, sum);
    power *= q;
    bundle = fma(bundle, r, power);
    power *= q;
    bundle = fma(bundle, r, power);
  }
  return -a * q * r * sum;
}

/* log(Gamma(z+a)/Gamma(z)) - a log z for z >= 16 */
static double gamma_ratio_rest (double a, double z) {
  double h = a / z;
  return fma(z, vlog1pmx(h), fma(a - 0.5, vlog1p(h), stirling_difference(a, z)));
}

/*
** a log x + log(Gamma(1+a+b)/(Gamma(1+a) Gamma(1+b))), of the order of a for
** small a. Gamma(1+a+b)/(Gamma(1+a)Gamma(1+b)) is the product over k >= 1 of
** 1 + a b/(k (k+a+b)): fifteen factors, then Stirling at 16 and 16 + b.
*/
static Pair small_exponent (double a, double b, double x) {
  double product = 0.0, z = 16.0 + b;
  for (int k = 1; k <= 15; k++) {
    double t = a * (b / (k * (k + a + b)));
    product += fma(product, t, t);
  }
  double lift = (x > 1e-290) ? 1.0 : 0x1p60;
  Pair log_scaled = pair_add(log_pair(x * lift * (z * 0.0625)), log_pair(1.0 / lift));
  double rest = gamma_ratio_rest(a, z) - gamma_ratio_rest(a, 16.0);
  return pair_add(pair_scale(a, log_scaled), (Pair) {rest + vlog1p(product), 0.0});
}

/* }====================================================== */


/* {=====================================================
** The factor F of the lower tail, I = D F
** ====================================================== */

/*
** F = 1/(beta_0 + alpha_1/(beta_1 + alpha_2/(beta_2 + ...))),
**   alpha_n = (a+n-1)(a+b+n-1) n (b-n) x^2 / (a+2n-1)^2
**   beta_n  = n + n (b-n) x/(a+2n-1) + (a+n)(lambda + 1 + n (1+y))/(a+2n+1)
** by the forward recurrence of the convergents, the last denominator kept 1.
*/
static double continued_fraction (Point s) {
  double a = s.a, b = s.b, x = s.x.hi, step = 1.0 + s.y.hi;
  double c = s.lambda.hi + 1.0, inverse = 1.0 / (a + 1.0);
  double f = 1.0 / (a * inverse * c), before = 0.0, weight = f;
  for (int n = 1; n <= 1000; n++) {
    double w = n * ((b - n) * x) * inverse;
    double alpha = w * (a + n - 1.0) * ((a + b + (n - 1.0)) * inverse * x);
    inverse = 1.0 / (a + (2.0 * n + 1.0));
    double beta = n + w + (a + n) * inverse * fma(n, step, c);
    double scale = 1.0 / fma(alpha, weight, beta);
    double next = fma(alpha, before, beta * f) * scale;
    if (fabs(next - f) <= 2.5e-16 * next) return next;
    before = f * scale;
    weight = scale;
    f = next;
  }
  return f;
}

/* the 32-point Gauss-Legendre rule on (-1,1), from the far end to the near one */
static const double gauss_node[32] = {
  0.99726386184948156354, 0.98561151154526833540, 0.96476225558750643077,
  0.93490607593773968917, 0.89632115576605212397, 0.84936761373256997013,
  0.79448379596794240696, 0.73218211874028968039, 0.66304426693021520098,
  0.58771575724076232904, 0.50689990893222939002, 0.42135127613063534536,
  0.33186860228212764978, 0.23928736225213707454, 0.14447196158279649349,
  0.048307665687738316235, -0.048307665687738316235, -0.14447196158279649349,
  -0.23928736225213707454, -0.33186860228212764978, -0.42135127613063534536,
  -0.50689990893222939002, -0.58771575724076232904, -0.66304426693021520098,
  -0.73218211874028968039, -0.79448379596794240696, -0.84936761373256997013,
  -0.89632115576605212397, -0.93490607593773968917, -0.96476225558750643077,
  -0.98561151154526833540, -0.99726386184948156354
};

static const double gauss_weight[32] = {
  0.0070186100094700966004, 0.016274394730905670605, 0.025392065309262059456,
  0.034273862913021433103, 0.042835898022226680657, 0.050998059262376176196,
  0.058684093478535547145, 0.065822222776361846838, 0.072345794108848506225,
  0.078193895787070306472, 0.083311924226946755222, 0.087652093004403811143,
  0.091173878695763884713, 0.093844399080804565639, 0.095638720079274859419,
  0.096540088514727800567, 0.096540088514727800567, 0.095638720079274859419,
  0.093844399080804565639, 0.091173878695763884713, 0.087652093004403811143,
  0.083311924226946755222, 0.078193895787070306472, 0.072345794108848506225,
  0.065822222776361846838, 0.058684093478535547145, 0.050998059262376176196,
  0.042835898022226680657, 0.034273862913021433103, 0.025392065309262059456,
  0.016274394730905670605, 0.0070186100094700966004
};

/*
** The lower tail seen from x in steps r: with t = x (1 - y r),
**   F = int_0^(1/y) exp(-g(r)) dr,
**   g(r) = slope r - (a-1) log1pmx(-y r) - (b-1) log1pmx(x r)
** and slope = (a-1) y - (b-1) x; a > 1. g is convex for b >= 1.
*/
typedef struct Descent { double a1, b1, x, y, slope; } Descent;

static Descent descent_from (Point s) {
  return (Descent) {.a1 = s.a - 1.0, .b1 = s.b - 1.0, .x = s.x.hi, .y = s.y.hi,
                    .slope = s.lambda.hi - s.y.hi + s.x.hi};
}

static inline double descent (Descent d, double r) {
  double curved = fma(d.a1, vlog1pmx(-d.y * r), d.b1 * vlog1pmx(d.x * r));
  return fma(d.slope, r, -curved);
}

/*
** an r beyond which exp(-g) may be neglected, g(r) >= 40: the root of the
** parabola that touches g at 0, then Newton, which overshoots (g is convex);
** for b < 1, from g(r) >= (a-1) y r
*/
static double descent_end (Descent d) {
  const double depth = 40.0;
  if (d.b1 < 0.0) return fmin(depth / (d.a1 * d.y), 1.0 / d.y);
  double curvature = fma(d.a1 * d.y, d.y, d.b1 * d.x * d.x);
  double root = sqrt(fma(d.slope, d.slope, 2.0 * depth * curvature));
  double r = (d.slope > 0.0) ? 2.0 * depth / (root + d.slope) : (root - d.slope) / curvature;
  for (int i = 0; i < 3; i++) {
    r = fmin(r, 0.999 / d.y);
    double u = d.y * r, v = d.x * r;
    double rate = d.slope + (d.a1 * d.y * (u / (1.0 - u)) + d.b1 * d.x * (v / (1.0 + v)));
    r += (depth - descent(d, r)) / rate;
  }
  return fmin(r, 1.0 / d.y);
}

static double tail_integral (Point s) {
  Descent d = descent_from(s);
  double half = 0.5 * descent_end(d), sum = 0.0, term[32];
  for (int i = 0; i < 32; i++)
    term[i] = gauss_weight[i] * vexp(-descent(d, half * (1.0 + gauss_node[i])));
  for (int i = 0; i < 32; i++)
    sum += term[i];
  return half * sum;
}

/* }====================================================== */


/* {=====================================================
** Tails
** ====================================================== */

/* S = sum over n >= 1 of (1-b)_n x^n / (n! (a+n)) */
static double power_series (double a, double b, double x) {
  double c = 1.0, sum = 0.0, term;
  int n = 1;
  do {
    c *= (n - b) * x / n;
    term = c / (a + n);
    sum += term;
  } while (fabs(term) > 1e-17 * fabs(sum) && ++n <= 1000);
  return sum;
}

/*
** With 1 + w = exp(small_exponent) (1 + a S):
**   I = b/(a+b) (1 + w),   1 - I = (a - b w)/(a+b)
** D/I = a y^b/(1 + a S). Needs a <= 1 and b x <= 1 or b <= 1.
*/
static Tail series_tail (Point s) {
  double a = s.a, b = s.b, x = s.x.hi;
  double correction = vlog1p(a * power_series(a, b, x));
  Pair e = pair_add(small_exponent(a, b, x), (Pair) {correction, 0.0});
  double w = vexpm1(e.hi), share = b / (a + b);
  double slope = a * vexp(b * vlog1p(-x) - correction);
  if (share * (1.0 + w) <= 0.5)
    return (Tail) {.mantissa = share, .exponent = e, .slope = slope};
  double q = a / (a + b) - share * w;
  return (Tail) {.upper = 1, .mantissa = q, .slope = slope * (share * (1.0 + w)) / q};
}

/* 1 - I = D F by the fraction of the mirrored point; a <= 1 */
static Tail small_fraction_tail (Point s) {
  double f = continued_fraction(mirrored(s));
  Pair e = pair_scale(s.b, log_y(s));
  e = pair_add(e, small_exponent(s.a, s.b, s.x.hi));
  double height = s.a * (s.b / (s.a + s.b));
  return (Tail) {.upper = 1, .mantissa = height * f, .exponent = e, .slope = 1.0 / f};
}

/* I = D F, for a, b > 1 and x below the mean */
static Tail regular_tail (Point s) {
  double least = (s.a < s.b) ? s.a : s.b;
  double f = (least > 40.0) ? tail_integral(s) : continued_fraction(s);
  return (Tail) {.mantissa = mode_height(s.a, s.b) * f, .exponent = mode_exponent(s),
                 .slope = 1.0 / f};
}

static Tail tail_of_mirrored (Tail t) {
  t.upper = !t.upper;
  return t;
}

/* one shape at most 1: x is made the variable of that shape, or the smaller one if both are */
static Tail small_tail (Point s) {
  int both = s.a <= 1.0 && s.b <= 1.0;
  if (both ? s.x.hi > s.y.hi : s.b <= 1.0)
    return tail_of_mirrored(small_tail(mirrored(s)));
  if (both || (s.x.hi <= 0.7 && s.b * s.x.hi <= 1.0)) return series_tail(s);
  return small_fraction_tail(s);
}

static Tail tail_at (Point s) {
  if (s.a <= 1.0 || s.b <= 1.0) return small_tail(s);
  if (s.lambda.hi < 0.0) return tail_of_mirrored(regular_tail(mirrored(s)));
  return regular_tail(s);
}

/* mantissa * exp(exponent), scaled by 2^-256 last so that it is rounded once */
static double tail_value (Tail t) {
  const Pair shift = {177.44567822334599922, 5.9367598434465270e-15};
  if (t.exponent.hi > -500.0) return t.mantissa * exp_pair(t.exponent.hi, t.exponent.lo);
  Pair e = pair_add(t.exponent, shift);
  if (!(e.hi > -1200.0)) return 0.0;
  return t.mantissa * exp_pair(e.hi, e.lo) * 0x1p-256;
}

static double tail_log (Tail t) {
  return t.exponent.hi + (t.exponent.lo + vlog(t.mantissa));
}

/* }====================================================== */


/* {=====================================================
** The function
** ====================================================== */

static int is_invalid (double a, double b, double x) {
  return !(a >= 0.0 && b >= 0.0 && x >= 0.0 && x <= 1.0) || (a == 0.0 && b == 0.0)
         || (a == HUGE_VAL && b == HUGE_VAL);
}

/*
** the value of I where it is 0 or 1 by limit, -1 inside: point masses for
** a = 0 or b = inf at 0, b = 0 or a = inf at 1
*/
static double limit_value (double a, double b, double x, double y) {
  if (y == 0.0) return 1.0;
  if (a == 0.0 || b == HUGE_VAL) return 1.0;
  return (x == 0.0 || b == 0.0 || a == HUGE_VAL) ? 0.0 : -1.0;
}

/* shapes whose sum overflows describe a step; so do smaller ones in the same ratio */
static Tail tail_between (double a, double b, double x, double y) {
  double scale = (a + b < HUGE_VAL) ? 1.0 : 0x1p-600;
  return tail_at(point_at(a * scale, b * scale, x, y));
}

/* I (upper = 0) or 1 - I (upper = 1) */
static double probability (double a, double b, double x, double y, int upper) {
  if (is_invalid(a, b, x) || !(y >= 0.0 && y <= 1.0)) return NAN;
  double limit = limit_value(a, b, x, y);
  if (limit >= 0.0) return upper ? 1.0 - limit : limit;
  Tail t = tail_between(a, b, x, y);
  double v = tail_value(t);
  return (t.upper == upper) ? v : 1.0 - v;
}

static double log_probability (double a, double b, double x, double y, int upper) {
  if (is_invalid(a, b, x) || !(y >= 0.0 && y <= 1.0)) return NAN;
  double limit = limit_value(a, b, x, y);
  if (limit >= 0.0) return (limit == upper) ? -HUGE_VAL : 0.0;
  Tail t = tail_between(a, b, x, y);
  return (t.upper == upper) ? tail_log(t) : vlog1p(-tail_value(t)) + 0.0;  /* no -0 */
}

double special_betainc (double a, double b, double x) {
  return probability(a, b, x, 1.0 - x, 0);
}

double special_betaincc (double a, double b, double x) {
  return probability(a, b, x, 1.0 - x, 1);
}

double special_log_betainc (double a, double b, double x) {
  return log_probability(a, b, x, 1.0 - x, 0);
}

double special_log_betaincc (double a, double b, double x) {
  return log_probability(a, b, x, 1.0 - x, 1);
}

double special_betainc_xy (double a, double b, double x, double y) {
  return probability(a, b, x, y, 0);
}

double special_betaincc_xy (double a, double b, double x, double y) {
  return probability(a, b, x, y, 1);
}

double special_log_betainc_xy (double a, double b, double x, double y) {
  return log_probability(a, b, x, y, 0);
}

double special_log_betaincc_xy (double a, double b, double x, double y) {
  return log_probability(a, b, x, y, 1);
}

/* }====================================================== */


/* {=====================================================
** The inverse
**
** In t = logit x both log I and log(1 - I) are concave, because the density
** of logit X is log-concave. Newton's method for log I(t) = log p therefore
** never overshoots to the right, and converges from any start.
** ====================================================== */

typedef struct Quantile { double x, y; } Quantile;

static Quantile quantile_from_log (double log_x) {
  return (Quantile) {vexp(log_x), -vexpm1(log_x)};
}

/* x -> logit^-1(logit x + t), the smaller coordinate kept, the other its complement */
static Quantile quantile_moved (Quantile s, double t) {
  double e = vexp(-fabs(t));
  double small = e * ((t < 0.0) ? s.x : s.y), large = (t < 0.0) ? s.y : s.x;
  double total = small + large;
  Quantile moved = {small / total, large / total};
  if (t >= 0.0) moved = (Quantile) {moved.y, moved.x};
  if (moved.x <= moved.y) moved.y = 1.0 - moved.x;
  else moved.x = 1.0 - moved.y;
  return moved;
}

/* log of (p a B(a,b))^(1/a), the root of the leading term; min(a,b) <= 1 */
static double power_root (double a, double b, double log_p) {
  double least = (a < b) ? a : b, most = (a < b) ? b : a;
  double rest = small_exponent(least, most, 1.0).hi;
  return (log_p - vlog(b / (a + b)) - rest) / a;
}

/*
** Starts for p <= 1/2. a <= 1 < b: the leading term, below the root.
** b <= 1 < a: I <= x^a. Both small: the leading term, or the middle.
*/
static Quantile small_start (double a, double b, double log_p) {
  if (a > 1.0) return quantile_from_log(log_p / a);
  double log_x = power_root(a, b, log_p);
  if (log_x < -LN2 || b > 1.0) return quantile_from_log(log_x);
  return (Quantile) {0.5, 0.5};
}

/*
** Start for a, b > 1, from the normal quantile (Abramowitz and Stegun 26.2.22,
** 26.5.22), not below the root of the leading term
*/
static Quantile normal_start (double a, double b, double log_p) {
  double r = sqrt(-2.0 * log_p);
  double z = r - fma(0.27061, r, 2.30753) / fma(fma(0.04481, r, 0.99229), r, 1.0);
  double s = 1.0 / (2.0 * a - 1.0), t = 1.0 / (2.0 * b - 1.0);
  double h = 2.0 / (s + t), l = (z * z - 3.0) / 6.0;
  double w = z * sqrt(h + l) / h - (t - s) * (l + 5.0 / 6.0 - 2.0 / (3.0 * h));
  double least = (log_p + vlog(a) + vbetaln(a, b)) / a;
  double odds = (b / a) * vexp(2.0 * w);
  Quantile start = {1.0 / (1.0 + odds), 1.0 / (1.0 + (a / b) * vexp(-2.0 * w))};
  if (least < -1.0 && !(start.x > vexp(least))) return quantile_from_log(least);
  return start;
}

/* log(I/p), by the quotient unless I or p is near underflow; v is the value of t */
static double log_miss (Tail t, double v, double p) {
  if (v > 1e-290 && p > 1e-290) return vlog_ratio(t.upper ? 1.0 - v : v, p);
  return (t.upper ? vlog1p(-v) : tail_log(t)) - vlog(p);
}

/*
** The longest sensible step: 40 standard deviations of logit X where the start
** is good (this matters when they are below an ulp of x), else no bound upwards
*/
static double bounded_step (double a, double b, double step) {
  double reach = (a > 1.0 && b > 1.0) ? 40.0 * sqrt(1.0 / a + 1.0 / b) : HUGE_VAL;
  return clamp(step, -fmin(reach, 40.0), reach);
}

/* one step in logit x, Newton's or Halley's; returns its length in units of the curvature */
static double refine (double a, double b, double p, Quantile *s) {
  Tail t = tail_between(a, b, s->x, s->y);
  double v = tail_value(t);
  double f = log_miss(t, v, p);
  double slope = t.upper ? t.slope * (v / (1.0 - v)) : t.slope;
  double bend = a * s->y - b * s->x - slope;
  double newton = -f / slope;
  double turn = 0.5 * newton * bend;
  double step = newton / ((fabs(turn) < 0.25) ? 1.0 + turn : 1.0);
  *s = quantile_moved(*s, bounded_step(a, b, step));
  return fabs(newton) * (1.0 + slope + fabs(bend));
}

/* the quantile for 0 < p <= 1/2 */
static Quantile lower_quantile (double a, double b, double p) {
  double log_p = vlog(p);
  Quantile s = (a > 1.0 && b > 1.0) ? normal_start(a, b, log_p) : small_start(a, b, log_p);
  for (int i = 0; i < 100 && s.x > 0.0 && s.y > 0.0; i++) {
    Quantile before = s;
    double length = refine(a, b, p, &s);
    if (!(length > 1e-5) || (s.x == before.x && s.y == before.y)) break;
  }
  return s;
}

/* the point masses, and p = 0 and 1 */
static int limit_quantile (double a, double b, double p, int upper, Quantile *s) {
  if (is_invalid(a, b, p)) *s = (Quantile) {NAN, NAN};
  else if (a == 0.0 || b == HUGE_VAL) *s = (Quantile) {0.0, 1.0};
  else if (b == 0.0 || a == HUGE_VAL) *s = (Quantile) {1.0, 0.0};
  else if (p == 0.0) *s = (Quantile) {upper, !upper};
  else if (p == 1.0) *s = (Quantile) {!upper, upper};
  else return 0;
  return 1;
}

/* the smaller tail decides which end to count from; 1 - p is exact for p >= 1/2 */
void special_betaincinv_xy (double a, double b, double p, int upper,
                            double *x, double *y) {
  Quantile s;
  if (!limit_quantile(a, b, p, upper, &s)) {
    double scale = (a + b < HUGE_VAL) ? 1.0 : 0x1p-600;
    int mirror = (p <= 0.5) == upper;
    double tail = (p <= 0.5) ? p : 1.0 - p;
    a *= scale, b *= scale;
    s = mirror ? lower_quantile(b, a, tail) : lower_quantile(a, b, tail);
    if (mirror) s = (Quantile) {s.y, s.x};
  }
  *x = s.x;
  *y = s.y;
}

double special_betaincinv (double a, double b, double p) {
  double x, y;
  special_betaincinv_xy(a, b, p, 0, &x, &y);
  return x;
}

double special_betainccinv (double a, double b, double q) {
  double x, y;
  special_betaincinv_xy(a, b, q, 1, &x, &y);
  return x;
}

/* }====================================================== */


/* {=====================================================
** Derivatives of the quantile
**
** With I = D F and density D/(x y), at fixed I:
**   dx/da = -x y (F (log x + psi(a+b) - psi(a)) + dF/da)
**   dx/db = -x y (F (log y + psi(a+b) - psi(b)) + dF/db)
** where neither sum cancels as long as x is on its own side of the mean.
** ====================================================== */

typedef struct Slopes { double da, db; } Slopes;

/*
** psi(z+h) - psi(z) - log(1 + h/z) for z >= 16, from
** psi(z) = log z - 1/(2z) - sum B_2k/(2k z^2k)
*/
static double digamma_rest (double z, double h) {
  static const double coefficient[] = {  /* B_2k / 2k */
    0.083333333333333333333, -0.0083333333333333333333, 0.0039682539682539682540,
    -0.0041666666666666666667, 0.0075757575757575757576, -0.021092796092796092796
  };
  double r = 1.0 / z, q = 1.0 / (z + h), r2 = r * r, q2 = q * q;
  double power = 1.0, bundle = 1.0, sum = 0.0;
  for (int k = 0; k < 6; k++) {
    sum = fma(coefficient[k], bundle, sum);
    power *= q2;
    bundle = fma(bundle, r2, power);
  }
  return h * r * q * fma(r + q, sum, 0.5);
}

/* psi(z+h) - psi(z), z > 0, h >= 0 */
static double digamma_difference (double z, double h) {
  double sum = 0.0;
  for (; z < 16.0; z += 1.0)
    sum += h / (z + h) / z;
  return sum + (vlog1p(h / z) + digamma_rest(z, h));
}

/* log x + psi(a+b) - psi(a); near the mean through log(x/x0), x/x0 = 1 - lambda/a */
static double log_excess (Point s) {
  double u = -s.lambda.hi / s.a;
  if (s.a < 16.0) {
    double log_x = (s.x.hi > 0.5) ? vlog1p(-s.y.hi) : vlog(s.x.hi);
    return log_x + digamma_difference(s.a, s.b);
  }
  double ratio = (u < -0.5) ? vlog(s.x.hi * ((s.a + s.b) / s.a)) : vlog1p(u);
  return ratio + digamma_rest(s.a, s.b);
}

/*
** For a > 1: F = (1/a) sum c_n, c_n = prod x (a+b+k-1)/(a+k): all terms
** positive. The 1/a in dF/da is joined with psi(a), which leaves psi(1+a).
*/
static Slopes series_slopes (Point s) {
  double a = s.a, b = s.b, x = s.x.hi, n = a + b;
  double c = 1.0, sum = 1.0, e = 0.0, f = 0.0, sum_e = 0.0, sum_f = 0.0;
  for (int k = 1; k <= 2000 && c > 1e-18 * sum; k++) {
    double up = 1.0 / (n + (k - 1.0)), down = 1.0 / (a + k);
    c *= x * (n + (k - 1.0)) * down;
    f += up;
    e += (1.0 - b) * up * down;
    sum += c;
    sum_e = fma(c, e, sum_e);
    sum_f = fma(c, f, sum_f);
  }
  double excess_a = vlog(x) + (digamma_difference(1.0 + a, b) - 1.0 / n);
  double scale = -x * (s.y.hi / a);
  return (Slopes) {scale * fma(sum, excess_a, sum_e),
                   scale * fma(sum, log_excess(mirrored(s)), sum_f)};
}

/*
** For a <= 1: I = x^a G/(a B), G = 1 + a S with the S of power_series, whose
** terms c_n/(a+n) give dS/db through c_n' = dc_n/db. Every part of dI/db is
** of the order of a, as it must be for small a.
*/
static Slopes power_slopes (Point s) {
  double a = s.a, b = s.b, x = s.x.hi, n = a + b;
  double c = 1.0, c_b = 0.0, sum = 0.0, sum_a = 0.0, sum_b = 0.0;
  for (int k = 1; k <= 1000 && fabs(c) + fabs(c_b) > 1e-18; k++) {
    double step = x / k, r = 1.0 / (a + k);
    c_b = (c_b * (k - b) - c) * step;
    c *= (k - b) * step;
    sum = fma(c, r, sum);
    sum_a = fma(c, k * r * r, sum_a);
    sum_b = fma(c_b, r, sum_b);
  }
  double g = fma(a, sum, 1.0), scale = -x * vexp((1.0 - b) * vlog1p(-x));
  double excess_a = vlog(x) + (digamma_difference(1.0 + a, b) - 1.0 / n);
  return (Slopes) {scale * (fma(g, excess_a, sum_a) / a),
                   scale * fma(g, digamma_difference(b, a) / a, sum_b)};
}

/* F by the tail integral; its derivatives bring log(1 - y r) and log(1 + x r) under it */
static Slopes integral_slopes (Point s) {
  Descent d = descent_from(s);
  double half = 0.5 * descent_end(d), sum = 0.0, sum_a = 0.0, sum_b = 0.0;
  double weight[32], log_a[32], log_b[32];
  for (int i = 0; i < 32; i++) {
    double r = half * (1.0 + gauss_node[i]);
    weight[i] = gauss_weight[i] * vexp(-descent(d, r));
    log_a[i] = vlog1p(-d.y * r);
    log_b[i] = vlog1p(d.x * r);
  }
  for (int i = 0; i < 32; i++) {
    sum += weight[i];
    sum_a = fma(weight[i], log_a[i], sum_a);
    sum_b = fma(weight[i], log_b[i], sum_b);
  }
  double scale = -d.x * d.y * half;
  return (Slopes) {scale * fma(sum, log_excess(s), sum_a),
                   scale * fma(sum, log_excess(mirrored(s)), sum_b)};
}

static Slopes slopes_of_mirrored (Slopes m) {
  return (Slopes) {-m.db, -m.da};
}

/*
** Both shapes large: the integral over the smaller tail. Else, counted from
** the nearer end, the series, until the tail below x is nearly everything.
*/
static Slopes slopes_at (Point s) {
  int large = s.a > 40.0 && s.b > 40.0;
  if (large ? s.lambda.hi < 0.0 : s.x.hi > s.y.hi)
    return slopes_of_mirrored(slopes_at(mirrored(s)));
  if (large) return integral_slopes(s);
  if (-s.lambda.hi <= 2.5 + sqrt(s.a))
    return (s.a <= 1.0) ? power_slopes(s) : series_slopes(s);
  return slopes_of_mirrored(integral_slopes(mirrored(s)));
}

/* at the ends of the support, which only underflow reaches, x no longer moves */
void special_beta_dx (double a, double b, double x, double *da, double *db) {
  Slopes d = {NAN, NAN};
  int valid = a > 0.0 && b > 0.0 && a < HUGE_VAL && b < HUGE_VAL;
  if (valid && x > 0.0 && x < 1.0) d = slopes_at(point_at(a, b, x, 1.0 - x));
  else if (valid && (x == 0.0 || x == 1.0)) d = (Slopes) {0.0, 0.0};
  *da = d.da;
  *db = d.db;
}

double special_beta_dx_da (double a, double b, double x) {
  double da, db;
  special_beta_dx(a, b, x, &da, &db);
  return da;
}

double special_beta_dx_db (double a, double b, double x) {
  double da, db;
  special_beta_dx(a, b, x, &da, &db);
  return db;
}

/* }====================================================== */
