/*
** cauchy.c - Cauchy(loc, scale), the quotient of two Normals
**
**   p(x) = scale/(pi (scale^2 + d^2)),    d = x - loc
**   F(x) = 1/2 + atan(d/scale)/pi
**
** Everything is a function of t <= 1, the smaller of |d| and scale over the larger, so that no
** square overflows. The smaller tail is atan(t)/pi where |d| > scale ("far"), else it is
** 1/2 - atan(t)/pi.
*/
#include "kernel/sided.h"
#include "kernel/standard.h"
#include "special/constants.h"
#include "special/vtrig.h"


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
VECTOR double log_density (const double v[]) {
  double d = v[0] - v[1], scale = v[2];
  Ray a = ray_to(d, scale);
  LogReduction s = mantissa_reduce(scale), l = mantissa_reduce(a.larger);
  double m = s.f / (PI * l.f * l.f * fma(a.t, a.t, 1.0));
  LogReduction r = log_reduce(m, 1.0);
  r.n += s.n - 2 * l.n;
  double value = log_edges(m, log_assemble(r));
  return fabs(d) == HUGE_VAL ? -HUGE_VAL : value;
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  Ray a = ray_to(v[0] - v[1], v[2]);
  double slope = copysign(2 * shift_share(a), v[1] - v[0]);
  double bend = (1 - a.t) * (1 + a.t) / fma(a.t, a.t, 1.0) / v[2];
  d[0] = slope;
  d[1] = -slope;
  d[2] = a.far ? bend : -bend;
}


/* x - loc, or loc - x for the upper tail, which is the lower one seen from the other side */
VECTOR double shift_of (const double v[], int upper) {
  return upper ? v[1] - v[0] : v[0] - v[1];
}

/* pi times the smaller tail */
VECTOR double smaller_angle (Ray a) {
  double angle = vatan(a.t);
  return a.far ? angle : 0.5 * PI - angle;
}

VECTOR double tail (const double v[], int upper) {
  double shift = shift_of(v, upper), part = INV_PI * smaller_angle(ray_to(shift, v[2]));
  return shift < 0 ? part : 1 - part;
}

VECTOR void tail_slopes (const double v[], int upper, double d[]) {
  Ray a = ray_to(v[0] - v[1], v[2]);
  double sign = upper ? -1 : 1, slope = sign * INV_PI * scale_share(a);
  d[0] = slope;
  d[1] = -slope;
  d[2] = sign * INV_PI * copysign(shift_share(a), v[1] - v[0]);
}


/* so deep in the tail that it is t/pi to the last bit, and t may have underflowed */
VECTOR int is_deep (double d, Ray a) { return (d < 0) & a.far & (a.t < 1e-9); }

VECTOR double log_tail (const double v[], int upper) {
  double shift = shift_of(v, upper), scale = v[2];
  Ray a = ray_to(shift, scale);
  double part = INV_PI * smaller_angle(a);
  double deep = vlog_ratio(scale, fabs(shift)) - LOG_PI;
  double left = is_deep(shift, a) ? deep : vlog(part), right = vlog1p(-part);
  return shift < 0 ? left : right;
}

/* the slopes of the tail over the tail */
VECTOR void log_tail_slopes (const double v[], int upper, double d[]) {
  double sign = upper ? -1 : 1, shift = sign * (v[0] - v[1]);
  Ray a = ray_to(shift, v[2]);
  double smaller = smaller_angle(a), angle = shift < 0 ? smaller : PI - smaller;
  double slope = is_deep(shift, a) ? 1 / a.larger : scale_share(a) / angle;
  double bend = is_deep(shift, a) ? 1 / v[2] : shift_share(a) / angle;
  d[0] = sign * slope;
  d[1] = -sign * slope;
  d[2] = copysign(bend, -shift);
}


/* the cotangent of pi times the smaller tail; 1 - p is exact where it is taken */
VECTOR double standard_point (double p) {
  double tail = p < 0.5 ? p : 1 - p, sine, cosine;
  vsincos2pi(0.5 * tail, &sine, &cosine);
  double z = (p < 0.5 ? -cosine : cosine) / sine;
  return ((p >= 0) & (p <= 1)) ? z : (double)NAN;
}

VECTOR double standard_point_slope (double p) {
  double sine, cosine;
  vsincos2pi(0.5 * (p < 0.5 ? p : 1 - p), &sine, &cosine);
  return PI / sine / sine;
}

VECTOR double quantile (const double v[], int upper) {
  double z = standard_point(v[0]);
  return fma(v[2], upper ? -z : z, v[1]);
}

VECTOR void quantile_slopes (const double v[], int upper, double d[]) {
  double z = standard_point(v[0]), slope = standard_point_slope(v[0]);
  d[0] = v[2] * (upper ? -slope : slope);
  d[1] = 1;
  d[2] = upper ? -z : z;
}

static const SidedLaw law = {
  .operands    = 3,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .tail        = tail,        .tail_slopes        = tail_slopes,
  .log_tail    = log_tail,    .log_tail_slopes    = log_tail_slopes,
  .quantile    = quantile,    .quantile_slopes    = quantile_slopes
};

#include "kernel/density_kernels.h"
#include "kernel/sided_kernels.h"


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
  {.name = "rsample", .n_in = 3, .value = icdf, .partials = icdf_partials,
   .sampler = &(const Sampler) {.noise = "uniform"}},
  {.name = NULL}
};
