/*
** inversegaussian.c - InverseGaussian(loc, concentration), first passage of a drifting particle
**
**   log p(x) = log(l/(2 pi x^3))/2 - s^2/2,    s = sqrt(l/x) (x - m)/m,   t = sqrt(l/x) (x + m)/m
**   F(x)     = Phi(s) + e^(2l/m) Phi(-t)
**
** with mean m = loc and l = concentration. As t^2 - s^2 = 4l/m, both terms of F share a factor
** e^(-s^2/2), and with s' = s/sqrt(2), t' = t/sqrt(2)
**
**   F = e^(-s^2/2) (erfcx(-s') + erfcx(t'))/2,   1 - F = e^(-s^2/2) (erfcx(s') - erfcx(t'))/2
**
** F is used where it is the smaller. The difference, where it cancels, is an integral:
**
**   erfcx(s') - erfcx(t') = 2/sqrt(pi) int_0^inf e^(-y^2 - 2s'y) (1 - e^(-2(t' - s')y)) dy
**
** Without drift, for m = inf, it is Levy's law, InverseGamma(1/2, l/2). With a mean of 1e200 l it
** does not differ from that below x = 1e300 l.
*/
#include "kernel/implicit.h"
#include "kernel/subnormal.h"
#include "random/noise.h"
#include "special/constants.h"
#include "special/expint.h"
#include "special/legendre.h"
#include "special/verf.h"


/* s, t - s, and the smaller tail, mass e^(-s^2/2); plain unless the mass has cancelled */
typedef struct SmallerTail { double s, gap, mass; int lower, plain; } SmallerTail;

VECTOR double root_of (double x, double concentration) { return vsqrt(concentration / x); }

VECTOR double finite_mean (double loc, double concentration) {
  double far = concentration < 1e100 ? 1e200 * concentration : 1e300;
  return loc == HUGE_VAL ? far : loc;
}


/* {=====================================================
** Density and tails
** ====================================================== */

VECTOR double log_density (double x, double mean, double concentration) {
  double loc = finite_mean(mean, concentration);
  double times = (x - loc) / loc, s = times * root_of(x, concentration);
  double square = times > 1e150 ? x / loc * (concentration / loc) : s * s;
  square = times == 0 ? 0.0 : square;   /* whatever l/x is */
  double rest = fma(0.5, vlog(concentration), -HALF_LOG_2PI);
  double inside = fma(-1.5, vlog(x), rest) - 0.5 * square;
  inside = x < HUGE_VAL ? inside : -HUGE_VAL;
  double off = x == x ? -HUGE_VAL : x;
  return x > 0 ? inside : off;
}

static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *concentration = in[2];
  EVERY for (size_t i = 0; i < n; i++) out[i] = log_density(x[i], loc[i], concentration[i]);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *loc = in[1], *concentration = in[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double root = root_of(x[i], concentration[i]), inside = x[i] > 0 ? 1.0 : 0.0;
    double m = finite_mean(loc[i], concentration[i]);
    double s = (x[i] - m) / m * root, t = (x[i] + m) / m * root;
    d[0][i] = x[i] > 0 ? fma(-0.5 * s, t, -1.5) / x[i] : 0.0;
    d[1][i] = x[i] > 0 ? s * root * (x[i] / m) / m : 0.0;
    d[2][i] = inside > 0 ? 0.5 * fma(-s, s, 1) / concentration[i] : 0.0;
  }
}


/* e^(-s^2/2), the rounding error of the square made good */
VECTOR double decay (double s) {
  double h = s * s, rest = fma(s, s, -h);
  return exp_pair(clamp(-0.5 * h, -800.0, 0.0), h < 1600 ? -0.5 * rest : 0.0);
}

VECTOR double scaled_tail (double s) {
  double a = SQRT_HALF * fabs(s);
  return erfcx_positive(a > 1e300 ? 1e300 : a);
}

VECTOR SmallerTail tail_between (double s, double t, double root) {
  double es = scaled_tail(s), et = scaled_tail(t), sum = 0.5 * (es + et), e = decay(s);
  int lower = (s < 0) & (sum * e <= 0.5);
  double above = s < 0 ? 2 / e - es : es;   /* erfcx(s'); where it is used, s > -0.7 */
  double mass = lower ? sum : 0.5 * (above - et);
  return (SmallerTail) {s, 2 * root, mass, lower, lower | (et < 0.5 * above)};
}

/* not plain where l/x or x/m leaves the range of doubles: s and t are equal or NaN there */
VECTOR SmallerTail tail_fast (double x, double mean, double concentration) {
  double root = root_of(x, concentration), loc = finite_mean(mean, concentration);
  return tail_between((x - loc) / loc * root, (x + loc) / loc * root, root);
}

