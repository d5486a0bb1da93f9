/*
** continuousbernoulli.c - ContinuousBernoulli(logits), on [0, 1]
**
**   log p(x) = l (x - 1/2) - S(l),    S(l) = log(2 sinh(l/2)/l)
**   F(x) = (e^(l x) - 1)/(e^l - 1),   mean 1/2 + S',   variance S''
**
** G. Loaiza-Ganem, J. P. Cunningham, "The continuous Bernoulli: fixing a pervasive error
** in variational autoencoders", 2019. S is even and analytic at 0: for |l| <= 2 it and all that
** follows from it are polynomials in l^2, further out they are computed from e^-|l|, with x
** measured from the end where the mass is. l = 0 is the uniform law.
*/
#include "kernel/kernel.h"
#include "special/vmath.h"


/* {=====================================================
** S and what follows from it. Series are near-minimax fits in z = l^2 <= 4,
** computed with 40 digits.
** ====================================================== */

static const double SERIES_MAX = 2;   /* of |l|: up to here, polynomials */

/* S(l)/l^2, z = l^2 <= 4; relative error 2^-62 */
VECTOR double normaliser_series (double z) {
  double x2 = z * z, x4 = x2 * x2;
  double p = fma(x2, 1.5295217209527199614e-19,
      fma(z, -1.0034468753192612711e-17, 4.7270791851187326564e-16));
  p = fma(p, x4, cubic(z, x2, 2.0876756649925054802e-9,
      -4.4034878064798021121e-11, 9.5586619790261577662e-13, -2.1171582922749515329e-14));
  p = fma(p, x4, cubic(z, x2, 0.04166666666666666666,
      -0.00034722222222222179382, 5.5114638447928857578e-6, -1.0333994707314571897e-7));
  return p;
}

/* S'(l)/l; relative error 2^-64.2 */
VECTOR double mean_series (double z) {
  double x2 = z * z, x4 = x2 * x2;
  double p = cubic(z, x2, 8.5738610745174761584e-15,
      -2.141877581783358749e-16, 4.9297153445040749994e-18, -7.7659694160696722813e-20);
  p = fma(p, x4, cubic(z, x2, 2.0876756949491209748e-8,
      -5.2841895888677598165e-10, 1.3382486447254049834e-11, -3.3893786760928354076e-13));
  p = fma(p, x4, cubic(z, x2, 0.083333333333333333329,
      -0.0013888888888888886055, 3.3068783068779685988e-5, -8.2671957670373815206e-7));
  return p;
}

/* S''(l); relative error 2^-59.5 */
VECTOR double variance_series (double z) {
  double x2 = z * z, x4 = x2 * x2;
  double p = cubic(z, x2, 1.4567023106552037124e-13,
      -4.0528443138569426269e-15, 1.0167801609232726487e-16, -1.698368773034743302e-18);
  p = fma(p, x4, cubic(z, x2, 1.8789081197397389057e-7,
      -5.8126078382064172483e-9, 1.7397177660366240784e-10, -5.0837978868542902963e-12));
  p = fma(p, x4, cubic(z, x2, 0.083333333333333333239,
      -0.0041666666666666599026, 0.00016534391534383458436, -5.7870370366588086332e-6));
  return p;
}

/* S'''(l)/l; relative error 2^-56.6 */
VECTOR double skew_series (double z) {
  double x2 = z * z, x4 = x2 * x2;
  double p = cubic(z, x2, -7.4180191534264426161e-14,
      2.2593095229713348269e-15, -6.0952824917325808739e-17, 1.0696803547014711513e-18);
  p = fma(p, x4, cubic(z, x2, -5.8126090901125412623e-8,
      2.0876748030836489943e-9, -7.1182468921056190847e-11, 2.3349154623428695887e-12));
  p = fma(p, x4, cubic(z, x2, -0.0083333333333333332694,
      0.00066137566137565677262, -3.472222222216725603e-5, 1.5031265028690065587e-6));
  return p;
}

/* (S - l S')/l^2; relative error 2^-63.3 */
VECTOR double entropy_series (double z) {
  double x2 = z * z, x4 = x2 * x2;
  double p = cubic(z, x2, -8.0973443320534678123e-15,
      2.0344468573695084353e-16, -4.7022567758029266127e-18, 7.4276465016691613817e-20);
  p = fma(p, x4, cubic(z, x2, -1.8789081252241478882e-8,
      4.8438404326533233985e-10, -1.2426592984093028113e-11, 3.177535708966501425e-13));
  p = fma(p, x4, cubic(z, x2, -0.041666666666666666663,
      0.0010416666666666663947, -2.755731922398264343e-5, 7.2337962961442567056e-7));
  return p;
}


