/*
** truncatednormal.c - TruncatedNormal(loc, scale, low, high), a Normal cut to [low, high]
**
**   p(x) = e^(-z^2/2) / (scale M),   M = int_a^b e^(-t^2/2) dt,   z = (x - loc)/scale
**
** a and b being the ends as z. Densities and masses are taken relative to the density at the
** mode, the r in [a, b] nearest to 0. The mass between s and t, with u nearest to 0, is
**
**   e^(-(u^2 - r^2)/2) (H(|u|, t - u) + H(|u|, u - s)),   H(c, w) = int_0^w e^(-cy - y^2/2) dy
**
** No term is negative, so either tail is right however far out the cut is. Widths are
** differences of x, not of z.
*/
#include "kernel/kernel.h"
#include "special/legendre.h"
#include "special/vdensity.h"
#include "special/verf.h"
#include "special/vmath.h"

#define SQRT_HALF_PI 1.2533141373155002512
#define SQRT_HALF    0.70710678118654752440

/* one element's parameters; the mode as x, and r = |mode - loc|/scale */
typedef struct Law { double loc, scale, low, high, mode, r; } Law;

/* a number times e^-(hi + lo) */
typedef struct Depth { double hi, lo; } Depth;
typedef struct Part { double mass; Depth depth; } Part;
typedef struct Split { Part lower, upper; } Split;

VECTOR Law law_of (double loc, double scale, double low, double high) {
  double mode = clamp(loc, low, high);
  return (Law) {loc, scale, low, high, mode, fabs(mode - loc) / scale};
}

static inline Law law_at (const double *const in[], size_t i) {
  return law_of(in[0][i], in[1][i], in[2][i], in[3][i]);
}


/* {=====================================================
** Masses
** ====================================================== */

/* (z^2 - r^2)/2 at x, which is beyond the mode as seen from loc: d (r + d/2), d = |x - mode|/scale */
VECTOR Depth depth_at (Law l, double x) {
  double d = fabs(x - l.mode) / l.scale;
  Pair s = exact_sum(l.r, 0.5 * d);
  double h = d * s.hi, rest = fma(d, s.lo, fma(d, s.hi, -h));
  return (Depth) {h, h < 800 ? rest : 0.0};
}

VECTOR double decay (Depth depth) {
  return exp_pair(clamp(-depth.hi, -800.0, 0.0), -depth.lo);
}

/* int_0^inf e^(-cy - y^2/2) dy, Mills' ratio */
VECTOR double mills (double c) {
  return SQRT_HALF_PI * erfcx_positive(SQRT_HALF * (c > 1e300 ? 1e300 : c));
}

/* e^(-cy - y^2/2) - 1 at y and at w - y, for exponents up to 0.3466 */
VECTOR double gauss_pair (double c, double w, double node) {
  double y = w * node, v = w - y;
  double e = -y * fma(0.5, y, c), f = -v * fma(0.5, v, c);
  return fma(e * e, exp_tail(e), e) + fma(f * f, exp_tail(f), f);
}

/* H by Gauss-Legendre with 8 points */
VECTOR double descent_short (double c, double w) {
  double sum = 0.050614268145188129576 * gauss_pair(c, w, 0.019855071751231884158);
  sum = fma(0.11119051722668723527, gauss_pair(c, w, 0.10166676129318663020), sum);
  sum = fma(0.15685332293894364367, gauss_pair(c, w, 0.23723379504183550709), sum);
  sum = fma(0.18134189168918099148, gauss_pair(c, w, 0.40828267875217509753), sum);
  return fma(w, sum, w);
}

/* H(c, w) for c >= 0, 0 <= w <= inf */
VECTOR double descent (double c, double w) {
  double depth = w * fma(0.5, w, c);
  double wide = fma(-vexp(-depth), mills(c + w), mills(c));
  return depth < 0.34 ? descent_short(c, w) : wide;
}

/* the mass between two points of [low, high] */
VECTOR Part part (Law l, double from, double to) {
  double u = clamp(l.loc, from, to);
  double up = (to - u) / l.scale, down = (u - from) / l.scale;
  double wide = up > down ? up : down, narrow = up > down ? down : up;
  double c = fabs(u - l.loc) / l.scale;
  return (Part) {
    .mass = fma(SQRT_HALF_PI, verf(SQRT_HALF * narrow), descent(c, wide)), .depth = depth_at(l, u)
  };
}

