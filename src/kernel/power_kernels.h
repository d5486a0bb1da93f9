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


VECTOR double law_mean (const double v[]) { return power_mean(v[0], DIRECTION * v[1]); }
VECTOR double law_stddev (const double v[]) { return power_stddev(v[0], DIRECTION * v[1]); }
VECTOR double law_entropy (const double v[]) { return power_entropy(v[0], DIRECTION * v[1]); }

VECTOR void law_mean_slopes (const double v[], double d[]) {
  power_mean_slopes(v[0], DIRECTION * v[1], d);
  d[1] *= DIRECTION;
}

VECTOR void law_stddev_slopes (const double v[], double d[]) {
  power_stddev_slopes(v[0], DIRECTION * v[1], d);
  d[1] *= DIRECTION;
}

VECTOR void law_entropy_slopes (const double v[], double d[]) {
  power_entropy_slopes(v[0], DIRECTION * v[1], d);
  d[1] *= DIRECTION;
}


static const HazardLaw law = {
  .operands    = 3,           .falls              = DIRECTION < 0,
  .hazard      = hazard,      .hazard_slopes      = hazard_slopes,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .quantile    = quantile,    .quantile_slopes    = quantile_slopes,
  .mean        = law_mean,    .mean_slopes        = law_mean_slopes,
  .stddev      = law_stddev,  .stddev_slopes      = law_stddev_slopes,
  .entropy     = law_entropy, .entropy_slopes     = law_entropy_slopes
};

#include "kernel/hazard_kernels.h"
