/*
** owen.c - the part of a normal tail that Owen's T function leaves
**
** The tail R(h, a) = 1/pi int_a^inf e^(-h^2 (1 + x^2)/2)/(1 + x^2) dx is integrated as it is where
** its integrand falls fast: with m = max(1, a), x = a + m y, H = m h and r = a/m
**
**   R = e^(-h^2 (1 + a^2)/2)/(pi m) int_0^inf e^(-H^2 (r y + y^2/2))/(1/m^2 + (r + y)^2) dy
**
** by a Gauss-Legendre rule, whose error is least when the poles of the denominator are far
** from the range. Else, with a <= 1 and with a > 1,
**
**   R = Phi(-h) - 2 T(h, a)   and   R = 2 T(ah, 1/a) - Phi(-ah) erf(h/sqrt(2))
**
** where T has a short range and little cancels.
*/
#include "special/constants.h"
#include "special/legendre.h"
#include "special/owen.h"
#include "special/verf.h"
#include "special/vmath.h"


/* 2 T(h, a) for 0 <= a <= 1 and h of moderate size */
static double twice_t_short (double h, double a) {
  double f[LEGENDRE];
  for (int i = 0; i < LEGENDRE; i++) {
    double x = a * legendre_node[i], w = fma(x, x, 1);
    f[i] = vexp(-0.5 * h * h * w) / w;
  }
  return INV_PI * a * legendre_sum(f);
}

/* R(h, a) e^(h^2 (1 + a^2)/2), by its integral; times m/unit */
static double tail_integral (double h, double a, double unit) {
  double f[LEGENDRE], m = a > 1 ? a : 1.0, r = a / m, square = h * m * (h * m), pole = 1 / m / m;
  double end = LEGENDRE_DEPTH / square;
  double width = 2 * end / (r + vsqrt(fma(r, r, 2 * end)));
  for (int i = 0; i < LEGENDRE; i++) {
    double y = width * legendre_node[i], x = r + y;
    f[i] = vexp(-square * y * fma(0.5, y, r)) / fma(x, x, pole);
  }
  return INV_PI / unit * width * legendre_sum(f);
}

OwenTail special_owen_tail (double h, double a) {
  double k = a * h, value;
  if (k > 1e150) return (OwenTail) {1, 0.5 * k * k};   /* beside which no mass counts */
  if (a * k * k > 1e280) return (OwenTail) {tail_integral(h, a, 1), 0.5 * k * k + vlog(a)};
  if (a > 1 ? k >= 1 : h >= 1.5)
    return (OwenTail) {tail_integral(h, a, a > 1 ? a : 1), 0.5 * k * k};
  if (a > 1) value = fma(-vndtr(-k), verf(SQRT_HALF * h), twice_t_short(k, 1 / a));
  else value = vndtr(-h) - twice_t_short(h, a);
  return (OwenTail) {value * vexp(0.5 * h * h), 0};
}
