/*
** halfline_kernels.h - the kernels of a family on the half line (halfline.h)
**
** To be included once by a family's file, below its `static const HalflineLaw halfline`.
*/
#include "kernel/halfline.h"


/* g(x, scale) - log(scale) */
VECTOR double log_density_at (const double v[]) {
  double inside = halfline.log_density(v[0], v[1]) - vlog(v[1]);
  return v[0] < 0 ? -HUGE_VAL : inside;
}

VECTOR double tail_at (const double v[], int upper) {
  double x = v[0] <= 0 ? 0.0 : v[0];
  return upper ? halfline.sf(x, v[1]) : halfline.cdf(x, v[1]);
}

VECTOR double log_tail_at (const double v[], int upper) {
  double x = v[0] <= 0 ? 0.0 : v[0];
  return upper ? halfline.log_sf(x, v[1]) : halfline.log_cdf(x, v[1]);
}


/* from the slope in z */
VECTOR void slopes (const double v[], double z, double slope, double d[]) {
  double s = slope / v[1];
  s = v[0] < 0 ? 0.0 : s;
  d[0] = s;
  d[1] = -z * s;
}

/* from the slope in log z */
VECTOR void drift_slopes (const double v[], double drift, double d[]) {
  double e = v[0] < 0 ? 0.0 : drift;
  d[0] = e / v[0];
  d[1] = -e / v[1];
}

VECTOR void tail_slopes_at (const double v[], int upper, double d[]) {
  double z = halfline_ratio(v[0], v[1]);
  if (halfline.tail_slopes) halfline.tail_slopes(v, upper, d);
  else slopes(v, z, upper ? halfline.sf_slope(z) : halfline.cdf_slope(z), d);
}

VECTOR void log_tail_slopes_at (const double v[], int upper, double d[]) {
  double z = halfline_ratio(v[0], v[1]);
  if (!upper) drift_slopes(v, halfline.log_cdf_drift(z), d);
  else if (halfline.log_sf_slopes) halfline.log_sf_slopes(v, d);
  else slopes(v, z, halfline.log_sf_slope(z), d);
}


/* scale z, z a function of p */
VECTOR double quantile_at (const double v[], int upper) {
  return v[1] * (upper ? halfline.isf(v[0]) : halfline.icdf(v[0]));
}

VECTOR void quantile_slopes_at (const double v[], int upper, double d[]) {
  d[0] = v[1] * (upper ? halfline.isf_slope(v[0]) : halfline.icdf_slope(v[0]));
  d[1] = upper ? halfline.isf(v[0]) : halfline.icdf(v[0]);
}

VECTOR double from_noise (const double v[]) { return v[1] * halfline.from_noise(v[0]); }

VECTOR void from_noise_slopes (const double v[], double d[]) {
  d[0] = v[1] * halfline.from_noise_slope(v[0]);
  d[1] = halfline.from_noise(v[0]);
}

static const SidedLaw law = {
  .operands    = 2,
  .log_density = log_density_at, .log_density_slopes = log_density_slopes,
  .tail        = tail_at,        .tail_slopes        = tail_slopes_at,
  .log_tail    = log_tail_at,    .log_tail_slopes    = log_tail_slopes_at,
  .quantile    = quantile_at,    .quantile_slopes    = quantile_slopes_at,
  .from_noise  = from_noise,     .from_noise_slopes  = from_noise_slopes
};

#include "kernel/density_kernels.h"
#include "kernel/rsample_kernels.h"
#include "kernel/sided_kernels.h"


static void entropy (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vlog(in[0][i]) + halfline.entropy;
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = 1 / in[0][i];
}
