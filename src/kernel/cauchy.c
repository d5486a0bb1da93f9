/*
** cauchy.c - Cauchy(loc, scale), the point where a ray from a lamp hits a wall
**
**   p(x) = scale/(pi (scale^2 + d^2)),    d = x - loc
**   F(x) = 1/2 + atan(d/scale)/pi
**
** Everything is a function of t <= 1, the smaller of |d| and scale over the larger,
** so that no square overflows, and that atan(t)/pi is the smaller tail, or what it
** lacks of 1/2. Far means |d| > scale.
*/
#include "kernel/standard.h"
#include "special/vtrig.h"

#define PI         3.1415926535897932385
#define INVERSE_PI 0.31830988618379067154
#define LOG_PI     1.1447298858494001741


typedef struct Ray { double t, larger; int far; } Ray;

VECTOR Ray ray_to (double d, double scale) {
  double r = fabs(d);
  int far = r > scale;
  double larger = far ? r : scale;
  return (Ray) {.t = (far ? scale : r) / larger, .larger = larger, .far = far};
}

/* scale/(scale^2 + d^2), which is pi p(x), and |d|/(scale^2 + d^2) */
VECTOR double scale_share (Ray a) { return (a.far ? a.t : 1.0) / fma(a.t, a.t, 1.0) / a.larger; }
VECTOR double shift_share (Ray a) { return (a.far ? 1.0 : a.t) / fma(a.t, a.t, 1.0) / a.larger; }


/* log(scale/(pi (1 + t^2) larger^2)), by one logarithm of mantissas and the sum of exponents */
VECTOR double log_density (double d, double scale) {
  Ray a = ray_to(d, scale);
  LogReduction s = mantissa_reduce(scale), l = mantissa_reduce(a.larger);
  double m = s.f / (PI * l.f * l.f * fma(a.t, a.t, 1.0));
  LogReduction r = log_reduce(m, 1.0);
  r.n += s.n - 2 * l.n;
  double value = log_edges(m, log_assemble(r));
  return fabs(d) == HUGE_VAL ? -HUGE_VAL : value;
}

static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  for (size_t i = 0; i < n; i++) out[i] = log_density(x[i] - loc[i], scale[i]);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  double *dx = d[0], *dloc = d[1], *dscale = d[2];
  for (size_t i = 0; i < n; i++) {
    Ray a = ray_to(x[i] - loc[i], scale[i]);
    double slope = copysign(2 * shift_share(a), loc[i] - x[i]);
    double bend = (1 - a.t) * (1 + a.t) / fma(a.t, a.t, 1.0) / scale[i];
    dx[i] = slope;
    dloc[i] = -slope;
    dscale[i] = a.far ? bend : -bend;
  }
}


/* pi times the smaller tail */
VECTOR double smaller_angle (Ray a) {
  double angle = vatan(a.t);
  return a.far ? angle : 0.5 * PI - angle;
}

/* the part below loc + d */
VECTOR double part_below (double d, double scale) {
  double tail = INVERSE_PI * smaller_angle(ray_to(d, scale));
  return d < 0 ? tail : 1 - tail;
}

/* Partials of it, times `sign`. */
VECTOR void part_slopes (size_t n, const double *const in[], double *const d[], double sign) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  double *dx = d[0], *dloc = d[1], *dscale = d[2];
  for (size_t i = 0; i < n; i++) {
    Ray a = ray_to(x[i] - loc[i], scale[i]);
    double slope = sign * INVERSE_PI * scale_share(a);
    dx[i] = slope;
    dloc[i] = -slope;
    dscale[i] = sign * INVERSE_PI * copysign(shift_share(a), loc[i] - x[i]);
  }
}

static void cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  for (size_t i = 0; i < n; i++) out[i] = part_below(x[i] - loc[i], scale[i]);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  part_slopes(n, in, d, 1);
}

static void sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  for (size_t i = 0; i < n; i++) out[i] = part_below(loc[i] - x[i], scale[i]);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  part_slopes(n, in, d, -1);
}


/* so deep in the tail that it is t/pi to the last bit, and t may have underflowed */
VECTOR int is_deep (double d, Ray a) { return (d < 0) & a.far & (a.t < 1e-9); }

VECTOR double log_part_below (double d, double scale) {
  Ray a = ray_to(d, scale);
  double tail = INVERSE_PI * smaller_angle(a);
  double deep = vlog_ratio(scale, fabs(d)) - LOG_PI;
  double left = is_deep(d, a) ? deep : vlog(tail), right = vlog1p(-tail);
  return d < 0 ? left : right;
}

/* Partials of it with d = sign (x - loc): those of the part over the part. */
VECTOR void log_part_slopes (size_t n, const double *const in[], double *const d[],
                             double sign) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  double *dx = d[0], *dloc = d[1], *dscale = d[2];
  for (size_t i = 0; i < n; i++) {
    double shift = sign * (x[i] - loc[i]);
    Ray a = ray_to(shift, scale[i]);
    double tail = smaller_angle(a), angle = shift < 0 ? tail : PI - tail;
    double slope = is_deep(shift, a) ? 1 / a.larger : scale_share(a) / angle;
    double bend = is_deep(shift, a) ? 1 / scale[i] : shift_share(a) / angle;
    dx[i] = sign * slope;
    dloc[i] = -sign * slope;
    dscale[i] = copysign(bend, -shift);
  }
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  for (size_t i = 0; i < n; i++) out[i] = log_part_below(x[i] - loc[i], scale[i]);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  log_part_slopes(n, in, d, 1);
}

static void log_sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2];
  for (size_t i = 0; i < n; i++) out[i] = log_part_below(loc[i] - x[i], scale[i]);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  log_part_slopes(n, in, d, -1);
}


/* the cotangent of pi times the smaller tail; 1 - p is exact where it is taken */
VECTOR double quantile (double p) {
  double tail = p < 0.5 ? p : 1 - p, sine, cosine;
  vsincos2pi(0.5 * tail, &sine, &cosine);
  double z = (p < 0.5 ? -cosine : cosine) / sine;
  return ((p >= 0) & (p <= 1)) ? z : (double)NAN;
}

VECTOR double quantile_slope (double p) {
  double sine, cosine;
  vsincos2pi(0.5 * (p < 0.5 ? p : 1 - p), &sine, &cosine);
  return PI / sine / sine;
}

static void icdf (size_t n, const double *const in[], double *out) {
  standard_quantile(n, in, out, quantile);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_quantile_partials(n, in, d, quantile, quantile_slope);
}


VECTOR double upper_quantile (double q) { return -quantile(q); }
VECTOR double upper_quantile_slope (double q) { return -quantile_slope(q); }

static void isf (size_t n, const double *const in[], double *out) {
  standard_quantile(n, in, out, upper_quantile);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  standard_quantile_partials(n, in, d, upper_quantile, upper_quantile_slope);
}


static void entropy (size_t n, const double *const in[], double *out) {
  standard_entropy(n, in, out, 2 * LN2 + LOG_PI);
}


const Kernel perilune_cauchy[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = standard_entropy_partials},
  {.name = "rsample",  .n_in = 3, .value = icdf,     .partials = icdf_partials,
   .noise = "uniform"},
  {.name = NULL}
};
