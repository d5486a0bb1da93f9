/*
** noncentralf_sums.h - NoncentralF as a mixture, summed term by term
**
** With a Poisson number K of mean a, Y is Gamma(m + K, 1) and x = (Y/m)/(V/b) a quotient of
** variances: with u = m x/b, X = u/(1 + u), and w_j = P(K = j)
**
**   x p = sum_j w_j (m + j) c_j,   c_j = X^(m + j) (1 - X)^b/((m + j) B(m + j, b))
**   F = sum_j c_j P(K <= j),       1 - F = I_(1-X)(b, m) + sum_j c_j P(K > j)
*/
#ifndef PERILUNE_NONCENTRALF_SUMS_H
#define PERILUNE_NONCENTRALF_SUMS_H

#include "kernel/betalaw.h"
#include "kernel/poisson.h"

/* m = df1/2, b = df2/2, a = noncentrality/2; what 1 of a standard x counts */
typedef struct Shape { double m, b, a, unit; } Shape;

typedef enum Part { DENSITY, LOWER, UPPER } Part;   /* of x p(x), F, and 1 - F */

static inline int has_series (Shape s) { return s.a <= 1e4; }

/* log(x^a y^b/B(a, b)) */
static inline double log_beta_power (double a, double b, BetaOdds o) {
  if (a + b < SADDLE) {
    double small = -vlog1p(vexp(-fabs(o.log)));
    return fma(a, fmin(o.log, 0) + small, b * (small - fmax(o.log, 0))) - log_beta(a, b);
  }
  double n = a + b, gap = b * o.x - a * o.y, few = n * o.x / a;
  if (a < 1e-200) few = fmax(few, 0x1p-1074);   /* a log x is nothing, but x too small for a number */
  return fma(a, deviation(gap / a, few), b * deviation(-gap / b, n * o.y / b))
         + log_peak(a, b);
}

static const double SERIES_WIDTHS = 12;   /* of a peak, beyond which nothing counts */

/* terms from `low` to `high`, which are all that count: t_j = w_j c_j has its peak among them */
typedef struct Series { Shape s; BetaOdds odds; double low, high; } Series;

static inline double log_term (const Series *r, double j) {
  double m = r->s.m + j;
  return poisson_log_prob(j, r->s.a) + log_beta_power(m, r->s.b, r->odds) - vlog(m);
}

/* t_(j+1)/t_j; X may be too small to have its digits */
static inline double term_ratio (const Series *r, double j) {
  double m = r->s.m + j, size = (m + r->s.b) / (m + 1);
  double share = r->odds.x > 1e-290 ? r->odds.x * size : vexp(r->odds.log + vlog(size));
  return r->s.a / (j + 1) * share;
}

/* the greater root of j^2 + b j + c, or 0 */
static inline double series_peak (double b, double c) {
  double root = sqrt(fmax(fma(b, b, -4 * c), 0));
  return c < 0 ? b > 0 ? -2 * c / (b + root) : 0.5 * (root - b) : 0;
}

/* terms of densities, t_j (m + j), about where two are the same, as far as they go down */
static inline Series density_series (Shape s, BetaOdds odds) {
  double more = fmin(25, 45 / vlog1p(5 / s.a)), shared = s.a * odds.x;   /* of a small mean w falls at once */
  double peak = series_peak(s.m + 1 - shared, s.m - shared * (s.m + s.b));
  double bend = 1 / (peak + 1) + (1 / (s.m + peak) - 1 / (s.m + s.b + peak));
  double width = fma(SERIES_WIDTHS, 1 / sqrt(bend), more);
  return (Series) {s, odds, floor(fmax(0, peak - width)), ceil(peak + width)};
}

/* terms of tails, about where t_(j+1) = t_j, as far as it goes down, and about the mean of K */
static inline Series tail_series (Shape s, BetaOdds odds) {
  double more = fmin(25, 45 / vlog1p(5 / s.a)), shared = s.a * odds.x;
  double peak = series_peak(s.m + 2 - shared, s.m + 1 - shared * (s.m + s.b));
  double own_bend = 1 / (peak + 1), shares = 1 / (s.m + peak + 1) - 1 / (s.m + s.b + peak);
  double bend = fmax(own_bend + shares, 0.25 * own_bend);
  double width = fma(SERIES_WIDTHS, 1 / sqrt(bend), more), own = fma(SERIES_WIDTHS, sqrt(s.a), more);
  return (Series) {s, odds, floor(fmax(0, fmin(peak - width, s.a - own))),
                   ceil(fmax(peak + width, s.a + own))};
}