/* the masses on both sides of x, which is in [low, high]; at an end one of them is 0 */
VECTOR Split split (Law l, double x) {
  Split s = {part(l, l.low, x), part(l, x, l.high)};
  s.lower.mass = x <= l.low ? 0.0 : s.lower.mass;
  s.upper.mass = x >= l.high ? 0.0 : s.upper.mass;
  s.lower.depth.hi = x <= l.low ? 0.0 : s.lower.depth.hi;
  s.upper.depth.hi = x >= l.high ? 0.0 : s.upper.depth.hi;
  return s;
}

VECTOR double amount (Part p) { return p.mass * decay(p.depth); }

/* p(low) scale and p(high) scale: minus and plus the slopes of log M in a and b */
VECTOR double edge (Law l, double end, double mass) {
  double e = decay(depth_at(l, end)) / mass;
  return fabs(end) < HUGE_VAL ? e : 0.0;
}

/* z of a point, 0 at infinity, where it is always multiplied by 0 */
VECTOR double finite_z (Law l, double x) {
  return fabs(x) < HUGE_VAL ? (x - l.loc) / l.scale : 0.0;
}

/* }====================================================== */


/* {=====================================================
** Density and tails
** ====================================================== */

static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2], *low = in[3], *high = in[4];
  for (size_t i = 0; i < n; i++) {
    Law l = law_of(loc[i], scale[i], low[i], high[i]);
    Depth depth = depth_at(l, x[i]);
    double inside = -depth.hi - (depth.lo + vlog(part(l, low[i], high[i]).mass * scale[i]));
    double off = x[i] == x[i] ? -HUGE_VAL : x[i];
    out[i] = ((x[i] >= low[i]) & (x[i] <= high[i])) ? inside : off;
  }
}

/* partials from those in z, a and b; `own` is what the scale does by itself */
VECTOR void spread (size_t i, Law l, double x, double in_z, double in_a, double in_b, double own,
                    double *const d[]) {
  double by_scale = fma(finite_z(l, l.low), in_a, finite_z(l, l.high) * in_b);
  d[0][i] = in_z / l.scale;
  d[1][i] = -(in_z + in_a + in_b) / l.scale;
  d[2][i] = (own - fma(finite_z(l, x), in_z, by_scale)) / l.scale;
  d[3][i] = in_a / l.scale;
  d[4][i] = in_b / l.scale;
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    Law l = law_at(in + 1, i);
    double x = in[0][i], mass = part(l, l.low, l.high).mass;
    double inside = ((x >= l.low) & (x <= l.high)) ? 1.0 : 0.0;
    spread(i, l, x, -inside * finite_z(l, x), inside * edge(l, l.low, mass),
           -inside * edge(l, l.high, mass), -inside, d);
  }
}


static void cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2], *low = in[3], *high = in[4];
  for (size_t i = 0; i < n; i++) {
    Split s = split(law_of(loc[i], scale[i], low[i], high[i]), clamp(x[i], low[i], high[i]));
    double lower = amount(s.lower), upper = amount(s.upper);
    out[i] = x[i] == x[i] ? lower / (lower + upper) : x[i];
  }
}

static void sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2], *low = in[3], *high = in[4];
  for (size_t i = 0; i < n; i++) {
    Split s = split(law_of(loc[i], scale[i], low[i], high[i]), clamp(x[i], low[i], high[i]));
    double lower = amount(s.lower), upper = amount(s.upper);
    out[i] = x[i] == x[i] ? upper / (lower + upper) : x[i];
  }
}

/* log of one part of the whole: by its depth if it is the smaller, else from the other */
VECTOR double log_share (Part part, Part other) {
  double mine = amount(part), rest = amount(other), all = mine + rest;
  double small = -part.depth.hi - part.depth.lo + vlog(part.mass / all);
  return mine < rest ? small : vlog1p(-rest / all);
}

VECTOR double log_lower (double x, double loc, double scale, double low, double high) {
  Split s = split(law_of(loc, scale, low, high), clamp(x, low, high));
  return x == x ? log_share(s.lower, s.upper) : x;
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2], *low = in[3], *high = in[4];
  for (size_t i = 0; i < n; i++) out[i] = log_lower(x[i], loc[i], scale[i], low[i], high[i]);
}

