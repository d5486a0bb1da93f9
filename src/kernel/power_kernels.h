/*
** power_kernels.h - the kernels of Weibull's law and of its reciprocal (power.h)
**
** To be included once by a family's file, below `enum { DIRECTION = ... }`: 1 if t grows
** with x, -1 if it falls. k is DIRECTION times the last operand, concentration.
*/
#include "kernel/hazard.h"
#include "kernel/power.h"


VECTOR Pair hazard (const double v[]) { return power_hazard(v[0], v[1], DIRECTION * v[2]); }

VECTOR void hazard_slopes (const double v[], double d[]) {
  power_hazard_slopes(v[0], v[1], DIRECTION * v[2], d);
  d[2] *= DIRECTION;
}

VECTOR double log_hazard (const double v[], double d[]) {
  double l = power_log_hazard(v[0], v[1], DIRECTION * v[2], d);
  d[2] *= DIRECTION;
  return l;
}

VECTOR double log_density (const double v[]) {
  return power_log_density(v[0], v[1], DIRECTION * v[2]);
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  power_log_density_slopes(v[0], v[1], DIRECTION * v[2], d);
  d[2] *= DIRECTION;
}

VECTOR double quantile (const double v[]) {
  return power_quantile(v[0], v[1], DIRECTION * v[2]);
}

VECTOR void quantile_slopes (const double v[], double d[]) {
  power_quantile_slopes(v[0], v[1], DIRECTION * v[2], d);
  d[2] *= DIRECTION;
}


enum { OPERANDS = 3, LONG_SLOPES = 0 };

static const HazardLaw waiting_time = {
  .falls       = DIRECTION < 0,
  .hazard      = hazard,      .hazard_slopes      = hazard_slopes,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .quantile    = quantile,    .quantile_slopes    = quantile_slopes,
  .log_hazard  = log_hazard
};

#include "kernel/hazard_kernels.h"


/* a moment as a function of concentration */
VECTOR Moment directed (Moment m) {
  return (Moment) {m.value, m.by_first, DIRECTION * m.by_second};
}

VECTOR Moment mean_at (double scale, double c) {
  return directed(power_mean(scale, DIRECTION * c));
}

VECTOR Moment stddev_at (double scale, double c) {
  return directed(power_stddev(scale, DIRECTION * c));
}

VECTOR Moment entropy_at (double scale, double c) {
  return directed(power_entropy(scale, DIRECTION * c));
}

static const Moments moments = {.mean = mean_at, .stddev = stddev_at, .entropy = entropy_at};

#include "kernel/moments_kernels.h"
