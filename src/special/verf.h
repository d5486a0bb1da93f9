/*
** verf.h - the error function, the normal distribution function and their inverses
**
**   erfcx(x) = e^(x^2) erfc(x) = f(u)/(1 + 2x),   f = 1 + u R(u),  u = x/(x + 7/2)
**
** f stays within [1, 1.29] for all x >= 0 (Shepherd and Laframboise 1981), so a
** single polynomial serves erfc, erfcx, Phi and log Phi. The square in the
** exponent is split into a rounded product and its fma remainder.
** Polynomials and rationals are near-minimax fits computed with 45 digits;
** each comment states the error of the whole approximation.
*/
#ifndef PERILUNE_VERF_H
#define PERILUNE_VERF_H

#include "special/constants.h"
#include "special/pair.h"
#include "special/vector.h"
#include "special/vmath.h"


/* {=====================================================
** The functions
** ====================================================== */

/* R(u) in powers of u - 1/2; relative error of f 2^-55.8 */
VECTOR double erfcx_series (double u) {
  double t = u - 0.5, x2 = t * t, x4 = x2 * x2;
  double p = fma(x2, -0.0095717772943228537851,
      fma(t, 0.0050470053867144310868, 0.025759375115467308813));
  p = fma(p, x4, cubic(t, x2, 0.068834959593270715935,
      0.019883016417694323959, -0.044269020260022129675, -0.012192566784339397799));
  p = fma(p, x4, cubic(t, x2, 0.15308718722467275072,
      0.091302663562986294857, -0.10634256683033186334, -0.037243521729834002502));
  p = fma(p, x4, cubic(t, x2, -0.47446790558103773289,
      0.63941340656612080415, -0.12296782632182922573, -0.25177765063655308652));
  p = fma(p, x4, cubic(t, x2, 5.0942123316230622813,
      -4.5575028185221792898, 2.8656199307037737384, -0.8418111366429793652));
  p = fma(p, x4, cubic(t, x2, 0.4846984897423087817,
      -1.5294337000350967294, 2.9744226294124211779, -4.3885397363721183505));
  return p;
}

/* erfcx of 0 <= x < inf */
VECTOR double erfcx_positive (double x) {
  double c = x > 1e18 ? 1e18 : x;
  double u = c / (c + 3.5);
  double f = fma(u, erfcx_series(u), 1.0);
  return pair_quotient(0.5 * f, exact_sum(x, 0.5)).hi;
}

/* erf(x)/x - 1 on |x| <= 3/2 in powers of z = x^2; error 2^-57.5 of erf */
VECTOR double erf_series (double z) {
  double x2 = z * z, x4 = x2 * x2;
  double p = fma(x2, 1.5565458263601612689e-13,
      fma(z, -4.8595567314033969689e-12, 8.650645388115761113e-11));
  p = fma(p, x4, cubic(z, x2, 1.6461392013678010179e-6,
      -1.6359125807837251651e-7, 1.4761786305266216721e-8, -1.2068593704581858566e-9));
  p = fma(p, x4, cubic(z, x2, 0.0052239776225214269568,
      -0.00085483269060923936715, 0.00012055329890374978887, -0.000014925594274978864295));
  p = fma(p, x4, cubic(z, x2, 0.12837916709551256807,
      -0.37612638903183642402, 0.11283791670951636331, -0.026866170644691368818));
  return p;
}

/* erfc(x) on [3/2, 5.95] in powers of t = x - 15/4; absolute error 2^-58.8 */
VECTOR double erfc_series (double t) {
  double x2 = t * t, x4 = x2 * x2;
  double p = fma(x2, 6.8669295991489880606e-20,
      fma(t, 2.2184287707320837996e-19, -4.5845849320689426011e-18));
  p = fma(p, x4, cubic(t, x2, -2.2574017873579521775e-15,
      -8.1887683922711776102e-17, 1.3992831558386370902e-16, -5.8426093849745293514e-18));
  p = fma(p, x4, cubic(t, x2, 2.1302529003452223531e-13,
      -1.0010336649671445602e-13, 1.2360259921411302699e-14, 5.9013482109292479865e-15));
  p = fma(p, x4, cubic(t, x2, -3.1522324142881907302e-12,
      1.2062657424770322681e-11, -3.8433685950054606833e-12, 3.061586634299566491e-13));
  p = fma(p, x4, cubic(t, x2, -1.6877866866392794943e-9,
      -8.2271327972782800754e-10, 5.1931548609160389839e-10, -1.2278822531557053853e-10));
  p = fma(p, x4, cubic(t, x2, 9.015150024278733561e-8,
      5.7332448450616366985e-8, -4.2601836309402166981e-8, 1.4203623056908710687e-8));
  p = fma(p, x4, cubic(t, x2, 0.000011128227334681610449,
      -6.1088809251771075809e-6, 2.6033092275445044697e-6, -7.7534780919119111323e-7));
  p = fma(p, x4, cubic(t, x2, 0.000013841239875049322618,
      -0.000018370975011545097205, 0.000019272721470847155349, -0.00001627530266333921981));
  p = fma(p, x4, cubic(t, x2, 1.1372725656871990522e-7,
      -8.8143219125752260398e-7, 3.3053707172565988206e-6, -7.9696160613125023072e-6));
  return p;
}

/* from 5.93 on erf rounds to 1 */
VECTOR double verf (double x) {
  double a = fabs(x);
  double far = 1.0 - erfc_series((a > 5.95 ? 5.95 : a) - 3.75);
  double near = fma(x, erf_series(x * x), x);
  return a < 1.5 ? near : copysign(far, x);
}