/* mean of the law that falls with slope a > 0; for one that rises it is 1 minus this */
VECTOR double mean_far (double a) { return 1 / a - 1 / vexpm1(a); }

VECTOR double mean_of (double l) {
  double m = mean_far(fabs(l)), far = l < 0 ? m : 1 - m;
  return fabs(l) <= SERIES_MAX ? fma(l, mean_series(l * l), 0.5) : far;
}

/* 1/a^2 - e^-a/(1 - e^-a)^2, and its derivative */
VECTOR double variance_of (double l) {
  double a = fabs(l), e = vexp(-a), one = 1 - e;
  double far = (1 / a) * (1 / a) - e / (one * one);
  return a <= SERIES_MAX ? variance_series(l * l) : far;
}

VECTOR double variance_slope (double l) {
  double a = fabs(l), e = vexp(-a), one = 1 - e;
  double far = e * (1 + e) / (one * one * one) - 2 * (1 / a) * (1 / a) * (1 / a);
  return a <= SERIES_MAX ? l * skew_series(l * l) : copysign(1.0, l) * far;
}

/* S - l S' = 1 - log a + log(1 - e^-a) - a/(e^a - 1) */
VECTOR double entropy_of (double l) {
  double a = fabs(l), z = l * l;
  double b = a < 700 ? a : 700;
  double far = (1 - b / vexpm1(b)) - (vlog(a) - vlog1mexp(-a));
  return a <= SERIES_MAX ? z * entropy_series(z) : far;
}

/* on [0, 1]; with infinite logits all the mass is at one end */
VECTOR double log_density (double x, double l) {
  double a = fabs(l), y = l < 0 ? x : 1 - x;
  double far = fma(-a, y, vlog(a) - vlog1mexp(-a));
  double near = fma(l, x - 0.5, -(l * l) * normaliser_series(l * l));
  double mass = y == 0 ? HUGE_VAL : -HUGE_VAL;
  return a <= SERIES_MAX ? near : a < HUGE_VAL ? far : mass;
}

VECTOR int inside (double x) { return (x >= 0) & (x <= 1); }

/* }====================================================== */


/* {=====================================================
** Either tail is the part of the mass within t of one end: of 0, or of 1 with the sign of l
** changed. With E(t) = (1 - e^-t)/t and a = |l| it is t E(a t)/E(a), and where the law
** rises from that end e^(-a (1 - t)) times as much.
** ====================================================== */

static const double STEEPEST = 1e300;   /* where infinite logits count as */

VECTOR double decay (double t) { return t < 1e-17 ? 1 : -vexpm1(-t) / t; }

/* t E(a t)/E(a) */
VECTOR double part_falling (double t, double l) {
  double a = clamp(fabs(l), 0, STEEPEST);
  return t * (decay(a * t) / decay(a));
}

/* `rest` is 1 - t */
VECTOR double part (double t, Pair rest, double l) {
  double a = clamp(l, 0, STEEPEST);
  Pair e = exact_product(-a, rest.hi);
  int far = !(e.hi > -800);
  double rise = exp_pair(far ? -800 : e.hi, far ? 0 : fma(-a, rest.lo, e.lo));
  double value = (l > 0 ? rise : 1) * part_falling(t, l);
  return value > 1 ? 1 : value;
}

VECTOR double log_part (double t, double rest, double l) {
  double direct = vlog(part_falling(t, l));
  return l > 0 ? fma(-clamp(l, 0, STEEPEST), rest, direct) : direct;
}

/* all the mass is at one end; at neither of x = NaN */
VECTOR int is_point (double x, double l) { return (fabs(l) == HUGE_VAL) & (x == x); }
VECTOR int point_reached (double x, double l) { return x >= (l > 0); }

VECTOR double lower (double x, double l) {
  double t = clamp(x, 0, 1), point = point_reached(x, l);
  return is_point(x, l) ? point : part(t, exact_sum(1, -t), l);
}

