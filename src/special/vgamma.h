/*
** vgamma.h - log Gamma, its derivatives, and what Stirling's formula leaves over
**
**   log Gamma(1 + s) = s (s - 1) S(s)             0 <= s <= 3/2, exact zeros 0 and 1
**   psi(1 + s) = (s - s0) R(s)                    0 <= s <= 5/4, s0 the positive zero
**   log Gamma(x) = (x - 1/2)(log x - 1) + (log(2 pi) - 1)/2 + mu(x)
**   psi(x) = log x - 1/(2x) - B(1/x^2)/x^2
**   psi'(x) = 1/x + h(x)/x^2                      x >= 1
**
** mu is Binet's function, 1/(12x) - ...; below 1 the recurrence reaches 1 + x, so
** no product of shifted arguments is ever formed. Negative x by reflection about
** the nearest integer, from which the distance is exact.
** vlgamma, vdigamma and vtrigamma take all reals, everything else positive arguments.
** Polynomials are near-minimax fits computed with 45 digits.
*/
#ifndef PERILUNE_VGAMMA_H
#define PERILUNE_VGAMMA_H

#include "special/constants.h"
#include "special/pair.h"
#include "special/vector.h"
#include "special/vmath.h"


/* {=====================================================
** Approximations
** ====================================================== */

/* S in powers of s - 3/4; relative error 2^-57.5. Adding 0 makes -0 into 0 */
VECTOR double lgamma1p_near (double s) {
  double t = s - 0.75, x2 = t * t, x4 = x2 * x2;
  double p = 9.1529026672917017773e-8;
  p = fma(p, x4, cubic(t, x2, 4.3660995444727606905e-7,
      3.5276793196418647635e-8, -3.4720293426019720474e-8, -1.5815435037351419586e-7));
  p = fma(p, x4, cubic(t, x2, 3.5173368608888364739e-6,
      -1.7662593173799848243e-6, 9.4081296198722246533e-7, -7.5799249162401603602e-7));
  p = fma(p, x4, cubic(t, x2, 0.000041706322658340364662,
      -0.000022267987189903146852, 0.00001194565956315796215, -6.4885546694169341461e-6));
  p = fma(p, x4, cubic(t, x2, 0.0005448970036942198544,
      -0.00028319035366608941965, 0.00014851662947378213334, -0.00007846409912631799645));
  p = fma(p, x4, cubic(t, x2, 0.0087763704252798159026,
      -0.0042261941251628023203, 0.0020955338791705476302, -0.0010605660943642053664));
  p = fma(p, x4, cubic(t, x2, 0.45013931210925629884,
      -0.11948158662524266808, 0.04452044719850938612, -0.019053957830261418003));
  return fma(s * (s - 1.0), p, 0.0);
}

/* R in powers of s - 5/8, relative error 2^-55.8; s0 is taken as a pair */
VECTOR double digamma1p_near (double s) {
  double t = s - 0.625, x2 = t * t, x4 = x2 * x2;
  double distance = (s - 0.46163214496836235679) + 1.5522348162858676891e-17;
  double p = cubic(t, x2, 7.2984998209968667918e-6,
      -3.6009154291099279596e-6, 0.000024822637531069974848, -0.000015671808484287181017);
  p = fma(p, x4, cubic(t, x2, 0.00017356768927754701228,
      -0.00010631969142417919721, 0.000079083584035356284583, -0.000049535282229951725078));
  p = fma(p, x4, cubic(t, x2, 0.0012431134109288435064,
      -0.00076460991124253167323, 0.00047165780028585902748, -0.00029037053588811379847));
  p = fma(p, x4, cubic(t, x2, 0.0087308661974064860679,
      -0.0053557293663437223587, 0.0032894519341372085902, -0.0020218745063305179659));
  p = fma(p, x4, cubic(t, x2, 0.064262517432285735664,
      -0.038557826794196824485, 0.023380439998035224232, -0.014262521409070755439));
  p = fma(p, x4, cubic(t, x2, 0.90159251582821574055,
      -0.36977496445741082941, 0.1927201246014732103, -0.1091969858859828889));
  return distance * p;
}

/* mu(1/r) for r <= 2/5 in powers of z = r^2; error 2^-55.8 of log Gamma */
VECTOR double binet_far (double r) {
  double z = r * r, x2 = z * z, x4 = x2 * x2;
  double p = 1.7912459726584276565;
  p = fma(p, x4, cubic(z, x2, 0.10892501396424094659,
      -0.41048227700803739961, 1.1656232996009501981, -2.1125639574760473878));
  p = fma(p, x4, cubic(z, x2, 0.00084163259367470985617,
      -0.0019118365230597192606, 0.006228230260437782305, -0.025418703462429389302));
  p = fma(p, x4, cubic(z, x2, 0.083333333333333321802,
      -0.0027777777777515785848, 0.00079365078370766535139, -0.00059523660084827097959));
  return r * p;
}