static SmallerTail tail_wide (double x, double mean, double concentration) {
  double root = vsqrt(concentration) / vsqrt(x), loc = finite_mean(mean, concentration);
  double far = vsqrt(x) / loc * vsqrt(concentration);
  far = far < 1e155 ? far : 1e155;   /* the square is infinite */
  if (x / loc > 1e150) return tail_between(far, far, root);
  return tail_between((x - loc) / loc * root, (x + loc) / loc * root, root);
}

/* half the difference by its integral, which ends where y (y + 2s') is large enough */
static double difference (double s, double gap) {
  double c = SQRT_HALF * s, f[LEGENDRE];
  double width = LEGENDRE_DEPTH / (0.5 * (c + fabs(c)) + vsqrt(fma(c, c, LEGENDRE_DEPTH)));
  width = c < 0 ? width - 2 * c : width;
  for (int i = 0; i < LEGENDRE; i++) {
    double y = width * legendre_node[i];
    f[i] = -vexp(-y * (y + 2 * c)) * vexpm1(-2 * SQRT_HALF * gap * y);
  }
  return INV_SQRT_PI * width * legendre_sum(f);
}

/* for x > 0, finite */
static SmallerTail tail_of (double x, double loc, double concentration) {
  SmallerTail tail = tail_fast(x, loc, concentration);
  if (tail.plain) return tail;
  tail = tail_wide(x, loc, concentration);
  if (!tail.plain) tail.mass = difference(tail.s, tail.gap);
  if (tail.mass == 0) tail.mass = SMALLEST_NUMBER;   /* beside s^2, which is all that counts */
  return tail;
}

VECTOR double tail_value (SmallerTail tail, int lower) {
  double small = tail.mass * decay(tail.s);
  return tail.lower == lower ? small : 1 - small;
}

VECTOR double tail_log (SmallerTail tail, int lower) {
  double small = fma(-0.5 * tail.s, tail.s, vlog(tail.mass));
  return tail.lower == lower ? small : vlog1p(-tail.mass * decay(tail.s));
}

/* `inside` for x within the support, else what a tail is at its ends */
VECTOR double at_ends (double x, double inside, double below, double above) {
  double outside = x > 0 ? above : below;
  outside = x == x ? outside : x;
  return ((x > 0) & (x < HUGE_VAL)) ? inside : outside;
}

VECTOR void tails (size_t n, const double *const in[], double *out, double (*f) (SmallerTail, int),
                   int lower, double below, double above) {
  const double *x = in[0], *loc = in[1], *concentration = in[2];
  uint64_t odd = 0;
  EVERY for (size_t i = 0; i < n; i++) {
    SmallerTail tail = tail_fast(x[i], loc[i], concentration[i]);
    out[i] = at_ends(x[i], f(tail, lower), below, above);
    odd |= !tail.plain;
  }
  for (size_t i = 0; odd && i < n; i++)
    if (!tail_fast(x[i], loc[i], concentration[i]).plain)
      out[i] = at_ends(x[i], f(tail_of(x[i], loc[i], concentration[i]), lower), below, above);
}

static void lower_tails (size_t n, const double *const in[], double *out) {
  tails(n, in, out, tail_value, 1, 0, 1);
}

static void upper_tails (size_t n, const double *const in[], double *out) {
  tails(n, in, out, tail_value, 0, 1, 0);
}

static void log_lower_tails (size_t n, const double *const in[], double *out) {
  tails(n, in, out, tail_log, 1, -HUGE_VAL, 0);
}

static void log_upper_tails (size_t n, const double *const in[], double *out) {
  tails(n, in, out, tail_log, 0, 0, -HUGE_VAL);
}

/* }====================================================== */


/* {=====================================================
** Partials of tails, quantiles and draws
** ====================================================== */

static double density_at (const double *at) { return log_density(at[0], at[1], at[2]); }

static double log_tail (const double *at, int upper) {
  return tail_log(tail_of(at[0], at[1], at[2]), !upper);
}

/* the factor e^(-s^2/2) is left out of both, unless this is the larger tail */
static double hazard (const double *at, int upper) {
  double x = at[0];
  SmallerTail tail = tail_of(x, at[1], at[2]);
  double density = INV_SQRT_2PI * (vsqrt(at[2]) / vsqrt(x)) / x;
  if (upper && tail.s > 1e10) return 0.5 * tail.s * ((tail.s + tail.gap) / x);
  if (tail.lower == !upper) return density / tail.mass;
  return density * decay(tail.s) / tail_value(tail, !upper);
}

/* dF/dm = -2l/m^2 e^(2l/m) Phi(-t); and multiplying x, m and l by one factor leaves F */
static void slopes (const double *at, double *dx) {
  double x = at[0], concentration = at[2], loc = finite_mean(at[1], concentration);
  double t = (x + loc) / loc * root_of(x, concentration);
  double mills = SQRT_HALF_PI * scaled_tail(t);
  double share = 2 * vsqrt(concentration / loc) * vsqrt(x / loc) * mills;   /* of dx/dm in x/m */
  dx[0] = x / loc * share;
  dx[1] = x * (1 - share) / concentration;
}

