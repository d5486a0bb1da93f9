/*
** incbeta.c - the regularised incomplete beta function and its tails
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
*/
#include "special/gamma.h"
#include "special/incbeta.h"
#include "special/incbeta_parts.h"
#include "special/vgamma.h"
#include "special/vmath.h"


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
static BetaTail series_tail (Point s) {
  double a = s.a, b = s.b, x = s.x.hi;
  double correction = vlog1p(a * power_series(a, b, x));
  Pair e = pair_add(incbeta_small_exponent(a, b, x), (Pair) {correction, 0.0});
  double w = vexpm1(e.hi), share = b / (a + b);
  double slope = a * vexp(b * vlog1p(-x) - correction);
  if (share * (1.0 + w) <= 0.5)
    return (BetaTail) {.mantissa = share, .exponent = e, .slope = slope};
  double q = a / (a + b) - share * w;
  return (BetaTail) {.upper = 1, .mantissa = q, .slope = slope * (share * (1.0 + w)) / q};
}

/* 1 - I = D F by the fraction of the mirrored point; a <= 1 */
static BetaTail small_fraction_tail (Point s) {
  double f = incbeta_fraction(mirrored(s));
  Pair e = pair_scale(s.b, incbeta_log_y(s));
  e = pair_add(e, incbeta_small_exponent(s.a, s.b, s.x.hi));
  double height = s.a * (s.b / (s.a + s.b));
  return (BetaTail) {.upper = 1, .mantissa = height * f, .exponent = e, .slope = 1.0 / f};
}

/* I = D F, for a, b > 1 and x below the mean */
static BetaTail regular_tail (Point s) {
  double least = (s.a < s.b) ? s.a : s.b;
  double f = (least > 40.0) ? incbeta_integral(s) : incbeta_fraction(s);
  return (BetaTail) {.mantissa = incbeta_mode_height(s.a, s.b) * f,
                     .exponent = incbeta_mode_exponent(s), .slope = 1.0 / f};
}

static BetaTail tail_of_mirrored (BetaTail t) {
  t.upper = !t.upper;
  return t;
}

/* one shape at most 1: x is made the variable of that shape, or the smaller one if both are */
static BetaTail small_tail (Point s) {
  int both = s.a <= 1.0 && s.b <= 1.0;
  if (both ? s.x.hi > s.y.hi : s.b <= 1.0)
    return tail_of_mirrored(small_tail(mirrored(s)));
  if (both || (s.x.hi <= 0.7 && s.b * s.x.hi <= 1.0)) return series_tail(s);
  return small_fraction_tail(s);
}

static BetaTail tail_at (Point s) {
  if (s.a <= 1.0 || s.b <= 1.0) return small_tail(s);
  if (s.lambda.hi < 0.0) return tail_of_mirrored(regular_tail(mirrored(s)));
  return regular_tail(s);
}

/* mantissa * exp(exponent), scaled by 2^-256 last so that it is rounded once */
double incbeta_tail_value (BetaTail t) {
  const Pair shift = {177.44567822334599922, 5.9367598434465270e-15};
  if (t.exponent.hi > -500.0) return t.mantissa * exp_pair(t.exponent.hi, t.exponent.lo);
  Pair e = pair_add(t.exponent, shift);
  if (!(e.hi > -1200.0)) return 0.0;
  return t.mantissa * exp_pair(e.hi, e.lo) * 0x1p-256;
}

double incbeta_tail_log (BetaTail t) {
  return t.exponent.hi + (t.exponent.lo + vlog(t.mantissa));
}

/* shapes whose sum overflows describe a step; so do smaller ones in the same ratio */
BetaTail incbeta_tail (double a, double b, double x, double y) {
  double scale = (a + b < HUGE_VAL) ? 1.0 : 0x1p-600;
  return tail_at(point_at(a * scale, b * scale, x, y));
}

/* }====================================================== */


/* {=====================================================
** The function
** ====================================================== */

int incbeta_is_invalid (double a, double b, double x) {
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

/* I (upper = 0) or 1 - I (upper = 1) */
static double probability (double a, double b, double x, double y, int upper) {
  if (incbeta_is_invalid(a, b, x) || !(y >= 0.0 && y <= 1.0)) return NAN;
  double limit = limit_value(a, b, x, y);
  if (limit >= 0.0) return upper ? 1.0 - limit : limit;
  BetaTail t = incbeta_tail(a, b, x, y);
  double v = incbeta_tail_value(t);
  return (t.upper == upper) ? v : 1.0 - v;
}

static double log_probability (double a, double b, double x, double y, int upper) {
  if (incbeta_is_invalid(a, b, x) || !(y >= 0.0 && y <= 1.0)) return NAN;
  double limit = limit_value(a, b, x, y);
  if (limit >= 0.0) return (limit == upper) ? -HUGE_VAL : 0.0;
  BetaTail t = incbeta_tail(a, b, x, y);
  if (t.upper == upper) return incbeta_tail_log(t);
  return vlog1p(-incbeta_tail_value(t)) + 0.0;   /* no -0 */
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
** The leading term
** ====================================================== */

/* below it log(a B(a,b)) is its expansion in a */
static const double SMALL_SHAPE = 1e-5;

/* parts cancel for small a: a B(a,b) = (1 + a/b) Gamma(1 + a) Gamma(1 + b)/Gamma(1 + a + b) */
double special_log_beta_leading (double a, double b, double log_x) {
  if (!(a < SMALL_SHAPE)) return fma(a, log_x, -vlog(a)) - vbetaln(a, b);
  double slope = log_x + (special_polygamma(0, 1 + b) + EULER_GAMMA);
  double bend = 0.5 * (special_polygamma(1, 1 + b) - PI * PI / 6);
  return fma(a, fma(a, bend, slope), -vlog1p(a / b));
}

double special_log_beta_rest (double a, double b, double log_x) {
  double leading = special_log_beta_leading(a, b, log_x);
  return a < SMALL_SHAPE ? vlog1mexp(leading) : vlog1p(-vexp(leading));
}

/* }====================================================== */