/* e^(-a b) erfcx(y), the product a b <= 1400 taken exactly */
VECTOR double gauss_tail (double a, double b, double y) {
  double h = a * b;
  return exp_pair(-h, -fma(a, b, -h)) * erfcx_positive(y);
}

/* erfc is 0 from 27.3 on */
VECTOR double verfc (double x) {
  double a = clamp(fabs(x), 0.0, 28.0);
  double t = gauss_tail(a, a, a);
  return x < 0 ? 2.0 - t : t;
}

/* for x < 0: 2 e^(x^2) - erfcx(-x), infinite from -26.7 down */
VECTOR double verfcx (double x) {
  double a = fabs(x);
  double c = a > 27.0 ? 27.0 : a;
  double h = c * c;
  double t = erfcx_positive(a > 1.7976931348623157e308 ? 1e308 : a);
  double left = fma(2.0, exp_pair(h, fma(c, c, -h)), -t);
  t = x == HUGE_VAL ? 0.0 : t;
  return x < 0 ? left : t;
}

/* Phi(x) = erfc(-x/sqrt(2))/2; 0 from -38.5 down */
VECTOR double vndtr (double x) {
  double a = clamp(fabs(x), 0.0, 40.0);
  double t = 0.5 * gauss_tail(0.5 * a, a, a * SQRT_HALF);
  return x > 0 ? 1.0 - t : t;
}

/*
** log Phi(x) = -x^2/2 + log(erfcx(-x/sqrt(2))/2) for x <= 0, both terms negative;
** log(1 - Phi(-x)) for x > 0, corrected for the rounding of the difference.
** One logarithm serves both.
*/
VECTOR double vlog_ndtr (double x) {
  double a = fabs(x);
  double c = a > 40.0 ? 40.0 : a;
  double h = 0.5 * c * c;
  double r = 0.5 * erfcx_positive((a > 1e160 ? 1e160 : a) * SQRT_HALF);
  double upper = exp_pair(-h, -fma(0.5 * c, c, -h)) * r;
  Pair u = fast_sum(1.0, -upper);
  double l = vlog(x > 0 ? u.hi : r);
  return l + (x > 0 ? u.lo / u.hi : -0.5 * a * a);
}

/* }====================================================== */


/* {=====================================================
** The inverses
** ====================================================== */

/*
** erfinv(x)/x in powers of w = -log(1 - x^2), for 1 - |x| >= 0.0149; error 2^-58.6.
** Even in x and analytic for |Im w| < 2 pi.
*/
VECTOR double erfinv_series (double w) {
  double x2 = w * w, x4 = x2 * x2;
  double p = fma(x2, 3.9594346069613095684e-16,
      fma(w, -1.3280501842867319862e-14, 1.8835431934267645985e-13));
  p = fma(p, x4, cubic(w, x2, 5.4265573280684097704e-12,
      1.4127893232635070176e-12, 4.3839700462070415047e-12, -1.369427488354284789e-12));
  p = fma(p, x4, cubic(w, x2, -3.7285047272153513946e-8,
      2.2768728898855826981e-8, 7.8848308601769868832e-10, -5.5620533759530719497e-10));
  p = fma(p, x4, cubic(w, x2, -0.00012804329491930487604,
      0.000046611442438776863679, 2.0199856465496413718e-6, -1.0125541069824568859e-6));
  p = fma(p, x4, cubic(w, x2, 0.88622692545275801163,
      0.23201366653465484905, 0.011549342038260425957, -0.0023351016414933452333));
  return p;
}

/*
** s - z where erfc(z) = e^(-s^2), 2.05 <= s <= 27.31, as a quotient with positive
** coefficients; error 2^-55 of z. The difference is at most 0.2 z.
*/
VECTOR double erfcinv_gap (double s) {
  double x2 = s * s, x4 = x2 * x2;
  double p = fma(s, 7.7573529196210537914e-9, 4.5866114277420031392e-6);
  p = fma(p, x4, cubic(s, x2, 1.2393230295181179686,
      0.26309835236941186083, 0.019807181187468230644, 0.00053744639240410336982));
  p = fma(p, x4, cubic(s, x2, 0.0055947662302068138456,
      0.95962686268862737924, 1.2799823235429036936, 1.8060614896132297552));
  double q = fma(x2, 1.8118411627522366028e-9,
      fma(s, 1.4623815859026683024e-6, 0.00021721841121164178928));
  q = fma(q, x4, cubic(s, x2, 3.2045836609405641328,
      1.2141900656031497756, 0.17716089426625908744, 0.010132545144066757716));
  q = fma(q, x4, cubic(s, x2, 1.0,
      2.0272587180940518925, 3.9031443136370102481, 3.806780244364665387));
  return p / q;
}

/* z with erf(z) = x and erfc(|z|) = y: the smaller of the two carries the accuracy */
VECTOR double erf_quantile (double x, double y) {
  int tail = y < 0.0149;
  double w = -vlog(tail ? y : y * (2.0 - y));
  double s = sqrt(w);
  double far = s - erfcinv_gap(s);
  far = y == 0 ? HUGE_VAL : far;
  return tail ? copysign(far, x) : x * erfinv_series(w);
}

VECTOR double verfinv (double x) {
  return erf_quantile(x, 1.0 - fabs(x));
}

VECTOR double verfcinv (double y) {
  return erf_quantile(1.0 - y, y > 1.0 ? 2.0 - y : y);
}

/* sqrt(2) z as z + (sqrt(2) - 1) z, rounded once */
VECTOR double vndtri (double p) {
  double z = erf_quantile(2.0 * (p - 0.5), 2.0 * (p > 0.5 ? 1.0 - p : p));
  return fma(z, SQRT2_MINUS_1, z);
}

/* }====================================================== */

#endif
