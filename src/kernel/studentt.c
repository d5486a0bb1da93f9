/*
** studentt.c - StudentT(df, loc, scale), the bell curve with heavy tails
**
**   log p(x) = c(df) - log(2 pi)/2 - (df + 1)/2 log(1 + z^2/df) - log(scale)
**   F(x)     = I_X(df/2, 1/2)/2 for z < 0,    X = df/(df + z^2),   z = (x - loc)/scale
**
** c(df) = log(Gamma((df + 1)/2)/(Gamma(df/2) sqrt(df/2))) tends to 0 for large df; it comes
** from a polynomial, not from a difference. A draw is a normal number over the root of a
** gamma variable.
*/
#include "kernel/betalaw.h"
#include "kernel/implicit.h"
#include "random/gammas.h"
#include "random/noise.h"
#include "special/constants.h"
#include "special/pair.h"
#include "special/verf.h"


/* beyond 1e100 the law is Normal to the last bit and no longer changes */
VECTOR double limited (double df) {
  return df > 1e100 ? 1e100 : df;
}


/* {=====================================================
** Density
** ====================================================== */

/* (Gamma(y + 1/2)/Gamma(y + 1))^2 (y + 1/4) in powers of w = 1/(y + 1), y >= 1; error 2^-58 */
VECTOR double gamma_ratio_series (double w) {
  double x2 = w * w, x4 = x2 * x2;
  double p = fma(w, -0.0020034871191441446865, 0.0032549046104520784476);
  p = fma(p, x4, cubic(w, x2, -0.052644258635875756784,
      0.055220571744946437998, -0.034335980229601869172, 0.0075949607138400166218));
  p = fma(p, x4, cubic(w, x2, -0.0080576771182049721908,
      -0.0068839818672569164886, -0.0080917337118866225095, 0.026347639212487463922));
  p = fma(p, x4, cubic(w, x2, -0.047363283818675213097,
      -0.036621022466459296366, -0.021867156624779954669, -0.011038117363072102097));
  return fma(p, x4, cubic(w, x2, 0.99999999999999999766,
      3.0363943550564005472e-15, -0.031250000000656664108, -0.046874999943532763939));
}

/* c(df) - log(2 pi)/2; with x = df/2 < 1 by way of x + 1 */
VECTOR double log_constant (double df) {
  double x = 0.5 * df, y = x < 1 ? x + 1 : x, step = x < 1 ? y / (x + 0.5) : 1.0;
  double ratio = step * step * gamma_ratio_series(1 / (y + 1)) / (y + 0.25);
  return 0.5 * vlog(INV_TWO_PI * x * ratio);
}

/* log(1 + z^2/df); beyond e^100 through the root of the quotient, less a power of 2 */
VECTOR double log_spread (double z, double df) {
  double s = z * (z / df), root = fabs(z) * 0x1p-64 / vsqrt(df);
  int far = root > 1e30;
  double l = vlog1p(far ? root : s);
  return far ? fma(2.0, l, 88.722839111672999609) : l;   /* 128 log 2 */
}

VECTOR double log_standard (double z, double df) {
  return fma(-0.5 * (df + 1), log_spread(z, df), log_constant(df));
}

/* far out the tails of 1e100 and of infinite degrees of freedom are not the same */
VECTOR double log_limited (double z, double df) {
  double value = log_standard(z, limited(df));
  return df == HUGE_VAL ? fma(-0.5 * z, z, -HALF_LOG_2PI) : value;
}

static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *df = in[1], *loc = in[2], *scale = in[3];
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = log_limited((x[i] - loc[i]) / scale[i], df[i]) - vlog(scale[i]);
}

/* psi(x + 1/2) - psi(x) - 1/(2x), twice the slope of c */
VECTOR double digamma_step (double x) {
  double r = 1 / x, q = 1 / (x + 0.5);
  double rest = digamma_far(r * r) - digamma_far(q * q);
  double far = vlog1pmx(0.5 * r) + fma(0.25 * r, q, rest);
  double near = (vdigamma_pos(x + 0.5) - vdigamma_pos(x)) - 0.5 * r;
  return x < 2.25 ? near : far;
}