VECTOR double upper (double x, double l) {
  double t = clamp(x, 0, 1), point = !point_reached(x, l);
  return is_point(x, l) ? point : part(1 - t, (Pair) {t, 0}, -l);
}

VECTOR double log_lower (double x, double l) {
  double t = clamp(x, 0, 1), above = upper(x, l);
  double direct = is_point(x, l) ? -HUGE_VAL : log_part(t, 1 - t, l);
  return above < 0.5 ? vlog1p(-above) : direct;
}

VECTOR double log_upper (double x, double l) {
  double t = clamp(x, 0, 1), below = lower(x, l);
  double direct = is_point(x, l) ? -HUGE_VAL : log_part(1 - t, t, -l);
  return below < 0.5 ? vlog1p(-below) : direct;
}

/*
** d log part/dl: the mean within the part less the mean of all. Where the law rises steeply both
** are near 1, and the difference is t/(e^(lt) - 1) - 1/(e^l - 1) - (1 - t); `rest` is 1 - t.
*/
VECTOR double part_slope (double t, double rest, double l) {
  double a = clamp(l, SERIES_MAX, STEEPEST);
  double risen = vexp(-a * t) / decay(a * t) - vexp(-a) / decay(a);
  return l > SERIES_MAX ? risen / a - rest : t * mean_of(l * t) - mean_of(l);
}

/* dF/dl from the smaller tail, times e^scale */
ONE_COPY double lower_slope (double x, double l, double scale) {
  double t = clamp(x, 0, 1);
  double below = vexp(log_lower(x, l) + scale) * part_slope(t, 1 - t, l);
  double above = vexp(log_upper(x, l) + scale) * part_slope(1 - t, t, -l);
  return lower(x, l) < 0.5 ? below : above;
}

/* }====================================================== */


static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *l = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double off = x[i] == x[i] ? -HUGE_VAL : x[i];
    out[i] = inside(x[i]) ? log_density(x[i], l[i]) : off;
  }
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *l = in[1];
  double *dx = d[0], *dl = d[1];
  EVERY for (size_t i = 0; i < n; i++) {
    dx[i] = inside(x[i]) ? l[i] : 0;
    dl[i] = inside(x[i]) ? x[i] - mean_of(l[i]) : 0;
  }
}


static void cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *l = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = lower(x[i], l[i]);
}

static void sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *l = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = upper(x[i], l[i]);
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *l = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = log_lower(x[i], l[i]);
}

static void log_sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *l = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = log_upper(x[i], l[i]);
}

/* The slopes of F times e^scale: 1/F for log F. */
ONE_COPY void slopes (double x, double l, double scale, double sign, double *dx, double *dl) {
  *dx = inside(x) ? sign * vexp(log_density(x, l) + scale) : 0;
  *dl = inside(x) ? sign * lower_slope(x, l, scale) : 0;
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *l = in[1];
  double *dx = d[0], *dl = d[1];
  for (size_t i = 0; i < n; i++, singly()) slopes(x[i], l[i], 0, 1, &dx[i], &dl[i]);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *l = in[1];
  double *dx = d[0], *dl = d[1];
  for (size_t i = 0; i < n; i++, singly()) slopes(x[i], l[i], 0, -1, &dx[i], &dl[i]);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *l = in[1];
  double *dx = d[0], *dl = d[1];
  for (size_t i = 0; i < n; i++, singly())
    slopes(x[i], l[i], -log_lower(x[i], l[i]), 1, &dx[i], &dl[i]);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *l = in[1];
  double *dx = d[0], *dl = d[1];
  for (size_t i = 0; i < n; i++, singly())
    slopes(x[i], l[i], -log_upper(x[i], l[i]), -1, &dx[i], &dl[i]);
}


/*
** x = log(1 + w)/l, w = p (e^l - 1); near w = -1 the sum is q + p e^l, q = 1 - p. The smaller
** of p and q is exact. For l <= EXP_MAX; NaN unless p and q are probabilities.
*/
static const double EXP_MAX = 700;

