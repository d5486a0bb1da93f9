/*
** triangular.c - Triangular(low, high, peak), two straight sides
**
**   p(x) = 2/width (x - low)/(peak - low)     low <= x <= peak
**   p(x) = 2/width (high - x)/(high - peak)   peak <= x <= high,  width = high - low
**
** Either tail is a square on its own side of the peak and a sum of positive parts on the other.
** Upper tails are lower ones with low and high exchanged, and distances counted from high.
*/
#include "kernel/sided.h"
#include "special/vmath.h"


/* Left of the peak? At the peak itself, only if there is no right side. */
VECTOR int rises (double x, double high, double peak) {
  return (x < peak) | ((x == peak) & (peak == high));
}

VECTOR int inside (double x, double low, double high) {
  return (x > low) & (x < high);
}


VECTOR double log_density (const double v[]) {
  double x = v[0], low = v[1], high = v[2], peak = v[3];
  int left = rises(x, high, peak);
  double part = left ? x - low : high - x, whole = left ? peak - low : high - peak;
  double level = (LN2 - vlog(high - low)) + vlog_ratio(part, whole);
  level = x < low ? -HUGE_VAL : level;
  return x > high ? -HUGE_VAL : level;
}

/* Log of (x - low)/(width side) with side = peak - low, or the same seen from high. */
VECTOR void log_density_slopes (const double v[], double d[]) {
  double x = v[0], low = v[1], high = v[2], peak = v[3];
  int left = rises(x, high, peak), on = inside(x, low, high);
  double end = left ? low : high, part = x - end, side = peak - end;
  double own = (x - peak) / (part * side), fade = 1 / (high - low);
  double at_low = (left ? own : 0.0) + fade, at_high = (left ? 0.0 : own) - fade;
  d[0] = on ? 1 / part : 0.0;
  d[1] = on ? at_low : 0.0;
  d[2] = on ? at_high : 0.0;
  d[3] = on ? -1 / side : 0.0;
}


/* The part of the law on the near side of x, all distances as seen from the near end:
   gone = x - low, past = x - peak, side = peak - low, rest = high - x. */
VECTOR double mass (double gone, double past, double side, double rest) {
  double width = gone + rest, far = past + rest;
  double square = (gone / width) * (gone / side);
  double sum = side / width + past / width * (2 - past / far);
  double m = past > 0 ? sum : square;
  m = m > 1 ? 1.0 : m;
  m = gone <= 0 ? 0.0 : m;
  return rest <= 0 ? 1.0 : m;
}

VECTOR double tail (const double v[], int upper) {
  double x = v[0], low = v[1], high = v[2], peak = v[3];
  return upper ? mass(high - x, peak - x, high - peak, x - low)
               : mass(x - low, x - peak, peak - low, high - x);
}

/* log of the near part, which may be too small for a double, given the other */
VECTOR double log_mass (double gone, double past, double side, double rest, double other) {
  double near = vlog_ratio(gone, gone + rest) + vlog_ratio(gone, side);
  double m = mass(gone, past, side, rest);
  double tail = past > 0 ? vlog(m) : near;
  tail = m < 0.5 ? tail : vlog1p(-other);
  return gone <= 0 ? -HUGE_VAL : tail;
}

VECTOR double log_tail (const double v[], int upper) {
  double x = v[0], low = v[1], high = v[2], peak = v[3], other = tail(v, !upper);
  return upper ? log_mass(high - x, peak - x, high - peak, x - low, other)
               : log_mass(x - low, x - peak, peak - low, high - x, other);
}

/* the same beyond a peak that is next to the end: (side + 2 past)/width */
SELDOM double log_tiny_mass (double gone, double past, double side, double rest) {
  double near = vlog_ratio(gone, gone + rest) + vlog_ratio(gone, side);
  double level = past > 0 ? vlog_ratio(fma(2.0, past, side), gone + rest) : near;
  return gone <= 0 ? -HUGE_VAL : level;
}

VECTOR double log_tiny_tail (const double v[], int upper) {
  double x = v[0], low = v[1], high = v[2], peak = v[3];
  return upper ? log_tiny_mass(high - x, peak - x, high - peak, x - low)
               : log_tiny_mass(x - low, x - peak, peak - low, high - x);
}

VECTOR int has_tiny_tail (int upper) { return (void)upper, 1; }

/* by times s, 0 where by is: s overflows beside an end */
VECTOR double slope_product (double by, double s) {
  double product = by * s;
  return by == 0 ? 0.0 : product;
}

/* T = (x - end)^2/(width side) is the tail on x's own side of the peak: a function of x has
   `left` or `right` times the slopes of log T. */
