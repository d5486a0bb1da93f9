/*
** gammalaw.h - what Gamma and InverseGamma share
**
** If t = rate x^s with s = 1 or s = -1 has the law Gamma(a, 1), then
**
**   log p(x) = g - log x,   g = a log t - t - log Gamma(a)
**   F(x)     = P(a, t) for s = 1,  Q(a, t) for s = -1
**
** s = 1 is Gamma(a, rate), s = -1 is InverseGamma(a, rate). The functions
** and loops of x, a and rate are written here, once, with s a constant in them.
** From a = LAW_SADDLE on, g is taken in Loader's form (2000), where nothing large cancels:
**
**   g = log(a/(2 pi))/2 - mu(a) - D,   D = a log(a/t) + t - a
**
** t is a product or a quotient and carries its rounding error along, because slopes in t
** grow like sqrt(a).
*/
#ifndef PERILUNE_GAMMALAW_H
#define PERILUNE_GAMMALAW_H

#include "kernel/repeated.h"
#include "kernel/kernel.h"
#include "special/constants.h"
#include "special/incgamma.h"
#include "special/pair.h"
#include "special/vgamma.h"
#include "special/vmath.h"
#include "special/vratio.h"


static const double LAW_SADDLE = 8;
static const double LAW_TINY = 1e-290;   /* below it t may have lost digits: use log t */

/* which tail of t */
enum { LAW_LOWER, LAW_UPPER };


/* {=====================================================
** The argument
** ====================================================== */

VECTOR int law_outside (double x, double s) {
  return s > 0 ? x < 0 : x <= 0;
}

/* t and its rounding error */
VECTOR Pair law_argument (double x, double b, double s) {
  double t = s > 0 ? b * x : b / x;
  double rest = s > 0 ? fma(b, x, -t) : fma(-t, x, b) / x;
  return (Pair) {t, ((t > LAW_TINY) & (t < HUGE_VAL)) ? rest : 0.0};
}

/* log t, even if t underflows */
VECTOR double law_log_argument (double x, double b, Pair t, double s) {
  double apart = fma(s, vlog(x), vlog(b)), whole = vlog(t.hi) + t.lo / t.hi;
  return ((t.hi > LAW_TINY) & (t.hi < HUGE_VAL)) ? whole : apart;
}

/* (dt/da)/t at fixed P(a, t), which is t^a/Gamma(1 + a) for tiny t */
static inline double law_log_slope (double x, double a, double b, Pair t, double s) {
  if (t.hi < LAW_TINY) return (vdigamma_pos(1 + a) - law_log_argument(x, b, t, s)) / a;
  return special_gamma_dx_da(a, t.hi) / t.hi;
}

/* }====================================================== */


/* {=====================================================
** Density
** ====================================================== */

/* log p - (k log x - t), k = s a - 1 */
VECTOR double law_constant (double a, double b) {
  return fma(a, vlog(b), -vlgamma_pos(a));
}

/* log p as it stands; k log x is 0 for k = 0, at x = 0 as well */
VECTOR double law_plain (double x, double a, double b, double constant, double s) {
  double t = s > 0 ? b * x : b / x, k = fma(s, a, -1.0);
  double power = fma(k, vlog(x), constant - t);
  double value = k == 0 ? constant - t : power;
  value = t == HUGE_VAL ? -HUGE_VAL : value;
  return law_outside(x, s) ? -HUGE_VAL : value;
}

/* g + D */
VECTOR double law_saddle_constant (double a) {
  return fma(0.5, vlog(a), -HALF_LOG_2PI) - binet_far(1 / a);
}

/* g, for any t > 0; dD = (t - a) dt/t */
VECTOR double law_log_mass (double x, double a, double b, Pair t, double s) {
  double plain = fma(a, law_log_argument(x, b, t, s), -t.hi) - vlgamma_pos(a);
  double deviance = fma(t.hi - a, t.lo / t.hi, vbd0(a, t.hi));
  double saddle = law_saddle_constant(a) - deviance;
  double value = ((a >= LAW_SADDLE) & (t.hi > LAW_TINY)) ? saddle : plain;
  return t.hi == HUGE_VAL ? -HUGE_VAL : value;
}

/* Has law_saddle all its digits at this a >= LAW_SADDLE? */
VECTOR int law_in_range (double a, double t) {
  return (a < 1e290) & (t > LAW_TINY) & (t < 1e290);
}

