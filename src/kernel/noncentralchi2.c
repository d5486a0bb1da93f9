/*
** noncentralchi2.c - NoncentralChi2(df, noncentrality), a sum of squares of Normals that are not
** all about 0
**
**   p(x) = g(y)/2,  y = x/2,  Marcum's law with m = df/2 and a = noncentrality/2
**
** (src/special/marcum.h). A draw is Chi2(df + 2 K) with K from Poisson(a).
*/
#include "kernel/implicit.h"
#include "kernel/poisson.h"
#include "kernel/quantile_search.h"
#include "random/gammas.h"
#include "special/constants.h"
#include "special/legendre.h"
#include "special/marcum.h"

/* half of x; of the least double, not 0 */
static double half_of (double x) { return x > 0 ? fmax(0.5 * x, 0x1p-1074) : 0.5 * x; }

/* at {x, df, noncentrality} */
static double log_density (const double v[]) {
  if (v[0] < 0) return -HUGE_VAL;
  return marcum_log_density(half_of(v[1]), 0.5 * v[2], half_of(v[0])) - LN2;
}

static void log_density_slopes (const double v[], double d[]) {
  double m = half_of(v[1]), a = 0.5 * v[2], y = half_of(v[0]);
  if (v[0] < 0) {
    d[0] = d[1] = d[2] = 0;
    return;
  }
  MarcumSlopes s = marcum_log_density_slopes(m, a, y);
  d[0] = 0.5 * s.by_y;
  d[1] = 0.5 * marcum_log_density_by_m(m, a, y);
  d[2] = 0.5 * s.by_a;
}

static double log_tail (const double v[], int upper) {
  if (v[0] < 0) return upper ? 0 : -HUGE_VAL;
  return marcum_log_tail(half_of(v[1]), 0.5 * v[2], half_of(v[0]), upper);
}

static double tail (const double v[], int upper) {
  int is_upper = v[0] >= v[1] + v[2];
  double small = vexp(log_tail(v, is_upper));
  return upper == is_upper ? small : 1 - small;
}

static void slopes (const double *at, double *dx) {
  dx[0] = marcum_dy_dm(half_of(at[1]), 0.5 * at[2], half_of(at[0]));
  dx[1] = at[0] > 0 && at[0] < HUGE_VAL ? marcum_dy_da(half_of(at[1]), 0.5 * at[2], half_of(at[0])) : 0;
}

static double log_density_slope (const double v[]) {
  return 0.5 * marcum_log_density_slopes(half_of(v[1]), 0.5 * v[2], half_of(v[0])).by_y;
}

static double quantile (const double *at, int upper) {
  SearchedLaw law = {3, log_tail, log_density, 0, HUGE_VAL, log_density_slope};
  return search_quantile(law, at, upper, 2 * marcum_near(half_of(at[1]), 0.5 * at[2], at[0], upper));
}

enum { OPERANDS = 3 };

static const Implicit family = {
  .log_density = log_density, .log_density_slopes = log_density_slopes, .slopes = slopes,
  .tail = tail, .log_tail = log_tail, .quantile = quantile
};

#include "kernel/implicit_kernels.h"
#include "kernel/density_kernels.h"


/* {=====================================================
** Mode and entropy
** ====================================================== */

/* 0 where the density has a pole there, or falls throughout; else between 0 and the mean */
static double mode_of (double m, double a) {
  if (m < 1 || (m == 1 && a <= 1)) return 0;
  if (m + a > 1e100) return m + a;
  double low = 0, high = m + a;
  for (int step = 0; step < 1100; step++) {
    double y = low > 0 ? 0.5 * (low + high) : 0.5 * high;
    if (!(y > low && y < high)) break;
    if (marcum_log_density_slopes(m, a, y).by_y > 0) low = y;
    else high = y;
  }
  return 0.5 * (low + high);
}

static void mode (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = 2 * mode_of(half_of(in[0][i]), 0.5 * in[1][i]);
}

/* at the mode m - 1 + a R = y, R = g_(m+1)/g_m */
static void mode_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double m = half_of(in[0][i]), a = 0.5 * in[1][i], y = mode_of(m, a);
    d[0][i] = d[1][i] = y > 0;
    if (y == 0 || m + a > 1e100) continue;
    MarcumRatio r = marcum_ratio(m, a, y);
    d[0][i] = fma(a, r.by_m, 1) / (1 - a * r.by_y);
    d[1][i] = y * r.by_y / (1 - a * r.by_y);   /* R + a dR/da = y dR/dy */
  }
}

/* what is integrated against g: log g, or its product with the slope of log g in m or in a */
typedef enum Part { LOG_DENSITY, BY_M, BY_A } Part;

static double part_of (Part part, double m, double a, double y) {
  double l = marcum_log_density(m, a, y);
  if (part == BY_M) return l * marcum_log_density_by_m(m, a, y);
  return part == BY_A ? l * marcum_log_density_slopes(m, a, y).by_a : l;
}

