/*
** incbeta_parts.h - what the files of the incomplete beta function share
**
** A tail is D F: D = x^a y^b / B(a,b), y = 1 - x, carries the size, with its
** exponent as a pair; F, of moderate size, is a fraction or an integral.
*/
#ifndef PERILUNE_INCBETA_PARTS_H
#define PERILUNE_INCBETA_PARTS_H

#include "special/pair.h"


/*
** x, y: a point and its complement, exactly x + y = 1
** lambda = a y - b x
*/
typedef struct Point {
  double a, b;
  Pair x, y, lambda;
} Point;

/*
** A tail probability mantissa * exp(exponent), upper (1 - I) or lower (I).
** slope = D/tail, the rate |d log tail / d logit x|
*/
typedef struct BetaTail {
  int upper;
  double mantissa;
  Pair exponent;
  double slope;
} BetaTail;

/* F = half sum, dF/da = half sum_a, dF/db = half sum_b */
typedef struct Integral { double half, sum, sum_a, sum_b; } Integral;


/* 1 - x, exactly, for 0 <= x <= 1 */
static inline Pair complement (double x) {
  return exact_sum(1.0, -x);
}

static inline Point point_at (double a, double b, double x, double y) {
  Point s = {.a = a, .b = b, .x = {x, 0.0}, .y = {y, 0.0}};
  if (x <= y)
    s.y = complement(x);
  else
    s.x = complement(y);
  s.lambda = pair_add(pair_scale(a, s.y), pair_scale(-b, s.x));
  return s;
}

/* the same point seen from the other end: the law of 1 - X */
static inline Point mirrored (Point s) {
  return (Point) {.a = s.b, .b = s.a, .x = s.y, .y = s.x,
                  .lambda = pair_negative(s.lambda)};
}


/* incbeta_factors.c: the exponent and the factor before it of D */

/* relative to the mode, and D at the mode; a, b > 1 */
Pair incbeta_mode_exponent (Point s);
double incbeta_mode_height (double a, double b);

/*
** a log x + log(Gamma(1+a+b)/(Gamma(1+a) Gamma(1+b))), of the order of a for
** small a: D = a b/(a+b) y^b times the exponential of this; a <= 1
*/
Pair incbeta_small_exponent (double a, double b, double x);

/* log y, from x where y is near 1 */
Pair incbeta_log_y (Point s);

/* F of the lower tail by a continued fraction, for x below the mean */
double incbeta_fraction (Point s);

/* incbeta_integral.c: F of the lower tail by quadrature, for a > 1; and with its derivatives */
double incbeta_integral (Point s);
Integral incbeta_integral_partials (Point s);

/* incbeta.c: the smaller tail, or nearly, inside the domain; its value and logarithm */
BetaTail incbeta_tail (double a, double b, double x, double y);
double incbeta_tail_value (BetaTail t);
double incbeta_tail_log (BetaTail t);

/* outside the domain, or both shapes 0 or infinite */
int incbeta_is_invalid (double a, double b, double x);

#endif
