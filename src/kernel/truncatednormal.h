/*
** truncatednormal.h - masses and moments of a Normal cut to [low, high]
**
**   p(x) = e^(-z^2/2) / (scale M),   M = int_a^b e^(-t^2/2) dt,   z = (x - loc)/scale
**
** a and b being the ends as z. Densities and masses are taken relative to the density at the
** mode, the r in [a, b] nearest to 0. The mass between s and t, with u nearest to 0, is
**
**   e^(-(u^2 - r^2)/2) (H(|u|, t - u) + H(|u|, u - s)),   H(c, w) = int_0^w e^(-cy - y^2/2) dy
**
** No term is negative, so either tail is right however far out the cut is. Widths are
** differences of x, not of z.
*/
#ifndef PERILUNE_TRUNCATEDNORMAL_H
#define PERILUNE_TRUNCATEDNORMAL_H

#include "special/constants.h"
#include "special/legendre.h"
#include "special/vdensity.h"
#include "special/verf.h"
#include "special/vmath.h"


/* one element's parameters; the mode as x, and r = |mode - loc|/scale */
typedef struct TruncatedLaw { double loc, scale, low, high, mode, r; } TruncatedLaw;

/* a number times e^-(hi + lo) */
typedef struct Depth { double hi, lo; } Depth;
typedef struct ScaledMass { double mass; Depth depth; } ScaledMass;
typedef struct Split { ScaledMass lower, upper; } Split;

VECTOR TruncatedLaw law_of (double loc, double scale, double low, double high) {
  double mode = clamp(loc, low, high);
  return (TruncatedLaw) {loc, scale, low, high, mode, fabs(mode - loc) / scale};
}

static inline TruncatedLaw law_at (const double *const in[], size_t i) {
  return law_of(in[0][i], in[1][i], in[2][i], in[3][i]);
}


/* (z^2 - r^2)/2 at x beyond the mode as seen from loc: d (r + d/2), d = |x - mode|/scale */
VECTOR Depth depth_at (TruncatedLaw l, double x) {
  double d = fabs(x - l.mode) / l.scale;
  Pair s = exact_sum(l.r, 0.5 * d);
  double h = d > 0 ? d * s.hi : d, rest = fma(d, s.lo, fma(d, s.hi, -h));
  return (Depth) {h, ((d > 0) & (h < 800)) ? rest : 0.0};
}

VECTOR double decay (Depth depth) {
  return exp_pair(clamp(-depth.hi, -800.0, 0.0), -depth.lo);
}

/* int_0^inf e^(-cy - y^2/2) dy, Mills' ratio */
VECTOR double mills (double c) {
  return SQRT_HALF_PI * erfcx_positive(SQRT_HALF * (c > 1e300 ? 1e300 : c));
}

/* e^(-cy - y^2/2) - 1 at y and at w - y, for exponents up to 0.3466 */
VECTOR double gauss_pair (double c, double w, double node) {
  double y = w * node, v = w - y;
  double e = -y * fma(0.5, y, c), f = -v * fma(0.5, v, c);
  return fma(e * e, exp_tail(e), e) + fma(f * f, exp_tail(f), f);
}

/* H by Gauss-Legendre with 8 points */
VECTOR double descent_short (double c, double w) {
  double sum = 0.050614268145188129576 * gauss_pair(c, w, 0.019855071751231884158);
  sum = fma(0.11119051722668723527, gauss_pair(c, w, 0.10166676129318663020), sum);
  sum = fma(0.15685332293894364367, gauss_pair(c, w, 0.23723379504183550709), sum);
  sum = fma(0.18134189168918099148, gauss_pair(c, w, 0.40828267875217509753), sum);
  return fma(w, sum, w);
}

/* H(c, w) for c >= 0, 0 <= w <= inf */
VECTOR double descent (double c, double w) {
  double depth = w * fma(0.5, w, c);
  double wide = fma(-vexp(-depth), mills(c + w), mills(c));
  return depth < 0.34 ? descent_short(c, w) : wide;
}

/* the mass between two points of [low, high] */
VECTOR ScaledMass part (TruncatedLaw l, double from, double to) {
  double u = clamp(l.loc, from, to);
  double up = (to - u) / l.scale, down = (u - from) / l.scale;
  double wide = up > down ? up : down, narrow = up > down ? down : up;
  double c = fabs(u - l.loc) / l.scale;
  return (ScaledMass) {
    .mass = fma(SQRT_HALF_PI, verf(SQRT_HALF * narrow), descent(c, wide)), .depth = depth_at(l, u)
  };
}