/* z B(z) for z <= 16/81; error 2^-58 of psi */
VECTOR double digamma_far (double z) {
  double x2 = z * z, x4 = x2 * x2;
  double p = fma(x2, 162.0853198561912079,
      fma(z, -270.86658540597936281, 209.73633533738953713));
  p = fma(p, x4, cubic(z, x2, 1.8992492882170898004,
      -8.800281891706492497, 33.988776672739907663, -100.64677873763555661));
  p = fma(p, x4, cubic(z, x2, 0.0075737139794478841637,
      -0.021003124507230630343, 0.080567210720544103789, -0.3796308006568896771));
  p = fma(p, x4, cubic(z, x2, 0.083333333333332149066,
      -0.0083333333322713150451, 0.0039682537063864110188, -0.004166636311723899095));
  return z * p;
}

/* h(x) in powers of u = 1/(x + 1), x >= 1; error 2^-56 of psi' */
VECTOR double trigamma_series (double u) {
  double x2 = u * u, x4 = x2 * x2;
  double p = fma(x2, 0.28625357292088473184,
      fma(u, -1.9412136942481126423, 5.7895385833466363632));
  p = fma(p, x4, cubic(u, x2, 4.7060110587812415276,
      -9.1092911434054997081, 11.677061822066734919, -10.159711453282063947));
  p = fma(p, x4, cubic(u, x2, 0.071633200520525069996,
      0.00099308450644246119709, 0.10804842459536510734, -1.3960395524473466864));
  p = fma(p, x4, cubic(u, x2, 0.066666705882173528739,
      -0.009525109813010491224, -0.047590408979831997612, -0.0099662001086364877665));
  p = fma(p, x4, cubic(u, x2, 0.50000000000000001765,
      0.16666666666663961877, 0.16666666667368071804, 0.13333333261177819196));
  return p;
}

/* x mu(x) in powers of u = 1/(x + 3/4), x >= 1/2; relative error 2^-54.2 */
VECTOR double stirling_series (double u) {
  double x2 = u * u, x4 = x2 * x2;
  double p = fma(u, -0.0068902929124670228803, 0.051919058005450783542);
  p = fma(p, x4, cubic(u, x2, 0.63062830741928340545,
      -0.59058422302776479294, 0.3972344459846801696, -0.18294322663270558305));
  p = fma(p, x4, cubic(u, x2, 0.024671658860558897584,
      -0.10614765472555294117, 0.27618253774402784156, -0.49157001801434784496));
  p = fma(p, x4, cubic(u, x2, -0.00079857312556346659226,
      -0.0018039746205464273635, 0.0025393158688077504015, -0.0040282357626111420913));
  p = fma(p, x4, cubic(u, x2, -0.0038938470650185377009,
      -0.0023065968638020602223, -0.00052473358066925559673, 0.000054771514473459619281));
  p = fma(p, x4, cubic(u, x2, 0.083333333333333337448,
      -4.3784315912052041845e-15, -0.0027777777769877904283, -0.004166666723303164436));
  return p;
}

/* sin(pi r) for |r| <= 1/2; relative error 2^-61.8 */
VECTOR double sinpi_near (double r) {
  double z = r * r, x2 = z * z, x4 = x2 * x2;
  double p = 7.6947285125258776543e-7;
  p = fma(p, x4, cubic(z, x2, 0.082145886569893252653,
      -0.0073704304787702397482, 0.00046629968881472244777, -0.000021903185531406969097));
  p = fma(p, x4, cubic(z, x2, 3.1415926535897932376,
      -5.167712780049969528, 2.5501640398772939297, -0.59926452931873819902));
  return r * p;
}

/*
** log x as an unevaluated sum with 2^-57 of absolute error where |log x| > 1/3; scale is
** a power of two that makes x normal. The caller sees to x = 0 and x = inf.
*/
VECTOR Pair log_sum (double x, double scale) {
  LogReduction g = log_reduce(x, scale);
  double s = g.f / (2.0 + g.f);
  double z = s * s;
  Pair u = fast_sum(-g.n * LN2_HIGH, g.f);
  return (Pair) {u.hi, fma(-s, fma(-z, log_series(z), g.f), fma(-g.n, LN2_LOW, u.lo))};
}

