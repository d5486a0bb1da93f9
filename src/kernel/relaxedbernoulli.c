/*
** relaxedbernoulli.c - RelaxedBernoulli(temperature T, logits l), a coin whose outcome may lie
** between 0 and 1 (the binary Concrete law; Maddison, Mnih and Teh 2017)
**
**   z = T logit x - l is a standard Logistic number:
**   log p(x) = log T - log(x(1 - x)) - |z| - 2 log(1 + e^-|z|),   F(x) = 1/(1 + e^-z)
**
** At x = 0 and x = 1 the density is its limit there. Moments and entropy have no closed form.
** With s() the logistic function and U a standard Logistic number, parts turn E s((l + U)/T)
** into E s(l + TU): one of the two, s(m + aU) with a <= 1, is smooth enough for the
** trapezoidal rule.
*/
#include "kernel/kernel.h"
#include "kernel/logit.h"


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

static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *t = in[1], *l = in[2];
  for (size_t i = 0; i < n; i++) {
    Pair y = logit_of(x[i]), z = standard_of(x[i], y, t[i], l[i]);
    double spread = log1p_unit(decay(y)) - log1p_unit(decay(z));
    double inside = fma(2.0, spread, excess(y, z) + vlog(t[i]));
    out[i] = density_edges(x[i], t[i], l[i], inside);
  }
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *t = in[1], *l = in[2];
  double *dx = d[0], *dt = d[1], *dl = d[2];
  for (size_t i = 0; i < n; i++) {
    Pair y = logit_of(x[i]);
    double lean = vtanh(0.5 * standard_of(x[i], y, t[i], l[i]).hi);
    double by_x = fma(-t[i], lean, fma(2.0, x[i], -1)) / (x[i] * (1 - x[i]));
    int inside = (x[i] > 0) & (x[i] < 1);
    dx[i] = inside ? by_x : 0;
    dt[i] = inside ? fma(-y.hi, lean, 1 / t[i]) : 0;
    dl[i] = inside ? lean : 0;
  }
}


typedef double OfPair (Pair z);
typedef double OfStandard (double z);

/* out = f(z), for cdf, sf and their logarithms */
VECTOR void tail_values (size_t n, const double *const in[], double *out, OfPair *f) {
  const double *x = in[0], *t = in[1], *l = in[2];
  for (size_t i = 0; i < n; i++) out[i] = f(standard_of(x[i], logit_of(x[i]), t[i], l[i]));
}

VECTOR void tail_partials (size_t n, const double *const in[], double *const d[],
                           OfStandard *slope) {
  const double *x = in[0], *t = in[1], *l = in[2];
  double *dx = d[0], *dt = d[1], *dl = d[2];
  for (size_t i = 0; i < n; i++) {
    Pair y = logit_of(x[i]);
    double s = slope(standard_of(x[i], y, t[i], l[i]).hi);
    int inside = (x[i] > 0) & (x[i] < 1);
    dx[i] = inside ? s * t[i] / (x[i] * (1 - x[i])) : 0;
    dt[i] = inside ? s * y.hi : 0;
    dl[i] = inside ? -s : 0;
  }
}

VECTOR double upper_tail (Pair z) { return sigmoid_of(pair_negative(z)); }
VECTOR double log_lower_tail (Pair z) { return (z.hi < 0 ? z.hi : 0.0) - log1p_unit(decay(z)); }
VECTOR double log_upper_tail (Pair z) { return log_lower_tail(pair_negative(z)); }

VECTOR double density (double z) { return vsigmoid(z) * vsigmoid(-z); }
VECTOR double upper_tail_slope (double z) { return -density(z); }
VECTOR double log_lower_tail_slope (double z) { return vsigmoid(-z); }
VECTOR double log_upper_tail_slope (double z) { return -vsigmoid(z); }

static void cdf (size_t n, const double *const in[], double *out) {
  tail_values(n, in, out, sigmoid_of);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, density);
}

static void sf (size_t n, const double *const in[], double *out) {
  tail_values(n, in, out, upper_tail);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, upper_tail_slope);
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  tail_values(n, in, out, log_lower_tail);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, log_lower_tail_slope);
}

static void log_sf (size_t n, const double *const in[], double *out) {
  tail_values(n, in, out, log_upper_tail);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, log_upper_tail_slope);
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

VECTOR void quantiles (size_t n, const double *const in[], double *out, double sign) {
  const double *p = in[0], *t = in[1], *l = in[2];
  for (size_t i = 0; i < n; i++)
    out[i] = sigmoid_of(logit_at(quantile_of(p[i], sign), t[i], l[i]));
}

VECTOR void quantile_partials (size_t n, const double *const in[], double *const d[],
                               double sign) {
  const double *p = in[0], *t = in[1], *l = in[2];
  double *dp = d[0], *dt = d[1], *dl = d[2];
  for (size_t i = 0; i < n; i++) {
    Pair y = logit_at(quantile_of(p[i], sign), t[i], l[i]);
    double s = slope_at(y) / t[i];
    dp[i] = s == 0 ? 0.0 : sign * s / (p[i] * (1 - p[i]));
    dt[i] = s == 0 ? 0.0 : -s * y.hi;
    dl[i] = s;
  }
}

static void icdf (size_t n, const double *const in[], double *out) {
  quantiles(n, in, out, 1);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  quantile_partials(n, in, d, 1);
}

static void isf (size_t n, const double *const in[], double *out) {
  quantiles(n, in, out, -1);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  quantile_partials(n, in, d, -1);
}

/* }====================================================== */


