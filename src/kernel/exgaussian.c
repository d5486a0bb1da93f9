/*
** exgaussian.c - ExGaussian(loc, scale, rate), a Normal and an Exponential variable added
**
** With z = (x - loc)/scale, k = rate scale, a = z - k and Mills' ratio M(t) = Phi(-t)/phi(t),
**
**   p(x)     = rate q,            q = e^(k^2/2 - k z) Phi(a) = phi(z) M(-a)
**   1 - F(x) = Phi(-z) + q,       F(x) = Phi(z) - q = phi(z) (M(-z) - M(k - z))
**
** The last difference is int_0^inf e^(z s - s^2/2) (1 - e^(-k s)) ds, without cancellation.
*/
#include "kernel/implicit.h"
#include "kernel/quantile_search.h"
#include "random/noise.h"
#include "special/constants.h"
#include "special/legendre.h"
#include "special/vdensity.h"
#include "special/verf.h"

/* a point {x, loc, scale, rate}; k z and its logarithm, of which factors may overflow, count if z is FAR out */
typedef struct Score { double z, k, a, log_k, fall, log_fall; } Score;

static const double FAR = 1e150;

static Score score_of (const double v[]) {
  double way = v[0] - v[1], z = way / v[2], k = v[3] * v[2], log_rate = vlog(v[3]);
  double fall = z > FAR ? v[3] * way : k * z, log_fall = z > FAR ? log_rate + vlog(way) : 0;
  return (Score) {z, k, z - k, log_rate + vlog(v[2]), fall, log_fall};
}

/* the Normal variable is next to nothing there */
static int is_exponential (Score s) { return s.z > FAR && s.a > 0; }

ONE_COPY double log_ndtr (double t) { return vlog_ndtr(t); }

static double mills (double t) { return SQRT_HALF_PI * verfcx(t * SQRT_HALF); }


/* {=====================================================
** Density
** ====================================================== */

static double log_weight (Score s) {
  if (is_exponential(s)) return fma(0.5 * s.k, s.k, -s.fall);
  if (s.z == HUGE_VAL) return -HUGE_VAL;
  double log_mills = s.k < HUGE_VAL ? vlog(mills(-s.a)) : -s.log_k;
  if (s.a < 0) return fma(-0.5 * s.z, s.z, log_mills - HALF_LOG_2PI);
  return fma(s.k, 0.5 * s.k - s.z, log_ndtr(s.a));
}

static double log_density (const double v[]) { return vlog(v[3]) + log_weight(score_of(v)); }

/* where t s + s^2/2 is DEPTH */
static double reach (double t) {
  double depth = 2 * LEGENDRE_DEPTH;
  return depth / (t + sqrt(fma(t, t, depth)));
}

/* a + phi(a)/Phi(a), which is E of s with density e^(a s - s^2/2) for s > 0 */
static double excess (double a) {
  if (a > -3) return a + vhazard(a);
  if (a < -1e8) return -1 / a;
  double mass[LEGENDRE], first[LEGENDRE], width = reach(-a);
  for (int i = 0; i < LEGENDRE; i++) {
    double s = width * legendre_node[i];
    mass[i] = vexp(s * fma(-0.5, s, a));
    first[i] = s * mass[i];
  }
  return legendre_sum(first) / legendre_sum(mass);
}

/* z - excess(a) = k - phi(a)/Phi(a) */
static double drift (Score s) { return s.a > 0 ? s.k - vhazard(s.a) : s.z - excess(s.a); }

static void log_density_slopes (const double v[], double d[]) {
  Score s = score_of(v);
  double slope = -drift(s) / v[2], both = s.z + s.k;
  d[0] = slope;
  d[1] = -slope;
  d[2] = (s.a > 0 ? s.k * s.k - vhazard(s.a) * both : s.z * s.z - excess(s.a) * both) / v[2];
  d[3] = 1 / v[3] - excess(s.a) * v[2];
}

/* }====================================================== */


/* {=====================================================
** Tails
** ====================================================== */

static double log_upper (Score s) {
  return s.z == -HUGE_VAL ? 0.0 : vlogaddexp(log_ndtr(-s.z), log_weight(s));
}

/* M(-z) - M(k - z), for z < 0 */
static double mills_fall (double z, double k) {
  if (k > 1 - z) return mills(-z) - mills(k - z);
  double f[LEGENDRE], width = reach(-z);
  for (int i = 0; i < LEGENDRE; i++) {
    double s = width * legendre_node[i];
    f[i] = vexp(s * fma(-0.5, s, z)) * -vexpm1(-k * s);
  }
  return width * legendre_sum(f);
}