/* exact distance of a >= 0 from the nearest integer; all a >= 2^52 are integers */
VECTOR double fraction_near (double a) {
  const double magic = 4503599627370496.0;
  double c = a > magic ? magic : a;
  return c - ((c + magic) - magic);
}

/* }====================================================== */


/* {=====================================================
** Positive arguments
** ====================================================== */

/* log Gamma and psi, given log x and r = 1/x */
VECTOR double lgamma_given (double x, Pair l, double r) {
  double far = fma(x - 0.5, (l.hi - 1.0) + l.lo, 0.41893853320467274178 + binet_far(r));
  double near = lgamma1p_near(x < 1.0 ? x : x - 1.0);
  double below = x == 0 ? HUGE_VAL : near - (l.hi + l.lo);
  double value = x < 2.5 ? near : far;
  return x < 1.0 ? below : value;
}

VECTOR double digamma_given (double x, Pair l, double r) {
  double far = fma(-0.5, r, l.hi) + (l.lo - digamma_far(r * r));
  double near = digamma1p_near(x < 1.0 ? x : x - 1.0);
  double value = x < 2.25 ? near : far;
  value = x < 1.0 ? near - r : value;
  return x < HUGE_VAL ? value : x;
}

VECTOR double vlgamma_pos (double x) {
  return lgamma_given(x, log_sum(x, log_scale(x)), 1.0 / x);
}

/* log Gamma(1 + a) */
VECTOR double vlgamma1p (double a) {
  return a < 1 ? lgamma1p_near(a) : vlgamma_pos(1 + a);
}

/* the logarithm counts from 9/4 on, where no scaling is needed */
VECTOR double vdigamma_pos (double x) {
  return digamma_given(x, log_sum(x, 1.0), 1.0 / x);
}

/* psi'(y) for y >= 1 */
VECTOR double trigamma_above (double y) {
  double r = 1.0 / y;
  return fma(r * r, trigamma_series(1.0 / (y + 1.0)), r);
}

/* the term 1/x^2 of the recurrence is added with weight 1 or 0 */
VECTOR double vtrigamma_pos (double x) {
  double shift = x < 1.0 ? 1.0 : 0.0;
  double r = 1.0 / x;
  return fma(shift * r, r, trigamma_above(x + shift));
}

/* both at the price of one logarithm, the same bits as one by one */
VECTOR void vlgamma_digamma (double x, double *lgamma, double *digamma) {
  Pair l = log_sum(x, log_scale(x));
  double r = 1.0 / x;
  *lgamma = lgamma_given(x, l, r);
  *digamma = digamma_given(x, l, r);
}

/* }====================================================== */


/* {=====================================================
** All real arguments
** ====================================================== */

/*
** -log|Gamma(-a)| = log Gamma(1 + a) + log(sin(pi a)/pi), l = log a. Between the poles the
** two cancel, so from 5/2 on the sum (a + 1/2) log a - a + ... is kept as a pair.
*/
VECTOR double lgamma_reflected (double a, Pair l, double r) {
  double near = lgamma1p_near(a < 1.0 ? a : a - 1.0);
  double sine = fabs(sinpi_near(fraction_near(a))) * INV_PI;
  double t = sine * (a >= 1.0 && a < 2.5 ? a : 1.0);
  Pair m = log_sum(t, log_scale(t));
  double al = a * l.hi;
  Pair p = exact_sum(al, -a);
  Pair h = exact_sum(m.hi, 0.5 * l.hi);
  Pair q = exact_sum(p.hi, h.hi);
  double low = (fma(a, l.hi, -al) + fma(a, l.lo, p.lo)) + (q.lo + h.lo) + (m.lo + 0.5 * l.lo);
  double far = q.hi + (low + (HALF_LOG_2PI + binet_far(r)));
  return a < 2.5 ? (near + m.hi) + m.lo : far;
}

/* +inf at the poles 0, -1, -2, ... and at both infinities */
VECTOR double vlgamma (double x) {
  double a = fabs(x);
  double r = 1.0 / a;
  Pair l = log_sum(a, log_scale(a));
  double value = lgamma_given(a, l, r);
  double reflected = -lgamma_reflected(a, l, r);
  reflected = fraction_near(a) == 0 ? HUGE_VAL : reflected;
  return x < 0 ? reflected : value;
}