/* sum_j t_j (m + j) */
static inline double log_density_sum (const Series *r) {
  double t = 1, sum = 0;
  for (double j = r->low; j <= r->high; j++) {
    sum = fma(t, r->s.m + j, sum);
    t *= term_ratio(r, j);
  }
  return log_term(r, r->low) + vlog(sum);
}

/* with rest = P(K <= j)/w_j; from `high` on K counts no longer */
static inline double log_lower_sum (const Series *r) {
  double t = 1, sum = 0, j = r->low, a = r->s.a;
  double rest = vexp(poisson_log_cdf(j, a) - poisson_log_prob(j, a));
  for (; j < r->high; j++) {
    sum = fma(t, rest, sum);
    t *= term_ratio(r, j);
    rest = fma(rest, (j + 1) / a, 1);
  }
  double far = beta_log_tail(r->s.m + r->high, r->s.b, r->odds);
  return vlogaddexp(log_term(r, r->low) + vlog(sum), far);
}

/* with rest = P(K > j)/w_j; below `low` all K count */
static inline double log_upper_sum (const Series *r) {
  double t = 1, sum = 0, j = r->high, a = r->s.a;
  double rest = vexp(poisson_log_sf(j, a) - poisson_log_prob(j, a));
  for (; j >= r->low; j--) {
    sum = fma(t, rest, sum);
    t /= term_ratio(r, j - 1);
    rest = (rest + 1) * (a / j);
  }
  double first = beta_log_tail(r->s.b, r->s.m + r->low, flipped(r->odds));
  return vlogaddexp(log_term(r, r->high) + vlog(sum), first);
}

/* where c falls at once; in units of c_0 */
static inline double log_first_upper (const Series *r) {
  double c = 1, sum = 0, m = r->s.m;
  for (double j = 0; j < 100 && c > 0; j++) {
    double term = c * poisson_sf(j, r->s.a);
    sum += term;
    if (term < 1e-18 * sum) break;
    c *= r->odds.x * ((m + r->s.b + j) / (m + 1 + j));
  }
  double first = log_beta_power(m, r->s.b, r->odds) - vlog(m) + vlog(sum);
  return vlogaddexp(first, beta_log_tail(r->s.b, m, flipped(r->odds)));
}

static inline double log_central (Shape s, BetaOdds odds, Part part) {
  if (part == DENSITY) return log_beta_power(s.m, s.b, odds);
  return part == LOWER ? beta_log_tail(s.m, s.b, odds) : beta_log_tail(s.b, s.m, flipped(odds));
}

/* K is 0 or, hardly ever, 1 */
static inline double log_first_two (Shape s, BetaOdds odds, Part part) {
  double first = log_central(s, odds, part), log_a = vlog(s.a);
  s.m += 1;
  return s.a > 0 ? vlogaddexp(first, log_a + log_central(s, odds, part)) : first;
}

/* the logarithm of a part; NaN where there are too many terms, or numbers leave their range */
static inline double log_mixture (Shape s, double x, Part part) {
  static const double TERMS = 4000;
  double log_odds = vlog(s.m) - vlog(s.b) + vlog(x);   /* m/b might have no digits */
  BetaOdds odds = odds_at(s.m < 1e-290 ? vexp(log_odds) : s.m / s.b * x, log_odds);
  if (s.a < 1e-17) return log_first_two(s, odds, part);
  Series r = part == DENSITY ? density_series(s, odds) : tail_series(s, odds);
  if (!(r.high - r.low < TERMS && r.high < 0x1p52)) return (double)NAN;
  int falls = odds.x * fmax(1, (s.m + s.b) / (s.m + 1)) < 0.1;
  double log = part == DENSITY ? log_density_sum(&r) : part == LOWER ? log_lower_sum(&r)
             : falls ? log_first_upper(&r) : log_upper_sum(&r);
  return fabs(log) < HUGE_VAL ? log : (double)NAN;
}

#endif