/* the upper tail is the lower one of the mirror image */
static void log_sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2], *low = in[3], *high = in[4];
  for (size_t i = 0; i < n; i++) out[i] = log_lower(-x[i], -loc[i], scale[i], -high[i], -low[i]);
}

/*
** The slopes of F = L/M in z, a, b are g, -(1 - F) p(a), -F p(b), g the density; those of
** 1 - F are the opposite. For a logarithm they are divided by the tail, of which the
** decay is left out above and below: L = mass e^-depth.
*/
static void tail_partials (size_t n, const double *const in[], double *const d[], double sign,
                           int logarithm) {
  for (size_t i = 0; i < n; i++) {
    Law l = law_at(in + 1, i);
    double x = in[0][i];
    Split s = split(l, clamp(x, l.low, l.high));
    double lower = amount(s.lower), upper = amount(s.upper), all = lower + upper;
    Part own = sign > 0 ? s.lower : s.upper;
    Depth at = depth_at(l, x);
    double gap = at.hi - own.depth.hi, rest = at.lo - own.depth.lo;
    double inside = ((x >= l.low) & (x <= l.high)) ? sign : 0.0;
    double by_tail = decay((Depth) {gap > 0 ? gap : 0.0, rest}) / own.mass;
    double tail = sign > 0 ? lower : upper, by = logarithm ? 1 / tail : 1 / all;
    double in_z = inside * (logarithm ? by_tail : decay(at) / all);
    spread(i, l, x, in_z, -inside * edge(l, l.low, all) * (upper * by),
           -inside * edge(l, l.high, all) * (lower * by), 0, d);
  }
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, 1, 0);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, -1, 0);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, 1, 1);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, -1, 1);
}

/* }====================================================== */


/* {=====================================================
** Quantiles
** ====================================================== */

/* as if the density were (c + y) e^(-cy - y^2/2): good where r is large */
VECTOR double far_start (Law l, double p, double q) {
  int rising = l.loc > l.high;
  double near = rising ? q : p, far = rising ? p : q, w = (l.high - l.low) / l.scale;
  double depth = w * fma(0.5, w, l.r);
  double small = -vlog1p(near * vexpm1(-depth)), large = -vlog(fma(near, vexp(-depth), far));
  double t = near < 0.5 ? small : large;
  double y = 2 * t / (l.r + vsqrt(fma(l.r, l.r, 2 * t)));
  return rising ? fma(-l.scale, y, l.high) : fma(l.scale, y, l.low);
}

/* Phi(z) = q Phi(a) + p Phi(b), from the smaller of it and 1 - Phi(z) */
VECTOR double near_start (Law l, double p, double q) {
  double a = (l.low - l.loc) / l.scale, b = (l.high - l.loc) / l.scale;
  double lower = fma(q, vndtr(a), p * vndtr(b)), upper = fma(q, vndtr(-a), p * vndtr(-b));
  double z = vndtri(lower < upper ? lower : upper);
  return fma(l.scale, lower < upper ? z : -z, l.loc);
}

VECTOR double start (Law l, double p, double q) {
  double far = far_start(l, p, q), near = near_start(l, p, q);
  return clamp(l.r > 4 ? far : near, l.low, l.high);
}

/*
** One step towards the x with the probability p on its side, in the logarithm of the
** distance to that side's end: right at once where the tail is a power, and where it falls
** exponentially. An x at the end itself is moved off it as if the density were constant.
*/
static double closer (Law l, double x, double p, int from_low) {
  Split s = split(l, x);
  double end = from_low ? l.low : l.high, all = amount(s.lower) + amount(s.upper);
  if (x == end) return x + (from_low ? l.scale : -l.scale) * p / edge(l, end, all);
  Part part = from_low ? s.lower : s.upper;
  Depth at = depth_at(l, x);
  double density = decay((Depth) {at.hi - part.depth.hi, at.lo - part.depth.lo}) / part.mass;
  double error = vlog(part.mass / all / p) - part.depth.hi - part.depth.lo;
  double distance = (x - end) / l.scale;
  if (fabs(distance) > 1e10) return x - (from_low ? l.scale : -l.scale) * error / density;
  return fma(l.scale * distance, vexpm1(-error / (density * fabs(distance))), x);
}