/* psi(-a) = psi(1 + a) + pi cot(pi a); NaN at the negative integers, -1/x near 0 */
VECTOR double vdigamma (double x) {
  double a = fabs(x);
  double f = fraction_near(a);
  double cot = PI * sinpi_near(0.5 - fabs(f)) / sinpi_near(f);
  double r = 1.0 / a;
  Pair l = log_sum(a, 1.0);
  double far = fma(-0.5, r, l.hi) + (l.lo - digamma_far(r * r));
  double near = digamma1p_near(a < 1.0 ? a : a - 1.0);
  double value = a < 2.25 ? near : far;
  double above = a < 1.0 ? value : value + r;
  double below = a < 1.0 ? value - r : value;
  double reflected = f == 0 ? (double) NAN : above + cot;
  value = x < 0 ? reflected : below;
  value = x == HUGE_VAL ? x : value;
  return a == 0 ? -1.0 / x : value;
}

/*
** psi'(-a) = (pi/sin(pi a))^2 - psi'(1 + a); +inf at the poles. With y = a or 1 + a, at
** least 1, the term 1/a^2 enters above 0 for y = 1 + a and below 0 for y = a.
*/
VECTOR double vtrigamma (double x) {
  double a = fabs(x);
  double shift = a < 1.0 ? 1.0 : 0.0;
  double r = 1.0 / a;
  double t = trigamma_above(a + shift);
  double c = PI / sinpi_near(fraction_near(a));
  double below = a < 1.0 ? 0.0 : r;
  double reflected = fma(c, c, fma(below, below, -t));
  double value = fma(shift * r, r, t);
  return x < 0 ? reflected : value;
}

/* }====================================================== */


/* {=====================================================
** Corrections and differences
** ====================================================== */

/* mu(x) for x >= 1/2 */
VECTOR double stirlerr_above (double x) {
  return stirling_series(1.0 / (x + 0.75)) / x;
}

/*
** mu(x) = log Gamma(x) - [(x - 1/2) log x - x + log(2 pi)/2]; below 1/2 by
** mu(x) = mu(1 + x) + (x + 1/2) log(1 + 1/x) - 1
*/
VECTOR double vstirlerr (double x) {
  double m = stirlerr_above(x < 0.5 ? 1.0 + x : x);
  double step = fma(x + 0.5, -vlog(x / (1.0 + x)), -1.0);
  return x < 0.5 ? m + step : m;
}

/*
** x log(x/m) + m - x, the deviance: with d = (m - x)/x it is -x (log(1 + d) - d),
** used while m and x are within a factor 3 and their difference nearly exact.
*/
VECTOR double vbd0 (double x, double m) {
  double d = m - x;
  double near = fma(-x, vlog1pmx(d / x), 0.0);
  double far = fma(x, vlog_ratio(x, m), d);
  double value = fabs(d) <= 0.5 * m + 0.5 * x ? near : far;
  value = fabs(d) == HUGE_VAL ? HUGE_VAL : value;
  return x == 0 ? m : value;
}

/*
** log B(a, b) = a log(a/s) - b log(1 + h) - log(a/(1 + h))/2 + log(2 pi)/2
**             + mu(a) + mu(b) - mu(s),     a <= b, s = a + b, h = a/b
** If b < 1/2, b is raised by 1: B(a, b) = B(a, b + 1) (1 + a/b).
*/
VECTOR double vbetaln (double a, double b) {
  double low = a < b ? a : b;
  double given = a < b ? b : a;
  double high = given < 0.5 ? 1.0 + given : given;
  double raised = given < 0.5 ? 1.0 + low / given : 1.0;
  double h = clamp(low / high, 4.9406564584124654e-324, 1.0);
  double bulk = fma(low, vlog(h / (1.0 + h)), -high * vlog1p(h));
  double root = vlog(raised * sqrt(1.0 + h) / sqrt(low)) + HALF_LOG_2PI;
  double mu = (vstirlerr(low) - stirlerr_above(low + high)) + stirlerr_above(high);
  double value = bulk + (root + mu);
  value = high == HUGE_VAL ? -high : value;
  return low == 0 ? HUGE_VAL : value;
}

/*
** log Gamma(a + b) - log Gamma(a) for a > 0, b >= 0, finite, h = b/a:
**   b log(a + b) + [a log(1 + h) - b] - log(1 + h)/2 + mu(a + b) - mu(a)
** The bracket is a (log(1 + h) - h) while h is small. What cancels is at most mu(a), so
** the error is relative to the result unless b is small as well.
*/
VECTOR double vlgamma_delta (double a, double b) {
  double s = a + b;
  double h = clamp(b / a, 0.0, 1e308);
  double l = vlog1p(h);
  double bracket = h < 1.0 ? a * vlog1pmx(h) : fma(a, l, -b);
  return fma(b, vlog(s), fma(-0.5, l, bracket) + (vstirlerr(s) - vstirlerr(a)));
}

/* }====================================================== */

#endif
