/*
** power.h - powers of ratios with all their digits, and Weibull's law
**
**   t = (x/scale)^k = e^(k l),   l = log(x/scale)
**
** t is a standard exponential variable if x is Weibull(scale, k), and for
** negative k if x is Frechet(scale, -k): one set of formulas for both signs.
**
**   log p(x) = log(|k|/scale) + (k - 1) l - t,    x = scale t^(1/k)
**   E[X^r]   = scale^r Gamma(1 + r/k),            infinite for 1 + r/k <= 0 > k
*/
#ifndef PERILUNE_POWER_H
#define PERILUNE_POWER_H

#include "kernel/moments.h"
#include "special/constants.h"
#include "special/pair.h"
#include "special/vgamma.h"
#include "special/vmath.h"
#include "special/vpow.h"


/* {=====================================================
** Logarithms and exponentials as pairs
** ====================================================== */

/*
** log(a/b) as a pair: mantissas are brought within a factor sqrt(2) of each
** other, as in vlog_ratio, and what their rounded quotient lacks is added
*/
VECTOR Pair log_ratio_pair (double a, double b) {
  LogReduction ra = mantissa_reduce(a), rb = mantissa_reduce(b);
  double above = ra.f > SQRT2 * rb.f ? 1.0 : 0.0;
  double below = rb.f > SQRT2 * ra.f ? 1.0 : 0.0;
  double n = (ra.n - rb.n) - (above - below);
  double fa = fma(below, ra.f, ra.f), fb = fma(above, rb.f, rb.f);
  double q = fa / fb, rest = fma(-q, fb, fa) / fa;
  Pair l = log_pair(q);
  Pair u = exact_sum(-n * LN2_HIGH, l.hi);
  u = fast_sum(u.hi, u.lo + (fma(-n, LN2_LOW, l.lo) + rest));
  double edge = log_edges(a, 0.0) - log_edges(b, 0.0);
  return (Pair) {u.hi + edge, edge == 0 ? u.lo : 0.0};
}

/* k l, an exponent; infinite ones have no remainder */
VECTOR Pair exponent_product (double k, Pair l) {
  double u = k * l.hi, rest = fma(k, l.lo, fma(k, l.hi, -u));
  return (Pair) {u, fabs(u) < HUGE_VAL ? rest : 0.0};
}

/* l/k likewise */
VECTOR Pair exponent_quotient (Pair l, double k) {
  double u = l.hi / k, rest = (fma(-u, k, l.hi) + l.lo) / k;
  return (Pair) {u, fabs(u) < HUGE_VAL ? rest : 0.0};
}

/* e^u for |u| <= 1400, a pair near 1 times two powers of 2 */
typedef struct ExpParts { Pair p; double scale1, scale2; } ExpParts;

VECTOR ExpParts exp_parts (Pair u) {
  ExpReduction e = exp_reduce(clamp(u.hi, -1400.0, 1400.0));
  Pair r = fast_sum(e.hi, e.lo + (fabs(u.hi) < 1400.0 ? u.lo : 0.0));
  Pair s = fast_sum(1.0, r.hi);
  double tail = fma(r.hi * r.hi, exp_tail(r.hi), s.lo + r.lo);
  return (ExpParts) {fast_sum(s.hi, tail), e.scale1, e.scale2};
}

/* e^u as a pair, with eight bits more than a double */
VECTOR Pair exp_of_pair (Pair u) {
  ExpParts e = exp_parts(u);
  double hi = e.p.hi * e.scale1 * e.scale2;
  return (Pair) {hi, hi < HUGE_VAL ? e.p.lo * e.scale1 * e.scale2 : 0.0};
}

/* factor e^u, where e^u alone may be out of range */
VECTOR double scaled_exp (double factor, Pair u) {
  ExpParts e = exp_parts(u);
  double x = (factor * e.p.hi) * e.scale1 * e.scale2;
  x = u.hi > 1400 ? HUGE_VAL : x;
  return u.hi < -1400 ? 0.0 : x;
}

/* }====================================================== */


/* {=====================================================
** t and its inverse; x below 0 counts as 0
** ====================================================== */

VECTOR Pair power_log (double x, double scale) {
  return log_ratio_pair(x < 0 ? 0.0 : x, scale);
}

VECTOR Pair power_of_log (Pair l, double k) {
  return exp_of_pair(exponent_product(k, l));
}

VECTOR Pair power_hazard (double x, double scale, double k) {
  return power_of_log(power_log(x, scale), k);
}

VECTOR void power_hazard_slopes (double x, double scale, double k, double d[]) {
  Pair l = power_log(x, scale);
  double t = power_of_log(l, k).hi, rate = k * t;
  int inside = (x > 0) & (x < HUGE_VAL);
  d[0] = inside ? rate / x : 0;
  d[1] = inside ? -rate / scale : 0;
  d[2] = inside ? t * l.hi : 0;
}

