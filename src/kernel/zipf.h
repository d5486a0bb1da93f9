/*
** zipf.h - sums of powers of the ranks, and of their logarithms: the moments of log K for Zipf
**
** Sums are those of Euler and Maclaurin: terms up to N one by one, then
**
**   sum_(j >= N) f(j) = int_N^inf f + f(N)/2 - sum_r B_2r/(2r)! f^(2r-1)(N)
**
** with f = j^-s, j^-s log j or j^-s log^2 j, whose derivatives are j^(-s - n) times polynomials
** of log j.
*/
#ifndef PERILUNE_ZIPF_H
#define PERILUNE_ZIPF_H

#include "special/constants.h"
#include "special/vpow.h"

/* sum of j^-s, of j^-s log j and of j^-s log^2 j, from q on or up to an end */
typedef struct Powers { double sum, logs, squares; } Powers;

/* B_2r/(2r)! */
static const double ZIPF_BERNOULLI[] = {
  0.083333333333333333333, -0.0013888888888888888889, 3.3068783068783068783e-5,
  -8.2671957671957671958e-7, 2.0876756987868098979e-8, -5.2841901386874931848e-10,
  1.3382536530684678833e-11, -3.3896802963225828668e-13, 8.5860620562778445641e-15,
  -2.1748686985580618731e-16
};
enum { BERNOULLIS = sizeof ZIPF_BERNOULLI / sizeof *ZIPF_BERNOULLI };

/* f(N)/2 - ..., what differs from the integral at one end; p is f(N), in any unit */
static inline Powers correction (double s, double n, double p) {
  /* derivatives plain, a + plain l, both[0] + both[1] l + plain l^2 */
  double l = vlog(n), plain = -s / n * p, a = p / n, both[] = {0, 2 * a};
  Powers sum = {0.5 * p, 0.5 * p * l, 0.5 * p * l * l};
  for (int r = 0; r < BERNOULLIS; r++) {
    sum.sum -= ZIPF_BERNOULLI[r] * plain;
    sum.logs -= ZIPF_BERNOULLI[r] * fma(plain, l, a);
    sum.squares -= ZIPF_BERNOULLI[r] * fma(fma(plain, l, both[1]), l, both[0]);
    for (int i = 0; i < 2; i++) {   /* two more derivatives */
      double c = -(s + 2 * r + 1 + i) / n;
      both[0] = fma(c, both[0], both[1] / n);
      both[1] = fma(c, both[1], 2 * plain / n);
      a = fma(c, a, plain / n);
      plain *= c;
    }
  }
  return sum;
}

/* from where on the series above is good */
static inline double smooth_from (double s) { return fmax(16, ceil(0.5 * s)); }

/* from q on, of steps too small for it: (1 + j/q)^-s = e^(-j s/q), as far as it counts */
static inline Powers geometric_sum (double s, double q) {
  double sum = -1 / vexpm1(-s / q), l = vlog(q);
  return (Powers) {sum, sum * l, sum * l * l};
}

/* from q on, in units of q^-s */
static inline Powers sum_from (double s, double q) {
  Powers sum = {0, 0, 0};
  double from = smooth_from(s), t = s - 1, unit = q;
  if (q < from && q >= 0x1p52) return geometric_sum(s, q);
  for (; q < from; q++) {
    double p = vpow(q / unit, -s);
    sum.sum += p;
    double l = vlog(q);
    sum.logs = fma(p, l, sum.logs);
    sum.squares = fma(p * l, l, sum.squares);
    if (p * q <= 1e-18 * t * sum.sum) return sum;
  }
  double p = vpow(q / unit, -s), whole = p * q / t;
  Powers rest = correction(s, q, p);
  double l = vlog(q), logs = fma(whole, l + 1 / t, rest.logs);
  double squares = fma(whole, fma(l, l, 2 / t * (l + 1 / t)), rest.squares);
  return (Powers) {sum.sum + (whole + rest.sum), sum.logs + logs, sum.squares + squares};
}

/* zeta(s) - 1 and the sums of k^-s log k and k^-s log^2 k */
static inline Powers zeta_rest (double s) {
  Powers sum = sum_from(s, 2);
  double unit = vpow(2, -s);
  return (Powers) {unit * sum.sum, unit * sum.logs, unit * sum.squares};
}

#endif
