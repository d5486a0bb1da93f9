/*
** betabinomiallaw.h - the probabilities of BetaBinomial(a, b, n), and their slopes
**
**   log P(k) = log(n!/(k! y!)) + log(B(k + a, y + b)/B(a, b)),   y = n - k
**
** With N(k; a) = Gamma(k + a)/(Gamma(a) k!) p^k q^a, a negative binomial probability, it is
** N(k; a) N(y; b)/N(n; s), s = a + b, whatever p is. With p = n/(n + s) the means agree, and in
** Loader's form (binomial_law.h) of the three nothing cancels, except at k = 0 and k = n, where P
** can be near 1: there -log P is itself a sum of positive terms.
*/
#ifndef PERILUNE_BETABINOMIALLAW_H
#define PERILUNE_BETABINOMIALLAW_H

#include "kernel/binomial_law.h"
#include "special/constants.h"

typedef struct BetaBinomialLaw { double a, b, n; } BetaBinomialLaw;

/* from the mean n a/s */
static inline double deviation (BetaBinomialLaw w) {
  double s = w.a + w.b;
  return sqrt(w.n * (w.a / s) * (w.b / s) * ((s + w.n) / (s + 1)));
}


/* mu(k + a) - mu(k) - mu(a) - deviances, for k >= 1/2 */
VECTOR double half_weight (double k, double a, Odds o) {
  double m = k + a;
  return stirlerr_above(m) - stirlerr_above(k) - vstirlerr(a) - binomial_deviances(k, a, m, o);
}

/* log P without log sqrt(a b n m/(s (k + a) (y + b) k y)), m = n + s; minus_log_q = -log(s/m) */
VECTOR double weights (double k, double y, double a, double b, double n, double minus_log_q) {
  double s = a + b, m = n + s;
  Odds o = {n / m, s / m, vlog1p(s / n), minus_log_q};
  double whole = stirlerr_above(m) - stirlerr_above(n) - vstirlerr(s);
  return half_weight(k, a, o) + half_weight(y, b, o) - whole;
}

/* log P(k) for 1/2 <= k <= n - 1/2; rest = n - k */
VECTOR double log_prob_inside (double x, double rest, double a, double b, double n) {
  double k = x < 0.5 ? 0.5 : x, y = rest < 0.5 ? 0.5 : rest, s = a + b, m = n + s;
  double root = vlog(a / (k + a) / k * (n / s * m)) + vlog(b / (y + b) / y);
  return weights(k, y, a, b, n, vlog1p(n / s)) + fma(0.5, root, -HALF_LOG_2PI);
}

/* does n m/s overflow? */
VECTOR int is_huge (double a, double b, double n) {
  return !(n / (a + b) * (n + (a + b)) < HUGE_VAL) & (n < HUGE_VAL);
}

static inline double log_prob_huge (double k, double y, double a, double b, double n) {
  double s = a + b, m = n + s, log_q = vlog_ratio(s, m);
  double root = vlog(a / (k + a)) + vlog(b / (y + b)) + (vlog(n) - vlog(k) - vlog(y) - log_q);
  return weights(k, y, a, b, n, -log_q) + fma(0.5, root, -HALF_LOG_2PI);
}

/* mu(z + h) - mu(z) for z >= 16, the powers of the series taken apart: r^m - q^m = (r - q)(...) */
static inline double stirlerr_step (double z, double h) {
  static const double coefficient[] = {
    0.083333333333333333333, -0.0027777777777777777778, 0.00079365079365079365079,
    -0.00059523809523809523810, 0.00084175084175084175084, -0.0019175269175269175269
  };
  double q = 1 / z, r = 1 / (z + h), power = q, bundle = 1, sum = 0;
  for (int i = 0; i < 6; i++) {
    sum = fma(coefficient[i], bundle, sum);
    bundle = fma(bundle, r * r, power * (q + r));
    power *= q * q;
  }
  return -h * q * r * sum;
}

/*
** log(Gamma(z + h + g) Gamma(z)/(Gamma(z + h) Gamma(z + g))) for h <= g, from
** Stirling's formula, z >= 16
*/
static inline double excess_far (double z, double h, double g) {
  double w = z + g;
  double bend = w * vlog1pmx(h / w) - z * vlog1pmx(h / z);
  double part = g / w * (h / (z + h)), left = z / (z + h) * ((w + h) / w);   /* 1 - part */
  double steps = (h - 0.5) * (part < 0.5 ? vlog1p(-part) : vlog(left));
  return fma(h, vlog1p(g / z), bend + (steps + (stirlerr_step(w, h) - stirlerr_step(z, h))));
}

/* the same for all z > 0: each step from z to z + 1 adds log(1 + h g/(z (z + h + g))) */
static inline double excess (double z, double h, double g) {
  double low = h < g ? h : g, high = h < g ? g : h, sum = 0;
  if (!(z > 0)) return NAN;
  for (; z < 16; z++) sum += vlog1p(low / z * (high / (z + low + high)));
  return sum + excess_far(z, low, high);
}

/* -log P(0), or -log P(n) */
static inline double end_weight (double x, BetaBinomialLaw w) {
  if (w.n == 0) return 0;
  return x == 0 ? excess(w.b, w.n, w.a) : excess(w.a, w.n, w.b);
}

/* log P at a real number from 1/2 to n - 1/2, or at an end */
static inline double log_prob_at (double x, BetaBinomialLaw w) {
  if (x == 0 || x == w.n) return 0 - end_weight(x, w);
  return is_huge(w.a, w.b, w.n) ? log_prob_huge(x, w.n - x, w.a, w.b, w.n)
                                : log_prob_inside(x, w.n - x, w.a, w.b, w.n);
}


/* psi(a + k) - psi(a) - psi(s + n) + psi(s), the slope along a; k = y, a = b for that along b */
VECTOR double shape_slope (double k, double a, double n, double s) {
  double gap = fma(k, s, -n * a) / (a * (n + s));   /* (1 + k/a)/(1 + n/s) - 1 */
  double log_gap = fabs(gap) < 0.5 ? vlog1p(gap) : vlog1p(k / a) - vlog1p(n / s);
  double near = (vdigamma_pos(a + k) - vdigamma_pos(a)) - (vdigamma_pos(s + n) - vdigamma_pos(s));
  return a < 2.25 ? near : log_gap + (digamma_step(a, k) - digamma_step(s, n));
}

/* psi(y + b) - psi(y + 1) */
VECTOR double digamma_from_one (double y, double b) {
  double z = y + (b < 1 ? b : 1), k = fabs(b - 1), end = y + (b < 1 ? 1 : b);
  double near = vdigamma_pos(end) - vdigamma_pos(z), far = vlog1p(k / z) + digamma_step(z, k);
  double rise = z < 2.25 ? near : far;
  return b < 1 ? -rise : rise;
}

VECTOR double total_slope (double y, double b, double n, double s) {
  return digamma_from_one(y, b) - digamma_from_one(n, s);
}

#endif