/* the masses on both sides of x, which is in [low, high]; at an end one of them is 0 */
VECTOR Split split (TruncatedLaw l, double x) {
  Split s = {part(l, l.low, x), part(l, x, l.high)};
  s.lower.mass = x <= l.low ? 0.0 : s.lower.mass;
  s.upper.mass = x >= l.high ? 0.0 : s.upper.mass;
  s.lower.depth.hi = x <= l.low ? 0.0 : s.lower.depth.hi;
  s.upper.depth.hi = x >= l.high ? 0.0 : s.upper.depth.hi;
  return s;
}

VECTOR double amount (ScaledMass p) { return p.mass * decay(p.depth); }

/* p(low) scale and p(high) scale: minus and plus the slopes of log M in a and b */
VECTOR double edge (TruncatedLaw l, double end, double mass) {
  double e = decay(depth_at(l, end)) / mass;
  return fabs(end) < HUGE_VAL ? e : 0.0;
}

/*
** The ends as seen from loc inside: distances in scales, their difference without cancellation, the
** density at the nearer one relative to that at loc, and side = 1 if that is the lower one.
*/
typedef struct Ends { double near, far, gap, height, side; } Ends;

VECTOR Ends ends_of (TruncatedLaw l) {
  Pair up = exact_sum(l.high, -l.loc), down = exact_sum(l.loc, -l.low);
  double rest = (up.lo - down.lo) / l.scale, gap = (up.hi - down.hi) / l.scale;
  gap = rest == rest ? gap + rest : gap;   /* no rest at infinity */
  double above = up.hi / l.scale, below = down.hi / l.scale;
  int low = gap >= 0;
  return (Ends) {
    .near = low ? below : above, .far = low ? above : below, .gap = fabs(gap),
    .height = decay(depth_at(l, low ? l.low : l.high)), .side = low ? 1.0 : -1.0
  };
}

/* z of a point, 0 at infinity, where it is always multiplied by 0 */
VECTOR double finite_z (TruncatedLaw l, double x) {
  return fabs(x) < HUGE_VAL ? (x - l.loc) / l.scale : 0.0;
}


/* {=====================================================
** Moments, by quadrature on both sides of the mode: sums of positive terms
** ====================================================== */

/* mass; mean of y, the distance from the mode in scales; variance of x; mean of (z^2 - r^2)/2 */
typedef struct TruncatedMoments { double mass, mean, variance, depth; } TruncatedMoments;

/* nodes, and densities there times the weight of the side */
typedef struct SideNodes { double y[LEGENDRE], f[LEGENDRE]; } SideNodes;

/* how far a side counts */
static inline double side_width (double c, double length) {
  double reach = c < 1e8 ? 2 * LEGENDRE_DEPTH / (c + vsqrt(fma(c, c, 2 * LEGENDRE_DEPTH)))
                         : LEGENDRE_DEPTH / c;
  return length < reach ? length : reach;
}

static inline void fill_side (SideNodes *side, double c, double width, double weight) {
  for (int i = 0; i < LEGENDRE; i++) {
    double y = width * legendre_node[i];
    side->y[i] = y;
    side->f[i] = weight * vexp(-y * fma(0.5, y, c));
  }
}

/* the integral of (unit (y - at))^power f over a side */
static inline double side_moment (const SideNodes *side, double at, int power, double unit) {
  double g[LEGENDRE];
  for (int i = 0; i < LEGENDRE; i++) {
    double y = unit * (side->y[i] - at);
    g[i] = side->f[i] * (power == 0 ? 1.0 : (power == 1 ? y : y * y));
  }
  return legendre_sum(g);
}

static inline TruncatedMoments moments (TruncatedLaw l) {
  SideNodes up, down;
  TruncatedMoments m;
  double above = side_width(l.r, (l.high - l.mode) / l.scale);
  double below = side_width(l.r, (l.mode - l.low) / l.scale), wide = above > below ? above : below;
  fill_side(&up, l.r, above, above / wide);
  fill_side(&down, l.r, below, below / wide);
  double all = side_moment(&up, 0, 0, 1) + side_moment(&down, 0, 0, 1);
  double first_up = side_moment(&up, 0, 1, 1), first_down = side_moment(&down, 0, 1, 1);
  double second = side_moment(&up, 0, 2, 1) + side_moment(&down, 0, 2, 1);
  m.mass = wide * all;
  m.mean = (first_up - first_down) / all;
  m.variance = side_moment(&up, m.mean, 2, l.scale) + side_moment(&down, -m.mean, 2, l.scale);
  m.variance /= all;
  m.depth = fma(l.r, first_up + first_down, 0.5 * second) / all;
  return m;
}

/* }====================================================== */

#endif
