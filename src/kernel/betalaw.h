/*
** betalaw.h - what Beta, F and Student's t share: each is a function of a beta variable x
**
**   Beta       x itself                  with shapes a, b
**   F          x/y = (df1/df2) F         with shapes df1/2, df2/2,    y = 1 - x
**   Student t  x/y = t^2/df              with shapes 1/2, df/2
**
** log(x/y) is kept beside them: where x or y leaves the range of doubles, a tail is its leading
** term x^a/(a B(a,b)).
*/
#ifndef PERILUNE_BETALAW_H
#define PERILUNE_BETALAW_H

#include "special/constants.h"
#include "special/incbeta.h"
#include "special/vgamma.h"
#include "special/vmath.h"


/* shapes whose sum is larger have their density in Loader's form */
static const double SADDLE = 20;

/* where |log(x/y)| is larger, a tail is its leading term */
static const double LEADING_DEPTH = 650;

/* a point of (0, 1): x + y = 1, and log(x/y) */
typedef struct BetaOdds { double x, y, log; } BetaOdds;


/* {=====================================================
** Densities and entropies
** ====================================================== */

/* log B(a, b), for moderate shapes */
VECTOR double log_beta (double a, double b) {
  return (vlgamma_pos(a) - vlgamma_pos(a + b)) + vlgamma_pos(b);
}

/* mu(a) + mu(b) - mu(a + b) */
VECTOR double stirling_surplus (double a, double b) {
  return (vstirlerr(a) - vstirlerr(a + b)) + vstirlerr(b);
}

/* log of x^a y^b/B(a, b) at the mode x = a/(a + b) */
VECTOR double log_peak (double a, double b) {
  double least = a < b ? a : b, most = a < b ? b : a;
  return fma(0.5, vlog(least * (most / (a + b))), -HALF_LOG_2PI) - stirling_surplus(a, b);
}

/* log(1 + e) - e, given 1 + e as well */
VECTOR double deviation (double e, double whole) {
  return whole < 0.5 ? vlog(whole) - e : vlog1pmx(e);
}

static const double TINY_X = 1e-290;   /* of x: below, n x/a may lose digits */

/* log(n x/a), however small x is */
VECTOR double log_whole (double x, double a, double n) {
  int tiny = x < TINY_X;
  double log_lift = tiny ? 44.361419555836499803 : 0.0;   /* 64 log 2 */
  return vlog(n * (tiny ? x * 0x1p64 : x) / a) - log_lift;
}

/* psi(x) - log x */
VECTOR double digamma_rest (double x) {
  double r = 1 / x;
  double far = fma(-0.5, r, -digamma_far(r * r)), near = vdigamma_pos(x) - vlog(x);
  return x < 2.25 ? near : far;
}

/* x psi'(x) - 1 */
VECTOR double trigamma_rest (double x) {
  double far = trigamma_series(1 / (x + 1)) / x, near = fma(x, vtrigamma_pos(x), -1);
  return x < 1 ? near : far;
}

/* the same without its first term 1/(2x), r = 1/x, for x >= 20; error 3e-14 of r^2 */
VECTOR double trigamma_tail (double r) {
  double z = r * r;
  double p = fma(z, fma(z, fma(z, 5.0 / 66, -1.0 / 30), 1.0 / 42), -1.0 / 30);
  return z * fma(z, p, 1.0 / 6);
}

/* trigamma_rest(a + b) - trigamma_rest(a) */
VECTOR double trigamma_gap (double a, double b) {
  double r = 1 / a, s = 1 / (a + b);
  double far = fma(-0.5 * b, r * s, trigamma_tail(s) - trigamma_tail(r));
  double near = trigamma_rest(a + b) - trigamma_rest(a);
  return a < 20 ? near : far;
}

/* E[log B - a log x - b log y] but for a part of log(a + b), log a and log b */
VECTOR double entropy_rest (double a, double b) {
  double n = a + b;
  double psi = fma(n, digamma_rest(n), fma(-a, digamma_rest(a), -b * digamma_rest(b)));
  return HALF_LOG_2PI + (stirling_surplus(a, b) + psi);
}

/* }====================================================== */


/* {=====================================================
** Tails and quantiles
** ====================================================== */

/* the point with x/y = u, log u given */
static inline BetaOdds odds_at (double u, double log) {
  double v = u < 1 ? u : 1 / u, small = v / (1 + v), large = 1 / (1 + v);
  return u < 1 ? (BetaOdds) {small, large, log} : (BetaOdds) {large, small, log};
}

static inline BetaOdds flipped (BetaOdds o) {
  return (BetaOdds) {o.y, o.x, -o.log};
}

/* u, times k */
static inline double odds_times (BetaOdds o, double k) {
  return fabs(o.log) > LEADING_DEPTH ? vexp(o.log + vlog(k)) : o.x / o.y * k;
}

/* P(X < x); the upper tail is beta_tail(b, a, flipped(o)) */
static inline double beta_tail (double a, double b, BetaOdds o) {
  if (o.log < -LEADING_DEPTH) return vexp(special_log_beta_leading(a, b, o.log));
  if (o.log > LEADING_DEPTH) return -vexpm1(special_log_beta_leading(b, a, -o.log));
  return special_betainc_xy(a, b, o.x, o.y);
}

static inline double beta_log_tail (double a, double b, BetaOdds o) {
  if (o.log < -LEADING_DEPTH) return special_log_beta_leading(a, b, o.log);
  if (o.log > LEADING_DEPTH) return special_log_beta_rest(b, a, -o.log);
  return special_log_betainc_xy(a, b, o.x, o.y);
}

/* the point with P(X < x) = p; the upper quantile is flipped(beta_quantile(b, a, p)) */
static inline BetaOdds beta_quantile (double a, double b, double p) {
  BetaOdds o;
  special_betaincinv_xy(a, b, p, 0, &o.x, &o.y);
  o.log = vlog_ratio(o.x, o.y);
  if (p > 0 && o.x < 1e-285) o.log = (vlog(p) + (vlgamma1p(a) - vlgamma_delta(b, a))) / a;
  if (p < 1 && o.y < 1e-285) o.log = -(vlog1p(-p) + (vlgamma1p(b) - vlgamma_delta(a, b))) / b;
  return o;
}

/* the slopes in a and b of log(x/y) at fixed P(X < x) */
static inline void beta_slopes (double a, double b, BetaOdds o, double *da, double *db) {
  if (o.log < -LEADING_DEPTH) {
    *da = (vdigamma_pos(1 + a) - vdigamma_pos(a + b) - o.log) / a;
    *db = (vdigamma_pos(b) - vdigamma_pos(a + b)) / a;
    return;
  }
  if (o.x > o.y) {
    beta_slopes(b, a, flipped(o), db, da);
    *da = -*da, *db = -*db;
    return;
  }
  special_beta_dx(a, b, o.x, da, db);
  *da = *da / o.x / o.y, *db = *db / o.x / o.y;
}

/* }====================================================== */

#endif