/* d log p/d df = c' - (log(1 + s) - s/(1 + s))/2 + s/(2 df (1 + s)), s = z^2/df */
VECTOR double df_slope (double z, double df) {
  double s = z * (z / df), share = z / (df / z + z);
  share = z == 0 ? 0.0 : share;
  double near = fma(s, share, vlog1pmx(s)), far = log_spread(z, df) - share;
  return 0.5 * (digamma_step(0.5 * df) - (s < 1 ? near : far) + share / df);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *df = in[1], *loc = in[2], *scale = in[3];
  double *dx = d[0], *ddf = d[1];
  double *dloc = d[2], *dscale = d[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double inverse = 1 / scale[i], z = (x[i] - loc[i]) * inverse, k = limited(df[i]);
    double pull = z == 0 ? 0.0 : (k + 1) / (k / z + z);
    dx[i] = -pull * inverse;
    ddf[i] = df_slope(z, k);
    dloc[i] = pull * inverse;
    dscale[i] = fma(pull, z, -1) * inverse;
  }
}

/* }====================================================== */


/* {=====================================================
** Tails, quantiles, draws: at = {x or p, df, loc, scale}
** ====================================================== */

static double standardised (const double *at) {
  return (at[0] - at[2]) / at[3];
}

/* z^2/df as odds of a beta variable with shapes 1/2 and df/2 */
static BetaOdds odds_of (double z, double df) {
  return odds_at(z * (z / df), 2 * vlog(fabs(z)) - vlog(df));
}

/* P(Z < z); half of what is beyond |z| on both sides, or the rest of it */
static double standard_cdf (double z, double df) {
  if (z != z) return z;
  double tail = z == 0 ? 0.5 : 0.5 * beta_tail(0.5 * df, 0.5, flipped(odds_of(z, df)));
  return z < 0 ? tail : 1 - tail;
}

static double standard_log_cdf (double z, double df) {
  if (z < 0) return beta_log_tail(0.5 * df, 0.5, flipped(odds_of(z, df))) - LN2;
  return vlog1p(-standard_cdf(-z, df));
}

/*
** z with P(Z < z) = p <= 1/2, -sqrt(df u) with odds u. Both 2p and 1 - 2p are exact
** where they are used.
*/
static double lower_quantile (double p, double df) {
  BetaOdds o = p < 0.25 ? flipped(beta_quantile(0.5 * df, 0.5, 2 * p))
                    : beta_quantile(0.5, 0.5 * df, 1 - 2 * p);
  if (fabs(o.log) > LEADING_DEPTH) return -vexp(0.5 * (o.log + vlog(df)));
  return -sqrt(df) * sqrt(o.x / o.y);
}

static double standard_quantile (double p, double df) {
  if (!(p >= 0 && p <= 1)) return NAN;
  return p <= 0.5 ? lower_quantile(p, df) + 0.0 : -lower_quantile(1 - p, df);
}

/*
** dz/d df at fixed probability, z (1/df + (d log u/d b)/2)/2. For large df the two terms
** cancel, and the slope is the sum of -z Q_k(z^2)/df^(k+1) that solves
** dw/dz + w d log p/dz + d log p/d df = 0.
*/
static double standard_slope (double z, double df) {
  double da, db, t = z * z, r = 1 / df;
  if ((t + 1) * r < 2e-3) {
    double q1 = fma(t, -0.25, -0.25), q2 = t * (t - 1) / 12;
    double q3 = -fma(fma(t - 1, t, -1), t, -3) / 24;
    double q4 = t * (t + 1) * fma(fma(3, t, -6), t, 5) / 120;
    double q5 = -fma(t * t * t * (t - 1) + fma(2, t, 5), t, 15) / 60;
    return z * r * r * fma(fma(fma(fma(q5, r, q4), r, q3), r, q2), r, q1);
  }
  if (fabs(z) == HUGE_VAL) return 0;
  beta_slopes(0.5, 0.5 * df, odds_of(z, df), &da, &db);
  return 0.5 * z * fma(0.5, db, r);
}

