/*
** truncatednormal.c - KL(TruncatedNormal || q)
**
** To TruncatedNormal where [low1, high1] lies within the other, else infinite. With
** y = (x - mode1)/s1 the logarithm of q/p is, but for a constant,
**
**   P(y) = f y + g y^2/2,   g = (s2^2 - s1^2)/s2^2,   f = (m2 - m1)/s1 + g (mode1 - m2)/s1
**
** and with u = P - E P and the mass w of q outside of [low1, high1]
**
**   KL = log(1 + E[e^u - 1 - u]) - log(1 - w)
**
** a sum of terms that are not negative, good while u is moderate. Else, M being masses relative to
** the densities at the modes (truncatednormal.h):
**
**   KL = E (z2^2 - r2^2)/2 - E (z1^2 - r1^2)/2 + log(s2 M2/(s1 M1))
*/
#include "kernel/kernel.h"
#include "kernel/truncatednormal.h"

static const double MODERATE = 4;   /* |u|, so that e^u p falls as p does where integrals end */

/* both sides of the mode of p: y as it is signed, probabilities, and u */
enum { POINTS = 2 * LEGENDRE };
typedef struct Points { double y[POINTS], weight[POINTS], u[POINTS], mean; } Points;

/* p, q, f and g */
typedef struct Laws { TruncatedLaw p, q; double f, g; } Laws;


static Laws laws_at (const double *const in[], size_t i) {
  Laws l = {.p = law_at(in, i), .q = law_at(in + 4, i)};
  double s1 = l.p.scale, s2 = l.q.scale;
  l.g = (s2 - s1) / s2 * (1 + s1 / s2);
  l.f = fma(l.g, (l.p.mode - l.q.loc) / s1, (l.q.loc - l.p.loc) / s1);
  return l;
}

static int within (Laws l) { return (l.q.low <= l.p.low) & (l.p.high <= l.q.high); }

static double log_ratio (Laws l, double y) { return y * fma(0.5 * l.g, y, l.f); }

static void fill_points (Laws l, Points *at) {
  double total = 0;
  for (int side = 0; side < 2; side++) {
    double end = side == 0 ? l.p.high - l.p.mode : l.p.mode - l.p.low;
    double width = side_width(l.p.r, end / l.p.scale), sign = side == 0 ? 1 : -1;
    for (int i = 0; i < LEGENDRE; i++) {
      double y = width * legendre_node[i], *weight = at->weight + side * LEGENDRE + i;
      at->y[side * LEGENDRE + i] = sign * y;
      *weight = width * legendre_weight[i] * vexp(-y * fma(0.5, y, l.p.r));
      total += *weight;
    }
  }
  at->mean = 0;
  for (int i = 0; i < POINTS; i++) {
    at->weight[i] /= total;
    at->mean = fma(at->weight[i], log_ratio(l, at->y[i]), at->mean);
  }
  for (int i = 0; i < POINTS; i++) at->u[i] = log_ratio(l, at->y[i]) - at->mean;
}

/* e^u - 1 - u */
VECTOR double exp_surplus (double u) {
  double near = u * u * exp_tail(clamp(u, -0.34, 0.34));
  return fabs(u) < 0.34 ? near : vexpm1(u) - u;
}

/* -log(1 - w), from whichever of w and 1 - w is the smaller; nothing lies beyond a shared end */
static double outside_cost (Laws l) {
  double all = moments(l.q).mass;
  double below = l.q.low < l.p.low ? amount(part(l.q, l.q.low, l.p.low)) : 0;
  double above = l.p.high < l.q.high ? amount(part(l.q, l.p.high, l.q.high)) : 0;
  ScaledMass inside = part(l.q, l.p.low, l.p.high);
  if (below + above < 0.5 * all) return -vlog1p(-(below + above) / all);
  return vlog_ratio(all, inside.mass) + inside.depth.hi;
}

/* E (z2^2 - r2^2)/2, no term of which is negative */
static double mean_depth (Laws l, TruncatedMoments p) {
  double s2 = l.q.scale, beyond = (l.q.mode - l.q.loc) / s2;
  double away = fma(l.p.scale, p.mean, l.p.mode - l.q.mode) / s2, spread = sqrt(p.variance) / s2;
  return fma(beyond, away, 0.5 * fma(away, away, spread * spread));
}

static double far_apart (Laws l) {
  TruncatedMoments p = moments(l.p), q = moments(l.q);
  double scales = vlog_ratio(l.q.scale, l.p.scale) + vlog_ratio(q.mass, p.mass);
  return (mean_depth(l, p) - p.depth) + scales;
}

static double divergence (Laws l) {
  Points at;
  double sum = 0, most = 0;
  fill_points(l, &at);
  for (int i = 0; i < POINTS; i++) {
    sum = fma(at.weight[i], exp_surplus(at.u[i]), sum);
    most = fabs(at.u[i]) <= most ? most : fabs(at.u[i]);
  }
  if (!(most < MODERATE)) return far_apart(l);
  return vlog1p(sum) + outside_cost(l);
}

static int has_nan (Laws l) {
  double sum = (l.p.loc + l.p.scale) + (l.q.loc + l.q.scale);
  int ends = (l.p.low < l.p.high) & (l.q.low < l.q.high);
  return (sum != sum) | !ends;
}

static void to_truncatednormal (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) {
    Laws l = laws_at(in, i);
    if (has_nan(l)) out[i] = (double) NAN;
    else out[i] = within(l) ? divergence(l) : HUGE_VAL;
  }
}

/* p(end) (1 + u(end)) */
static double end_slope (Laws l, double end, double mean, double mass) {
  if (!(fabs(end) < HUGE_VAL)) return 0;
  double u = log_ratio(l, (end - l.p.mode) / l.p.scale) - mean;
  return edge(l.p, end, mass) / l.p.scale * (1 + u);
}

/*
** Slopes in parameters of p are covariances with -u; in those of q, differences of moments; in
** ends, densities there.
*/
static void slopes_of (Laws l, double *d) {
  Points at;
  TruncatedMoments p = moments(l.p), q = moments(l.q);
  double first = 0, second = 0, c1 = (l.p.mode - l.p.loc) / l.p.scale, s2 = l.q.scale;
  fill_points(l, &at);
  for (int i = 0; i < POINTS; i++) {
    double z = at.y[i] + c1, pull = at.weight[i] * at.u[i];
    first = fma(pull, at.y[i], first);
    second = fma(pull, z * z, second);
  }
  d[0] = -first / l.p.scale;
  d[1] = -second / l.p.scale;
  d[2] = end_slope(l, l.p.low, at.mean, p.mass);
  d[3] = -end_slope(l, l.p.high, at.mean, p.mass);
  d[4] = (fma(s2, q.mean, l.q.mode - l.p.mode) - l.p.scale * p.mean) / s2 / s2;
  d[5] = 2 * (q.depth - mean_depth(l, p)) / s2;
  d[6] = -edge(l.q, l.q.low, q.mass) / s2;
  d[7] = edge(l.q, l.q.high, q.mass) / s2;
}

static void to_truncatednormal_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    Laws l = laws_at(in, i);
    double slopes[8] = {0};
    if (within(l)) slopes_of(l, slopes);
    for (int k = 0; k < 8; k++) d[k][i] = has_nan(l) ? (double) NAN : slopes[k];
  }
}


const Kernel perilune_kl_truncatednormal[] = {
  {.name = "TruncatedNormal", .n_in = 8, .value = to_truncatednormal,
   .partials = to_truncatednormal_partials},
  {.name = NULL}
};
