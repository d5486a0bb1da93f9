/*
** extreme.h - the divergence between two laws of extremes
**
** If T is Exponential(1) where X has the law of p, and e^z T^r where it has that of q
** (T = (x/scale)^k for Weibull, e^-(x - loc)/scale for Gumbel), then
**
**   KL = (e^x - 1 - x) + (r - 1 - log r) + Q(r),   x = z + log Gamma(1 + r)
**   Q(r) = log Gamma(1 + r) - (1 - gamma)(r - 1),  gamma being Euler's constant
**
** No term is negative: Q is what log Gamma exceeds its tangent at 2 by.
*/
#ifndef PERILUNE_KL_EXTREME_H
#define PERILUNE_KL_EXTREME_H

#include "special/constants.h"
#include "special/vgamma.h"
#include "special/vmath.h"
#include "special/vratio.h"

#define SLOPE_AT_2 0.42278433509846713939   /* psi(2) = 1 - gamma */

/* r as a quotient, e = r - 1, and z */
typedef struct Extremes { double above, below, e, z; } Extremes;

/* dKL/dz = rise = e^x - 1, dKL/dr = rise psi(1 + r) + tilt, tilt = psi(r) + gamma */
typedef struct ExtremeSlopes { double rise, psi, tilt; } ExtremeSlopes;


/* Q/e^2 for -1 <= e <= 1/2 in powers of e + 1/4, fitted with 70 digits; error 2^-57 */
VECTOR double extreme_series (double e) {
  double t = e + 0.25, x2 = t * t, x4 = x2 * x2;
  double p = 4.4800546590374924727e-8;
  p = fma(p, x4, cubic(t, x2, 2.1439605193466419084e-7,
      1.6932621188444610963e-8, -9.7581233182857395436e-9, -8.1300798252507112738e-8));
  p = fma(p, x4, cubic(t, x2, 1.8330914074734738244e-6,
      -9.2285228681690645256e-7, 5.0003300089565159545e-7, -3.9195515016861637436e-7));
  p = fma(p, x4, cubic(t, x2, 0.000022058496247171323576,
      -0.000011736635661868576479, 6.2785642490576959202e-6, -3.3991876252653703154e-6));
  p = fma(p, x4, cubic(t, x2, 0.00029450661552914031724,
      -0.00015198949613351507291, 0.000079253173198453417969, -0.000041670320404092199233));
  p = fma(p, x4, cubic(t, x2, 0.0050153103176386151607,
      -0.0023656580523497344549, 0.0011555426515890115714, -0.00057826669687519255523));
  p = fma(p, x4, cubic(t, x2, 0.34071940406609966225,
      -0.079234872296898276039, 0.027425515717848644571, -0.011217852431908202689));
  return p;
}

VECTOR double extreme_remainder (double r, double e) {
  double far = fma(-SLOPE_AT_2, e, vlgamma_pos(1 + r));
  return r < 1.5 ? e * e * extreme_series(e) : far;
}

/* e^x - 1 - x */
VECTOR double exp_excess (double x) {
  double near = x * x * exp_tail(clamp(x, -0.35, 0.35)), far = vexp(x) - (1 + x);
  double value = fabs(x) < 0.34 ? near : far;
  return x == HUGE_VAL ? x : value;
}

VECTOR double extreme_divergence (Extremes p) {
  double q = extreme_remainder(p.above / p.below, p.e);
  double x = p.z + fma(SLOPE_AT_2, p.e, q);
  double value = exp_excess(x) + (vexcess_wide(p.above, p.below) + q);
  return p.e == HUGE_VAL ? p.e : value;
}

VECTOR ExtremeSlopes extreme_slopes (Extremes p) {
  double r = p.above / p.below, q = extreme_remainder(r, p.e);
  return (ExtremeSlopes) {
    .rise = vexpm1(p.z + fma(SLOPE_AT_2, p.e, q)),
    .psi = vdigamma_pos(1 + r), .tilt = vdigamma_pos(r) + EULER_GAMMA
  };
}

#endif
