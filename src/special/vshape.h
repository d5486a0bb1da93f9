/*
** vshape.h - how far two shapes of the gamma law are apart, and log Gamma at both
**
**   C(a1, a2) = f(a2) - f(a1) - f'(a1)(a2 - a1),   f(a) = log Gamma(a) - a log a + a
**
** f is convex: f(a) = mu(a) - log(a)/2 + constant with Binet's function mu. Below, the
** remainder of a function is what is left of it beyond its tangent at the first
** argument; that of -log is the excess of vratio.h. With y = 1 + a and
** w = (y2 a1)/(a2 y1),
**
**   remainder of mu at a = remainder of mu at y + d^2/(2 a1 a2 y1) - (a2 + 1/2) excess(w)
**
** so that C has the factor d^2, d = a2 - a1, in every term: it is right to the last digits
** however near the two are. The remainder of log Gamma itself is C + a2 excess(a1/a2).
*/
#ifndef PERILUNE_VSHAPE_H
#define PERILUNE_VSHAPE_H

#include "special/divided.h"
#include "special/vgamma.h"
#include "special/vmath.h"
#include "special/vratio.h"

/* mu(y) is a polynomial F in u = 1/(y + SHAPE_SHIFT) for y >= 1; its second derivative
   was fitted with 60 digits */
#define SHAPE_SHIFT 0.6875


/* where shape_near has all its digits, and far from the ends of the range */
VECTOR int shape_plain (double a1, double a2) {
  return (a1 > 0x1p-6) & (a1 < 0x1p300) & (a2 > 0x1p-6) & (a2 < 0x1p300);
}

/* F[u1, u1] + u2 F[u1, u1, u2] */
VECTOR double binet_rise (double u1, double u2) {
  Divided p = divided_start(0.0027348465211863573682);
  p = divided_step(p, u1, u2, -0.015915016760252849236);
  p = divided_step(p, u1, u2, 0.046926642839335698452);
  p = divided_step(p, u1, u2, -0.090215767472732852474);
  p = divided_step(p, u1, u2, 0.12519005045401477622);
  p = divided_step(p, u1, u2, -0.12975466007899460768);
  p = divided_step(p, u1, u2, 0.1017146246881747255);
  p = divided_step(p, u1, u2, -0.057963707729269107621);
  p = divided_step(p, u1, u2, 0.02282038876279003316);
  p = divided_step(p, u1, u2, -0.0036057544619206043);
  p = divided_step(p, u1, u2, 0.00090531099013230525523);
  p = divided_step(p, u1, u2, 0.0011727000845133166292);
  p = divided_step(p, u1, u2, 0.003269147666202611504);
  p = divided_step(p, u1, u2, 0.0045210980915836690121);
  p = divided_step(p, u1, u2, 0.006501027284778340592);
  p = divided_step(p, u1, u2, 0.011533036989217310973);
  p = divided_step(p, u1, u2, 0.021350097761663000731);
  p = divided_step(p, u1, u2, 0.03661024305391904473);
  p = divided_step(p, u1, u2, 0.057291666666678102762);
  return divided_step(p, u1, u2, 0.083333333333333333333).rise;
}

/* The remainder of mu for y >= 1 and d = y2 - y1 (divided.h). */
VECTOR double binet_remainder (double u1, double u2, double d) {
  double gap = d * u1;
  return gap * gap * u2 * binet_rise(u1, u2);
}

/* F' */
VECTOR double binet_derivative (double u) {
  double x2 = u * u, x4 = x2 * x2;
  double p = cubic(u, x2, -1.5336680470364584921,
      0.84467957110804257214, -0.30238531844480413548, 0.054696930423727147364);
  p = fma(p, x4, cubic(u, x2, -0.75352820048049839907,
      1.424004745634446157, -1.9463199011849191152, 2.0030408072642364195));
  p = fma(p, x4, cubic(u, x2, 0.010554300760619849663,
      0.0090531099013230525523, -0.0396632990811266473, 0.27384466515348039792));
  p = fma(p, x4, cubic(u, x2, 0.057665184946086554865,
      0.039006163708670043552, 0.031647686641085683085, 0.026153181329620892032));
  p = fma(p, x4, cubic(u, x2, 0.083333333333333333333,
      0.11458333333335620552, 0.10983072916175713419, 0.085400391046652002924));
  return p;
}

/* mu'(y) for y >= 1 */
VECTOR double binet_slope_above (double y) {
  double u = 1 / (y + SHAPE_SHIFT);
  return -u * u * binet_derivative(u);
}

/* C where shape_plain; d is a2 - a1, which the caller may know better */
VECTOR double shape_near (double a1, double a2, double d) {
  double y1 = 1 + a1, y2 = 1 + a2;
  double inverse = 1 / (a1 * a2 * y1), first = inverse * (a2 * y1), w = inverse * a1;
  double s1 = y1 + SHAPE_SHIFT, s2 = y2 + SHAPE_SHIFT, both = 1 / (s1 * s2);
  double step = fma(0.5 * d * d, inverse, -(a2 + 0.5) * vexcess(y2 * a1 * w, -d * w));
  double rest = binet_remainder(s2 * both, s1 * both, d);
  return fma(0.5, vexcess(a2 * first, d * first), step + rest);
}

/* mu'(a) = psi(a) - log a + 1/(2a); below 1 by the recurrence */
VECTOR double binet_slope (double a) {
  double r = 1 / a, half = a < 1 ? -0.5 : 0.5;
  double near = fma(half, r, digamma1p_near(a < 1 ? a : a - 1)) - vlog(a);
  return a < 2.25 ? near : -digamma_far(r * r);
}

/* C for all positive a1, a2. Where they are far apart mu may be taken as it is;
   near 0, f is -log a, and near infinity half of it. */
static inline double shape_wide (double a1, double a2, double d) {
  double excess = vexcess_wide(a2, a1);
  if ((a1 > 2 * a2) | (a2 > 2 * a1))
    return 0.5 * excess + (vstirlerr(a2) - vstirlerr(a1) - binet_slope(a1) * d);
  if (a1 < 0x1p-60) return excess;
  return a1 > 0x1p299 ? 0.5 * excess : shape_near(a1, a2, d);
}

/* psi(a2) - psi(a1) - log(y2/y1) */
VECTOR double digamma_rest (double a1, double a2, double d) {
  double y1 = 1 + a1, y2 = 1 + a2;
  double bent = binet_slope_above(y2) - binet_slope_above(y1);
  return d / a1 / a2 + fma(0.5, d / y1 / y2, bent);
}

/* f''(a) = psi'(a) - 1/a = 1/(a^2 y) + h(y)/y^2 with h of vgamma.h */
VECTOR double shape_curvature (double a) {
  double y = 1 + a, r = 1 / y;
  return fma(trigamma_series(1 / (y + 1)) * r, r, r / a / a);
}

#endif
