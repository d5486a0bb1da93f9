/*
** relaxedbernoulli.c - RelaxedBernoulli(temperature T, logits l), on [0, 1], which comes near
** Bernoulli as T falls (the binary Concrete law; Maddison, Mnih and Teh 2017)
**
**   z = T logit x - l is a standard Logistic number:
**   log p(x) = log T - log(x(1 - x)) - |z| - 2 log(1 + e^-|z|),   F(x) = 1/(1 + e^-z)
**
** At x = 0 and x = 1 the density is its limit there. Moments and entropy have no closed form.
** With s() the logistic function and U a standard Logistic number, integration by parts turns
** E s((l + U)/T) into E s(l + TU): one of the two, s(m + aU) with a <= 1, is smooth enough for the
** trapezoidal rule.
*/
#include "kernel/logit.h"
#include "kernel/moments.h"
#include "kernel/sided.h"


/* {=====================================================
** Density and distribution function
** ====================================================== */

/* y, or 0 where l is infinite and decides alone; NaN stays */
VECTOR double beside (double l, double y) {
  double none = y == y ? 0.0 : y;
  return fabs(l) == HUGE_VAL ? none : y;
}

/* z, infinite outside (0, 1) */
VECTOR Pair standard_of (double x, Pair y, double t, double l) {
  Pair p = exact_product(t, beside(l, y.hi)), z = exact_sum(p.hi, -l);
  Pair inside = fast_sum(z.hi, z.lo + fma(t, y.lo, p.lo));
  double hi = x < 0 ? -HUGE_VAL : x >= 1 ? HUGE_VAL : z.hi;
  return fabs(hi) < 1e15 ? inside : (Pair) {hi, 0.0};
}

/* log p at either end, rise being the slope of log p in l there */
VECTOR double end_density (double t, double l, double rise) {
  double limit = t < 1 ? HUGE_VAL : t == 1 ? rise * l : t > 1 ? -HUGE_VAL : t;
  return rise * l == HUGE_VAL ? HUGE_VAL : limit;
}

VECTOR double density_edges (double x, double t, double l, double inside) {
  double off = x == x ? -HUGE_VAL : x;
  double value = ((x > 0) & (x < 1)) ? inside : off;
  value = x == 0 ? end_density(t, l, -1) : value;
  return x == 1 ? end_density(t, l, 1) : value;
}

/* |a| - |b|; b may be infinite */
VECTOR double excess (Pair a, Pair b) {
  double a_lo = a.hi < 0 ? -a.lo : a.lo, b_lo = b.hi < 0 ? -b.lo : b.lo;
  Pair d = exact_sum(fabs(a.hi), -fabs(b.hi));
  double value = d.hi + (d.lo + (a_lo - b_lo));
  return fabs(b.hi) < 1e15 ? value : d.hi;
}

VECTOR double log_density (const double v[]) {
  double x = v[0], t = v[1], l = v[2];
  Pair y = logit_of(x), z = standard_of(x, y, t, l);
  double spread = log1p_unit(decay(y)) - log1p_unit(decay(z));
  double inside = fma(2.0, spread, excess(y, z) + vlog(t));
  return density_edges(x, t, l, inside);
}

VECTOR void log_density_slopes (const double v[], double d[]) {
  double x = v[0], t = v[1], l = v[2];
  Pair y = logit_of(x);
  double lean = vtanh(0.5 * standard_of(x, y, t, l).hi);
  double by_x = fma(-t, lean, fma(2.0, x, -1)) / (x * (1 - x));
  int inside = (x > 0) & (x < 1);
  d[0] = inside ? by_x : 0;
  d[1] = inside ? fma(-y.hi, lean, 1 / t) : 0;
  d[2] = inside ? lean : 0;
}


/* z, or -z for the upper tail: the tails are functions of it */
VECTOR Pair z_at (const double v[], int upper) {
  Pair z = standard_of(v[0], logit_of(v[0]), v[1], v[2]);
  return upper ? pair_negative(z) : z;
}

VECTOR double tail (const double v[], int upper) { return sigmoid_of(z_at(v, upper)); }