/* g in Loader's form; the error of t counts where it is near a, hence in t - a alone */
VECTOR double law_saddle (double a, Pair t, double constant) {
  double r = 1 / a, gap = (t.hi - a) + t.lo;
  return fma(-a, vexcess(t.hi * r, gap * r), constant);
}

/* (never inlined: beside other tests of a, gcc makes branches of those of lgamma) */
static __attribute__((noinline))
void law_plain_constants (size_t n, const double *a, const double *b, double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = law_constant(a[i], b[i]);
}

/* one constant for all is the common case: it is computed once, with the same bits */
static inline void law_constants (size_t n, const double *a, const double *b, int large,
                                  double *out) {
  size_t differing = all_same(n, a) && all_same(n, b) ? 1 : n;
  law_plain_constants(differing, a, b, out);
  for (size_t i = 0; large && i < differing; i++)
    out[i] = a[i] >= LAW_SADDLE ? law_saddle_constant(a[i]) : out[i];
  for (size_t i = differing; i < n; i++) out[i] = out[0];
}

/* `out` holds the constants; some of the shapes are large */
VECTOR void law_log_prob_large (size_t n, const double *const in[], double *out, double s) {
  const double *x = in[0], *a = in[1], *b = in[2];
  uint64_t odd = 0;
  EVERY for (size_t i = 0; i < n; i++) {
    Pair t = law_argument(x[i], b[i], s);
    double plain = law_plain(x[i], a[i], b[i], out[i], s);
    double saddle = law_saddle(a[i], t, out[i]) - vlog(x[i]);
    out[i] = a[i] >= LAW_SADDLE ? saddle : plain;
    odd |= (a[i] >= LAW_SADDLE) & !law_in_range(a[i], t.hi);
  }
  for (size_t i = 0; odd && i < n; i++) {
    Pair t = law_argument(x[i], b[i], s);
    if (!(a[i] >= LAW_SADDLE) || law_in_range(a[i], t.hi)) continue;
    double mass = law_outside(x[i], s) ? -HUGE_VAL : law_log_mass(x[i], a[i], b[i], t, s);
    out[i] = mass == -HUGE_VAL ? mass : mass - vlog(x[i]);
  }
}

VECTOR void law_log_prob (size_t n, const double *const in[], double *out, double s) {
  const double *x = in[0], *a = in[1], *b = in[2];
  uint64_t large = 0;
  for (size_t i = 0; i < n; i++) large |= a[i] >= LAW_SADDLE;
  law_constants(n, a, b, large != 0, out);
  if (large) law_log_prob_large(n, in, out, s);
  else EVERY for (size_t i = 0; i < n; i++) out[i] = law_plain(x[i], a[i], b[i], out[i], s);
}

/* d log p/da = log t - psi(a) = log(t/a) + (log a - psi(a)) */
VECTOR double law_shape_slope (double x, double a, double b, Pair t, double s) {
  double r = 1 / a;
  double plain = law_log_argument(x, b, t, s) - vdigamma_pos(a);
  double saddle = (vlog_ratio(t.hi, a) + t.lo / t.hi) + fma(0.5, r, digamma_far(r * r));
  return ((a >= LAW_SADDLE) & (t.hi > LAW_TINY)) ? saddle : plain;
}

VECTOR void law_log_prob_partials (size_t n, const double *const in[], double *const d[],
                                   double s) {
  const double *x = in[0], *a = in[1], *b = in[2];
  double *dx = d[0], *da = d[1], *db = d[2];
  EVERY for (size_t i = 0; i < n; i++) {
    Pair t = law_argument(x[i], b[i], s);
    double gap = (a[i] - t.hi) - t.lo, along = fma(s, gap, -1.0) / x[i];
    double shape = law_shape_slope(x[i], a[i], b[i], t, s);
    int outside = law_outside(x[i], s);
    along = s * a[i] == 1 ? -b[i] : along;
    dx[i] = outside ? 0.0 : along;
    da[i] = outside ? 0.0 : shape;
    db[i] = outside ? 0.0 : gap / b[i];
  }
}

/* }====================================================== */


/* {=====================================================
** Tails
** ====================================================== */

/* x, and off the support its end */
VECTOR double law_within (double x, double s) {
  return law_outside(x, s) ? 0.0 : x;
}

/* log P or log Q for tiny t */
static inline double law_log_tail_tiny (double x, double a, double b, Pair t, double s,
                                        int tail) {
  double log_lower = fma(a, law_log_argument(x, b, t, s), -vlgamma1p(a));
  return tail == LAW_LOWER ? log_lower : vlog1mexp(log_lower);
}

