/*
** generalizedextremevalue.c - GeneralizedExtremeValue(loc, scale, concentration), the
** limit laws of maxima
**
**   log p(x) = -log(scale) - (1 + c) s - t,     F(x) = e^-t,  t = e^-s
**   s        = log(1 + w)/c,                    w = c z,  z = (x - loc)/scale
**   x        = loc + scale (e^(c s) - 1)/c
**
** c = concentration: Gumbel for 0, where s is z, a Frechet law that begins at loc - scale/c
** for c > 0, a reversed Weibull law that ends there for c < 0 (excess.h).
*/
#include "kernel/excess.h"
#include "kernel/hazard.h"


/* loc - scale/c rounded downwards, -inf for c <= 0 */
VECTOR double lower_end (double loc, double scale, double c) {
  return -upper_end(-loc, scale, -c);
}

/* outside the support as at its ends */
VECTOR Excess excess (const double v[]) {
  double loc = v[1], scale = v[2], c = v[3];
  double low = lower_end(loc, scale, c), high = upper_end(loc, scale, c), x = v[0];
  int below = x <= low, above = x >= high;
  x = x < low ? low : x;
  Pair d = exact_sum(x > high ? high : x, -loc);
  d.lo = fabs(d.hi) < HUGE_VAL ? d.lo : 0.0;
  int at_zero = (below & (c > 0)) | (above & (c < 0));
  return excess_of(d, scale, c, below | above, at_zero ? 0.0 : HUGE_VAL);
}

/* `value` on the support, `off` beside it */
VECTOR double within (const double v[], double value, double off) {
  return excess_within(v, lower_end(v[1], v[2], v[3]), value, off);
}

VECTOR Pair fall_of (Pair s) { return exp_of_pair(pair_negative(s)); }

VECTOR Pair hazard (const double v[]) {
  Pair t = fall_of(excess_time(excess(v), v[3]));
  return (Pair) {v[0] == v[0] ? t.hi : v[0], t.lo};
}

/* of s */
VECTOR void time_slopes (const double v[], Excess e, double s, double d[]) {
  excess_time_slopes(v, lower_end(v[1], v[2], v[3]), e, s, d);
}

/* by times a slope, 0 where it is 0 */
VECTOR double bounded_product (double by, double s) { return by == 0 ? 0.0 : by * s; }

VECTOR void hazard_slopes (const double v[], double d[]) {
  Excess e = excess(v);
  Pair s = excess_time(e, v[3]);
  double r[POINT_MAX], t = fall_of(s).hi;
  time_slopes(v, e, s.hi, r);
  t = fabs(v[0]) < HUGE_VAL ? t : 0.0;   /* no parameter moves an infinite x */
  d[0] = bounded_product(-t, r[0]);
  d[1] = bounded_product(-t, r[1]);
  d[2] = bounded_product(-t, r[2]);
  d[3] = bounded_product(-t, r[3]);
}

VECTOR double log_hazard (const double v[], double d[]) {
  Excess e = excess(v);
  Pair s = excess_time(e, v[3]);
  double sign = fabs(v[0]) < HUGE_VAL ? -1.0 : 0.0;
  time_slopes(v, e, s.hi, d);
  d[0] = bounded_product(sign, d[0]);
  d[1] = bounded_product(sign, d[1]);
  d[2] = bounded_product(sign, d[2]);
  d[3] = bounded_product(sign, d[3]);
  return -s.hi - s.lo;
}

VECTOR double log_density (const double v[]) {
  Pair s = excess_time(excess(v), v[3]), t = fall_of(s);
  double c1 = 1 + v[3], fall = c1 == 0 ? 0.0 : c1 * s.hi;
  double level = (-vlog(v[2]) - (fall + t.hi)) - fma(c1, s.lo, t.lo);
  level = t.hi == HUGE_VAL ? -HUGE_VAL : level;
  return within(v, v[0] == v[0] ? level : v[0], -HUGE_VAL);
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  Excess e = excess(v);
  Pair s = excess_time(e, v[3]);
  double r[POINT_MAX], by = fall_of(s).hi - (1 + v[3]);
  time_slopes(v, e, s.hi, r);
  d[0] = by * r[0];
  d[1] = by * r[1];
  d[2] = within(v, fma(by, r[2], -1 / v[2]), 0.0);
  d[3] = within(v, fma(by, r[3], -s.hi), 0.0);
}

VECTOR double quantile (const double v[]) {
  double s = -vlog(v[0]), x = fma(v[2], excess_quantile(s, v[3]), v[1]);
  x = v[0] == HUGE_VAL ? lower_end(v[1], v[2], v[3]) : x;
  return v[0] == 0 ? upper_end(v[1], v[2], v[3]) : x;
}

VECTOR void quantile_slopes (const double v[], double d[]) {
  double s = -vlog(v[0]);
  d[0] = -v[2] * vexp(v[3] * s) / v[0];
  d[1] = 1;
  d[2] = excess_quantile(s, v[3]);
  d[3] = v[2] * quantile_bend(s, v[3]);
}

enum { OPERANDS = 4, LONG_SLOPES = 1 };

static const HazardLaw waiting_time = {
  .falls       = 1,
  .hazard      = hazard,      .hazard_slopes      = hazard_slopes,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .quantile    = quantile,    .quantile_slopes    = quantile_slopes,
  .log_hazard  = log_hazard
};

#include "kernel/hazard_kernels.h"


/* log(scale) + gamma (1 + c) + 1 */
static void entropy (size_t n, const double *const in[], double *out) {
  const double *scale = in[1], *c = in[2];
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = vlog(scale[i]) + fma(EULER_GAMMA, c[i], 1 + EULER_GAMMA);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *scale = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    d[0][i] = 0;
    d[1][i] = 1 / scale[i];
    d[2][i] = EULER_GAMMA;
  }
}


const Kernel perilune_generalizedextremevalue[] = {
  {.name = "log_prob", .n_in = 4, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 4, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 4, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 4, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 4, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 4, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 4, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 3, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 4, .value = rsample, .partials = rsample_partials,
   .sampler = &(const Sampler) {.noise = "exponential"}},
  {.name = NULL}
};