/* {=====================================================
** Averages over U, of x = s(m + aU) with m <= 0, by the trapezoidal rule: poles at +-i pi, so
** that a step of 7/16 leaves an error of e^-45. All terms that matter are of one sign:
** averages keep their relative accuracy, however small they are.
** ====================================================== */

static const double STEP  = 0.4375;
static const double REACH = 44;
static const double DEPTH = 760;   /* of m, beyond which x is 0 */

/* a law with l <= 0; `cold` says T <= 1, for which m = l and a = T, else l/T and 1/T */
typedef struct Smooth { double m, a; int cold; } Smooth;

/* a moment and its slopes */
typedef struct Moment { double value, by_t, by_l; } Moment;

typedef struct Node { double u, x, slope, gone, weight; } Node;

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
static Node node_of (Smooth s, double k) {
  double u = k * STEP, y = fma(s.a, u, s.m), x = vsigmoid(y), w = vexp(-fabs(u));
  double gone = x * vsigmoid(-s.m) * -vexpm1(-s.a * u);
  return (Node) {u, x, x * vsigmoid(-y), gone, STEP * w / (1 + w) / (1 + w)};
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
    Node node = node_of(s, k);
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
    Node node = node_of(s, k);
    mean += node.weight * node.gone;
  }
  for (double k = first; k <= last; k++) {
    Node node = node_of(s, k);
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
    Node node = node_of(s, k);
    double share = 2 * node.weight * vsigmoid(-node.u);
    value += fma(-2 * c, node.weight, share) * node.gone;
    gone += node.weight * node.gone;
    along += share * node.slope;
    tilt += share * node.slope * node.u;
  }
  return (Moment) {fma(-gone, gone, fma(c, 1 - c, value)),
                   fma(-2 * mean.value, mean.by_t, tilt), fma(-2 * mean.value, mean.by_l, along)};
}

static Moment variance_of (Smooth s) {
  return s.cold ? cold_variance(s) : warm_variance(s);
}

/* 2 - log T + E log(x(1 - x)), the last by parts 1/T times that of the smoother law */
static Moment entropy_of (double t, Smooth s) {
  double value = 0, along = 0, tilt = 0, last = ceil(REACH / STEP), factor = s.cold ? 1 / t : 1;
  for (double k = -last; k <= last; k++) {
    Node node = node_of(s, k);
    double y = fma(s.a, node.u, s.m), lean = vtanh(0.5 * y) * node.weight;
    value += node.weight * logistic_log_slope(y);
    along -= lean;
    tilt -= lean * node.u;
  }
  Moment m = back(s, value, along, tilt);
  double by_factor = s.cold ? value / t : 0;
  return (Moment) {fma(factor, m.value, 2 - vlog(t)), fma(factor, m.by_t - by_factor, -1 / t),
                   factor * m.by_l};
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
  return l > 0 ? (Moment) {1 - m.value, -m.by_t, m.by_l} : m;
}

/* of what is the same for x and 1 - x */
static Moment width (double l, Moment m) {
  return l > 0 ? (Moment) {m.value, m.by_t, -m.by_l} : m;
}

static Moment mean_at (double t, double l) {
  Smooth s = smooth_of(t, -fabs(l));
  return place(l, s.m > -DEPTH ? mean_of(s) : (Moment) {0, 0, 0});
}

static Moment variance_at (double t, double l) {
  Smooth s = smooth_of(t, -fabs(l));
  return width(l, s.m > -DEPTH ? variance_of(s) : (Moment) {0, 0, 0});
}

static Moment entropy_at (double t, double l) {
  if (fabs(l) == HUGE_VAL) return (Moment) {-HUGE_VAL, 0, 0};
  return width(l, entropy_of(t, smooth_of(t, -fabs(l))));
}

static Moment mode_at (double t, double l) { return place(l, mode_of(t, -fabs(l))); }

typedef Moment MomentAt (double t, double l);

static inline Moment moment_of_law (double t, double l, MomentAt *at) {
  return is_law(t, l) ? at(t, l) : (Moment) {(double)NAN, (double)NAN, (double)NAN};
}

static inline void values (size_t n, const double *const in[], double *out, MomentAt *at) {
  for (size_t i = 0; i < n; i++) out[i] = moment_of_law(in[0][i], in[1][i], at).value;
}

static inline void slopes (size_t n, const double *const in[], double *const d[], MomentAt *at) {
  for (size_t i = 0; i < n; i++) {
    Moment m = moment_of_law(in[0][i], in[1][i], at);
    d[0][i] = m.by_t;
    d[1][i] = m.by_l;
  }
}

static void mean (size_t n, const double *const in[], double *out) {
  values(n, in, out, mean_at);
}

static void mean_partials (size_t n, const double *const in[], double *const d[]) {
  slopes(n, in, d, mean_at);
}

static void variance (size_t n, const double *const in[], double *out) {
  values(n, in, out, variance_at);
}

static void variance_partials (size_t n, const double *const in[], double *const d[]) {
  slopes(n, in, d, variance_at);
}

static void mode (size_t n, const double *const in[], double *out) {
  values(n, in, out, mode_at);
}

static void mode_partials (size_t n, const double *const in[], double *const d[]) {
  slopes(n, in, d, mode_at);
}

static void entropy (size_t n, const double *const in[], double *out) {
  values(n, in, out, entropy_at);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  slopes(n, in, d, entropy_at);
}

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
  {.name = "rsample",  .n_in = 3, .value = icdf,     .partials = icdf_partials,
   .noise = "uniform"},
  {.name = NULL}
};