/* }====================================================== */


/* {=====================================================
** Quantiles
** ====================================================== */

/* x for a given s: with sqrt(x/m) = w, w - 1/w = s/sqrt(l/m) */
static double point_of (double s, double loc, double concentration) {
  double k = 0.5 * fabs(s) / vsqrt(concentration) * vsqrt(loc);
  double w = k + (k < 1e8 ? vsqrt(fma(k, k, 1)) : k);
  return s < 0 ? loc / w / w : loc * w * w;
}

/* for an infinite loc: F(x) = 2 Phi(-sqrt(l/x)), 1 - F(x) = erf(sqrt(l/x)/sqrt(2)) */
static double driftless (double p, double q, double concentration) {
  double s = p < q ? vndtri(half_of(p)) : SQRT2 * verfinv(q);
  return concentration / s / s;
}

/*
** Newton for the logarithm of the smaller tail as a function of log x, which is concave.
** Phi(s) < F < 2 Phi(s) and 1 - F < Phi(-s) give a start on the side from which all
** steps have one sign.
*/
static double quantile (const double *at, int upper) {
  double p = upper ? 1 - at[0] : at[0], q = upper ? at[0] : 1 - at[0];
  double loc = at[1], concentration = at[2];
  if (!((p >= 0) & (q >= 0))) return (double) NAN;
  if (p == 0 || q == 0) return p == 0 ? 0.0 : HUGE_VAL;
  int lower = p < q;
  if (loc == HUGE_VAL) return driftless(p, q, concentration);
  double x = point_of(lower ? vndtri(half_of(p)) : -vndtri(q), loc, concentration);
  for (int step = 0; step < 60; step++) {
    SmallerTail tail = tail_of(x, loc, concentration);
    double slope = INV_SQRT_2PI * (vsqrt(concentration) / vsqrt(x));
    int own = tail.lower == lower;
    slope /= own ? tail.mass : tail_value(tail, lower) / decay(tail.s);
    double move = (vlog(lower ? p : q) - tail_log(tail, lower)) / (lower ? slope : -slope);
    double next = x * vexp(clamp(move, -50.0, 50.0));
    if (!(fabs(move) > 2e-16) || !(next > 0) || !(next < HUGE_VAL)) break;
    x = next;
  }
  return x;
}

enum { OPERANDS = 3 };

static const Implicit family = {   /* the tails themselves are above */
  .log_density = density_at, .slopes = slopes, .log_tail = log_tail, .quantile = quantile, .hazard = hazard
};

#include "kernel/implicit_kernels.h"

/* }====================================================== */


/* {=====================================================
** Entropy
** ====================================================== */

/* (1 + log(2 pi m^3/l))/2 - 3/2 e^z E1(z), z = 2l/m */
static void entropy (size_t n, const double *const in[], double *out) {
  const double *loc = in[0], *concentration = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double m = finite_mean(loc[i], concentration[i]);
    double gap = vlog(m) - exp_integral(2 * concentration[i] / m).value;
    out[i] = fma(1.5, gap, 0.5 + HALF_LOG_2PI) - 0.5 * vlog(concentration[i]);
  }
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *loc = in[0], *concentration = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double m = finite_mean(loc[i], concentration[i]);
    double pull = exp_integral(2 * concentration[i] / m).pull;
    d[0][i] = 1.5 * (1 + pull) / m;
    d[1][i] = fma(-1.5, pull, -0.5) / concentration[i];
  }
}

/* }====================================================== */


/*
** Michael, Schucany and Haas (1976): given |s|, x/m is the smaller root w of
** w + 1/w = 2 + s^2 m/l with probability 1/(1 + w), else 1/w. Where m/l is huge m w is l/s^2.
*/
static void draw (const Philox *g, uint64_t first, size_t n, const double *const in[],
                  double *out) {
  const double *loc = in[0], *concentration = in[1];
  double u[KERNEL_DRAW_MAX];
  noise_normal(g, 0, first, n, out);
  noise_uniform(g, 1, first, n, u);
  EVERY for (size_t i = 0; i < n; i++) {
    double m = finite_mean(loc[i], concentration[i]);
    double c = 0.5 * out[i] * out[i] * (m / concentration[i]);
    double up = 1 + c + vsqrt(c) * vsqrt(c + 2), down = 1 / up;
    double small = c > 1e200 ? concentration[i] / out[i] / out[i] : m * down;
    out[i] = u[i] * (1 + down) < 1 ? small : m * up;
  }
}


const Kernel perilune_inversegaussian[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = lower_tails, .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = upper_tails, .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_lower_tails, .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_upper_tails, .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .slow = 1, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .slow = 1, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 3, .partials = draw_partials,
   .sampler = &(const Sampler) {.draw = draw}},
  {.name = NULL}
};
