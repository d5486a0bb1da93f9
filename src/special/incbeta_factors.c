/*
** incbeta_factors.c - the factor D = x^a y^b / B(a,b), and F as a fraction
**
** D is formed from deviations from the mode a/(a+b), as Loader does for
** binomial probabilities, with its exponent as a pair of doubles, so that
** exp(-700) is as accurate as exp(-7).
*/
#include "special/constants.h"
#include "special/incbeta_parts.h"
#include "special/vgamma.h"
#include "special/vmath.h"
#include "special/vpow.h"


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

Pair incbeta_log_y (Point s) {
  if (s.x.hi > 0.3) return log_of_pair(s.y);
  Pair minus = pair_negative(s.x);
  return pair_add(minus, log1pmx_of_pair(minus));
}


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
Pair incbeta_mode_exponent (Point s) {
  Pair n = exact_sum(s.a, s.b);
  Pair u = pair_divide(s.lambda, (Pair) {-s.a, 0.0});
  Pair v = pair_divide(s.lambda, (Pair) {s.b, 0.0});
  return pair_add(deviation(s.a, s.x, n, u), deviation(s.b, s.y, n, v));
}

/* D at the mode: sqrt(a b/(2 pi (a+b))) and Stirling's corrections; a, b > 1 */
double incbeta_mode_height (double a, double b) {
  double n = a + b;
  double root = (a < b) ? a * (b / n) : b * (a / n);
  double correction = vstirlerr(n) - vstirlerr(a) - vstirlerr(b);
  return sqrt(root * INV_TWO_PI) * vexp(correction);
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
** Gamma(1+a+b)/(Gamma(1+a) Gamma(1+b)) is the product over k >= 1 of
** 1 + a b/(k (k+a+b)): fifteen factors, then Stirling at 16 and 16 + b.
*/
Pair incbeta_small_exponent (double a, double b, double x) {
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


/*
** F = 1/(beta_0 + alpha_1/(beta_1 + alpha_2/(beta_2 + ...))),
**   alpha_n = (a+n-1)(a+b+n-1) n (b-n) x^2 / (a+2n-1)^2
**   beta_n  = n + n (b-n) x/(a+2n-1) + (a+n)(lambda + 1 + n (1+y))/(a+2n+1)
** by the forward recurrence of the convergents, the last denominator kept 1.
*/
double incbeta_fraction (Point s) {
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
