/*
** pair.h - numbers of twice the precision, as unevaluated sums of two doubles
**
** The classical error-free steps: what a sum or a product loses by rounding is
** itself a double (Dekker 1971; Knuth, The Art of Computer Programming, 4.2.2).
*/
#ifndef PERILUNE_PAIR_H
#define PERILUNE_PAIR_H

#include "special/vector.h"


/* hi + lo, |lo| at most about an ulp of hi */
typedef struct Pair { double hi, lo; } Pair;


/* exact a + b, for |a| >= |b| or a == 0 */
VECTOR Pair fast_sum (double a, double b) {
  double s = a + b;
  return (Pair) {s, b - (s - a)};
}

/* exact a + b */
VECTOR Pair exact_sum (double a, double b) {
  double s = a + b;
  double t = s - a;
  return (Pair) {s, (a - (s - t)) + (b - t)};
}

/* exact a b */
VECTOR Pair exact_product (double a, double b) {
  double p = a * b;
  return (Pair) {p, fma(a, b, -p)};
}

VECTOR Pair pair_negative (Pair a) {
  return (Pair) {-a.hi, -a.lo};
}

VECTOR Pair pair_add (Pair a, Pair b) {
  Pair s = exact_sum(a.hi, b.hi);
  return fast_sum(s.hi, s.lo + (a.lo + b.lo));
}

/* relative error about 2^-104 */
VECTOR Pair pair_product (Pair a, Pair b) {
  Pair p = exact_product(a.hi, b.hi);
  return (Pair) {p.hi, p.lo + fma(a.hi, b.lo, a.lo * b.hi)};
}

VECTOR Pair pair_scale (double k, Pair a) {
  Pair p = exact_product(k, a.hi);
  return fast_sum(p.hi, fma(k, a.lo, p.lo));
}

/* a/b as the rounded quotient of the high parts and what it lacks, up to two ulps */
VECTOR Pair pair_ratio (Pair a, Pair b) {
  double q = a.hi / b.hi;
  double rest = fma(-q, b.hi, a.hi) + fma(-q, b.lo, a.lo);
  return (Pair) {q, rest / b.hi};
}

VECTOR Pair pair_divide (Pair a, Pair b) {
  Pair q = pair_ratio(a, b);
  return fast_sum(q.hi, q.lo);
}

/* sqrt(a), 0 for 0 */
VECTOR Pair pair_root (Pair a) {
  double r = sqrt(a.hi);
  double rest = fma(-r, r, a.hi) + a.lo;
  return fast_sum(r, r > 0 ? rest / (2 * r) : 0.0);
}

/* num/den with one division */
VECTOR Pair pair_quotient (double num, Pair den) {
  double inverse = 1.0 / den.hi;
  double s = num * inverse;
  double rest = fma(-s, den.lo, fma(-s, den.hi, num));
  return fast_sum(s, rest * inverse);
}

#endif
