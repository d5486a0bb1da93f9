/*
** vonmises.c - VonMises(loc, concentration), the bell curve of directions
**
**   log p(x) = k cos(x - loc) - log(2 pi I0(k)) = -2k sin^2((x - loc)/2) - log(2 pi i0e(k))
**
** p is periodic and makes one turn's mass 1; F counts from loc - pi to loc + pi, 0 below and
** 1 above. With a = |x - loc|, the mass beyond x on its side is
**
**   T(a) = e^(-2k sin^2(a/2))/(2 pi i0e(k)) int_0^(pi-a) exp(-2k sin(v/2) sin(a + v/2)) dv
**
** a positive integral, hence exact in relative terms up to the very ends: pi - a comes from
** x - loc with its rounding error and pi with its next digits.
*/
#include "kernel/implicit.h"
#include "random/noise.h"
#include "random/rejection.h"
#include "special/bessel.h"
#include "special/constants.h"
#include "special/legendre.h"
#include "special/verf.h"
#include "special/vtrig.h"


enum { RETRY = 2 };   /* the first lane of further attempts */

/* where x is: the angle a from loc, what is left of the half turn, and the side */
typedef struct Angle { double angle, left; int above; } Angle;

/* a mass e^-depth, depth = 2k sin^2(a/2), and its slope in k by the same factor */
typedef struct Arc { double mass, slope, depth; } Arc;


/* {=====================================================
** Density
** ====================================================== */

/* given sin((x - loc)/2) */
VECTOR double log_density (double sine, double concentration) {
  return fma(-2 * (concentration * sine), sine, -(LOG_2PI + vlog(vi0e(concentration))));
}

/* the density where vsin gives NaN: at huge angles, and 0 where there is no angle */
static double odd_log_density (double x, double loc, double concentration) {
  if (isinf(x)) return -INFINITY;
  return log_density(sin_any(0.5 * x - 0.5 * loc), concentration);
}

static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *loc = in[1], *concentration = in[2];
  uint64_t odd = 0;
  EVERY for (size_t i = 0; i < n; i++) {
    double half = 0.5 * (x[i] - loc[i]);
    out[i] = log_density(vsin(half), concentration[i]);
    odd |= !(fabs(x[i] - loc[i]) < TRIG_LIMIT);
  }
  for (size_t i = 0; odd && i < n; i++)
    if (!(fabs(x[i] - loc[i]) < TRIG_LIMIT))
      out[i] = odd_log_density(x[i], loc[i], concentration[i]);
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *loc = in[1], *concentration = in[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double half = 0.5 * (x[i] - loc[i]), s, c;
    sincos_any(half, &s, &c);
    d[0][i] = -2 * concentration[i] * s * c;
    d[1][i] = 2 * concentration[i] * s * c;
    d[2][i] = fma(-2 * s, s, vbessel_ratio_c(concentration[i]));
  }
}

/* }====================================================== */


/* {=====================================================
** Tails
** ====================================================== */

static Angle place_of (double x, double loc) {
  Pair d = exact_sum(x, -loc);
  double sign = d.hi < 0 ? -1.0 : 1.0;
  double left = (PI - sign * d.hi) + (PI_LOW - sign * d.lo);
  return (Angle) {fabs(d.hi), left, d.hi > 0};
}

/*
** where sin^2(angle/2) has grown by DEPTH/(2k), the integrand has vanished; in first order
** where that is a step so small that angles would not tell
*/
static double reach (double sine, double half, double angle, double concentration) {
  concentration = fabs(concentration);   /* of -0 */
  double square = fma(half, half, 0.5 * LEGENDRE_DEPTH / concentration);
  double step = LEGENDRE_DEPTH / concentration / sine;
  if (step < 1e-3 * angle && step < 1e-3 * sine) return step;
  if (square >= 1) return HUGE_VAL;
  return 2 * vatan(vsqrt(square) / vsqrt(1 - square)) - angle;
}

/*
** The mass of angles from `angle` on, over `width`; `rest` is pi - angle. Its slope in k
** weighs cos(t) - A(k) = (1 - A) - 2 sin^2(t/2).
*/
static Arc arc (double angle, double rest, double width, double concentration) {
  double s, c, half, f[LEGENDRE], g[LEGENDRE], spare = vbessel_ratio_c(concentration);
  if (angle < 1.5) vsincos(angle, &s, &c);
  else {
    vsincos(rest, &s, &c);
    c = -c;
  }
  half = angle < 1.5 ? vsin(0.5 * angle) : vcos(0.5 * rest);
  double end = reach(s, half, angle, concentration), span = width < end ? width : end;
  for (int i = 0; i < LEGENDRE; i++) {
    double sv, cv;
    vsincos(0.5 * span * legendre_node[i], &sv, &cv);
    double growth = sv * fma(s, cv, c * sv);   /* of sin^2(t/2) */
    f[i] = vexp(-2 * (concentration * growth));
    g[i] = f[i] * (fma(-2 * half, half, spare) - 2 * growth);
  }
  double scale = span * INV_TWO_PI / vi0e(concentration);
  double depth = 2 * (concentration * half * half);
  return (Arc) {scale * legendre_sum(f), scale * legendre_sum(g), depth};
}