static inline double law_tail (double x, double a, double b, double s, int tail) {
  x = law_within(x, s);
  Pair t = law_argument(x, b, s);
  if (t.hi < LAW_TINY) return vexp(law_log_tail_tiny(x, a, b, t, s, tail));
  return special_gamma_tail(a, t, tail == LAW_UPPER);
}

static inline double law_log_tail (double x, double a, double b, double s, int tail) {
  x = law_within(x, s);
  Pair t = law_argument(x, b, s);
  if (t.hi < LAW_TINY) return law_log_tail_tiny(x, a, b, t, s, tail);
  return special_log_gamma_tail(a, t, tail == LAW_UPPER);
}

/* the slopes of a tail, or of its logarithm if level is that, else 0 */
static inline void law_tail_slopes (const double v[], double s, int tail, double level,
                                    double d[]) {
  double x = v[0], a = v[1], b = v[2];
  Pair t = law_argument(x, b, s);
  double sign = tail == LAW_LOWER ? 1 : -1;   /* of the slope in t */
  double mass = sign * vexp(law_log_mass(x, a, b, t, s) - level);
  int flat = law_outside(x, s) || mass == 0;
  d[0] = flat ? 0 : s * mass / x;
  d[1] = flat ? 0 : -mass * law_log_slope(x, a, b, t, s);
  d[2] = flat ? 0 : mass / b;
}

/* }====================================================== */


/* {=====================================================
** Quantiles and draws
** ====================================================== */

/* x where the tail of t is p */
static inline double law_quantile (double p, double a, double b, double s, int tail) {
  double t = tail == LAW_LOWER ? special_gammaincinv(a, p) : special_gammainccinv(a, p);
  double log_lower = tail == LAW_LOWER ? vlog(p) : vlog1p(-p);
  if (t < LAW_TINY && log_lower > -HUGE_VAL)
    return vexp(s * ((log_lower + vlgamma1p(a)) / a - vlog(b)));
  return s > 0 ? t / b : b / t;
}

/* dx/da and dx/db at fixed probability */
static inline void law_pathwise (double x, double a, double b, double s, double d[]) {
  Pair t = law_argument(x, b, s);
  d[1] = x == 0 ? 0 : s * x * law_log_slope(x, a, b, t, s);
  d[2] = -s * x / b;
}

static inline void law_quantile_slopes (const double v[], double s, int tail, double d[]) {
  double a = v[1], b = v[2], x = law_quantile(v[0], a, b, s, tail);
  double width = x * vexp(-law_log_mass(x, a, b, law_argument(x, b, s), s));
  d[0] = tail == LAW_LOWER ? s * width : -s * width;
  law_pathwise(x, a, b, s, d);
}

/* }====================================================== */


/* {=====================================================
** Entropy
** ====================================================== */

/*
** H = a + log Gamma(a) - (a - s) psi(a) - s log(rate), and with psi = log a - q and
** Stirling's formula  H = (s - 1/2) log a + log(2 pi)/2 + mu(a) + (a - s) q - s log(rate)
*/
VECTOR void law_entropy (size_t n, const double *const in[], double *out, double s) {
  const double *a = in[0], *b = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double r = 1 / a[i], q = fma(0.5, r, digamma_far(r * r)), psi, lgamma;
    vlgamma_digamma(a[i], &lgamma, &psi);
    double near = fma(s - a[i], psi, a[i] + lgamma);
    double mu = stirlerr_above(a[i]) + HALF_LOG_2PI;
    double far = fma(s - 0.5, vlog(a[i]), fma(a[i] - s, q, mu));
    out[i] = fma(-s, vlog(b[i]), a[i] < LAW_SADDLE ? near : far);
  }
}

/* dH/da = 1 - (a - s) psi'(a), and psi'(a) = 1/a + h/a^2 */
VECTOR void law_entropy_partials (size_t n, const double *const in[], double *const d[], double s) {
  const double *a = in[0], *b = in[1];
  double *da = d[0], *db = d[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double slope = vtrigamma_pos(a[i]), h = trigamma_series(1 / (a[i] + 1));
    double near = fma(s - a[i], slope, 1.0), far = fma(s, slope, -h / a[i]);
    da[i] = a[i] < 1 ? near : far;
    db[i] = -s / b[i];
  }
}

/* }====================================================== */

#endif
