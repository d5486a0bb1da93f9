/*
** verf.h - the error function, the normal distribution function and their inverses
**
**   erfcx(x) = e^(x^2) erfc(x) = f(u)/(1 + 2x),   f = 1 + u R(u),  u = x/(x + 7/2)
**
** f stays within [1, 1.21] for all x >= 0 (Shepherd and Laframboise 1981), so a
** single polynomial serves erfc, erfcx, Phi and log Phi. The square in the
** exponent is split into a rounded product and its fma remainder.
** Polynomials and rationals are near-minimax fits computed with 45 digits;
** each comment states the error of the whole approximation.
*/
#ifndef PERILUNE_VERF_H
#define PERILUNE_VERF_H

#include "special/vmath.h"


static inline double erf_cubic (double x, double x2, double a, double b, double c, double d) {
  return fma(x2, fma(x, d, c), fma(x, b, a));
}


/* {=====================================================
** The functions
** ====================================================== */

/* R(u) in powers of u - 1/2; relative error of f 2^-55.8 */
static inline double erfcx_series (double u) {
  double t = u - 0.5, x2 = t * t, x4 = x2 * x2;
  double p = fma(x2, -0.0095717772943228537851,
      fma(t, 0.0050470053867144310868, 0.025759375115467308813));
  p = fma(p, x4, erf_cubic(t, x2, 0.068834959593270715935,
      0.019883016417694323959, -0.044269020260022129675, -0.012192566784339397799));
  p = fma(p, x4, erf_cubic(t, x2, 0.15308718722467275072,
      0.091302663562986294857, -0.10634256683033186334, -0.037243521729834002502));
  p = fma(p, x4, erf_cubic(t, x2, -0.47446790558103773289,
      0.63941340656612080415, -0.12296782632182922573, -0.25177765063655308652));
  p = fma(p, x4, erf_cubic(t, x2, 5.0942123316230622813,
      -4.5575028185221792898, 2.8656199307037737384, -0.8418111366429793652));
  p = fma(p, x4, erf_cubic(t, x2, 0.4846984897423087817,
      -1.5294337000350967294, 2.9744226294124211779, -4.3885397363721183505));
  return p;
}

/* erfcx of 0 <= x < inf */
static inline double erfcx_positive (double x) {
  double c = x > 1e18 ? 1e18 : x;
  double u = c / (c + 3.5);
  double f = fma(u, erfcx_series(u), 1.0);
  return pair_quotient(0.5 * f, exact_sum(x, 0.5)).hi;
}

/* erf(x)/x - 1 on |x| <= 3/2 in powers of z = x^2; error 2^-57 of erf */
static inline double erf_series (double z) {
  double x2 = z * z, x4 = x2 * x2;
  double p = fma(x2, 1.5565458263601612689e-13,
      fma(z, -4.8595567314033969689e-12, 8.650645388115761113e-11));
  p = fma(p, x4, erf_cubic(z, x2, 1.6461392013678010179e-6,
      -1.6359125807837251651e-7, 1.4761786305266216721e-8, -1.2068593704581858566e-9));
  p = fma(p, x4, erf_cubic(z, x2, 0.0052239776225214269568,
      -0.00085483269060923936715, 0.00012055329890374978887, -0.000014925594274978864295));
  p = fma(p, x4, erf_cubic(z, x2, 0.12837916709551256807,
      -0.37612638903183642402, 0.11283791670951636331, -0.026866170644691368818));
  return p;
}

/* erfc(x) on [3/2, 5.95] in powers of t = x - 15/4; absolute error 2^-56 */
static inline double erfc_series (double t) {
  double x2 = t * t, x4 = x2 * x2;
  double p = erf_cubic(t, x2, -4.295845027316362143e-16,
      -3.1841163167665981741e-16, 1.7906671591531075089e-17, 5.0522563643303773682e-18);
  p = fma(p, x4, erf_cubic(t, x2, 3.3118099531044388223e-13,
      -1.2568320165412228564e-13, -5.3102308665752030509e-15, 8.927868399374733083e-15));
  p = fma(p, x4, erf_cubic(t, x2, -1.1530093738234893118e-12,
      1.1416890175559377673e-11, -4.4109937977725588407e-12, 4.5743529104129458768e-13));
  p = fma(p, x4, erf_cubic(t, x2, -1.6777825788708800087e-9,
      -8.273686128986031157e-10, 5.1411038739738313886e-10, -1.2076747096664526067e-10));
  p = fma(p, x4, erf_cubic(t, x2, 9.0165619759075312628e-8,
      5.7322882383481661865e-8, -4.2615883717442959906e-8, 1.421147812555460209e-8));
  p = fma(p, x4, erf_cubic(t, x2, 0.000011128231831430732129,
      -6.1088856600868549639e-6, 2.6032994004631883029e-6, -7.7533961645737704086e-7));
  p = fma(p, x4, erf_cubic(t, x2, 0.000013841240056308944534,
      -0.000018370975371002401841, 0.000019272720225253887964, -0.000016275300932798600154));
  p = fma(p, x4, erf_cubic(t, x2, 1.1372725666859020604e-7,
      -8.8143219227353010987e-7, 3.3053707068370133924e-6, -7.9696160264125676759e-6));
  return p;
}

