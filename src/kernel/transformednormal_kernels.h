/*
** transformednormal_kernels.h - the kernels of a transformed Normal (transformednormal.h)
**
** To be included once by a family's file, below its `static const Change change` and its
** `enum { LONG_SLOPES = ... }`: whether slopes are long (sided.h).
*/
#include "kernel/sided.h"
#include "kernel/transformednormal.h"
#include "special/constants.h"
#include "special/vdensity.h"
#include "special/verf.h"
#include "special/vmath.h"


VECTOR double normal_z (Pair y, double loc, double scale) {
  return ((y.hi - loc) + y.lo) / scale;
}

VECTOR double z_at (const double v[]) { return normal_z(change.y(v[0]), v[1], v[2]); }

VECTOR double log_density (const double v[]) {
  Pair y = change.y(v[0]);
  double z = normal_z(y, v[1], v[2]);
  double inside = fma(-0.5 * z, z, -HALF_LOG_2PI) - vlog(v[2]) - change.log_dx_dy(y.hi);
  return fabs(z) == HUGE_VAL ? -HUGE_VAL : inside;
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  double z = z_at(v), s = z / v[2];
  int outside = fabs(z) == HUGE_VAL;
  d[0] = outside ? 0.0 : -(s + change.growth(v[0])) / change.dx_dy(v[0]);
  d[1] = outside ? 0.0 : s;
  d[2] = outside ? 0.0 : fma(z, z, -1) / v[2];
}


VECTOR double tail (const double v[], int upper) { return vndtr(upper ? -z_at(v) : z_at(v)); }

VECTOR double log_tail (const double v[], int upper) {
  return vlog_ndtr(upper ? -z_at(v) : z_at(v));
}

/* of a function of z with the slope s */
VECTOR void slopes (const double v[], double z, double slope, double d[]) {
  double s = slope / v[2];
  int outside = fabs(z) == HUGE_VAL;
  d[0] = outside ? 0.0 : s / change.dx_dy(v[0]);
  d[1] = outside ? 0.0 : -s;
  d[2] = outside ? 0.0 : -z * s;
}

VECTOR void tail_slopes (const double v[], int upper, double d[]) {
  double z = z_at(v), p = vdensity(z);
  slopes(v, z, upper ? -p : p, d);
}

VECTOR void log_tail_slopes (const double v[], int upper, double d[]) {
  double z = z_at(v);
  slopes(v, z, upper ? -vhazard(-z) : vhazard(z), d);
}


/* loc + scale z with what rounding takes from it; the rest is NaN if z is infinite */
VECTOR Pair normal_y (double z, const double v[]) {
  Pair p = exact_product(v[2], z), y = exact_sum(v[1], p.hi);
  return (Pair) {y.hi, y.lo + p.lo};
}

/* of x(loc + scale z), z a function of the first operand with the slope `slope` */
VECTOR void point_slopes (const double v[], double z, double slope, double d[]) {
  double s = change.dx_dy_at(normal_y(z, v));
  d[0] = s == 0 ? 0.0 : s * v[2] * slope;
  d[1] = s;
  d[2] = s == 0 ? 0.0 : s * z;
}

VECTOR double quantile (const double v[], int upper) {
  double z = vndtri(v[0]);
  return change.x(normal_y(upper ? -z : z, v));
}

VECTOR void quantile_slopes (const double v[], int upper, double d[]) {
  double z = vndtri(v[0]), slope = 1 / vdensity(z);
  point_slopes(v, upper ? -z : z, upper ? -slope : slope, d);
}

/* the noise is standard normal */
VECTOR double from_normal (const double v[]) { return change.x(normal_y(v[0], v)); }
VECTOR void from_normal_slopes (const double v[], double d[]) { point_slopes(v, v[0], 1, d); }

static const SidedLaw law = {
  .operands    = 3,           .long_slopes        = LONG_SLOPES,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .tail        = tail,        .tail_slopes        = tail_slopes,
  .log_tail    = log_tail,    .log_tail_slopes    = log_tail_slopes,
  .quantile    = quantile,    .quantile_slopes    = quantile_slopes,
  .from_noise  = from_normal, .from_noise_slopes  = from_normal_slopes
};

#include "kernel/density_kernels.h"
#include "kernel/rsample_kernels.h"
#include "kernel/sided_kernels.h"