static double polish (Law l, double x, double p, double q) {
  int from_low = p < q;
  for (int step = 0; step < 16; step++) {
    double next = clamp(closer(l, x, from_low ? p : q, from_low), l.low, l.high);
    double moved = fabs(next - x);
    x = next;
    if (!(moved > 2e-16 * fabs(x))) break;
  }
  return x;
}

static double quantile (Law l, double p, double q) {
  if (!((p >= 0) & (q >= 0))) return (double) NAN;
  if (p == 0 || q == 0) return p == 0 ? l.low : l.high;
  return polish(l, start(l, p, q), p, q);
}

static void icdf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = quantile(law_at(in + 1, i), in[0][i], 1 - in[0][i]);
}

static void isf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = quantile(law_at(in + 1, i), 1 - in[0][i], in[0][i]);
}

/* dx/dp = scale/g, dx/d low = q p(a)/g, dx/d high = p p(b)/g; g relative to the mode */
static void quantile_slopes (size_t i, Law l, double p, double q, double sign, double *const d[]) {
  double x = quantile(l, p, q), mass = part(l, l.low, l.high).mass;
  double density = decay(depth_at(l, x)) / mass;
  double by_low = q * edge(l, l.low, mass) / density, by_high = p * edge(l, l.high, mass) / density;
  d[0][i] = sign * l.scale / density;
  d[1][i] = 1 - by_low - by_high;
  d[2][i] = fma(-finite_z(l, l.low), by_low, fma(-finite_z(l, l.high), by_high, finite_z(l, x)));
  d[3][i] = by_low;
  d[4][i] = by_high;
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++)
    quantile_slopes(i, law_at(in + 1, i), in[0][i], 1 - in[0][i], 1, d);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++)
    quantile_slopes(i, law_at(in + 1, i), 1 - in[0][i], in[0][i], -1, d);
}

/* Is the start as fine as the noise? */
VECTOR int is_plain (Law l) {
  return (l.r < 4) & (l.high - l.low > 0.01 * l.scale);
}

static void rsample (size_t n, const double *const in[], double *out) {
  const double *u = in[0], *loc = in[1], *scale = in[2], *low = in[3], *high = in[4];
  uint64_t odd = 0;
  for (size_t i = 0; i < n; i++) {
    Law l = law_of(loc[i], scale[i], low[i], high[i]);
    out[i] = clamp(near_start(l, u[i], 1 - u[i]), low[i], high[i]);
    odd |= !is_plain(l);
  }
  for (size_t i = 0; odd && i < n; i++) {
    Law l = law_at(in + 1, i);
    if (!is_plain(l)) out[i] = quantile(l, u[i], 1 - u[i]);
  }
}

/* }====================================================== */


/* {=====================================================
** Moments, by quadrature on both sides of the mode: sums of positive terms
** ====================================================== */

/* mass; mean of y, the distance from the mode in scales; variance of x; mean of (z^2 - r^2)/2 */
typedef struct Moments { double mass, mean, variance, depth; } Moments;

/* nodes, and densities there times the weight of the side */
typedef struct Side { double y[LEGENDRE], f[LEGENDRE]; } Side;

/* how far a side counts */
static double side_width (double c, double length) {
  double reach = c < 1e8 ? 2 * LEGENDRE_DEPTH / (c + vsqrt(fma(c, c, 2 * LEGENDRE_DEPTH)))
                         : LEGENDRE_DEPTH / c;
  return length < reach ? length : reach;
}

static void fill_side (Side *side, double c, double width, double weight) {
  for (int i = 0; i < LEGENDRE; i++) {
    double y = width * legendre_node[i];
    side->y[i] = y;
    side->f[i] = weight * vexp(-y * fma(0.5, y, c));
  }
}

/* the integral of (unit (y - at))^power f over a side */
static double side_moment (const Side *side, double at, int power, double unit) {
  double g[LEGENDRE];
  for (int i = 0; i < LEGENDRE; i++) {
    double y = unit * (side->y[i] - at);
    g[i] = side->f[i] * (power == 0 ? 1.0 : (power == 1 ? y : y * y));
  }
  return legendre_sum(g);
}

