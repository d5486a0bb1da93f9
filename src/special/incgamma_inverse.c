/*
** incgamma_inverse.c - quantiles of the gamma distribution
**
** Halley's iteration for log(tail) as a function of log x, which is concave, on
** whichever tail is at most 1/2. Starting values: the leading term of the series
** for small x, else Temme's inversion (Math. Comp. 58, 1992).
*/
#include "special/incgamma.h"
#include "special/incgamma_parts.h"
#include "special/verf.h"
#include "special/vmath.h"
#include "special/vpow.h"

enum { MAX_STEPS = 20 };


/* log(1 - q) for 0 <= q <= 1/2 */
static Pair log1m_pair (double q) {
  if (q > 0.25) {
    Pair p = exact_sum(1, -q);
    return pair_add(log_pair(p.hi), (Pair) {p.lo / p.hi, 0});
  }
  Pair s = pair_ratio((Pair) {-2 * q, 0}, exact_sum(2, -q));
  Pair half = {0.5 * s.hi, 0.5 * s.lo};
  return pair_add(s, pair_product(s, incgamma_atanh_series(half)));
}

/* log x if x^a = p Gamma(1+a); the next term of log x is x/(a+1) */
static Pair leading_log (double a, Pair log_p) {
  Pair sum = pair_add(log_p, (Pair) {incgamma_log_gamma1p(a), 0});
  double v = sum.hi / a;
  return v < -800 ? (Pair) {v, 0} : pair_ratio(sum, (Pair) {a, 0});
}

/* lambda with lambda - 1 - log lambda = eta^2/2, to start with: some digits */
static double lambda_of (double eta) {
  double h = 0.5 * eta * eta;
  double rest = fma(fma(1.0 / 4320, eta, -1.0 / 270), eta, 1.0 / 36);
  double series = fma(fma(rest, eta, 1.0 / 3), eta, 1);
  double y = fma(series, eta, 1);
  if (fabs(eta) < 0.5) return y;
  if (eta < -1) y = vexp(-1 - h);
  if (eta > 2) y = 1 + h + vlog(1 + h);
  for (int i = 0; i < 3; i++) y -= (y - 1 - vlog(y) - h) * y / (y - 1);
  return y;
}

/* eta = eta_0 + log(eta_0/mu_0)/(a eta_0), where erfc(|eta_0| sqrt(a/2))/2 = t */
static double start_uniform (double a, double t, int upper) {
  double z = vndtri(t) / vsqrt(a);
  double eta = upper ? -z : z;
  double mu = lambda_of(eta) - 1;
  double shift = fabs(eta) < 1e-4 ? -1.0 / 3 : vlog(eta / mu) / eta;
  return a * lambda_of(eta + shift / a);
}

/* for a < 1: Gamma(a,x) ~ x^(a-1) e^-x (1 - (1-a)/x) at large x */
static double start_small_upper (double a, double log_t, double leading) {
  double y = vlog(a) - incgamma_log_gamma1p(a) - log_t;
  if (leading < -1 || y < 0.5) {
    double x = vexp(fmin(leading, 0));
    return x * vexp(x / (1 + a));
  }
  double x = y - (1 - a) * vlog(1 + y);
  return fmax(x, 0.3);
}

/* log(tail/t) and its derivative's size |d log(tail)/d log x|, for the tail asked for */
static Dual residual (GammaTail s, Pair log_t, int upper) {
  if (s.upper == upper) {
    Pair log_tail = pair_add(s.e, log_pair(s.m));
    return (Dual) {(log_tail.hi - log_t.hi) + (log_tail.lo - log_t.lo), s.d / s.m};
  }
  double other = 1 - incgamma_scaled_exp(s.m, s.e);
  return (Dual) {vlog(other) - log_t.hi, incgamma_scaled_exp(s.d, s.e) / other};
}

/* Halley's step in log x: the second derivative over the first is a - x -+ g */
static double improve (double a, double x, Pair log_t, int upper) {
  for (int i = 0; i < MAX_STEPS; i++) {
    Dual r = residual(incgamma_tail(a, (Pair) {x, 0}), log_t, upper);
    double newton = upper ? r.h / r.dh : -r.h / r.dh;
    double bend = a - x + (upper ? r.dh : -r.dh);
    double step = newton / clamp(fma(0.5 * newton, bend, 1), 0.5, 2);
    double next = fma(x, vexpm1(clamp(step, -50, 50)), x);
    if (!(next > 0 && next < HUGE_VAL)) return x;
    int done = fabs(r.h) < 1e-6 || fabs(step) < 3e-16 || next == x;
    x = next;
    if (done) break;
  }
  return x;
}

/* x with P = t or, if `upper`, Q = t, for 0 < t <= 1/2 finite a > 0; Q/a is E_1(x) for tiny a */
static double inverse (double a, double t, int upper) {
  if (upper && a < 1e-280 && t < 1e-200) return inverse(a * 0x1p200, t * 0x1p200, upper);
  Pair log_t = log_pair(t);
  Pair leading = leading_log(a, upper ? log1m_pair(t) : log_t);
  double x0 = vexp(leading.hi), x;
  if (a < 10 && leading.hi < -20)
    return incgamma_scaled_exp(1, (Pair) {leading.hi, leading.lo + x0 / (a + 1)});
  if (!upper && (a < 1 || x0 < 0.3 * (a + 1))) x = x0 * vexp(x0 / (a + 1));
  else if (a < 1) x = start_small_upper(a, log_t.hi, leading.hi);
  else x = start_uniform(a, t, upper);
  return improve(a, x, log_t, upper);
}

/* `zero` and `one`: probabilities at x = 0 and x = inf; for a = 0 and a = inf all mass is at a */
static double inverse_edge (double a, double p, double zero, double one) {
  if (!(a >= 0 && p >= 0 && p <= 1)) return (double) NAN;
  if (p == zero) return 0;
  return p == one ? HUGE_VAL : a;
}

static int is_inverse_edge (double a, double p) {
  return !(a > 0 && a < HUGE_VAL && p > 0 && p < 1);
}

double special_gammaincinv (double a, double p) {
  if (is_inverse_edge(a, p)) return inverse_edge(a, p, 0, 1);
  return p <= 0.5 ? inverse(a, p, 0) : inverse(a, 1 - p, 1);
}

double special_gammainccinv (double a, double q) {
  if (is_inverse_edge(a, q)) return inverse_edge(a, q, 1, 0);
  return q <= 0.5 ? inverse(a, q, 1) : inverse(a, 1 - q, 0);
}
