/*
** kumaraswamy.c - Kumaraswamy(concentration1, concentration0), a law on [0, 1]
** with powers for cdf and quantile
**
**   log p(x) = log(a b) + (a - 1) log x + (b - 1) log(1 - e^u),   u = a log x
**   F(x)     = 1 - e^-t,   t = -b log(1 - e^u)
**   x        = (1 - e^(-t/b))^(1/a)
**
** a = concentration1, b = concentration0, y = 1/a:
**
**   log E[X] = G(y) = -int (1 - e^-yt) (1 - e^-bt)/(t (e^t - 1)) dt,   0 < t < inf
**            = log Gamma(1 + y) + log Gamma(1 + b) - log Gamma(1 + y + b)
*/
#include "kernel/hazard.h"
#include "kernel/power.h"
#include "kernel/subnormal.h"


/* u as a pair and log(1 - e^u); below u = -40 the latter is -e^u and out of use */
typedef struct Share { Pair l, u; double log_rest, t, t_slope; } Share;

VECTOR Share share (double x, double a, double b) {
  Share s;
  double in = clamp(x, 0.0, 1.0);
  s.l = log_pair(in);
  s.l.hi = log_edges(in, s.l.hi);
  s.u = exponent_product(a, s.l);
  double odds = vexpm1(-s.u.hi), gain = s.u.lo == 0 ? 0.0 : s.u.lo / odds;
  double deep = scaled_exp(b, s.u);
  int low = s.u.hi < -40;
  s.log_rest = vlog1mexp(s.u.hi) - gain;
  s.t = low ? deep : -b * s.log_rest;
  s.t_slope = low ? deep : b / odds;
  return s;
}

VECTOR Pair hazard (const double v[]) {
  return (Pair) {share(v[0], v[1], v[2]).t, 0.0};
}

VECTOR void hazard_slopes (const double v[], double d[]) {
  Share s = share(v[0], v[1], v[2]);
  int inside = (v[0] > 0) & (v[0] < 1);
  d[0] = inside ? s.t_slope * v[1] / v[0] : 0;
  d[1] = inside ? s.t_slope * s.l.hi : 0;
  d[2] = inside ? s.t / v[2] : 0;
}

VECTOR double log_hazard (const double v[], double d[]) {
  Share s = share(v[0], v[1], 1.0);
  double by_u = s.u.hi < -40 ? 1.0 : s.t_slope / s.t;
  int inside = (v[0] > 0) & (v[0] < 1);
  d[0] = inside ? by_u * (v[1] / v[0]) : 0;
  d[1] = inside ? by_u * s.l.hi : 0;
  d[2] = inside ? 1 / v[2] : 0;
  double power = s.u.hi < -40 ? s.u.hi + s.u.lo : 0.0, rest = s.u.hi < -40 ? 1.0 : -s.log_rest;
  return vlog(lifted(v[2]) * rest) - lift(v[2]) + power;
}

/* (b - 1) log(1 - e^u) is t/b - t as well */
VECTOR double log_density (const double v[]) {
  double x = v[0], a = v[1], b = v[2];
  Share s = share(x, a, b);
  double rise = a == 1 ? 0.0 : (a - 1) * s.l.hi;
  double fall = s.u.hi < -40 ? s.t / b - s.t : (b - 1) * s.log_rest;
  fall = b == 1 ? 0.0 : fall;
  double level = (vlog(a) + vlog(b)) + (rise + fall);
  level = x == x ? level : x;
  return ((x < 0) | (x > 1)) ? -HUGE_VAL : level;
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  double x = v[0], a = v[1], b = v[2];
  Share s = share(x, a, b);
  double pull = s.t_slope - s.t_slope / b;   /* (b - 1) e^u/(1 - e^u) */
  double by_x = (a - 1 - a * pull) / x, by_a = fma(s.l.hi, 1 - pull, 1 / a);
  int inside = (x > 0) & (x < 1), within = (x >= 0) & (x <= 1);
  /* at ends, where the density may be finite: a = 1 at 0, b = 1 at 1 */
  double end_x = ((x == 0) & (a == 1)) ? 1 - b : ((x == 1) & (b == 1)) ? a - 1 : 0.0;
  d[0] = inside ? by_x : end_x;
  d[1] = within ? (x == 1 ? b / a : by_a) : 0;
  d[2] = within ? (1 - s.t) / b : 0;
}

VECTOR double log_quantile (double t, double a, double b) {
  int tiny = (t < 0x1p-900) & (t < 0x1p-60 * b), vanishes = t / b < 0x1p-900;
  double small = vanishes ? vlog(lifted(t)) - vlog(b) : vlog(lifted(t) / b);
  return (tiny | vanishes ? small - lift(t) : vlog1mexp(-t / b)) / a;
}