VECTOR double quantile (double p, double q, double l) {
  double slope = clamp(l, -STEEPEST, EXP_MAX), rise = vexpm1(slope);
  double w = p * rise, sum = fma(p, vexp(slope), q);
  int far = w < -0.5;
  LogReduction near = log1p_reduce(w, 1 + w), rest = log_reduce(sum, log_scale(sum));
  double log = log_assemble((LogReduction) {
    .n = far ? rest.n : near.n, .f = far ? rest.f : near.f, .error = far ? 0 : near.error
  });
  double gain = fabs(w) < 1e-17 ? 1 : log / w;
  double start = p * (fabs(slope) < 1e-17 ? 1 : rise / slope);
  double x = far ? log / slope : start * gain;
  x = ((x > 1) | (q == 0)) ? 1 : x;
  x = l == -HUGE_VAL ? 0 : x;
  return ((p >= 0) & (q >= 0)) ? x : (double)NAN;
}

/* where e^l would overflow, and 1 is nothing beside it */
VECTOR double quantile_steep (double p, double q, double l) {
  double slope = clamp(l, EXP_MAX, STEEPEST), x = vsoftplus(slope + vlog(p)) / slope;
  x = ((x > 1) | (q == 0) | (l == HUGE_VAL)) ? 1 : x;
  return ((p >= 0) & (q >= 0)) ? x : (double)NAN;
}

VECTOR double quantile_any (double p, double q, double l) {
  return l > EXP_MAX ? quantile_steep(p, q, l) : quantile(p, q, l);
}

static void icdf (size_t n, const double *const in[], double *out) {
  const double *p = in[0], *l = in[1];
  uint64_t steep = 0;
  EVERY for (size_t i = 0; i < n; i++) {
    out[i] = quantile(p[i], 1 - p[i], l[i]);
    steep |= l[i] > EXP_MAX;
  }
  for (size_t i = 0; steep && i < n; i++)
    if (l[i] > EXP_MAX) out[i] = quantile_steep(p[i], 1 - p[i], l[i]);
}

static void isf (size_t n, const double *const in[], double *out) {
  const double *q = in[0], *l = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = quantile_any(1 - q[i], q[i], l[i]);
}

/* 1/p(x) and -(dF/dl)/p(x) */
static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *p = in[0], *l = in[1];
  double *dp = d[0], *dl = d[1];
  for (size_t i = 0; i < n; i++, singly()) {
    double x = quantile_any(p[i], 1 - p[i], l[i]), density = log_density(x, l[i]);
    dp[i] = vexp(-density);
    dl[i] = -lower_slope(x, l[i], -density);
  }
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *q = in[0], *l = in[1];
  double *dq = d[0], *dl = d[1];
  for (size_t i = 0; i < n; i++, singly()) {
    double x = quantile_any(1 - q[i], q[i], l[i]), density = log_density(x, l[i]);
    dq[i] = -vexp(-density);
    dl[i] = -lower_slope(x, l[i], -density);
  }
}


static void mean (size_t n, const double *const in[], double *out) {
  const double *l = in[0];
  EVERY for (size_t i = 0; i < n; i++) out[i] = mean_of(l[i]);
}

static void mean_partials (size_t n, const double *const in[], double *const d[]) {
  const double *l = in[0];
  double *dl = d[0];
  EVERY for (size_t i = 0; i < n; i++) dl[i] = variance_of(l[i]);
}

static void variance (size_t n, const double *const in[], double *out) {
  const double *l = in[0];
  EVERY for (size_t i = 0; i < n; i++) out[i] = variance_of(l[i]);
}

static void variance_partials (size_t n, const double *const in[], double *const d[]) {
  const double *l = in[0];
  double *dl = d[0];
  EVERY for (size_t i = 0; i < n; i++) dl[i] = variance_slope(l[i]);
}

static void entropy (size_t n, const double *const in[], double *out) {
  const double *l = in[0];
  EVERY for (size_t i = 0; i < n; i++) out[i] = entropy_of(l[i]);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *l = in[0];
  double *dl = d[0];
  EVERY for (size_t i = 0; i < n; i++) dl[i] = -l[i] * variance_of(l[i]);
}


const Kernel perilune_continuousbernoulli[] = {
  {.name = "log_prob", .n_in = 2, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 2, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 2, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 2, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 2, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 2, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 2, .value = isf,      .partials = isf_partials},
  {.name = "mean",     .n_in = 1, .value = mean,     .partials = mean_partials},
  {.name = "variance", .n_in = 1, .value = variance, .partials = variance_partials},
  {.name = "entropy",  .n_in = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 2, .value = icdf, .partials = icdf_partials,
   .sampler = &(const Sampler) {.noise = "uniform"}},
  {.name = NULL}
};