VECTOR double log_tail (const double v[], int upper) {
  Pair z = z_at(v, upper);
  return (z.hi < 0 ? z.hi : 0.0) - log1p_unit(decay(z));
}

/* of a tail, from its slope in z, or in -z for the upper tail */
VECTOR void slopes (const double v[], double (*slope) (double z), int upper, double d[]) {
  double x = v[0];
  Pair y = logit_of(x), z = standard_of(x, y, v[1], v[2]);
  double s = upper ? -slope(-z.hi) : slope(z.hi);
  int inside = (x > 0) & (x < 1);
  d[0] = inside ? s * v[1] / (x * (1 - x)) : 0;
  d[1] = inside ? s * y.hi : 0;
  d[2] = inside ? -s : 0;
}

VECTOR double density (double z) { return vsigmoid(z) * vsigmoid(-z); }
VECTOR double hazard (double z) { return vsigmoid(-z); }

VECTOR void tail_slopes (const double v[], int upper, double d[]) {
  slopes(v, density, upper, d);
}

VECTOR void log_tail_slopes (const double v[], int upper, double d[]) {
  slopes(v, hazard, upper, d);
}

/* }====================================================== */


/* {=====================================================
** Quantiles, and draws
** ====================================================== */

/* (l + z)/t */
VECTOR Pair logit_at (Pair z, double t, double l) {
  Pair s = exact_sum(l, beside(l, z.hi));
  return pair_ratio((Pair) {s.hi, s.lo + z.lo}, (Pair) {t, 0.0});
}

/* z of a probability; of the upper tail with sign -1 */
VECTOR Pair quantile_of (double p, double sign) {
  Pair z = logit_of(p);
  double hi = ((p >= 0) & (p <= 1)) ? z.hi : (double)NAN;
  return (Pair) {sign * hi, sign * z.lo};
}

VECTOR double quantile (const double v[], int upper) {
  return sigmoid_of(logit_at(quantile_of(v[0], upper ? -1 : 1), v[1], v[2]));
}

