/*
** truncatednormal.c - TruncatedNormal(loc, scale, low, high), a Normal cut to [low, high]
**
**   p(x) = e^(-z^2/2) / (scale M),   M = int_a^b e^(-t^2/2) dt,   z = (x - loc)/scale
**
** a and b being the ends as z. Masses, in truncatednormal.h, are sums of positive terms, so
** either tail is right however far out the cut is.
*/
#include "kernel/kernel.h"
#include "kernel/subnormal.h"
#include "kernel/truncatednormal.h"
#include "special/constants.h"

enum { BLOCK = 128 };   /* quantiles at a time */


/* {=====================================================
** Density and tails
** ====================================================== */

static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2], *low = in[3], *high = in[4];
  EVERY for (size_t i = 0; i < n; i++) {
    TruncatedLaw l = law_of(loc[i], scale[i], low[i], high[i]);
    Depth depth = depth_at(l, x[i]);
    double log_mass = vlog_ratio(part(l, low[i], high[i]).mass, 1 / scale[i]);
    double inside = -depth.hi - (depth.lo + log_mass);
    double off = x[i] == x[i] ? -HUGE_VAL : x[i];
    out[i] = ((x[i] >= low[i]) & (x[i] <= high[i])) ? inside : off;
  }
}

/* partials from those in z, a and b; `own` is what the scale does by itself */
VECTOR void spread (size_t i, TruncatedLaw l, double x, double in_z, double in_a, double in_b,
                    double own, double *const d[]) {
  double by_scale = fma(finite_z(l, l.low), in_a, finite_z(l, l.high) * in_b);
  d[0][i] = in_z / l.scale;
  d[1][i] = -(in_z + in_a + in_b) / l.scale;
  d[2][i] = (own - fma(finite_z(l, x), in_z, by_scale)) / l.scale;
  d[3][i] = in_a / l.scale;
  d[4][i] = in_b / l.scale;
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    TruncatedLaw l = law_at(in + 1, i);
    double x = in[0][i], mass = part(l, l.low, l.high).mass;
    double inside = ((x >= l.low) & (x <= l.high)) ? 1.0 : 0.0;
    spread(i, l, x, -inside * finite_z(l, x), inside * edge(l, l.low, mass),
           -inside * edge(l, l.high, mass), -inside, d);
  }
}


/* the part of the mass below x, or above it */
ONE_COPY void tail (size_t n, const double *const in[], double *out, int is_upper) {
  for (size_t i = 0; i < n; i++, singly()) {
    double x = in[0][i];
    TruncatedLaw l = law_at(in + 1, i);
    Split s = split(l, clamp(x, l.low, l.high));
    double lower = amount(s.lower), upper = amount(s.upper);
    out[i] = x == x ? (is_upper ? upper : lower) / (lower + upper) : x;
  }
}

static void cdf (size_t n, const double *const in[], double *out) { tail(n, in, out, 0); }
static void sf (size_t n, const double *const in[], double *out) { tail(n, in, out, 1); }

/* a mass times e^lift, which is as large as it must be for all digits: of next to no scales a part
   has the mass of its width */
typedef struct LiftedMass { double mass, lift; } LiftedMass;

VECTOR LiftedMass lifted_mass (TruncatedLaw l, double x, double mass) {
  int lost = (mass < 0x1p-1000) & (x > l.low);
  double lifted = (x - l.low) * 0x1p900 / l.scale;
  return (LiftedMass) {lost ? lifted : mass, lost ? 900 * LN2 : 0.0};
}

/* log of the part below x of the whole: by its depth if it is the smaller, else from the other */
ONE_COPY double log_lower (double x, double loc, double scale, double low, double high) {
  TruncatedLaw l = law_of(loc, scale, low, high);
  Split s = split(l, clamp(x, low, high));
  double mine = amount(s.lower), rest = amount(s.upper), all = mine + rest;
  LiftedMass own = lifted_mass(l, x, s.lower.mass);
  double small = -s.lower.depth.hi - s.lower.depth.lo + (vlog(own.mass / all) - own.lift);
  double share = mine < rest ? small : vlog1p(-rest / all);
  return x == x ? share : x;
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2], *low = in[3], *high = in[4];
  for (size_t i = 0; i < n; i++, singly()) out[i] = log_lower(x[i], loc[i], scale[i], low[i], high[i]);
}

