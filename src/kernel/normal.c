/*
** normal.c - Normal(loc, scale), the bell curve
**
**   log p(x) = -z^2/2 - log(scale) - log(2 pi)/2,    z = (x - loc)/scale
**   F(x)     = Phi(z)
**
** Tails are never computed as 1 - something: the upper tail is the lower one
** of -z, and logarithms of tails go through the scaled erfc.
*/
#include "kernel/kernel.h"
#include "special/vdensity.h"
#include "special/verf.h"
#include "special/vmath.h"

#define HALF_LOG_2PI 0.91893853320467274178


/*
** Room for what all partials share, until the last of them takes its place. They
** get a loop each: one loop with three conditions does not become SIMD code.
*/
static double *last_wanted (double *const d[]) {
  if (d[2] != NULL) return d[2];
  return d[1] != NULL ? d[1] : d[0];
}


static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  for (size_t i = 0; i < n; i++) {
    double z = (x[i] - loc[i]) / scale[i];
    out[i] = fma(-0.5 * z, z, -(vlog(scale[i]) + HALF_LOG_2PI));
  }
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  double *z = last_wanted(d);
  for (size_t i = 0; i < n; i++) z[i] = (x[i] - loc[i]) / scale[i];
  if (d[0] != NULL) for (size_t i = 0; i < n; i++) d[0][i] = -(z[i] / scale[i]);
  if (d[1] != NULL) for (size_t i = 0; i < n; i++) d[1][i] = z[i] / scale[i];
  if (d[2] != NULL) for (size_t i = 0; i < n; i++) d[2][i] = (z[i] - 1) * (z[i] + 1) / scale[i];
}


/*
** A function g of z = (x - loc)/scale has the partials g'/scale, -g'/scale and
** -z g'/scale. `slope` holds g' and may be last_wanted(d).
*/
static void standardised (size_t n, const double *const in[], const double *slope,
                          double *const d[]) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  if (d[0] != NULL) for (size_t i = 0; i < n; i++) d[0][i] = slope[i] / scale[i];
  if (d[1] != NULL) for (size_t i = 0; i < n; i++) d[1][i] = -slope[i] / scale[i];
  if (d[2] != NULL) for (size_t i = 0; i < n; i++)
    d[2][i] = -((x[i] - loc[i]) / scale[i]) * slope[i] / scale[i];
}

static void cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  for (size_t i = 0; i < n; i++) out[i] = vndtr((x[i] - loc[i]) / scale[i]);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  double *slope = last_wanted(d);
  for (size_t i = 0; i < n; i++) {
    double z = (x[i] - loc[i]) / scale[i];
    slope[i] = vdensity(z);
  }
  standardised(n, in, slope, d);
}


static void sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  for (size_t i = 0; i < n; i++) out[i] = vndtr((loc[i] - x[i]) / scale[i]);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  double *slope = last_wanted(d);
  for (size_t i = 0; i < n; i++) {
    double z = (x[i] - loc[i]) / scale[i];
    slope[i] = -vdensity(z);
  }
  standardised(n, in, slope, d);
}


static void log_cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  for (size_t i = 0; i < n; i++) out[i] = vlog_ndtr((x[i] - loc[i]) / scale[i]);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  double *slope = last_wanted(d);
  for (size_t i = 0; i < n; i++) {
    double z = (x[i] - loc[i]) / scale[i];
    slope[i] = vhazard(z);
  }
  standardised(n, in, slope, d);
}


static void log_sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  for (size_t i = 0; i < n; i++) out[i] = vlog_ndtr((loc[i] - x[i]) / scale[i]);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  double *slope = last_wanted(d);
  for (size_t i = 0; i < n; i++) {
    double z = (x[i] - loc[i]) / scale[i];
    slope[i] = -vhazard(-z);
  }
  standardised(n, in, slope, d);
}


static void icdf (size_t n, const double *const in[], double *out) {
  const double *p = in[0], *loc = in[1], *scale = in[2];
  for (size_t i = 0; i < n; i++) out[i] = fma(scale[i], vndtri(p[i]), loc[i]);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *p = in[0], *scale = in[2];
  if (d[0] != NULL) for (size_t i = 0; i < n; i++) d[0][i] = scale[i] / vdensity(vndtri(p[i]));
  if (d[1] != NULL) for (size_t i = 0; i < n; i++) d[1][i] = 1;
  if (d[2] != NULL) for (size_t i = 0; i < n; i++) d[2][i] = vndtri(p[i]);
}


static void isf (size_t n, const double *const in[], double *out) {
  const double *q = in[0], *loc = in[1], *scale = in[2];
  for (size_t i = 0; i < n; i++) out[i] = fma(-scale[i], vndtri(q[i]), loc[i]);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *q = in[0], *scale = in[2];
  if (d[0] != NULL) for (size_t i = 0; i < n; i++) d[0][i] = -scale[i] / vdensity(vndtri(q[i]));
  if (d[1] != NULL) for (size_t i = 0; i < n; i++) d[1][i] = 1;
  if (d[2] != NULL) for (size_t i = 0; i < n; i++) d[2][i] = -vndtri(q[i]);
}


static void entropy (size_t n, const double *const in[], double *out) {
  const double *scale = in[1];
  for (size_t i = 0; i < n; i++) out[i] = vlog(scale[i]) + (0.5 + HALF_LOG_2PI);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *scale = in[1];
  for (size_t i = 0; i < n; i++) {
    if (d[0] != NULL) d[0][i] = 0;
    if (d[1] != NULL) d[1][i] = 1 / scale[i];
  }
}


static void rsample (size_t n, const double *const in[], double *out) {
  const double *z = in[0], *loc = in[1], *scale = in[2];
  for (size_t i = 0; i < n; i++) out[i] = fma(scale[i], z[i], loc[i]);
}

static void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  const double *z = in[0], *scale = in[2];
  for (size_t i = 0; i < n; i++) {
    if (d[0] != NULL) d[0][i] = scale[i];
    if (d[1] != NULL) d[1][i] = 1;
    if (d[2] != NULL) d[2][i] = z[i];
  }
}


const Kernel perilune_normal[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample",  .n_in = 3, .value = rsample,  .partials = rsample_partials,
   .noise = "normal"},
  {.name = NULL}
};
