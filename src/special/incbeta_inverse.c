/*
** incbeta_inverse.c - quantiles of the beta distribution
**
** In t = logit x both log I and log(1 - I) are concave, because the density
** of logit X is log-concave. Newton's method for log I(t) = log p therefore
** never overshoots to the right, and converges from any start.
*/
#include "special/incbeta.h"
#include "special/incbeta_parts.h"
#include "special/vgamma.h"
#include "special/vmath.h"


typedef struct BetaQuantile { double x, y; } BetaQuantile;

static BetaQuantile quantile_from_log (double log_x) {
  return (BetaQuantile) {vexp(log_x), -vexpm1(log_x)};
}

/* x -> logit^-1(logit x + t), the smaller coordinate kept, the other its complement */
static BetaQuantile quantile_moved (BetaQuantile s, double t) {
  double e = vexp(-fabs(t));
  double small = e * ((t < 0.0) ? s.x : s.y), large = (t < 0.0) ? s.y : s.x;
  double total = small + large;
  BetaQuantile moved = {small / total, large / total};
  if (t >= 0.0) moved = (BetaQuantile) {moved.y, moved.x};
  if (moved.x <= moved.y) moved.y = 1.0 - moved.x;
  else moved.x = 1.0 - moved.y;
  return moved;
}

/* log of (p a B(a,b))^(1/a), the root of the leading term; min(a,b) <= 1 */
static double power_root (double a, double b, double log_p) {
  double least = (a < b) ? a : b, most = (a < b) ? b : a;
  double rest = incbeta_small_exponent(least, most, 1.0).hi;
  double log_share = (a < b) ? -vlog1p(a / b) : vlog(b / (a + b));
  return (log_p - log_share - rest) / a;
}

/*
** Is the root of the leading term in y = 1 - x certainly below 1/(2(1 + a)), for b <= 1?
** Its logarithm is at most log(q)/b - digamma(a), and that less than log(q)/b - log(a) + 1/a.
*/
static int is_near_one (double a, double b, double log_q) {
  return log_q / b + 1.0 / a - vlog(a) < -LN2 - vlog1p(a);
}

/*
** Starts for p <= 1/2. b <= 1 and x close to 1: the leading term in 1 - x.
** a <= 1 < b: that in x, below the root. b <= 1 < a: I <= x^a. Both small:
** the leading term in x, or the middle.
*/
static BetaQuantile small_start (double a, double b, double p, double log_p) {
  double log_q = vlog1p(-p);
  if (b <= 1.0 && is_near_one(a, b, log_q)) {
    BetaQuantile s = quantile_from_log(power_root(b, a, log_q));
    return (BetaQuantile) {s.y, s.x};
  }
  if (a > 1.0) return quantile_from_log(log_p / a);
  double log_x = power_root(a, b, log_p);
  if (log_x < -LN2 || b > 1.0) return quantile_from_log(log_x);
  return (BetaQuantile) {0.5, 0.5};
}

/*
** Start for a, b > 1, from the normal quantile (Abramowitz and Stegun 26.2.22,
** 26.5.22), not below the root of the leading term
*/
static BetaQuantile normal_start (double a, double b, double log_p) {
  double r = sqrt(-2.0 * log_p);
  double z = r - fma(0.27061, r, 2.30753) / fma(fma(0.04481, r, 0.99229), r, 1.0);
  double s = 1.0 / (2.0 * a - 1.0), t = 1.0 / (2.0 * b - 1.0);
  double h = 2.0 / (s + t), l = (z * z - 3.0) / 6.0;
  double w = z * sqrt(h + l) / h - (t - s) * (l + 5.0 / 6.0 - 2.0 / (3.0 * h));
  double least = (log_p + vlog(a) + vbetaln(a, b)) / a;
  double odds = (b / a) * vexp(2.0 * w);
  BetaQuantile start = {1.0 / (1.0 + odds), 1.0 / (1.0 + (a / b) * vexp(-2.0 * w))};
  if (least < -1.0 && !(start.x > vexp(least))) return quantile_from_log(least);
  return start;
}