static Moments moments (Law l) {
  Side up, down;
  Moments m;
  double above = side_width(l.r, (l.high - l.mode) / l.scale);
  double below = side_width(l.r, (l.mode - l.low) / l.scale), wide = above > below ? above : below;
  fill_side(&up, l.r, above, above / wide);
  fill_side(&down, l.r, below, below / wide);
  double all = side_moment(&up, 0, 0, 1) + side_moment(&down, 0, 0, 1);
  double first_up = side_moment(&up, 0, 1, 1), first_down = side_moment(&down, 0, 1, 1);
  double second = side_moment(&up, 0, 2, 1) + side_moment(&down, 0, 2, 1);
  m.mass = wide * all;
  m.mean = (first_up - first_down) / all;
  m.variance = side_moment(&up, m.mean, 2, l.scale) + side_moment(&down, -m.mean, 2, l.scale);
  m.variance /= all;
  m.depth = fma(l.r, first_up + first_down, 0.5 * second) / all;
  return m;
}

static void mean (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) {
    Law l = law_at(in, i);
    out[i] = fma(l.scale, moments(l).mean, l.mode);
  }
}

static void variance (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = moments(law_at(in, i)).variance;
}

static void entropy (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) {
    Law l = law_at(in, i);
    Moments m = moments(l);
    out[i] = m.depth + vlog(m.mass * l.scale);
  }
}

/* partials of base + factor v(a, b), where base moves by `shift` with loc, by `own` with scale */
static void spread_moment (size_t i, Law l, double factor, double in_a, double in_b, double shift,
                           double own, double *const d[]) {
  double by_scale = fma(finite_z(l, l.low), in_a, finite_z(l, l.high) * in_b);
  d[0][i] = shift - factor * (in_a + in_b);
  d[1][i] = fma(-factor, by_scale, own);
  d[2][i] = factor * in_a;
  d[3][i] = factor * in_b;
}

/* the mean's distance to an end that is not at infinity */
static double finite_gap (double gap) { return gap < HUGE_VAL ? gap : 0.0; }

static void mean_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    Law l = law_at(in, i);
    Moments m = moments(l);
    double up = finite_gap((l.high - l.mode) / l.scale - m.mean);
    double down = finite_gap((l.mode - l.low) / l.scale + m.mean);
    double z = (l.mode - l.loc) / l.scale + m.mean;
    spread_moment(i, l, 1, edge(l, l.low, m.mass) * down, edge(l, l.high, m.mass) * up, 1, z, d);
  }
}

static void variance_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    Law l = law_at(in, i);
    Moments m = moments(l);
    double up = finite_gap((l.high - l.mode) / l.scale - m.mean);
    double down = finite_gap((l.mode - l.low) / l.scale + m.mean);
    double v = m.variance / l.scale / l.scale;
    spread_moment(i, l, l.scale, edge(l, l.low, m.mass) * (v - down * down),
                  edge(l, l.high, m.mass) * (up * up - v), 0, 2 * l.scale * v, d);
  }
}

/* p (log p + entropy - 1) at an end, for a scale of 1 */
static double entropy_slope (double p, double entropy) {
  return p > 0 ? p * (vlog(p) + entropy - 1) : 0.0;
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    Law l = law_at(in, i);
    Moments m = moments(l);
    double h = m.depth + vlog(m.mass);
    double in_a = entropy_slope(edge(l, l.low, m.mass), h);
    double in_b = -entropy_slope(edge(l, l.high, m.mass), h);
    spread_moment(i, l, 1 / l.scale, in_a, in_b, 0, 1 / l.scale, d);
  }
}

/* }====================================================== */


const Kernel perilune_truncatednormal[] = {
  {.name = "log_prob", .n_in = 5, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 5, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 5, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 5, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 5, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 5, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 5, .value = isf,      .partials = isf_partials},
  {.name = "mean",     .n_in = 4, .value = mean,     .partials = mean_partials},
  {.name = "variance", .n_in = 4, .value = variance, .partials = variance_partials},
  {.name = "entropy",  .n_in = 4, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample",  .n_in = 5, .value = rsample,  .partials = icdf_partials,
   .noise = "uniform"},
  {.name = NULL}
};
