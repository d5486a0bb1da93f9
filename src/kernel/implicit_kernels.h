/*
** implicit_kernels.h - the kernels of a family that is given with its slopes (implicit.h)
**
** To be included once by a family's file, below its `enum { OPERANDS = ... }`, x and the
** parameters, and its `static const Implicit family`.
*/
#include "kernel/implicit.h"
#include "special/vmath.h"


static double log_density_at (const double v[]) { return family.log_density(v); }

static void log_density_slopes_at (const double v[], double d[]) {
  family.log_density_slopes(v, d);
}

static double tail_at (const double v[], int upper) { return family.tail(v, upper); }
static double log_tail_at (const double v[], int upper) { return family.log_tail(v, upper); }
static double quantile_at (const double v[], int upper) { return family.quantile(v, upper); }

/* of a tail with this density; where there is none, or x does not move, nothing changes */
static void density_slopes (const double v[], double density, double d[]) {
  double dx[POINT_MAX];
  family.slopes(v, dx);
  d[0] = density;
  for (int k = 1; k < OPERANDS; k++)
    d[k] = density == 0 || dx[k - 1] == 0 ? 0.0 : -density * dx[k - 1];
}

static void tail_slopes_at (const double v[], int upper, double d[]) {
  double density = vexp(family.log_density(v));
  density_slopes(v, upper ? -density : density, d);
}

/* of the logarithm of a tail: below it, differences have lost more digits than that */
static const double FAR_OUT = -1e9;

/* the density over the tail, 0 where there is none */
static double hazard_at (const double v[], int upper) {
  double log_density = family.log_density(v);
  if (log_density == -HUGE_VAL) return 0;
  if (family.hazard) return family.hazard(v, upper);
  double log_tail = family.log_tail(v, upper), d[POINT_MAX];
  if (!family.falls_on || log_tail > FAR_OUT) return vexp(log_density - log_tail);
  family.log_density_slopes(v, d);
  return fabs(d[0]);
}

static void log_tail_slopes_at (const double v[], int upper, double d[]) {
  double hazard = hazard_at(v, upper);
  density_slopes(v, upper ? -hazard : hazard, d);
}

static void quantile_slopes_at (const double v[], int upper, double d[]) {
  double at[POINT_MAX];
  memcpy(at, v, OPERANDS * sizeof *at);
  at[0] = family.quantile(v, upper);
  family.slopes(at, d + 1);
  double width = vexp(-family.log_density(at));
  d[0] = upper ? -width : width;
}

/* of a sampler that draws by itself */
static void draw_slopes (const double v[], double d[]) {
  d[0] = 1;
  family.slopes(v, d + 1);
}

static const SidedLaw law = {
  .operands = OPERANDS,
  .log_density = log_density_at, .log_density_slopes = log_density_slopes_at,
  .tail     = tail_at,     .tail_slopes     = tail_slopes_at,
  .log_tail = log_tail_at, .log_tail_slopes = log_tail_slopes_at,
  .quantile = quantile_at, .quantile_slopes = quantile_slopes_at
};

#include "kernel/sided_kernels.h"


static void draw_partials (size_t n, const double *const in[], double *const d[]) {
  pointwise_partials(OPERANDS, n, in, d, draw_slopes);
}
