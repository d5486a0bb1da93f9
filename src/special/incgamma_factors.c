/*
** incgamma_factors.c - the factor x^a e^-x / Gamma(a), and the series and the
** continued fraction that stand beside it
*/
#include "special/incgamma_parts.h"
#include "special/vgamma.h"
#include "special/vmath.h"
#include "special/vpow.h"

enum { MAX_TERMS = 500 };


/* atanh(s)/s - 1 = s^2 (1/3 + s^2/5 + s^4/7 + ...) for |s| <= 0.172, relative error 2^-62 */
Pair incgamma_atanh_series (Pair s) {
  Pair w = pair_product(s, s);
  double z = w.hi, r = 1.0 / 27;
  for (int n = 25; n > 3; n -= 2) r = fma(r, z, 1.0 / n);
  Pair third = fast_sum(0.33333333333333333333, fma(r, z, 1.8503717077085942e-17));
  return pair_product(w, third);
}

/* 1/Gamma(1+b) - 1 for |b| <= 1/2: the Maclaurin series, 2^-58 */
double incgamma_reciprocal_gamma1pm1 (double b) {
  static const double c[] = {
    0.57721566490153286061, -0.65587807152025388108, -0.042002635034095235529,
    0.1665386113822914895, -0.042197734555544336748, -0.0096219715278769735621,
    0.0072189432466630995424, -0.0011651675918590651121, -0.00021524167411495097282,
    0.00012805028238811618615, -0.000020134854780788238656, -1.2504934821426706573e-6,
    1.1330272319816958824e-6, -2.0563384169776071035e-7, 6.1160951044814158179e-9,
    5.0020076444692229301e-9, -1.1812745704870201446e-9, 1.0434267116911005105e-10,
    7.782263439905071254e-12
  };
  double r = c[18];
  for (int i = 17; i >= 0; i--) r = fma(r, b, c[i]);
  return r * b;
}

/* 1/Gamma(1+a) for 0 <= a < 10, every shift by 1 exact */
double incgamma_reciprocal_gamma1p (double a) {
  double product = 1;
  while (a > 0.5) {
    product *= a;
    a -= 1;
  }
  return (1 + incgamma_reciprocal_gamma1pm1(a)) / product;
}

/* log Gamma(1+a), relative accuracy for a -> 0 */
double incgamma_log_gamma1p (double a) {
  if (a <= 0.5) return -vlog1p(incgamma_reciprocal_gamma1pm1(a));
  if (a < 10) return -vlog(incgamma_reciprocal_gamma1p(a));
  return fma(a, vlog(a) - 1, vlog(SQRT_2PI * vsqrt(a)) + vstirlerr(a));
}

/* -a (mu - log(1 + mu)); with s = (x-a)/(x+a) that is -(x-a) s + 2 a (atanh(s) - s) */
Pair incgamma_deviance_exponent (double a, Pair x) {
  Pair d = exact_sum(x.hi, -a);
  d = exact_sum(d.hi, d.lo + x.lo);
  if (fabs(d.hi) < 0.29 * a) {
    Pair s = pair_ratio((Pair) {0.5 * d.hi, 0.5 * d.lo}, exact_sum(0.5 * x.hi, 0.5 * a));
    Pair twice = {2 * s.hi, 2 * s.lo};
    Pair cubic = pair_product(pair_product(twice, incgamma_atanh_series(s)), (Pair) {a, 0});
    Pair square = pair_product(d, s);
    return pair_add(pair_negative(square), cubic);
  }
  Pair ratio = log_pair(x.hi), log_a = log_pair(a);
  ratio.lo += x.lo / x.hi;
  ratio = pair_add(ratio, pair_negative(log_a));
  double plain = a * ratio.hi - d.hi;
  if (!(fabs(plain) < 1e290)) return (Pair) {plain, 0};
  return pair_add(pair_product(ratio, (Pair) {a, 0}), pair_negative(d));
}

/* E and d of the tail: x^a e^-x/Gamma(a) = d e^E, by Stirling's formula from a = 10 on */
GammaTail incgamma_density (double a, Pair x) {
  GammaTail t = {.m = 0};
  if (a < 10) {
    Pair log_x = log_pair(x.hi);
    log_x.lo += x.lo / x.hi;
    t.e = pair_add(pair_product(log_x, (Pair) {a, 0}), pair_negative(x));
    t.d = a * incgamma_reciprocal_gamma1p(a);
  } else {
    t.e = incgamma_deviance_exponent(a, x);
    t.d = vsqrt(a) * (vexp(-vstirlerr(a)) / SQRT_2PI);
  }
  return t;
}


/* sum x^n/((a+1)...(a+n)) and its derivative in a at fixed x */
Dual incgamma_lower_series (double a, double x) {
  double term = 1, slope = 0;
  Dual s = {1, 0};
  for (int n = 1; n < MAX_TERMS; n++) {
    double r = 1 / (a + n);
    term *= x * r;
    slope += r;
    s.h += term;
    s.dh -= term * slope;
    if (term * slope <= 1e-17 * fabs(s.dh)) break;
  }
  return s;
}

/* the continued fraction by Steed's method: its approximants' differences are summed */
Dual incgamma_upper_fraction (double a, double x) {
  double b = x + 1 - a, r = 1 / b, dr = r * r;
  Dual delta = {r, dr}, f = {r, dr};
  for (int n = 1; n < MAX_TERMS; n++) {
    double c = n * (a - n), last = r;
    b += 2;
    r = 1 / fma(c, last, b);
    dr = -r * r * (fma(n, last, c * dr) - 1);
    double ratio = fma(b, r, -1);
    delta.dh = fma(ratio, delta.dh, delta.h * fma(b, dr, -r));
    delta.h *= ratio;
    f.h += delta.h;
    f.dh += delta.dh;
    if (fabs(delta.h) <= 1e-17 * f.h && fabs(delta.dh) <= 1e-17 * fabs(f.dh)) break;
  }
  return f;
}