/* F for z >= 0, by parts: int phi(s - z) (1 - e^(-k s)) ds */
static double convolved (double z, double k) {
  double from = fmax(0, z - 9.3), width = (z + 9.3 - from) / 4, f[LEGENDRE], sum = 0;
  for (int j = 0; j < 4; j++) {
    for (int i = 0; i < LEGENDRE; i++) {
      double s = from + width * (j + legendre_node[i]);
      f[i] = vdensity(s - z) * -vexpm1(-k * s);
    }
    sum += width * legendre_sum(f);
  }
  return sum;
}

/* below it F is k (z Phi(z) + phi(z)), k Phi(z) excess(z) */
static const double TINY_FALL = 1e-290;

static double log_tiny_lower (Score s) {
  return s.log_k + log_ndtr(s.z) + vlog(excess(s.z));
}

static double log_lower (Score s) {
  if (is_exponential(s)) return s.fall < 1e-20 ? s.log_fall : vlog1mexp(-s.fall);
  if (s.z == HUGE_VAL) return 0;
  if (s.z == -HUGE_VAL) return -HUGE_VAL;
  double above = log_upper(s), fall;
  if (above < -LN2) return vlog1p(-vexp(above));
  if (s.z < 0) {
    fall = mills_fall(s.z, s.k);
    if (fall < TINY_FALL) return log_tiny_lower(s);
    return fma(-0.5 * s.z, s.z, vlog(fall) - HALF_LOG_2PI);
  }
  if (s.z > 10) fall = -vexpm1(s.a > 8 ? fma(0.5 * s.k, s.k, -s.fall) : log_weight(s));   /* Phi(z) is 1 */
  else {
    double whole = vndtr(s.z), q = vexp(log_weight(s));
    fall = q < 0.5 * whole ? whole - q : convolved(s.z, s.k);
  }
  return fall < TINY_FALL ? log_tiny_lower(s) : vlog(fall);
}

static double log_tail (const double v[], int upper) {
  Score s = score_of(v);
  if (s.z != s.z) return s.z;
  double below = log_lower(s);
  return !upper ? below : below < -LN2 ? vlog1p(-vexp(below)) : log_upper(s);
}

static double tail (const double v[], int upper) {
  Score s = score_of(v);
  if (s.z != s.z) return s.z;
  double above = vexp(log_upper(s));
  if (above < 0.5) return upper ? above : 1 - above;
  double below = vexp(log_lower(s));
  return upper ? 1 - below : below;
}

/* dx/d loc, scale and rate at a fixed probability */
static void slopes (const double *at, double *dx) {
  Score s = score_of(at);
  dx[0] = 1;
  dx[1] = drift(s);
  dx[2] = -at[2] * excess(s.a) / at[3];
}

static double log_density_slope (const double v[]) { return -drift(score_of(v)) / v[2]; }

/* x near where a tail is p: normal, or for k < 1 an exponential variable, of whose lower tail
   k (z Phi(z) + phi(z)) is left */
static double start_of (double p, double loc, double scale, double rate, int upper) {
  double k = rate * scale, below = upper ? 1 - p : p, fall = upper ? -vlog(p) : -vlog1p(-p), z;
  if (k >= 1) z = 1 / k + (upper ? -vndtri(p) : vndtri(p)) * sqrt(1 + 1 / (k * k));
  else if (fall > 3 * k) return loc + fmin(fall / rate, DBL_MAX) + 0.5 * k * scale;
  else z = vndtri(fmin(below / k, 0.98));
  return fma(scale, z, loc);
}

static double quantile (const double *at, int upper) {
  SearchedLaw law = {4, log_tail, log_density, -HUGE_VAL, HUGE_VAL, log_density_slope};
  return search_quantile(law, at, upper, start_of(at[0], at[1], at[2], at[3], upper));
}

enum { OPERANDS = 4 };

static const Implicit family = {
  .log_density = log_density, .log_density_slopes = log_density_slopes, .slopes = slopes,
  .tail = tail, .log_tail = log_tail, .quantile = quantile, .falls_on = 1
};

#include "kernel/implicit_kernels.h"
#include "kernel/density_kernels.h"

/* }====================================================== */


/* {=====================================================
** Mode: loc + scale z, phi(a)/Phi(a) = k, or excess(z - k) = z
** ====================================================== */