/* log(I/p), by the quotient unless I or p is near underflow; v is the value of t */
static double log_miss (BetaTail t, double v, double p) {
  if (v > 1e-290 && p > 1e-290) return vlog_ratio(t.upper ? 1.0 - v : v, p);
  return (t.upper ? vlog1p(-v) : incbeta_tail_log(t)) - vlog(p);
}

/*
** The longest sensible step: 40 standard deviations of logit X where the start
** is good (this matters when they are below an ulp of x), else no bound upwards
*/
static double bounded_step (double a, double b, double step) {
  double reach = (a > 1.0 && b > 1.0) ? 40.0 * sqrt(1.0 / a + 1.0 / b) : HUGE_VAL;
  return clamp(step, -fmin(reach, 40.0), reach);
}

/* one step in logit x, Newton's or Halley's; returns its length in units of the curvature */
static double refine (double a, double b, double p, BetaQuantile *s) {
  BetaTail t = incbeta_tail(a, b, s->x, s->y);
  double v = incbeta_tail_value(t);
  double f = log_miss(t, v, p);
  double slope = t.upper ? t.slope * (v / (1.0 - v)) : t.slope;
  double bend = a * s->y - b * s->x - slope;
  double newton = -f / slope;
  double turn = 0.5 * newton * bend;
  double step = newton / ((fabs(turn) < 0.25) ? 1.0 + turn : 1.0);
  *s = quantile_moved(*s, bounded_step(a, b, step));
  return fabs(newton) * (1.0 + slope + fabs(bend));
}

/* the quantile for 0 < p <= 1/2 */
static BetaQuantile lower_quantile (double a, double b, double p) {
  double log_p = vlog(p);
  BetaQuantile s = (a > 1.0 && b > 1.0) ? normal_start(a, b, log_p) : small_start(a, b, p, log_p);
  for (int i = 0; i < 100 && s.x > 0.0 && s.y > 0.0; i++) {
    BetaQuantile before = s;
    double length = refine(a, b, p, &s);
    if (!(length > 1e-5) || (s.x == before.x && s.y == before.y)) break;
  }
  return s;
}

/* the point masses, and p = 0 and 1 */
static int limit_quantile (double a, double b, double p, int upper, BetaQuantile *s) {
  if (incbeta_is_invalid(a, b, p)) *s = (BetaQuantile) {NAN, NAN};
  else if (a == 0.0 || b == HUGE_VAL) *s = (BetaQuantile) {0.0, 1.0};
  else if (b == 0.0 || a == HUGE_VAL) *s = (BetaQuantile) {1.0, 0.0};
  else if (p == 0.0) *s = (BetaQuantile) {upper, !upper};
  else if (p == 1.0) *s = (BetaQuantile) {!upper, upper};
  else return 0;
  return 1;
}

/* the smaller tail decides which end to count from; 1 - p is exact for p >= 1/2 */
void special_betaincinv_xy (double a, double b, double p, int upper,
                            double *x, double *y) {
  BetaQuantile s;
  if (!limit_quantile(a, b, p, upper, &s)) {
    double scale = (a + b < HUGE_VAL) ? 1.0 : 0x1p-600;
    int mirror = (p <= 0.5) == upper;
    double tail = (p <= 0.5) ? p : 1.0 - p;
    a *= scale, b *= scale;
    s = mirror ? lower_quantile(b, a, tail) : lower_quantile(a, b, tail);
    if (mirror) s = (BetaQuantile) {s.y, s.x};
  }
  *x = s.x;
  *y = s.y;
}

double special_betaincinv (double a, double b, double p) {
  double x, y;
  special_betaincinv_xy(a, b, p, 0, &x, &y);
  return x;
}

double special_betainccinv (double a, double b, double q) {
  double x, y;
  special_betaincinv_xy(a, b, q, 1, &x, &y);
  return x;
}
