/*
** gompertz.c - Gompertz(concentration, rate), lifetimes whose hazard grows exponentially
**
**   log p(x) = log(c r) + u - t,    F(x) = 1 - e^-t
**   t        = c (e^u - 1),         u = r x >= 0
**
** c = concentration, r = rate.
*/
#include "kernel/hazard.h"
#include "kernel/power.h"
#include "kernel/subnormal.h"
#include "special/expint.h"
#include "special/legendre.h"


/* u, 0 below the support */
VECTOR Pair aged (const double v[]) {
  double x = v[0] < 0 ? 0.0 : v[0];
  Pair u = exact_product(v[2], x);
  return (Pair) {u.hi, u.hi < HUGE_VAL ? u.lo : 0.0};
}

/* e^u - 1 as a pair; near 0 as a double */
VECTOR Pair growth (Pair u) {
  Pair e = exp_of_pair(u), far = exact_sum(e.hi, -1.0);
  double near = fma(u.lo, vexp(u.hi), vexpm1(u.hi));
  int small = u.hi < 1;
  return (Pair) {small ? near : far.hi, (small | (e.hi == HUGE_VAL)) ? 0.0 : far.lo + e.lo};
}

/* a b c, for a that is so small that it comes last */
VECTOR double tiny_product (double a, double b, double c) {
  double bc = b * c;
  return ((bc > 1e-300) & (bc < 1e300)) ? bc * a : b < c ? a * c * b : a * b * c;
}

VECTOR Pair hazard (const double v[]) {
  Pair u = aged(v), g = growth(u), t = pair_scale(v[1], g);
  t.hi = v[1] * g.hi == HUGE_VAL ? HUGE_VAL : t.hi;
  int tiny = (u.hi < 1e-280) & (v[0] > 0);
  t.hi = tiny ? tiny_product(v[0], v[1], v[2]) : t.hi;
  t.lo = tiny ? 0.0 : t.lo;
  return (Pair) {v[0] == v[0] ? t.hi : v[0], t.hi < HUGE_VAL ? t.lo : 0.0};
}

VECTOR void hazard_slopes (const double v[], double d[]) {
  Pair u = aged(v);
  double e = vexp(u.hi);
  int inside = (v[0] > 0) & (v[0] < HUGE_VAL);
  d[0] = v[0] >= 0 ? v[1] * v[2] * e : 0.0;
  d[1] = inside ? growth(u).hi : 0.0;
  d[2] = inside ? v[1] * v[0] * e : 0.0;
}

/* log c + log(e^u - 1), which for the least u is log u */
VECTOR double log_hazard (const double v[], double d[]) {
  double u = aged(v).hi, e = vexpm1(u), by_u = 1 + 1 / e, x = v[0] < 0 ? 0.0 : v[0];
  int inside = (v[0] > 0) & (v[0] < HUGE_VAL), tiny = u < 0x1p-60;
  d[0] = inside ? (tiny ? 1 / v[0] : by_u * v[2]) : 0.0;
  d[1] = inside ? 1 / v[1] : 0.0;
  d[2] = inside ? (tiny ? 1 / v[2] : by_u * v[0]) : 0.0;
  return vlog(lifted(v[1]) * (tiny ? 1.0 : e)) - lift(v[1]) + (tiny ? vlog(v[2]) + vlog(x) : 0.0);
}

VECTOR double log_density (const double v[]) {
  Pair u = aged(v), t = hazard(v);
  double inside = (vlog(v[1]) + vlog(v[2])) + ((u.hi - t.hi) + (u.lo - t.lo));
  inside = t.hi == HUGE_VAL ? -HUGE_VAL : inside;
  return v[0] < 0 ? -HUGE_VAL : inside;
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  Pair u = aged(v);
  double fall = 1 - v[1] * vexp(u.hi);
  d[0] = v[0] < 0 ? 0.0 : v[2] * fall;
  d[1] = v[0] < 0 ? 0.0 : 1 / v[1] - growth(u).hi;
  d[2] = v[0] < 0 ? 0.0 : fma(v[0], fall, 1 / v[2]);
}