static double mode_score (double k) {
  double low = 0, high = 1 / k, z = k < 1 ? sqrt(2 * vlog1p(1 / k)) : 0.5 / k;
  z = z < high ? z : 0.5 * high;
  for (int step = 0; step < 200; step++) {
    double e = excess(z - k), rest = e - z;
    if (rest > 0) low = z;
    else high = z;
    double next = z + rest / ((e - (z - k)) * e);
    if (!(next > low && next < high)) next = low > 0 ? sqrt(low) * sqrt(high) : 0.5 * high;
    if (!(fabs(next - z) > 4e-16 * z)) return next;
    z = next;
  }
  return z;
}

static void mode (size_t n, const double *const in[], double *out) {
  const double *loc = in[0], *scale = in[1], *rate = in[2];
  for (size_t i = 0; i < n; i++)
    out[i] = fma(scale[i], mode_score(rate[i] * scale[i]), loc[i]);
}

static void mode_partials (size_t n, const double *const in[], double *const d[]) {
  const double *scale = in[1], *rate = in[2];
  for (size_t i = 0; i < n; i++) {
    double k = rate[i] * scale[i], z = mode_score(k), by_k = 1 - 1 / (k * z);
    d[0][i] = 1;
    d[1][i] = fma(k, by_k, z);
    d[2][i] = scale[i] * scale[i] * by_k;
  }
}

/* }====================================================== */


/* {=====================================================
** Entropy: log(scale) + h(k), h(k) = -int p log p dz
** ====================================================== */

typedef struct Entropy { double value, slope; } Entropy;

enum { PANELS = 8 };

/* adds -p log p and its derivative, -p (1/k - excess) log p, between two z */
static void add_panel (double from, double to, double k, Entropy *sum) {
  double f[LEGENDRE], g[LEGENDRE], width = to - from;
  for (int i = 0; i < LEGENDRE; i++) {
    double z = fma(width, legendre_node[i], from);
    double log_p = vlog(k) + log_weight((Score) {.z = z, .k = k, .a = z - k, .log_k = vlog(k), .fall = k * z});
    f[i] = width * vexp(log_p) * -log_p;
    g[i] = f[i] * (1 / k - excess(z - k));
  }
  sum->value += legendre_sum(f);
  sum->slope += legendre_sum(g);
}

static Entropy entropy_of (double k) {
  Entropy sum = {0, 0};
  if (k > 1e100) return (Entropy) {0.5 + HALF_LOG_2PI, 0};
  add_panel(9.6, 9.6 + LEGENDRE_DEPTH / k, k, &sum);
  for (int j = 0; j < PANELS; j++)
    add_panel(-9.6 + 19.2 * j / PANELS, -9.6 + 19.2 * (j + 1) / PANELS, k, &sum);
  return sum;
}

static void entropy (size_t n, const double *const in[], double *out) {
  const double *scale = in[1], *rate = in[2];
  for (size_t i = 0; i < n; i++) out[i] = vlog(scale[i]) + entropy_of(rate[i] * scale[i]).value;
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *scale = in[1], *rate = in[2];
  for (size_t i = 0; i < n; i++) {
    double slope = entropy_of(rate[i] * scale[i]).slope;
    d[0][i] = 0;
    d[1][i] = fma(slope, rate[i], 1 / scale[i]);
    d[2][i] = slope * scale[i];
  }
}

/* }====================================================== */


static void draw (const Philox *g, uint64_t first, size_t n, const double *const in[],
                  double *out) {
  const double *loc = in[0], *scale = in[1], *rate = in[2];
  double wait[KERNEL_DRAW_MAX];
  noise_normal(g, 0, first, n, out);
  noise_exponential(g, 1, first, n, wait);
  for (size_t i = 0; i < n; i++) out[i] = fma(scale[i], out[i], loc[i] + wait[i] / rate[i]);
}


const Kernel perilune_exgaussian[] = {
  {.name = "log_prob", .n_in = 4, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 4, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 4, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 4, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 4, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 4, .slow = 1, .value = icdf, .partials = icdf_partials},
  {.name = "isf",      .n_in = 4, .slow = 1, .value = isf,  .partials = isf_partials},
  {.name = "mode",     .n_in = 3, .slow = 1, .value = mode, .partials = mode_partials},
  {.name = "entropy",  .n_in = 3, .slow = 1, .value = entropy, .partials = entropy_partials},
  {.name = "rsample", .n_in = 4, .partials = draw_partials,
   .sampler = &(const Sampler) {.draw = draw}},
  {.name = NULL}
};