/* log t, and its slopes */
VECTOR double power_log_hazard (double x, double scale, double k, double d[]) {
  Pair l = power_log(x, scale), u = exponent_product(k, l);
  int inside = (x > 0) & (x < HUGE_VAL);
  d[0] = inside ? k / x : 0;
  d[1] = inside ? -k / scale : 0;
  d[2] = inside ? l.hi : 0;
  return u.hi + u.lo;
}

VECTOR double power_log_density (double x, double scale, double k) {
  Pair l = power_log(x, scale), t = power_of_log(l, k);
  double power = k == 1 ? 0.0 : (k - 1) * l.hi;
  double inside = (power - t.hi) + (vlog_ratio(fabs(k), scale) - t.lo);
  inside = t.hi == HUGE_VAL ? -HUGE_VAL : inside;
  return x < 0 ? -HUGE_VAL : inside;
}

VECTOR void power_log_density_slopes (double x, double scale, double k, double d[]) {
  Pair l = power_log(x, scale);
  double t = power_of_log(l, k).hi;
  d[0] = x < 0 ? 0 : (k * (1 - t) - 1) / x;
  d[1] = x < 0 ? 0 : k * (t - 1) / scale;
  d[2] = x < 0 ? 0 : fma(l.hi, 1 - t, 1 / k);
}

VECTOR double power_quantile (double e, double scale, double k) {
  Pair l = log_pair(e);
  l.hi = log_edges(e, l.hi);
  return scaled_exp(scale, exponent_quotient(l, k));
}

VECTOR void power_quantile_slopes (double e, double scale, double k, double d[]) {
  double x = power_quantile(e, scale, k);
  d[0] = x / e / k;
  d[1] = x / scale;
  d[2] = -x * vlog(e) / k / k;
}

/* }====================================================== */


/* {=====================================================
** Moments and entropy; operands scale, k
** ====================================================== */

/* log Gamma(1 + 2y) - 2 log Gamma(1 + y) and its derivative, y = 1/k */
typedef struct Gap { double value, slope; } Gap;

/* one step of Horner's rule, for a polynomial and its derivative */
VECTOR Gap gap_step (Gap q, double y, double c) {
  return (Gap) {fma(q.value, y, c), fma(q.slope, y, q.value)};
}

/* y^2 Q(y) for |y| <= 1/16, where the difference cancels; error of Q 2^-56.7 */
VECTOR Gap gap_near (double y) {
  Gap q = {-2293.0851441468791816, 0.0};
  q = gap_step(q, y, 1227.9062321220574953);
  q = gap_step(q, y, -629.48822529513912712);
  q = gap_step(q, y, 340.93775584056992188);
  q = gap_step(q, y, -186.09349531452305837);
  q = gap_step(q, y, 102.30248270366225741);
  q = gap_step(q, y, -56.780473432937272808);
  q = gap_step(q, y, 31.879454911857553038);
  q = gap_step(q, y, -18.150286994283264516);
  q = gap_step(q, y, 10.512544974587413192);
  q = gap_step(q, y, -6.2215665308598753967);
  q = gap_step(q, y, 3.7881313179888008945);
  q = gap_step(q, y, -2.4041138063191885845);
  q = gap_step(q, y, 1.6449340668482264438);
  return (Gap) {y * y * q.value, y * fma(2.0, q.value, y * q.slope)};
}

/* given z1 = 1 + y and z2 = 1 + 2y */
VECTOR Gap moment_gap (double y, double z1, double z2) {
  double l1, l2, d1, d2;
  vlgamma_digamma(z1, &l1, &d1);
  vlgamma_digamma(z2, &l2, &d2);
  Gap near = gap_near(clamp(y, -0.0625, 0.0625));
  int small = fabs(y) < 0.0625;
  return (Gap) {small ? near.value : fma(-2.0, l1, l2), small ? near.slope : 2 * (d2 - d1)};
}

VECTOR Moment power_mean (double scale, double k) {
  double z = (k + 1) / k, inside = scaled_exp(scale, (Pair) {vlgamma_pos(z), 0.0});
  double m = z > 0 ? inside : HUGE_VAL;
  return (Moment) {m, m / scale, z > 0 ? -m * vdigamma_pos(z) / k / k : 0};
}

/* sd^2 = scale^2 Gamma(z2) (1 - e^-gap) */
VECTOR Moment power_stddev (double scale, double k) {
  double z1 = (k + 1) / k, z2 = (k + 2) / k;
  Gap gap = moment_gap(1 / k, z1, z2);
  double root = sqrt(-vexpm1(-gap.value));
  double inside = scaled_exp(scale, (Pair) {0.5 * vlgamma_pos(z2), 0.0}) * root;
  double sd = z2 > 0 ? inside : HUGE_VAL;
  double rate = vdigamma_pos(z2) + 0.5 * gap.slope / vexpm1(gap.value);
  return (Moment) {sd, sd / scale, z2 > 0 ? -sd * rate / k / k : 0};
}

VECTOR Moment power_entropy (double scale, double k) {
  double value = vlog_ratio(scale, fabs(k)) + fma(EULER_GAMMA, 1 - 1 / k, 1.0);
  return (Moment) {value, 1 / scale, (EULER_GAMMA / k - 1) / k};
}

/* }====================================================== */

#endif