static double log_density (const double *at) {
  return log_limited(standardised(at), at[1]) - vlog(at[3]);
}

/* the upper tail is the lower one of -z */
static double z_at (const double *at, int upper) {
  return upper ? -standardised(at) : standardised(at);
}

static double tail (const double *at, int upper) {
  return standard_cdf(z_at(at, upper), limited(at[1]));
}

static double log_tail (const double *at, int upper) {
  double z = z_at(at, upper);
  return at[1] == HUGE_VAL ? vlog_ndtr(z) : standard_log_cdf(z, limited(at[1]));
}

static double quantile (const double *at, int upper) {
  return fma(upper ? -at[3] : at[3], standard_quantile(at[0], limited(at[1])), at[2]);
}

static void slopes (const double *at, double *dx) {
  double z = standardised(at);
  dx[0] = at[3] * standard_slope(z, limited(at[1]));
  dx[1] = 1;
  dx[2] = z;
}

enum { OPERANDS = 4 };

static const Implicit family = {
  .log_density = log_density, .slopes = slopes,
  .tail = tail, .log_tail = log_tail, .quantile = quantile
};

#include "kernel/implicit_kernels.h"


/* normal/sqrt(2 gamma/df), the gamma variable of shape df/2 */
static void draw (const Philox *g, uint64_t first, size_t n, const double *const in[],
                  double *out) {
  const double *df = in[0], *loc = in[1], *scale = in[2];
  double shape[GAMMAS_BLOCK] = {0}, size[GAMMAS_BLOCK], depth[GAMMAS_BLOCK];
  EVERY for (size_t i = 0; i < n; i++) shape[i] = 0.5 * limited(df[i]);
  gammas(g, 0, first, n, shape, size, depth);
  noise_normal(g, GAMMAS_LANES, first, n, out);
  EVERY for (size_t i = 0; i < n; i++) {
    double stretch = vsqrt(shape[i] / size[i]) * vexp(0.5 * depth[i]);
    out[i] = fma(scale[i], out[i] * stretch, loc[i]);
  }
}

/* }====================================================== */


/* (df + 1)/2 (psi((df + 1)/2) - psi(df/2)) - c + log(2 pi)/2 + log(scale) */
static void entropy (size_t n, const double *const in[], double *out) {
  const double *df = in[0], *scale = in[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double k = limited(df[i]), step = digamma_step(0.5 * k) + 1 / k;
    out[i] = fma(0.5 * (k + 1), step, vlog(scale[i])) - log_constant(k);
  }
}

/* (df + 1)/4 (psi'((df + 1)/2) - psi'(df/2)) + 1/(2 df) */
VECTOR double entropy_slope (double df) {
  double x = 0.5 * df;
  double near = fma(0.5 * (x + 0.5), vtrigamma_pos(x + 0.5) - vtrigamma_pos(x), 0.5 / df);
  double far = 0.5 * (trigamma_gap(x, 0.5) - trigamma_rest(x) / df);
  return x < 1 ? near : far;
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *df = in[0], *scale = in[2];
  double *ddf = d[0], *dloc = d[1], *dscale = d[2];
  EVERY for (size_t i = 0; i < n; i++) {
    ddf[i] = entropy_slope(limited(df[i]));
    dloc[i] = 0;
    dscale[i] = 1 / scale[i];
  }
}


const Kernel perilune_studentt[] = {
  {.name = "log_prob", .n_in = 4, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 4, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 4, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 4, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 4, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 4, .slow = 1, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 4, .slow = 1, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 3, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 4, .partials = draw_partials,
   .sampler = &(const Sampler) {.draw = draw}},
  {.name = NULL}
};