/*
** -int g part from 0 to e^t, where of g only e^(-a) y^(m-1)/Gamma(m) is left: there log y is
** t - E/m with E from Exponential(1), and log Gamma(m) = log Gamma(1 + m) - log m.
*/
static double entropy_of_power (Part part, double m, double a, double t) {
  double mass = vexp(fma(m, t, -a) - vlgamma_pos(1 + m)), mean = t - 1 / m;
  double l = fma(m - 1, mean, vlog(m) - vlgamma_pos(1 + m)) - a;
  if (part == BY_M) return -mass * fma(l, t - vdigamma_pos(1 + m), (m - 1) / m / m);
  return part == BY_A ? mass * l : -mass * l;
}

/* -int g part over y = e^t, t up to log(top), in panels over which log g is smooth */
static double entropy_near_zero (Part part, double m, double a, double top) {
  double f[LEGENDRE], end = vlog(top);
  double first = fmax(vlog(1e-18 * fmin(1, m / a)), -690);   /* what differs below is nothing */
  double depth = fmin(LEGENDRE_DEPTH / m, end - first), sum = 0;
  if (depth == end - first) sum = entropy_of_power(part, m, a, first);
  for (double near = 0, far = 3; near < depth; near = far, far += 12) {
    double width = fmin(far, depth) - near;
    for (int i = 0; i < LEGENDRE; i++) {
      double y = vexp(end - near - width * legendre_node[i]);
      double g = vexp(marcum_log_density(m, a, y) + vlog(y));
      f[i] = g > 0 ? -width * part_of(part, m, a, y) * g : 0;
    }
    sum += legendre_sum(f);
  }
  return sum;
}

/* the entropy of g, or its slope: that of its density integrates to 0 */
static double entropy_of (Part part, double m, double a) {
  enum { PANELS = 12 };
  if (!(m > 0 && a >= 0)) return (double)NAN;
  if (m + a > 1e12) {
    if (part == LOG_DENSITY) return 0.5 + HALF_LOG_2PI + 0.5 * vlog(m + 2 * a);
    return (part == BY_M ? 0.5 : 1) / (m + 2 * a);
  }
  double from = fmax(0, sqrt(fmax(m + a - 0.5, 0)) - 9.6), to = sqrt(m + a) + 10.6, sum = 0;
  if (from == 0) {
    from = 0.4;
    sum = entropy_near_zero(part, m, a, from * from);
  }
  double width = (to - from) / PANELS, f[LEGENDRE];
  for (int j = PANELS - 1; j >= 0; j--) {
    for (int i = 0; i < LEGENDRE; i++) {
      double s = from + width * (j + legendre_node[i]), g = vexp(marcum_log_density(m, a, s * s));
      f[i] = g > 0 ? -2 * s * width * part_of(part, m, a, s * s) * g : 0;
    }
    sum += legendre_sum(f);
  }
  return sum;
}

static void entropy (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++)
    out[i] = LN2 + entropy_of(LOG_DENSITY, half_of(in[0][i]), 0.5 * in[1][i]);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    d[0][i] = 0.5 * entropy_of(BY_M, half_of(in[0][i]), 0.5 * in[1][i]);
    d[1][i] = 0.5 * entropy_of(BY_A, half_of(in[0][i]), 0.5 * in[1][i]);
  }
}

/* }====================================================== */


static void draw (const Philox *g, uint64_t first, size_t n, const double *const in[],
                  double *out) {
  const double *df = in[0], *noncentrality = in[1];
  double rate[KERNEL_DRAW_MAX] = {0}, shape[KERNEL_DRAW_MAX], size[KERNEL_DRAW_MAX];
  for (size_t i = 0; i < n; i++) rate[i] = 0.5 * noncentrality[i];
  poisson_draw(g, first, n, rate, out);
  for (size_t i = 0; i < n; i++) shape[i] = fma(0.5, df[i], out[i]);
  gammas(g, 1024, first, n, shape, size, rate);
  for (size_t i = 0; i < n; i++) out[i] = 2 * size[i] * vexp(-rate[i]);
}


const Kernel perilune_noncentralchi2[] = {
  {.name = "log_prob", .n_in = 3, .slow = 1, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .slow = 1, .value = cdf,     .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .slow = 1, .value = sf,      .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .slow = 1, .value = log_cdf, .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .slow = 1, .value = log_sf,  .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .slow = 1, .value = icdf,    .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .slow = 1, .value = isf,     .partials = isf_partials},
  {.name = "mode",     .n_in = 2, .slow = 1, .value = mode, .partials = mode_partials},
  {.name = "entropy",  .n_in = 2, .slow = 1, .value = entropy, .partials = entropy_partials},
  {.name = "rsample", .n_in = 3, .slow = 1, .partials = draw_partials,
   .sampler = &(const Sampler) {.draw = draw}},
  {.name = NULL}
};