/* the mass beyond a place, at most 1/2 */
static Arc beyond (Angle at, double concentration) {
  return arc(at.angle, at.left, at.left, concentration);
}

static double tail (const double *v, int upper) {
  Angle at = place_of(v[0], v[1]);
  if (!(at.left > 0) && v[0] == v[0]) return at.above == !upper ? 1.0 : 0.0;
  Arc a = beyond(at, v[2]);
  double t = a.mass * vexp(-a.depth);
  return at.above == !upper ? 1 - t : t;
}

static double log_tail (const double *v, int upper) {
  Angle at = place_of(v[0], v[1]);
  if (!(at.left > 0) && v[0] == v[0]) return at.above == !upper ? 0.0 : -HUGE_VAL;
  Arc a = beyond(at, v[2]);
  return at.above == !upper ? vlog1p(-a.mass * vexp(-a.depth)) : vlog(a.mass) - a.depth;
}

/* of the law on one turn: there is nothing beyond it */
static double density_at (const double *at) {
  if (!(place_of(at[0], at[1]).left > 0)) return -HUGE_VAL;
  return log_density(sin_any(0.5 * (at[0] - at[1])), at[2]);
}

/*
** dx/dk = -(dF/dk)/p, from the mass towards loc while cos(a) > A(k), else from the mass
** beyond: its integrand has one sign either way. The end of the turn moves with loc only.
*/
static void slopes (const double *at, double *dx) {
  double concentration = at[2];
  Angle place = place_of(at[0], at[1]);
  dx[0] = 1;
  dx[1] = 0;
  if (place.left <= 0) return;
  double s = sin_any(0.5 * place.angle);
  int central = 2 * s * s < vbessel_ratio_c(concentration);
  Arc a = central ? arc(0, PI, place.angle, concentration) : beyond(place, concentration);
  double per_density = a.slope * vexp(2 * (concentration * s * s) - a.depth)
                     / (INV_TWO_PI / vi0e(concentration));
  dx[1] = (place.above == central) ? -per_density : per_density;
}

/* }====================================================== */


/* {=====================================================
** Quantiles
** ====================================================== */

/* the end of the turn, rounded away from loc, so that no mass is beyond it */
static double turn_end (double loc, double side) {
  double end = loc + side * PI;
  for (double step = 1e-17; place_of(end, loc).left > 0; step *= 2) end += side * step;
  return end;
}

/* the angle whose mass towards 0 is c <= 1/4; that mass is concave, so Newton climbs */
static double central_angle (double c, double concentration) {
  double peak = INV_TWO_PI / vi0e(concentration), angle = c / peak;
  for (int step = 0; step < 40; step++) {
    Arc a = arc(0, PI, angle, concentration);
    double s = vsin(0.5 * angle);
    double move = (c - a.mass) / (peak * vexp(-2 * (concentration * s * s)));
    angle += move;
    if (!(fabs(move) > 2e-16 * angle)) break;
  }
  return angle;
}

/*
** pi - a for a tail p < 1/4: Newton for log T in log(pi - a), kept between bounds. The tail
** is at least as large as if the density were that at pi; and nearly a normal one.
*/
static double left_for (double p, double concentration) {
  double level = INV_TWO_PI / vi0e(concentration), log_p = vlog(p);
  double chord = -0.5 * vndtri(p) / vsqrt(concentration);
  double linear = log_p - vlog(level) + 2 * concentration;   /* log of p/p(pi) */
  double low = 0, high = linear < 1 ? vexp(linear) : PI, left = high;
  if (chord < 1) {
    double angle = 2 * vatan(chord / vsqrt(fma(-chord, chord, 1)));
    left = PI - angle < high ? PI - angle : high;
  }
  high = high < PI ? high * (1 + 1e-15) : PI;
  for (int step = 0; step < 100; step++) {
    Arc a = arc(PI - left, left, left, concentration);
    double error = vlog(a.mass) - a.depth - log_p;
    if (error > 0) high = left; else low = left;
    double next = left * vexp(clamp(-error * a.mass / (left * level), -50.0, 50.0));
    if (!((next >= low) & (next <= high))) next = low > 0 ? 0.5 * low + 0.5 * high : 0.5 * high;
    double moved = fabs(next - left);
    left = next;
    if (!(moved > 2e-16 * left)) break;
  }
  return left;
}

/* the angle itself, to its own last digit, where it is the smaller of the two */
static double tail_angle (double p, double left, double concentration) {
  double angle = PI - left;
  Arc a = arc(angle, left, left, concentration);
  double error = vlog(a.mass) - a.depth - vlog(p);
  return fma(error * a.mass, vi0e(concentration) / INV_TWO_PI, angle);
}