/* the upper tail is the lower one of the mirror image */
static void log_sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *scale = in[2], *low = in[3], *high = in[4];
  for (size_t i = 0; i < n; i++, singly())
    out[i] = log_lower(-x[i], -loc[i], scale[i], -high[i], -low[i]);
}

/*
** The slopes of F = L/M in z, a, b are g, -(1 - F) p(a), -F p(b), g the density; those of
** 1 - F are the opposite. For a logarithm they are divided by the tail, of which the
** decay is left out above and below: L = mass e^-depth.
*/
ONE_COPY void tail_partials (size_t n, const double *const in[], double *const d[], double sign,
                             int logarithm) {
  for (size_t i = 0; i < n; i++, singly()) {
    TruncatedLaw l = law_at(in + 1, i);
    double x = in[0][i];
    Split s = split(l, clamp(x, l.low, l.high));
    double lower = amount(s.lower), upper = amount(s.upper), all = lower + upper;
    ScaledMass own = sign > 0 ? s.lower : s.upper;
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
VECTOR double far_start (TruncatedLaw l, double p, double q) {
  int rising = l.loc > l.high;
  double near = rising ? q : p, far = rising ? p : q, w = (l.high - l.low) / l.scale;
  double depth = w * fma(0.5, w, l.r);
  double small = -vlog1p(near * vexpm1(-depth)), large = -vlog(fma(near, vexp(-depth), far));
  double t = near < 0.5 ? small : large;
  double y = 2 * t / (l.r + vsqrt(fma(l.r, l.r, 2 * t)));
  return rising ? fma(-l.scale, y, l.high) : fma(l.scale, y, l.low);
}

/* Phi(z) = q Phi(a) + p Phi(b), from the smaller of it and 1 - Phi(z) */
VECTOR double near_start (TruncatedLaw l, double p, double q) {
  double a = (l.low - l.loc) / l.scale, b = (l.high - l.loc) / l.scale;
  double lower = fma(q, vndtr(a), p * vndtr(b)), upper = fma(q, vndtr(-a), p * vndtr(-b));
  double least = lower < upper ? lower : upper;
  double z = vndtri(least < SMALLEST_NUMBER ? SMALLEST_NUMBER : least);
  return fma(l.scale, lower < upper ? z : -z, l.loc);
}

VECTOR double start (TruncatedLaw l, double p, double q) {
  double far = far_start(l, p, q), near = near_start(l, p, q);
  return clamp(l.r > 4 ? far : near, l.low, l.high);
}

/*
** One step towards the x with the probability p on its side, in the logarithm of the
** distance to that side's end: right at once where the tail is a power, and where it falls
** exponentially. An x at the end itself, or closer to it than distances have digits, is moved
** off it as if the density were constant.
*/
VECTOR double closer (TruncatedLaw l, double x, double p, double q) {
  int from_low = p < q;
  Split s = split(l, x);
  double end = from_low ? l.low : l.high, all = amount(s.lower) + amount(s.upper);
  double own = from_low ? p : q, unit = from_low ? l.scale : -l.scale;
  double mass = from_low ? s.lower.mass : s.upper.mass;
  double hi = from_low ? s.lower.depth.hi : s.upper.depth.hi;
  double lo = from_low ? s.lower.depth.lo : s.upper.depth.lo;
  Depth at = depth_at(l, x);
  double density = decay((Depth) {at.hi - hi, at.lo - lo}) / mass;
  double error = vlog(mass / all / lifted(own)) + lift(own) - hi - lo;
  double distance = (x - end) / l.scale;
  double near = fma(l.scale * distance, vexpm1(-error / (density * fabs(distance))), x);
  double far = x - unit * error / density;
  double off = end + unit * own / edge(l, end, all);
  double inside = fabs(distance) > 1e10 ? far : near;
  return fabs(distance) < 0x1p-1000 ? off : inside;
}

/* operands from element `from` on */
static void operands_from (size_t from, const double *const in[], const double *at[5]) {
  for (int k = 0; k < 5; k++) at[k] = in[k] + from;
}

/*
** Towards quantiles. A step leaves about the square of what it moved, so an x rests that moved by
** less than 1e-9 of its distance to the end, and of the scale.
*/
static void polish (size_t n, const double *const in[], int upper, double *restrict x) {
  const double *given = in[0], *loc = in[1], *scale = in[2], *low = in[3], *high = in[4];
  double rest[BLOCK];
  uint64_t moving = 1;
  EVERY for (size_t i = 0; i < n; i++) rest[i] = 0;
  for (int step = 0; moving && step < 16; step++) {
    moving = 0;
    for (size_t i = 0; i < n; i++, singly()) {
      TruncatedLaw l = law_of(loc[i], scale[i], low[i], high[i]);
      double other = 1 - given[i], p = upper ? other : given[i], q = upper ? given[i] : other;
      double next = clamp(closer(l, x[i], p, q), low[i], high[i]);
      double distance = fabs(next - (p < q ? low[i] : high[i]));
      double small = 1e-9 * (distance < scale[i] ? distance : scale[i]);
      int moved = (rest[i] == 0) & (fabs(next - x[i]) > small);
      x[i] = rest[i] == 0 ? next : x[i];
      rest[i] = moved ? 0.0 : 1.0;
      moving |= moved;
    }
  }
}

/*
** A quantile closer to loc than to both ends: with h = p - 1/2,
**   erf(z/sqrt(2)) = p erf(b/sqrt(2)) + q erf(a/sqrt(2))
** is half the mass by which one side exceeds the other, and h times all of it. Else x as it is.
*/
VECTOR double central (TruncatedLaw l, double h, double x) {
  Ends e = ends_of(l);
  double excess = e.near < HUGE_VAL ? e.side * e.height * descent(e.near, e.gap) : 0.0;
  double all = verf(SQRT_HALF * e.near) + verf(SQRT_HALF * e.far);
  double g = fma(INV_SQRT_2PI, excess, h * all), z = SQRT2 * verfinv(clamp(g, -0.1, 0.1));
  int close = (l.r == 0) & (fabs(g) < 0.1) & (fabs(z) < 0.5 * e.near);
  return close ? fma(l.scale, z, l.loc) : x;
}

/* where the bell curve is flat, to the last digit: the quantile of a uniform law */
VECTOR double even (TruncatedLaw l, double p, double q, double x) {
  double farther = fmax(fabs(l.low - l.loc), fabs(l.high - l.loc)), width = l.high - l.low;
  double uniform = p < q ? fma(p, width, l.low) : fma(-q, width, l.high);
  return farther < 1e-9 * l.scale ? uniform : x;
}

/* at most BLOCK quantiles, in[0] being the probability below or, if `upper`, above */
static void quantile_block (size_t n, const double *const in[], int upper, double *restrict x) {
  const double *given = in[0], *loc = in[1], *scale = in[2], *low = in[3], *high = in[4];
  for (size_t i = 0; i < n; i++, singly()) {
    double other = 1 - given[i], p = upper ? other : given[i], q = upper ? given[i] : other;
    x[i] = start(law_of(loc[i], scale[i], low[i], high[i]), p, q);
  }
  polish(n, in, upper, x);
  for (size_t i = 0; i < n; i++, singly()) {
    double h = upper ? 0.5 - given[i] : given[i] - 0.5;
    double other = 1 - given[i], p = upper ? other : given[i], q = upper ? given[i] : other;
    TruncatedLaw l = law_of(loc[i], scale[i], low[i], high[i]);
    x[i] = even(l, p, q, central(l, h, x[i]));
  }
  EVERY for (size_t i = 0; i < n; i++) {
    double zero = upper ? high[i] : low[i], one = upper ? low[i] : high[i];
    double inside = given[i] == 0 ? zero : (given[i] == 1 ? one : x[i]);
    x[i] = ((given[i] >= 0) & (given[i] <= 1)) ? inside : (double) NAN;
  }
}

static void quantiles (size_t n, const double *const in[], int upper, double *x) {
  const double *at[5];
  for (size_t done = 0; done < n; done += BLOCK) {
    operands_from(done, in, at);
    quantile_block(n - done < BLOCK ? n - done : BLOCK, at, upper, x + done);
  }
}

static void icdf (size_t n, const double *const in[], double *out) { quantiles(n, in, 0, out); }
static void isf (size_t n, const double *const in[], double *out) { quantiles(n, in, 1, out); }

/* dx/dp = scale/g, dx/d low = q p(a)/g, dx/d high = p p(b)/g; g relative to the mode */
static void quantile_partials (size_t n, const double *const in[], int upper, double *const d[]) {
  quantiles(n, in, upper, d[0]);
  for (size_t i = 0; i < n; i++, singly()) {
    TruncatedLaw l = law_at(in + 1, i);
    double given = in[0][i], p = upper ? 1 - given : given, q = upper ? given : 1 - given;
    double x = d[0][i], mass = part(l, l.low, l.high).mass, density = decay(depth_at(l, x)) / mass;
    double by_low = q * edge(l, l.low, mass) / density;
    double by_high = p * edge(l, l.high, mass) / density;
    d[0][i] = (upper ? -l.scale : l.scale) / density;
    d[1][i] = 1 - by_low - by_high;
    d[2][i] = fma(-finite_z(l, l.low), by_low, fma(-finite_z(l, l.high), by_high, finite_z(l, x)));
    d[3][i] = by_low;
    d[4][i] = by_high;
  }
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  quantile_partials(n, in, 0, d);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  quantile_partials(n, in, 1, d);
}

/* Is near_start as fine as the noise? Its error is a few units of z's last digit. */
VECTOR int is_plain (TruncatedLaw l) {
  return (l.r < 30) & (l.high - l.low > 0.01 * l.scale);
}

static void mend (size_t n, const double *const in[], double *out) {
  double x[BLOCK];
  quantile_block(n, in, 0, x);
  EVERY for (size_t i = 0; i < n; i++) out[i] = is_plain(law_at(in + 1, i)) ? out[i] : x[i];
}

static void rsample (size_t n, const double *const in[], double *out) {
  const double *u = in[0], *loc = in[1], *scale = in[2], *low = in[3], *high = in[4], *at[5];
  uint64_t odd = 0;
  EVERY for (size_t i = 0; i < n; i++) {
    TruncatedLaw l = law_of(loc[i], scale[i], low[i], high[i]);
    out[i] = clamp(near_start(l, u[i], 1 - u[i]), low[i], high[i]);
    odd |= !is_plain(l);
  }
  for (size_t done = 0; odd && done < n; done += BLOCK) {
    operands_from(done, in, at);
    mend(n - done < BLOCK ? n - done : BLOCK, at, out + done);
  }
}

/* }====================================================== */


/* {=====================================================
** Moments
** ====================================================== */

/* (e^(-a^2/2) - e^(-b^2/2))/M, the mean's distance from loc in scales where loc is inside */
static double mean_inside (TruncatedLaw l) {
  Ends e = ends_of(l);
  double fall = -vexpm1(-e.gap * fma(0.5, e.gap, e.near));
  return e.near < HUGE_VAL ? e.side * e.height * fall / part(l, l.low, l.high).mass : 0;
}

static void mean (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) {
    TruncatedLaw l = law_at(in, i);
    out[i] = fma(l.scale, l.r == 0 ? mean_inside(l) : moments(l).mean, l.mode);
  }
}

static void variance (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = moments(law_at(in, i)).variance;
}

static void entropy (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) {
    TruncatedLaw l = law_at(in, i);
    TruncatedMoments m = moments(l);
    out[i] = m.depth + vlog(m.mass * l.scale);
  }
}