/* from 5.93 on erf rounds to 1 */
static inline double verf (double x) {
  double a = fabs(x);
  double far = 1.0 - erfc_series((a > 5.95 ? 5.95 : a) - 3.75);
  double near = fma(x, erf_series(x * x), x);
  return a < 1.5 ? near : copysign(far, x);
}

/* e^(-a b) erfcx(y), the product a b <= 1400 taken exactly */
static inline double gauss_tail (double a, double b, double y) {
  double h = a * b;
  return exp_pair(-h, -fma(a, b, -h)) * erfcx_positive(y);
}

/* erfc is 0 from 27.3 on */
static inline double verfc (double x) {
  double a = clamp(fabs(x), 0.0, 28.0);
  double t = gauss_tail(a, a, a);
  return x < 0 ? 2.0 - t : t;
}

/* for x < 0: 2 e^(x^2) - erfcx(-x), infinite from -26.7 down */
static inline double verfcx (double x) {
  double a = fabs(x);
  double c = a > 27.0 ? 27.0 : a;
  double h = c * c;
  double t = erfcx_positive(a > 1.7976931348623157e308 ? 1e308 : a);
  double left = fma(2.0, exp_pair(h, fma(c, c, -h)), -t);
  t = x == HUGE_VAL ? 0.0 : t;
  return x < 0 ? left : t;
}

/* Phi(x) = erfc(-x/sqrt(2))/2; 0 from -38.5 down */
static inline double vndtr (double x) {
  double a = clamp(fabs(x), 0.0, 40.0);
  double t = 0.5 * gauss_tail(0.5 * a, a, a * 0.70710678118654752440);
  return x > 0 ? 1.0 - t : t;
}

/*
** log Phi(x) = -x^2/2 + log(erfcx(-x/sqrt(2))/2) for x <= 0, both terms negative;
** log(1 - Phi(-x)) for x > 0, corrected for the rounding of the difference.
** One logarithm serves both.
*/
static inline double vlog_ndtr (double x) {
  double a = fabs(x);
  double c = a > 40.0 ? 40.0 : a;
  double h = 0.5 * c * c;
  double r = 0.5 * erfcx_positive((a > 1e160 ? 1e160 : a) * 0.70710678118654752440);
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
static inline double erfinv_series (double w) {
  double x2 = w * w, x4 = x2 * x2;
  double p = fma(x2, 3.9594346069613095684e-16,
      fma(w, -1.3280501842867319862e-14, 1.8835431934267645985e-13));
  p = fma(p, x4, erf_cubic(w, x2, 5.4265573280684097704e-12,
      1.4127893232635070176e-12, 4.3839700462070415047e-12, -1.369427488354284789e-12));
  p = fma(p, x4, erf_cubic(w, x2, -3.7285047272153513946e-8,
      2.2768728898855826981e-8, 7.8848308601769868832e-10, -5.5620533759530719497e-10));
  p = fma(p, x4, erf_cubic(w, x2, -0.00012804329491930487604,
      0.000046611442438776863679, 2.0199856465496413718e-6, -1.0125541069824568859e-6));
  p = fma(p, x4, erf_cubic(w, x2, 0.88622692545275801163,
      0.23201366653465484905, 0.011549342038260425957, -0.0023351016414933452333));
  return p;
}

/*
** s - z where erfc(z) = e^(-s^2), 2.05 <= s <= 27.31, as a quotient with positive
** coefficients; error 2^-55 of z. The difference is at most 0.17 z.
*/
static inline double erfcinv_gap (double s) {
  double x2 = s * s, x4 = x2 * x2;
  double p = fma(s, 7.7573529196210537914e-9, 4.5866114277420031392e-6);
  p = fma(p, x4, erf_cubic(s, x2, 1.2393230295181179686,
      0.26309835236941186083, 0.019807181187468230644, 0.00053744639240410336982));
  p = fma(p, x4, erf_cubic(s, x2, 0.0055947662302068138456,
      0.95962686268862737924, 1.2799823235429036936, 1.8060614896132297552));
  double q = fma(x2, 1.8118411627522366028e-9,
      fma(s, 1.4623815859026683024e-6, 0.00021721841121164178928));
  q = fma(q, x4, erf_cubic(s, x2, 3.2045836609405641328,
      1.2141900656031497756, 0.17716089426625908744, 0.010132545144066757716));
  q = fma(q, x4, erf_cubic(s, x2, 1.0,
      2.0272587180940518925, 3.9031443136370102481, 3.806780244364665387));
  return p / q;
}

/* z with erf(z) = x and erfc(|z|) = y: the smaller of the two carries the accuracy */
static inline double erf_quantile (double x, double y) {
  int tail = y < 0.0149;
  double w = -vlog(tail ? y : y * (2.0 - y));
  double s = sqrt(w);
  double far = s - erfcinv_gap(s);
  far = y == 0 ? HUGE_VAL : far;
  return tail ? copysign(far, x) : x * erfinv_series(w);
}

static inline double verfinv (double x) {
  return erf_quantile(x, 1.0 - fabs(x));
}

static inline double verfcinv (double y) {
  return erf_quantile(1.0 - y, y > 1.0 ? 2.0 - y : y);
}

/* sqrt(2) z as z + (sqrt(2) - 1) z, rounded once */
static inline double vndtri (double p) {
  double z = erf_quantile(2.0 * (p - 0.5), 2.0 * (p > 0.5 ? 1.0 - p : p));
  return fma(z, 0.41421356237309504880, z);
}

/* }====================================================== */

#endif