VECTOR double quantile (const double v[]) { return vexp(log_quantile(v[0], v[1], v[2])); }

VECTOR void quantile_slopes (const double v[], double d[]) {
  double a = v[1], b = v[2], l = log_quantile(v[0], a, b), x = vexp(l);
  double rise = v[0] / b < 0x1p-900 ? v[0] : b * vexpm1(v[0] / b), rate = x / (a * rise);
  d[0] = rate;
  d[1] = -x * l / a;
  d[2] = -rate * (v[0] / b);
}


enum { OPERANDS = 3, LONG_SLOPES = 1 };

static const HazardLaw waiting_time = {
  .hazard      = hazard,      .hazard_slopes      = hazard_slopes,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .quantile    = quantile,    .quantile_slopes    = quantile_slopes,
  .log_hazard  = log_hazard
};

#include "kernel/hazard_kernels.h"


/* G(y), from the smaller of y and b on top of the larger */
VECTOR double log_moment (double y, double b) {
  double low = y < b ? y : b, high = y < b ? b : y;
  return vlgamma_pos(1 + low) - vlgamma_delta(1 + high, low);
}

/* dG/dy = psi(1 + y) - psi(1 + y + b); small b by Gauss' rule for the integral of psi' */
VECTOR double log_moment_slope (double y, double b) {
  double z = 1 + y, middle = z + 0.5 * b, off = 0.28867513459481288225 * b;
  double near = -0.5 * b * (vtrigamma_pos(middle - off) + vtrigamma_pos(middle + off));
  double far = vdigamma_pos(z) - vdigamma_pos(z + b);
  return b < 1e-3 * z ? near : far;
}

VECTOR Moment mean_at (double a, double b) {
  double y = 1 / a, m = vexp(log_moment(y, b));
  return (Moment) {m, -m * log_moment_slope(y, b) * y * y, m * log_moment_slope(b, y)};
}


/*
** G(2y) - 2 G(y) = int (1 - e^-yt)^2 (1 - e^-bt)/(t (e^t - 1)) dt, and its slopes.
** Each term is positive, where the difference of logarithms of Gamma would cancel for
** large a and for small b. Trapezoidal rule in log t with step 1/4: error e^(-4 pi^2).
*/
typedef struct Spread { double gap, dy, db; } Spread;

static Spread spread (double y, double b) {
  const double step = 0.25;
  double widest = 1 + 2 * y + b;
  double first = -20 - vlog(widest);
  Spread s = {0, 0, 0};
  if (!(widest < HUGE_VAL)) return (Spread) {NAN, NAN, NAN};
  for (double at = 3.9; at > first; at -= step) {
    double t = vexp(at), weight = step / vexpm1(t);
    double ey = -vexpm1(-y * t), eb = -vexpm1(-b * t);
    s.gap += weight * ey * ey * eb;
    s.dy += weight * 2 * ey * (t * vexp(-y * t)) * eb;
    s.db += weight * ey * ey * (t * vexp(-b * t));
  }
  return s;
}

/* sd^2 = e^G(2y) (1 - e^-gap) */
static double spread_stddev (double y, double b, double gap) {
  return vexp(0.5 * log_moment(2 * y, b)) * sqrt(-vexpm1(-gap));
}

VECTOR Moment stddev_at (double a, double b) {
  double y = 1 / a;
  Spread s = spread(y, b);
  double sd = spread_stddev(y, b, s.gap), by = 0.5 * sd, odds = vexpm1(s.gap);
  return (Moment) {
    sd, -by * fma(2.0, log_moment_slope(2 * y, b), s.dy / odds) * y * y,
    by * (log_moment_slope(b, 2 * y) + s.db / odds)
  };
}


/* psi(1 + b) - psi(1) */
VECTOR double harmonic (double b) { return vdigamma_pos(1 + b) + EULER_GAMMA; }

VECTOR Moment entropy_at (double a, double b) {
  return (Moment) {
    fma(1 - 1 / a, harmonic(b), 1 - 1 / b) - (vlog(a) + vlog(b)), (harmonic(b) / a - 1) / a,
    fma(1 - 1 / a, vtrigamma_pos(1 + b), (1 / b - 1) / b)
  };
}

static const Moments moments = {.mean = mean_at, .stddev = stddev_at, .entropy = entropy_at};

#include "kernel/moments_kernels.h"


const Kernel perilune_kumaraswamy[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .value = isf,      .partials = isf_partials},
  {.name = "mean",     .n_in = 2, .value = mean,     .partials = mean_partials},
  {.name = "stddev",   .n_in = 2, .slow = 1, .value = stddev,   .partials = stddev_partials},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 3, .value = rsample, .partials = rsample_partials,
   .sampler = &(const Sampler) {.noise = "exponential"}},
  {.name = NULL}
};
