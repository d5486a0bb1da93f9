/*
** gamma.c - Hurwitz zeta and polygamma by the Euler-Maclaurin formula
**
**   zeta(s, q) = sum_{k<N} (q + k)^-s + w^(1-s)/(s - 1) + w^-s/2
**              + sum_j B_2j/(2j)! s(s + 1)...(s + 2j - 2) w^(1-s-2j),   w = q + N
**   psi_n(x) = (-1)^(n+1) n! zeta(n + 1, x)
**
** For q < 0 and integer s the sum over all integers is periodic:
**   zeta(s, q) = zeta(s, r) + (-1)^s [zeta(s, 1 - r) - zeta(s, 1 - q)],  r = q - floor(q)
*/
#include "special/gamma.h"
#include "special/vgamma.h"
#include "special/vmath.h"
#include "special/vpow.h"


/* B_2j/(2j)!, j = 1 ... 13 */
static const double EULER_MACLAURIN[] = {
  8.3333333333333333333e-2, -1.3888888888888888889e-3, 3.3068783068783068783e-5,
  -8.2671957671957671958e-7, 2.0876756987868098979e-8, -5.2841901386874931848e-10,
  1.3382536530684678833e-11, -3.3896802963225828668e-13, 8.5860620562778445641e-15,
  -2.1748686985580618730e-16, 5.5090028283602295153e-18, -1.3954464685812523341e-19,
  3.5347070396294674717e-21
};


static int is_odd (double n) {
  return floor(0.5 * n) != 0.5 * n;
}

/*
** zeta(s, w) w^s for w >= 3s/4 + 10, where each term is below 1/12 of the last;
** the first two parts are w/(s - 1) and 1/2.
*/
static double zeta_tail (double s, double w) {
  double sum = w / (s - 1.0) + 0.5;
  double term = s / w;
  for (int j = 0; j < 13; j++) {
    double part = EULER_MACLAURIN[j] * term;
    sum += part;
    if (fabs(part) < 1e-17 * sum) break;
    term *= (s + 2 * j + 1) / w * ((s + 2 * j + 2) / w);
  }
  return sum;
}

/*
** zeta(s, q) q^s for q > 0, s > 1; terms are added until w is large or they stop counting.
** Where q + 1 may round to q they are the geometric series of e^(-s/q).
*/
static double zeta_scaled (double s, double q) {
  double least = 0.75 * s + 10.0;
  if (q > 0x1p52 && q < least) return -1.0 / vexpm1(-s / q);
  double sum = 0.0, weight = 1.0, w = q;
  while (w < least) {
    sum += weight;
    w += 1.0;
    weight = vpow(q / w, s);
    if (weight < 1e-18 * sum) return sum;
  }
  return sum + weight * zeta_tail(s, w);
}

/* the sum is of the order of q^-s for small q, of q^(1-s) for large */
static double zeta_positive (double s, double q) {
  double scaled = zeta_scaled(s, q);
  return q > 1.0 ? vpow(q, 1.0 - s) * (scaled / q) : vpow(q, -s) * scaled;
}

/* 1 - r is taken from q, where it is exact even when r rounds to 1 */
static double zeta_negative (double s, double q) {
  double r = q - floor(q);
  double above = zeta_positive(s, (floor(q) + 1.0) - q) - zeta_positive(s, 1.0 - q);
  return zeta_positive(s, r) + (is_odd(s) ? -above : above);
}

double special_zeta (double s, double q) {
  if (!(s >= 1.0) || q != q) return NAN;
  if (s == 1.0) return HUGE_VAL;
  if (q <= 0 && floor(q) == q) return HUGE_VAL;
  if (q < 0) return floor(s) == s ? zeta_negative(s, q) : (double) NAN;
  if (q == HUGE_VAL || s == HUGE_VAL) return q < 1.0 ? HUGE_VAL : (q == 1.0 ? 1.0 : 0.0);
  return zeta_positive(s, q);
}

static double factorial (double n) {
  double product = 1.0;
  for (double k = 2.0; k <= n && product < HUGE_VAL; k += 1.0) product *= k;
  return product;
}

/* n! zeta(n + 1, x), x > 0; by logarithms where a factor leaves the range of doubles */
static double factorial_zeta (double n, double x) {
  double s = n + 1.0;
  double zeta = zeta_positive(s, x);
  if (n <= 170.0 && zeta > 1e-300 && zeta < 1e300) return factorial(n) * zeta;
  return vexp((vlgamma_pos(s) - s * vlog(x)) + vlog(zeta_scaled(s, x)));
}

double special_polygamma (double n, double x) {
  if (!(n >= 0) || floor(n) != n || n == HUGE_VAL) return NAN;
  if (n == 0) return vdigamma(x);
  if (n == 1) return vtrigamma(x);
  double value;
  if (x > 0)
    value = x < HUGE_VAL ? factorial_zeta(n, x) : 0.0;
  else if (floor(x) == x)
    return is_odd(n) ? HUGE_VAL : (double) NAN;
  else
    value = factorial(n) * special_zeta(n + 1.0, x);
  return is_odd(n) ? value : -value;
}
