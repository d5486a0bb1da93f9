/*
** generalizedpareto.c - GeneralizedPareto(loc, scale, concentration), excesses
** over a high threshold
**
**   log p(x) = -log(scale) - (1 + c) t,     F(x) = 1 - e^-t
**   t        = log(1 + w)/c,                w = c z,  z = (x - loc)/scale >= 0
**   x        = loc + scale (e^(c t) - 1)/c
**
** c = concentration. For c < 0 the support ends at loc - scale/c; for c = 0, t is
** z itself (excess.h).
*/
#include "kernel/excess.h"
#include "kernel/hazard.h"


/* below the support as at its lower end, above as at its upper end */
VECTOR Excess excess (double x, double loc, double scale, double c) {
  double upper = upper_end(loc, scale, c), from = x < loc ? loc : x;
  Pair d = exact_sum(from > upper ? upper : from, -loc);
  return excess_of(d, scale, c, x >= upper, c < 0 ? 0.0 : HUGE_VAL);
}

VECTOR Pair hazard (const double v[]) {
  return excess_time(excess(v[0], v[1], v[2], v[3]), v[3]);
}

VECTOR void hazard_slopes (const double v[], double d[]) {
  Excess e = excess(v[0], v[1], v[2], v[3]);
  excess_time_slopes(v, v[1], e, excess_time(e, v[3]).hi, d);
}

/* x - loc, 0 below the support */
VECTOR double distance (const double v[]) { return v[0] < v[1] ? 0.0 : v[0] - v[1]; }

/* for small w, t is d/scale (1 - w/2 + w^2/3) */
VECTOR double log_hazard (const double v[], double d[]) {
  Excess e = excess(v[0], v[1], v[2], v[3]);
  int small = (fabs(e.w) < 0x1p-20) | (v[3] == 0), inside = v[0] > v[1];
  double near = 1 - e.w * fma(e.w, -0.41666666666666666667, 0.5), log_y = e.log_y.hi;
  double rate = small ? near / distance(v) : v[3] / log_y / (v[2] * e.y);
  double share = small ? near : e.w / (log_y * e.y);
  double bend = small ? e.z.hi * fma(e.w, 0.41666666666666666667, -0.5)
                      : e.z.hi / e.y / log_y - 1 / v[3];
  d[0] = excess_within(v, v[1], rate, 0.0);
  d[1] = -d[0];
  d[2] = inside ? excess_within(v, v[1], -share / v[2], 0.0) : 0.0;
  d[3] = inside ? excess_within(v, v[1], bend, 0.0) : 0.0;
  double bent = small ? e.w * fma(e.w, 5.0 / 24, -0.5) : 0.0;
  return vlog_ratio(small ? distance(v) : fabs(log_y), small ? v[2] : fabs(v[3])) + bent;
}

VECTOR double log_density (const double v[]) {
  Pair t = hazard(v);
  double c1 = 1 + v[3], fall = c1 == 0 ? 0.0 : c1 * t.hi;
  double level = -vlog(v[2]) - fma(c1, t.lo, fall);
  return excess_within(v, v[1], v[0] == v[0] ? level : v[0], -HUGE_VAL);
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  Excess e = excess(v[0], v[1], v[2], v[3]);
  double c1 = 1 + v[3], t = excess_time(e, v[3]).hi, r[POINT_MAX];
  excess_time_slopes(v, v[1], e, t, r);
  d[0] = -c1 * r[0];
  d[1] = c1 * r[0];
  d[2] = (e.z.hi - 1) * r[0];
  d[3] = excess_within(v, v[1], fma(-c1, r[3], -t), 0.0);
}

VECTOR double quantile (const double v[]) {
  double x = fma(v[2], excess_quantile(v[0], v[3]), v[1]);
  return v[0] == HUGE_VAL ? upper_end(v[1], v[2], v[3]) : x;
}

VECTOR void quantile_slopes (const double v[], double d[]) {
  d[0] = v[2] * vexp(v[3] * v[0]);
  d[1] = 1;
  d[2] = excess_quantile(v[0], v[3]);
  d[3] = v[2] * quantile_bend(v[0], v[3]);
}

enum { OPERANDS = 4, LONG_SLOPES = 1 };

static const HazardLaw waiting_time = {
  .hazard      = hazard,      .hazard_slopes      = hazard_slopes,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .quantile    = quantile,    .quantile_slopes    = quantile_slopes,
  .log_hazard  = log_hazard
};

#include "kernel/hazard_kernels.h"


static void entropy (size_t n, const double *const in[], double *out) {
  const double *scale = in[1], *c = in[2];
  EVERY for (size_t i = 0; i < n; i++) out[i] = vlog(scale[i]) + (1 + c[i]);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *scale = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    d[0][i] = 0;
    d[1][i] = 1 / scale[i];
    d[2][i] = 1;
  }
}


const Kernel perilune_generalizedpareto[] = {
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