VECTOR void slopes (const double v[], double left, double right, double d[]) {
  double x = v[0], low = v[1], high = v[2], peak = v[3];
  int rising = rises(x, high, peak), on = inside(x, low, high);
  double by = rising ? left : right, end = rising ? low : high;
  double reach = 2 / (x - end), side = fabs(peak - end), fade = 1 / (high - low);
  double own = rising ? 1 / side : -1 / side;
  double at_low = (rising ? own - reach : 0.0) + fade;
  double at_high = (rising ? 0.0 : own - reach) - fade;
  d[0] = on ? slope_product(by, reach) : 0.0;
  d[1] = on ? slope_product(by, at_low) : 0.0;
  d[2] = on ? slope_product(by, at_high) : 0.0;
  d[3] = on ? -by * own : 0.0;
}

VECTOR void tail_slopes (const double v[], int upper, double d[]) {
  double own = tail(v, upper), other = tail(v, !upper);
  slopes(v, upper ? -other : own, upper ? own : -other, d);
}

VECTOR void log_tail_slopes (const double v[], int upper, double d[]) {
  double own = tail(v, upper), other = tail(v, !upper);
  slopes(v, upper ? -other / own : 1, upper ? 1 : -other / own, d);
  double x = v[0], low = v[1], high = v[2], peak = v[3], fade = 1 / (high - low);
  double least = inside(x, low, high) ? own : 1.0;
  least = (upper ? x < peak : x > peak) ? least : 1.0;
  double to = 1 / (2 * (x - peak) + (peak - v[upper ? 2 : 1]));   /* of log_tiny_mass */
  d[0] = least < FEW_DIGITS ? 2 * to : d[0];
  d[1] = least < FEW_DIGITS ? fade - (upper ? 0.0 : to) : d[1];
  d[2] = least < FEW_DIGITS ? -fade - (upper ? to : 0.0) : d[2];
  d[3] = least < FEW_DIGITS ? -to : d[3];
}


/*
** The point with the part p on low's side. With m the part up to the peak, measured from
** low for p <= m, from high for p >= 1/2, and from the peak in between, where with
** r = (p - m)/(1 - m) it lies the part 1 - sqrt(1 - r) of the far side away.
*/
VECTOR double point (double p, double low, double high, double peak) {
  double width = high - low, m = (peak - low) / width, rest = (high - peak) / width;
  double r = (p - m) / rest, root = sqrt(1 - r);
  double from_low = fma(sqrt(p) * sqrt(m), width, low);
  double from_high = fma(-sqrt(1 - p) * sqrt(rest), width, high);
  double from_peak = fma(r / (1 + root), high - peak, peak);
  double x = p < 0.5 ? from_peak : from_high;
  x = p <= m ? from_low : x;
  x = p == 0 ? low : x;
  x = p == 1 ? high : x;
  return ((p >= 0) & (p <= 1)) ? x : (double)NAN;
}

VECTOR double quantile (const double v[], int upper) {
  return point(v[0], v[upper ? 2 : 1], v[upper ? 1 : 2], v[3]);
}

/* Slopes of end + sqrt(p width side) with end = low, or of high - sqrt(q width side); the
   distance is part. */
VECTOR void quantile_slopes (const double v[], int upper, double d[]) {
  double p = upper ? 1 - v[0] : v[0], q = upper ? v[0] : 1 - v[0];
  double low = v[1], high = v[2], peak = v[3], width = high - low;
  double m = (peak - low) / width, rest = (high - peak) / width;
  int left = p <= m;
  double share = left ? m : rest, side = left ? p : q;
  double half = 0.5 * sqrt(side) * sqrt(share) * width, by_width = half / width;
  double by_side = by_width / share;
  d[0] = (upper ? -half : half) / side;
  d[1] = left ? 1 - by_width - by_side : by_width;
  d[2] = left ? by_width : 1 - by_width - by_side;
  d[3] = by_side;
}

static const SidedLaw law = {
  .operands    = 4,
  .log_density = log_density, .log_density_slopes = log_density_slopes,
  .tail        = tail,        .tail_slopes        = tail_slopes,
  .log_tail    = log_tail,    .log_tail_slopes    = log_tail_slopes,
  .quantile    = quantile,    .quantile_slopes    = quantile_slopes,
  .log_tiny_tail = log_tiny_tail, .has_tiny_tail  = has_tiny_tail
};

#include "kernel/density_kernels.h"
#include "kernel/sided_kernels.h"


static void entropy (size_t n, const double *const in[], double *out) {
  const double *low = in[0], *high = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = vlog(0.5 * (high[i] - low[i])) + 0.5;
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *low = in[0], *high = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double slope = 1 / (high[i] - low[i]);
    d[0][i] = -slope;
    d[1][i] = slope;
    d[2][i] = 0;
  }
}


const Kernel perilune_triangular[] = {
  {.name = "log_prob", .n_in = 4, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 4, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 4, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 4, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 4, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 4, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 4, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 3, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 4, .value = icdf, .partials = icdf_partials,
   .sampler = &(const Sampler) {.noise = "uniform"}},
  {.name = NULL}
};