/* from here on it is a bell curve, as far as any tail tells */
static const double NORMAL = 1e25;

static double quantile (const double *at, int upper) {
  double p = upper ? 1 - at[0] : at[0], q = upper ? at[0] : 1 - at[0];
  double loc = at[1], concentration = at[2];
  if (!((p >= 0) & (q >= 0))) return (double) NAN;
  double part = p < q ? p : q, side = p < q ? -1.0 : 1.0, end = turn_end(loc, side);
  if (part == 0) return end;
  if (concentration > NORMAL) return fma(-side, vndtri(part) / vsqrt(concentration), loc);
  if (part > 0.25) return fma(side, central_angle(0.5 - part, concentration), loc);
  double left = left_for(part, concentration);
  if (left > 1.5) return fma(side, tail_angle(part, left, concentration), loc);
  Pair turn = exact_sum(loc, side * PI);
  double x = turn.hi + (turn.lo + side * (PI_LOW - left));
  return side * (x - end) > 0 ? end : x;
}

enum { OPERANDS = 3 };

static const Implicit family = {
  .log_density = density_at, .slopes = slopes,
  .tail = tail, .log_tail = log_tail, .quantile = quantile
};

#include "kernel/implicit_kernels.h"

/* }====================================================== */


/* {=====================================================
** Moments
** ====================================================== */

/* A'(k) = 1 - A^2 - A/k, with c = 1 - A; an expansion where that cancels */
VECTOR double ratio_slope (double k) {
  double c = vbessel_ratio_c(k), t = 1 / k;
  double near = fma(c, 2 - c, -(1 - c) * t);
  double far = t * t * fma(t, fma(t, fma(t, 0.78125, 0.375), 0.25), 0.5);
  return k > 1000 ? far : near;
}

/* 1 - A(k): the circular variance */
static void variance (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vbessel_ratio_c(in[1][i]);
}

static void variance_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    d[0][i] = 0;
    d[1][i] = -ratio_slope(in[1][i]);
  }
}

/* log(2 pi I0) - k A = log(2 pi i0e) + k (1 - A) */
static void entropy (size_t n, const double *const in[], double *out) {
  const double *k = in[1];
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = fma(k[i], vbessel_ratio_c(k[i]), LOG_2PI + vlog(vi0e(k[i])));
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    d[0][i] = 0;
    d[1][i] = -in[1][i] * ratio_slope(in[1][i]);
  }
}

/* }====================================================== */


/* {=====================================================
** Draws
** ====================================================== */

/*
** Best and Fisher (1979): a wrapped Cauchy angle a, tan(a/2) = tan(w/2)/sqrt(D) with w
** uniform on the circle and D = 2k + sqrt(1 + 4k^2), is accepted with probability c e^(1-c),
** c = (1 + 1/D)/2 + 2k sin^2(a/2). In half angles nothing cancels, neither for tiny k, where
** all is accepted, nor for huge k.
*/
static void attempt (size_t n, const double *const in[], const double *u, const double *v,
                     double *out) {
  EVERY for (size_t i = 0; i < n; i++) {
    double s, c, k = in[0][i];
    double root = k < 1e8 ? vsqrt(fma(4 * k, k, 1)) : 2 * k, spread = fma(2, k, root);
    vsincos2pi(0.5 * u[i] - 0.25, &s, &c);
    double t = s / (c * vsqrt(spread));
    double weight = 0.5 + 0.5 / spread + 2 * k * (t * t / fma(t, t, 1));
    out[i] = vlog(weight / v[i]) + 1 - weight >= 0 ? 2 * vatan(t) : (double) NAN;
  }
}

static double draw_quantile (double u, const double *k) {
  return quantile((double[]) {u, 0, *k}, 0);
}

static const Rejection BY_REJECTION = {.n_in = 1, .attempt = attempt, .quantile = draw_quantile};

static void draw (const Philox *g, uint64_t first, size_t n, const double *const in[],
                  double *out) {
  const double *loc = in[0];
  double u[REJECTION_BLOCK], v[REJECTION_BLOCK];
  noise_uniform(g, 0, first, n, u);
  noise_uniform(g, 1, first, n, v);
  EVERY for (size_t i = 0; i < n; i++) out[i] = (double) NAN;
  rejection(&BY_REJECTION, g, RETRY, first, n, in + 1, u, v, out);
  EVERY for (size_t i = 0; i < n; i++) out[i] += loc[i];
}

/* }====================================================== */


const Kernel perilune_vonmises[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 3, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 3, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 3, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 3, .slow = 1, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 3, .slow = 1, .value = isf,      .partials = isf_partials},
  {.name = "variance", .n_in = 2, .value = variance, .partials = variance_partials},
  {.name = "entropy",  .n_in = 2, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample", .n_in = 3, .partials = draw_partials,
   .sampler = &(const Sampler) {.draw = draw}},
  {.name = NULL}
};