VECTOR void quantile_slopes (const double v[], int upper, double d[]) {
  double p = v[0], t = v[1], sign = upper ? -1 : 1;
  Pair y = logit_at(quantile_of(p, sign), t, v[2]);
  double s = slope_at(y) / t;
  d[0] = s == 0 ? 0.0 : sign * s / (p * (1 - p));
  d[1] = s == 0 ? 0.0 : -s * y.hi;
  d[2] = s;
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

/* }====================================================== */


/* {=====================================================
** Averages over U, of x = s(m + aU) with m <= 0, by the trapezoidal rule: poles at +-i pi, so
** that a step of 7/16 leaves an error of e^-45. All terms that matter are of one sign:
** averages keep their relative accuracy, however small they are.
** ====================================================== */

static const double STEP  = 0.4375;
static const double REACH = 44;
static const double ZERO_BEYOND = 760;   /* of m, beyond which x is 0 */

/* a law with l <= 0; `cold` says T <= 1, for which m = l and a = T, else l/T and 1/T */
typedef struct Smooth { double m, a; int cold; } Smooth;

typedef struct LogisticNode { double u, x, slope, gone, weight; } LogisticNode;

static Smooth smooth_of (double t, double l) {
  return t <= 1 ? (Smooth) {l, t, 1} : (Smooth) {l / t, 1 / t, 0};
}

/* The last node: x^power rises like e^(power a u) up to u = -m/a, U's density falls like e^-u. */
static double last_node (Smooth s, double power) {
  double fall = 1 - power * s.a, bend = REACH - s.m / s.a;
  double far = fall > 0 && REACH / fall < bend ? REACH / fall : bend;
  return ceil((far > REACH ? far : REACH) / STEP);
}

/* `gone` is x - s(m), without cancellation for a small a */
static LogisticNode node_of (Smooth s, double k) {
  double u = k * STEP, y = fma(s.a, u, s.m), x = vsigmoid(y), w = vexp(-fabs(u));
  double gone = x * vsigmoid(-s.m) * -vexpm1(-s.a * u);
  return (LogisticNode) {u, x, x * vsigmoid(-y), gone, STEP * w / (1 + w) / (1 + w)};
}

/* back from m and a to T and l; along = d/dm, tilt = d/da */
static Moment back (Smooth s, double value, double along, double tilt) {
  if (s.cold) return (Moment) {value, tilt, along};
  return (Moment) {value, -s.a * fma(s.m, along, s.a * tilt), s.a * along};
}

/* E x; of the slope in E U x(1 - x) only what differs from that at m counts */
static Moment mean_of (Smooth s) {
  double value = 0, along = 0, tilt = 0, last = last_node(s, 1), centre = vsigmoid(s.m);
  for (double k = -ceil(REACH / STEP); k <= last; k++) {
    LogisticNode node = node_of(s, k);
    value += node.weight * node.x;
    along += node.weight * node.slope;
    tilt += node.weight * node.u * node.gone * (1 - node.x - centre);
  }
  return back(s, value, along, tilt);
}

/* E (x - E x)^2 for T > 1 */
static Moment warm_variance (Smooth s) {
  double value = 0, along = 0, tilt = 0, last = last_node(s, 2), mean = 0;
  double first = -ceil(REACH / STEP), centre = vsigmoid(s.m);
  for (double k = first; k <= last; k++) {
    LogisticNode node = node_of(s, k);
    mean += node.weight * node.gone;
  }
  for (double k = first; k <= last; k++) {
    LogisticNode node = node_of(s, k);
    double d = node.gone - mean, share = 2 * node.weight * d;
    value += node.weight * d * d;
    along += share * node.gone * (1 - node.x - centre);
    tilt += share * node.u * node.slope;
  }
  return back(s, value, along, tilt);
}

/* E x^2 is 2 E s(-U) s(l + TU) for T <= 1, by parts again; all counted from c = s(l) */
static Moment cold_variance (Smooth s) {
  double value = 0, along = 0, tilt = 0, gone = 0, last = last_node(s, 1), c = vsigmoid(s.m);
  Moment mean = mean_of(s);
  for (double k = -ceil(REACH / STEP); k <= last; k++) {
    LogisticNode node = node_of(s, k);
    double share = 2 * node.weight * vsigmoid(-node.u);
    value += fma(-2 * c, node.weight, share) * node.gone;
    gone += node.weight * node.gone;
    along += share * node.slope;
    tilt += share * node.slope * node.u;
  }
  return (Moment) {fma(-gone, gone, fma(c, 1 - c, value)),
                   fma(-2 * mean.value, mean.by_first, tilt),
                   fma(-2 * mean.value, mean.by_second, along)};
}

static Moment variance_of (Smooth s) {
  return s.cold ? cold_variance(s) : warm_variance(s);
}

/* 2 - log T + E log(x(1 - x)), the last by parts 1/T times that of the smoother law */
static Moment entropy_of (double t, Smooth s) {
  double value = 0, along = 0, tilt = 0, last = ceil(REACH / STEP), factor = s.cold ? 1 / t : 1;
  for (double k = -last; k <= last; k++) {
    LogisticNode node = node_of(s, k);
    double y = fma(s.a, node.u, s.m), lean = vtanh(0.5 * y) * node.weight;
    value += node.weight * logistic_log_slope(y);
    along -= lean;
    tilt -= lean * node.u;
  }
  Moment m = back(s, value, along, tilt);
  double by_factor = s.cold ? value / t : 0;
  return (Moment) {fma(factor, m.value, 2 - vlog(t)), fma(factor, m.by_first - by_factor, -1 / t),
                   factor * m.by_second};
}

/* }====================================================== */


/* {=====================================================
** Mode, for T > 1: y = logit x with tanh(y/2) = T tanh((Ty - l)/2), which is
**
**   G(y) = (T - 1) y + log(1 + 2h(T - 1)/((1 - h)(T + h))) = l,     h = tanh(y/2)
**
** For l >= 0 its one root lies below (l + log((T + 1)/(T - 1)))/T, G is convex there, and Newton's
** method comes down to it. For T <= 1 the density is largest at an end.
** ====================================================== */

/* 2 atanh(h/T), given y */
static double offset_at (double y, double t) {
  double h = vtanh(0.5 * y);
  return vlog1p(2 * h / ((t - 1) + 2 * vsigmoid(-y)));
}

/* G(y) - l */
static double mode_gap (double y, double t, double l) {
  double h = vtanh(0.5 * y), rest = 2 * vsigmoid(-y);
  if (y > 36) return fma(t, y, -l) - offset_at(y, t);
  return fma(t - 1, y, vlog1p(2 * h * (t - 1) / (rest * (t + h)))) - l;
}

/* for l >= 0 */
static double mode_logit (double t, double l) {
  double y = (l + vlog1p(2 / (t - 1))) / t, previous = HUGE_VAL;
  for (int left = 200; left > 0 && y < previous && y > 0; left--) {
    double h = vtanh(0.5 * y), slope = (t - 1) / (t - h) * ((t + 1) / (t + h)) * t;
    previous = y;
    y -= mode_gap(y, t, l) / slope;
  }
  return y > 0 ? previous : 0;
}

/* x on the side of 0, and how it moves with T and |l| */
static Moment mode_of (double t, double l) {
  if (!(t > 1) || !(l > -HUGE_VAL)) return (Moment) {0, 0, 0};
  double y = mode_logit(t, -l), h = vtanh(0.5 * y);
  Pair better = logit_at((Pair) {offset_at(y, t), 0}, t, -l);
  double dx = slope_at(better) / (t - 1) / (t + 1) / t, bend = (t - h) * (t + h);
  return (Moment) {sigmoid_of(pair_negative(better)), dx * fma(y, bend, 2 * h), dx * bend};
}

/* }====================================================== */


/* {=====================================================
** Moments of any law, from that of -|l|
** ====================================================== */

static int is_law (double t, double l) { return (t > 0) & (t < HUGE_VAL) & (l == l); }

/* of places of x, which -l turns into places of 1 - x */
static Moment place (double l, Moment m) {
  return l > 0 ? (Moment) {1 - m.value, -m.by_first, m.by_second} : m;
}

/* of what is the same for x and 1 - x */
static Moment width (double l, Moment m) {
  return l > 0 ? (Moment) {m.value, m.by_first, -m.by_second} : m;
}

static Moment mean_at (double t, double l) {
  Smooth s = smooth_of(t, -fabs(l));
  return place(l, s.m > -ZERO_BEYOND ? mean_of(s) : (Moment) {0, 0, 0});
}

static Moment variance_at (double t, double l) {
  Smooth s = smooth_of(t, -fabs(l));
  return width(l, s.m > -ZERO_BEYOND ? variance_of(s) : (Moment) {0, 0, 0});
}

static Moment entropy_at (double t, double l) {
  if (fabs(l) == HUGE_VAL) return (Moment) {-HUGE_VAL, 0, 0};
  return width(l, entropy_of(t, smooth_of(t, -fabs(l))));
}

static Moment mode_at (double t, double l) { return place(l, mode_of(t, -fabs(l))); }

static Moment moment_of_law (double t, double l, MomentOf *at) {
  return is_law(t, l) ? at(t, l) : (Moment) {(double)NAN, (double)NAN, (double)NAN};
}

static Moment law_mean (double t, double l) { return moment_of_law(t, l, mean_at); }
static Moment law_mode (double t, double l) { return moment_of_law(t, l, mode_at); }
static Moment law_variance (double t, double l) { return moment_of_law(t, l, variance_at); }
static Moment law_entropy (double t, double l) { return moment_of_law(t, l, entropy_at); }

static const Moments moments = {
  .mean = law_mean, .mode = law_mode, .variance = law_variance, .entropy = law_entropy
};

#include "kernel/moments_kernels.h"

/* }====================================================== */


const Kernel perilune_relaxedbernoulli[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .value = isf,      .partials = isf_partials},
  {.name = "mean",     .n_in = 2, .slow = 1, .value = mean,     .partials = mean_partials},
  {.name = "variance", .n_in = 2, .slow = 1, .value = variance, .partials = variance_partials},
  {.name = "mode",     .n_in = 2, .value = mode,     .partials = mode_partials},
  {.name = "entropy",  .n_in = 2, .slow = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 3, .value = icdf, .partials = icdf_partials,
   .sampler = &(const Sampler) {.noise = "uniform"}},
  {.name = NULL}
};
