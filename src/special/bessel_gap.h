/*
** bessel_gap.h - how far log(x^-v I_v(x)) rises above its tangent, without cancellation
**
**   gap(v, x1, x2) = G(x2) - G(x1) - A(x1) (x2 - x1) >= 0,   G(x) = log(x^-v I_v(x)),  G' = A
**
** for Kullback-Leibler divergences between concentrations. While the two are near it is
**
**   d^2 int_0^1 (1 - t) A'(x1 + t d) dt,    d = x2 - x1
*/
#ifndef PERILUNE_BESSEL_GAP_H
#define PERILUNE_BESSEL_GAP_H

#include "special/bessel_order.h"
#include "special/legendre.h"

/* A is analytic but for the zeros of I_v, further away than this times 4 */
static inline int bessel_near (double v, double x1, double x2) {
  return fabs(x2 - x1) < 0.25 * (x1 + v + 2);
}

static inline double bessel_gap_near (double v, double x1, double x2) {
  double f[LEGENDRE], d = x2 - x1;
  for (int i = 0; i < LEGENDRE; i++)
    f[i] = (1 - legendre_node[i]) * bessel_order(v, fma(legendre_node[i], d, x1)).slope;
  return d * (d * legendre_sum(f));
}

static inline double bessel_gap (double v, double x1, double x2) {
  if (bessel_near(v, x1, x2)) return x1 == x2 ? 0 : bessel_gap_near(v, x1, x2);
  BesselOrder one = bessel_order(v, x1), two = bessel_order(v, x2);
  return fma(one.deficit, x2 - x1, two.log_scaled - one.log_scaled);
}

/* A(x2) - A(x1), its slope by x2 */
static inline double bessel_ratio_gap (double v, double x1, double x2) {
  double f[LEGENDRE], d = x2 - x1;
  if (!bessel_near(v, x1, x2)) return bessel_order(v, x1).deficit - bessel_order(v, x2).deficit;
  for (int i = 0; i < LEGENDRE; i++)
    f[i] = bessel_order(v, fma(legendre_node[i], d, x1)).slope;
  return d * legendre_sum(f);
}

#endif
