/*
** hazard_kernels.h - the kernels of a transformed waiting time (hazard.h)
**
** To be included once by a family's file, below its `enum { OPERANDS = ..., LONG_SLOPES = ... }`,
** x and the parameters, and whether slopes are long (sided.h), and its `static const HazardLaw
** waiting_time`.
*/
#include "kernel/hazard.h"


/* by times the slopes s, 0 where either is */
VECTOR void times_slopes (double by, const double s[], double d[]) {
  d[0] = slope_product(by, s[0]);
  d[1] = slope_product(by, s[1]);
  d[2] = slope_product(by, s[2]);
  if (OPERANDS > 3) d[3] = slope_product(by, s[3]);
}

VECTOR void log_density_slopes_at (const double v[], double d[]) {
  double s[POINT_MAX];
  waiting_time.log_density_slopes(v, s);
  times_slopes(1, s, d);
}


/* is this tail the part that has arrived? */
VECTOR int is_arrived (int upper) { return upper == waiting_time.falls; }

VECTOR double tail (const double v[], int upper) {
  Pair t = waiting_time.hazard(v);
  return is_arrived(upper) ? arrived(t) : waiting(t);
}

VECTOR double log_tail (const double v[], int upper) {
  Pair t = waiting_time.hazard(v);
  return is_arrived(upper) ? log_arrived(t) : log_waiting(t);
}

VECTOR void tail_slopes (const double v[], int upper, double d[]) {
  double s[POINT_MAX];
  Pair t = waiting_time.hazard(v);
  waiting_time.hazard_slopes(v, s);
  times_slopes(is_arrived(upper) ? arrived_slope(t) : waiting_slope(t), s, d);
}

SELDOM double log_hazard_singly (const double v[], double d[]) {
  return waiting_time.log_hazard(v, d);
}

VECTOR double log_hazard_at (const double v[], double d[]) {
  return LONG_SLOPES ? log_hazard_singly(v, d) : waiting_time.log_hazard(v, d);
}

/* t or its slope in x, whichever is less, if t is so small that log(1 - e^-t) is log t */
VECTOR double least_of (double t, double slope) {
  double size = fabs(slope), least = size < t ? size : t;
  return t < 0x1p-60 ? least : 1.0;
}

/* by the slopes of t or, where it or they have lost digits, those of log t */
VECTOR void log_arrived_slopes (const double v[], Pair t, const double s[], double d[]) {
  double l[POINT_MAX], least = least_of(t.hi, s[0]);
  times_slopes(log_arrived_slope(t), s, d);
  if (LONG_SLOPES && !(least < FEW_DIGITS)) return;
  log_hazard_at(v, l);
  d[0] = least < FEW_DIGITS ? l[0] : d[0];
  d[1] = least < FEW_DIGITS ? l[1] : d[1];
  d[2] = least < FEW_DIGITS ? l[2] : d[2];
  if (OPERANDS > 3) d[3] = least < FEW_DIGITS ? l[3] : d[3];
}

VECTOR void log_tail_slopes (const double v[], int upper, double d[]) {
  double s[POINT_MAX];
  Pair t = waiting_time.hazard(v);
  waiting_time.hazard_slopes(v, s);
  if (is_arrived(upper)) log_arrived_slopes(v, t, s, d);
  else times_slopes(log_waiting_slope(t), s, d);
}

VECTOR double log_tiny_tail (const double v[], int upper) {
  double d[POINT_MAX];
  return (void)upper, log_hazard_at(v, d);
}


VECTOR double wait (double p, int upper) {
  return is_arrived(upper) ? wait_below(p) : wait_above(p);
}

VECTOR double quantile_at (const double v[], int upper) {
  return waiting_time.quantile((double[]) {wait(v[0], upper), v[1], v[2], v[3]});
}

VECTOR void quantile_slopes_at (const double v[], int upper, double d[]) {
  double at[] = {wait(v[0], upper), v[1], v[2], v[3]}, s[POINT_MAX];
  waiting_time.quantile_slopes(at, s);
  s[0] *= is_arrived(upper) ? wait_below_slope(v[0]) : wait_above_slope(v[0]);
  times_slopes(1, s, d);
}

/* a sampler's noise is e itself */
VECTOR double from_wait (const double v[]) { return waiting_time.quantile(v); }

VECTOR void from_wait_slopes (const double v[], double d[]) {
  double s[POINT_MAX];
  waiting_time.quantile_slopes(v, s);
  times_slopes(1, s, d);
}

VECTOR double log_density_at (const double v[]) { return waiting_time.log_density(v); }

static const SidedLaw law = {
  .operands    = OPERANDS,       .long_slopes        = LONG_SLOPES,
  .log_density = log_density_at, .log_density_slopes = log_density_slopes_at,
  .tail        = tail,           .tail_slopes        = tail_slopes,
  .log_tail    = log_tail,       .log_tail_slopes    = log_tail_slopes,
  .log_tiny_tail = log_tiny_tail, .has_tiny_tail     = is_arrived,
  .quantile    = quantile_at,    .quantile_slopes    = quantile_slopes_at,
  .from_noise  = from_wait,      .from_noise_slopes  = from_wait_slopes
};

#include "kernel/density_kernels.h"
#include "kernel/rsample_kernels.h"
#include "kernel/sided_kernels.h"