/* partials of base + factor v(a, b), where base moves by `shift` with loc, by `own` with scale */
static void spread_moment (size_t i, TruncatedLaw l, double factor, double in_a, double in_b,
                           double shift, double own, double *const d[]) {
  double by_scale = fma(finite_z(l, l.low), in_a, finite_z(l, l.high) * in_b);
  d[0][i] = shift - factor * (in_a + in_b);
  d[1][i] = fma(-factor, by_scale, own);
  d[2][i] = factor * in_a;
  d[3][i] = factor * in_b;
}

/* the mean's distance to an end that is not at infinity */
static double finite_gap (double gap) { return gap < HUGE_VAL ? gap : 0.0; }

static void mean_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    TruncatedLaw l = law_at(in, i);
    TruncatedMoments m = moments(l);
    double up = finite_gap((l.high - l.mode) / l.scale - m.mean);
    double down = finite_gap((l.mode - l.low) / l.scale + m.mean);
    double z = (l.mode - l.loc) / l.scale + m.mean;
    spread_moment(i, l, 1, edge(l, l.low, m.mass) * down, edge(l, l.high, m.mass) * up, 1, z, d);
  }
}

static void variance_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    TruncatedLaw l = law_at(in, i);
    TruncatedMoments m = moments(l);
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
  EVERY for (size_t i = 0; i < n; i++) {
    TruncatedLaw l = law_at(in, i);
    TruncatedMoments m = moments(l);
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
  {.name = "rsample", .n_in = 5, .value = rsample, .partials = icdf_partials,
   .sampler = &(const Sampler) {.noise = "uniform"}},
  {.name = NULL}
};