/* log(1 + e/c)/r; e/c may overflow */
VECTOR double quantile (const double v[]) {
  double q = v[0] / v[1], x = vlog1p(q) / v[2];
  x = ((q == HUGE_VAL) & (v[0] < HUGE_VAL)) ? (vlog(v[0]) - vlog(v[1])) / v[2] : x;
  double both = v[1] * v[2];
  int tiny = (q < 1e-280) & (both > 1e-300) & (both < 1e300);
  return tiny ? v[0] / both : x;
}

VECTOR void quantile_slopes (const double v[], double d[]) {
  double whole = v[0] + v[1], x = quantile(v);
  d[0] = 1 / whole / v[2];
  d[1] = -v[0] / v[1] / whole / v[2];
  d[2] = -x / v[2];
}

enum { OPERANDS = 3, LONG_SLOPES = 1 };

static const HazardLaw waiting_time = {
  .hazard      = hazard,      .hazard_slopes      = hazard_slopes,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .quantile    = quantile,    .quantile_slopes    = quantile_slopes,
  .log_hazard  = log_hazard
};

#include "kernel/hazard_kernels.h"


/* e^c E1(c)/r */
VECTOR Moment mean_of (double c, double rate) {
  ExpIntegral e = exp_integral(c);
  double m = e.value / rate;
  return (Moment) {m, e.pull / c / rate, -m / rate};
}

/* 1 - log(c r) - e^c E1(c) */
VECTOR Moment entropy_of (double c, double rate) {
  ExpIntegral e = exp_integral(c);
  return (Moment) {(1 - e.value) - (vlog(c) + vlog(rate)), -(e.pull + 1) / c, -1 / rate};
}

/* Var log(1 + E/c), E a standard exponential variable, and its derivative in c */
typedef struct Spread { double value, slope; } Spread;

/*
** With L = gamma + log c, A = sum_k (-c)^k/(k k!), B = sum_k (-c)^k/(k^2 k!) it is
** e^c (pi^2/6 + 2 B - (e^c - 1) L^2 - e^c A (2 L + A)), and the derivative is V - m^2.
*/
static Spread spread_series (double c) {
  double a = 0, b = 0, term = 1, l = EULER_GAMMA + vlog(c), e = vexp(c);
  for (int k = 1; k < 26; k++) {
    term *= -c / k;
    a += term / k;
    b += term / k / k;
  }
  double v = e * (PI * PI / 6 + 2 * b - vexpm1(c) * l * l - e * a * fma(2.0, l, a));
  double m = e * (l + a);
  return (Spread) {v, v - m * m};
}

/* the integral of (log(1 + x/c) - m)^2 e^-x, and of its derivative */
static Spread spread_integral (double c) {
  static const double CUTS[] = {0, 2, 8, 20, 50, 110};
  double m = exp_integral(c).value, value[LEGENDRE], slope[LEGENDRE];
  Spread sum = {0, 0};
  for (int j = 5; j > 0; j--) {
    double width = CUTS[j] - CUTS[j - 1];
    for (int i = 0; i < LEGENDRE; i++) {
      double x = CUTS[j - 1] + width * legendre_node[i], e = width * vexp(-x);
      double y = vlog1p(x / c) - m;
      value[i] = y * y * e;
      slope[i] = -2 * y * (x / (c + x) / c) * e;
    }
    sum.value += legendre_sum(value);
    sum.slope += legendre_sum(slope);
  }
  return sum;
}

static Moment stddev_of (double c, double rate) {
  if (!(c > 0)) return (Moment) {NAN, NAN, NAN};
  if (c > 1e20) return (Moment) {1 / c / rate, -1 / c / c / rate, -1 / c / rate / rate};
  Spread s = c < 1.5 ? spread_series(c) : spread_integral(c);
  double sd = sqrt(s.value) / rate;
  return (Moment) {sd, 0.5 * s.slope / s.value * sd, -sd / rate};
}

static const Moments moments = {.mean = mean_of, .stddev = stddev_of, .entropy = entropy_of};

#include "kernel/moments_kernels.h"


const Kernel perilune_gompertz[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .value = isf,      .partials = isf_partials},
  {.name = "mean",     .n_in = 2, .value = mean,     .partials = mean_partials},
  {.name = "stddev",   .n_in = 2, .value = stddev,   .partials = stddev_partials},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 3, .value = rsample, .partials = rsample_partials,
   .sampler = &(const Sampler) {.noise = "exponential"}},
  {.name = NULL}
};
