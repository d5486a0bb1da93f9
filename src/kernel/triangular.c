/*
** triangular.c - Triangular(low, high, peak), two straight sides
**
**   p(x) = 2/width (x - low)/(peak - low)     low <= x <= peak
**   p(x) = 2/width (high - x)/(high - peak)   peak <= x <= high,  width = high - low
**
** Either tail is a square on its own side of the peak and a sum of positive
** parts on the other. Seen from the other end the law is the same, so upper
** tails are lower ones with low and high exchanged, distances and all.
*/
#include "kernel/kernel.h"
#include "special/vmath.h"


/* Left of the peak? At the peak itself, only if there is no right side. */
VECTOR int rises (double x, double high, double peak) {
  return (x < peak) | ((x == peak) & (peak == high));
}

VECTOR int inside (double x, double low, double high) {
  return (x > low) & (x < high);
}


static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *low = in[1], *high = in[2], *peak = in[3];
  for (size_t i = 0; i < n; i++) {
    int left = rises(x[i], high[i], peak[i]);
    double part = left ? x[i] - low[i] : high[i] - x[i];
    double whole = left ? peak[i] - low[i] : high[i] - peak[i];
    double level = (LN2 - vlog(high[i] - low[i])) + vlog_ratio(part, whole);
    level = x[i] < low[i] ? -HUGE_VAL : level;
    out[i] = x[i] > high[i] ? -HUGE_VAL : level;
  }
}

/* Log of (x - low)/(width side) with side = peak - low, or the same seen from high. */
static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *low = in[1], *high = in[2], *peak = in[3];
  double *dx = d[0], *dlow = d[1], *dhigh = d[2], *dpeak = d[3];
  for (size_t i = 0; i < n; i++) {
    int left = rises(x[i], high[i], peak[i]), on = inside(x[i], low[i], high[i]);
    double end = left ? low[i] : high[i], part = x[i] - end, side = peak[i] - end;
    double own = (x[i] - peak[i]) / (part * side), fade = 1 / (high[i] - low[i]);
    double at_low = (left ? own : 0.0) + fade, at_high = (left ? 0.0 : own) - fade;
    dx[i] = on ? 1 / part : 0.0;
    dlow[i] = on ? at_low : 0.0;
    dhigh[i] = on ? at_high : 0.0;
    dpeak[i] = on ? -1 / side : 0.0;
  }
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

VECTOR double below (double x, double low, double high, double peak) {
  return mass(x - low, x - peak, peak - low, high - x);
}

VECTOR double above (double x, double low, double high, double peak) {
  return mass(high - x, peak - x, high - peak, x - low);
}

/* log of the near part, which may be too small for a double, given the other */
VECTOR double log_mass (double gone, double past, double side, double rest, double other) {
  double near = vlog_ratio(gone, gone + rest) + vlog_ratio(gone, side);
  double m = mass(gone, past, side, rest);
  double tail = past > 0 ? vlog(m) : near;
  tail = m < 0.5 ? tail : vlog1p(-other);
  return gone <= 0 ? -HUGE_VAL : tail;
}

static void cdf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = below(in[0][i], in[1][i], in[2][i], in[3][i]);
}

static void sf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = above(in[0][i], in[1][i], in[2][i], in[3][i]);
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *low = in[1], *high = in[2], *peak = in[3];
  for (size_t i = 0; i < n; i++)
    out[i] = log_mass(x[i] - low[i], x[i] - peak[i], peak[i] - low[i], high[i] - x[i],
                      above(x[i], low[i], high[i], peak[i]));
}

static void log_sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *low = in[1], *high = in[2], *peak = in[3];
  for (size_t i = 0; i < n; i++)
    out[i] = log_mass(high[i] - x[i], peak[i] - x[i], high[i] - peak[i], x[i] - low[i],
                      below(x[i], low[i], high[i], peak[i]));
}

/* by times s, 0 where by is: s overflows beside an end */
VECTOR double slope_product (double by, double s) {
  double product = by * s;
  return by == 0 ? 0.0 : product;
}

/* T = (x - end)^2/(width side) is the tail on x's own side of the peak: a function of x has
   `left` or `right` times the slopes of log T. */
VECTOR void slopes (size_t i, const double *const in[], double left, double right,
                    double *const d[]) {
  double x = in[0][i], low = in[1][i], high = in[2][i], peak = in[3][i];
  int rising = rises(x, high, peak), on = inside(x, low, high);
  double by = rising ? left : right, end = rising ? low : high;
  double reach = 2 / (x - end), side = fabs(peak - end), fade = 1 / (high - low);
  double own = rising ? 1 / side : -1 / side;
  double at_low = (rising ? own - reach : 0.0) + fade;
  double at_high = (rising ? 0.0 : own - reach) - fade;
  d[0][i] = on ? slope_product(by, reach) : 0.0;
  d[1][i] = on ? slope_product(by, at_low) : 0.0;
  d[2][i] = on ? slope_product(by, at_high) : 0.0;
  d[3][i] = on ? -by * own : 0.0;
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++)
    slopes(i, in, below(in[0][i], in[1][i], in[2][i], in[3][i]),
           -above(in[0][i], in[1][i], in[2][i], in[3][i]), d);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++)
    slopes(i, in, -below(in[0][i], in[1][i], in[2][i], in[3][i]),
           above(in[0][i], in[1][i], in[2][i], in[3][i]), d);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double f = below(in[0][i], in[1][i], in[2][i], in[3][i]);
    slopes(i, in, 1, -above(in[0][i], in[1][i], in[2][i], in[3][i]) / f, d);
  }
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double s = above(in[0][i], in[1][i], in[2][i], in[3][i]);
    slopes(i, in, -below(in[0][i], in[1][i], in[2][i], in[3][i]) / s, 1, d);
  }
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

static void icdf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = point(in[0][i], in[1][i], in[2][i], in[3][i]);
}

static void isf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = point(in[0][i], in[2][i], in[1][i], in[3][i]);
}

/* Slopes of end + sqrt(p width side) with end = low, or of high - sqrt(q width side); the
   distance is part. sign is dp/d(operand). */
VECTOR void point_slopes (size_t i, double p, double q, const double *const in[], double sign,
                          double *const d[]) {
  double low = in[1][i], high = in[2][i], peak = in[3][i], width = high - low;
  double m = (peak - low) / width, rest = (high - peak) / width;
  int left = p <= m;
  double share = left ? m : rest, tail = left ? p : q;
  double half = 0.5 * sqrt(tail) * sqrt(share) * width, by_width = half / width;
  double by_side = by_width / share;
  d[0][i] = sign * half / tail;
  d[1][i] = left ? 1 - by_width - by_side : by_width;
  d[2][i] = left ? by_width : 1 - by_width - by_side;
  d[3][i] = by_side;
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) point_slopes(i, in[0][i], 1 - in[0][i], in, 1, d);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) point_slopes(i, 1 - in[0][i], in[0][i], in, -1, d);
}


static void entropy (size_t n, const double *const in[], double *out) {
  const double *low = in[0], *high = in[1];
  for (size_t i = 0; i < n; i++) out[i] = vlog(0.5 * (high[i] - low[i])) + 0.5;
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *low = in[0], *high = in[1];
  for (size_t i = 0; i < n; i++) {
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
  {.name = "rsample",  .n_in = 4, .value = icdf,     .partials = icdf_partials,
   .noise = "uniform"},
  {.name = NULL}
};
