/*
** expint.h - the exponential integral E1, scaled
**
**   e1e(z) = e^z E1(z),    E1(z) = int_z^inf e^-t/t dt,    z > 0
**
** For z < 3/2 the power series E1(z) = -gamma - log z - sum_k (-z)^k/(k k!), beyond it the
** continued fraction e1e(z) = 1/(z + 1 - t), t = 1/(z + 3 - 4/(z + 5 - 9/(z + 7 - ...
*/
#ifndef PERILUNE_EXPINT_H
#define PERILUNE_EXPINT_H

#include "special/constants.h"
#include "special/vmath.h"

/* e1e, and z e1e(z) - 1, which is z times its derivative and cancels for large z */
typedef struct ExpIntegral { double value, pull; } ExpIntegral;

static inline ExpIntegral exp_integral_series (double z) {
  double sum = 0, term = 1;
  for (int k = 1; k < 26; k++) {
    term *= -z / k;
    sum -= term / k;
  }
  double value = vexp(z) * (sum - EULER_GAMMA - vlog(z));
  return (ExpIntegral) {value, z == 0 ? -1 : fma(z, value, -1)};
}

static inline ExpIntegral exp_integral_fraction (double z) {
  double tail = 0;
  for (int k = 70; k > 0; k--) tail = (double)(k * k) / (z + (2 * k + 1) - tail);
  return (ExpIntegral) {1 / (z + 1 - tail), z < HUGE_VAL ? -(1 - tail) / (z + 1 - tail) : 0};
}

static inline ExpIntegral exp_integral (double z) {
  if (!(z >= 0)) return (ExpIntegral) {NAN, NAN};
  return z < 1.5 ? exp_integral_series(z) : exp_integral_fraction(z);
}

#endif
