/*
** vmath.h - exp, log and their relatives, for vector loops
**
** Shared reductions:
**   exp:  x = n ln 2 + r, |r| <= ln(2)/2,  e^r = 1 + r + r^2 q(r)
**   log:  x = 2^-n (1 + f), sqrt(1/2) <= 1 + f < sqrt(2),  s = f/(2 + f),
**         log(1 + f) = 2 atanh(s) = s (2 + R(s^2)) = f - s (f - R)
** Polynomials are weighted minimax fits computed with 60 digits.
*/
#ifndef PERILUNE_VMATH_H
#define PERILUNE_VMATH_H

#include "special/constants.h"
#include "special/pair.h"
#include "special/vector.h"


/* x = n ln 2 + (hi + lo); 2^n = scale1 scale2, each a normal number, and `scale` where 2^n is */
typedef struct ExpReduction { double hi, lo, scale, scale1, scale2; } ExpReduction;

/* x = 2^-n (1 + f + error); n is minus the exponent so that log1p(-0) comes out as -0 */
typedef struct LogReduction { double n, f, error; } LogReduction;


static const double LN2_HIGH = 0.69314718055966295651;  /* 41 bits: n LN2_HIGH is exact */
static const double LN2_LOW = 2.8235290563031577103e-13;


VECTOR double vsqrt (double x) {
  return sqrt(x);
}


/* {=====================================================
** Exponentials
** ====================================================== */

/*
** Adding 1.5 2^52 + 2046 rounds x/ln 2 to an integer and leaves n + 2046 in the
** low bits, whose halves are the biased exponents of the two scales.
** Needs |x| <= 1400.
*/
VECTOR ExpReduction exp_reduce (double x) {
  const double magic = 6755399441057790.0;  /* 1.5 2^52 + 2046 */
  double t = fma(x, 1.442695040888963387, magic);
  double n = t - magic;
  uint64_t b = bits_of(t);
  double high = fma(-n, LN2_HIGH, x);
  double r = fma(-n, LN2_LOW, high);
  return (ExpReduction) {
    .hi = r, .lo = fma(-n, LN2_LOW, high - r), .scale = double_of((b - 1023) << 52),
    .scale1 = double_of((b >> 1) << 52), .scale2 = double_of((b - (b >> 1)) << 52)
  };
}

/* for any x, where `scale` alone is used: it is 0 for n = -1023 and infinite for n = 1024, and
   so is e^x a little before it ceases to be a normal number */
VECTOR ExpReduction exp_reduce_normal (double x) {
  double y = x < -709.0 ? -709.0 : x;
  return exp_reduce(y > 710.0 ? 710.0 : y);
}

/* q(r) = (e^r - 1 - r)/r^2 on |r| <= 0.3466, error of r^2 q 2^-60 */
VECTOR double exp_tail (double r) {
  double r2 = r * r;
  double r4 = r2 * r2;
  double a = fma(r, 0.16666666666666679619, 0.5);
  double b = fma(r, 0.0083333333333185238834, 0.041666666666666414554);
  double c = fma(r, 0.00019841269893352598847, 0.0013888888889032919172);
  double d = fma(r, 2.755723744431757983e-6, 0.000024801587026618939684);
  double e = fma(r, 2.5111249573157108161e-8, 2.7557525032778513875e-7);
  e = fma(r2, 2.0838880706193880991e-9, e);
  return fma(r4, fma(r4, e, fma(r2, d, c)), fma(r2, b, a));
}

VECTOR double exp_from (ExpReduction e) {
  double p = 1.0 + fma(e.hi * e.hi, exp_tail(e.hi), e.hi);
  return p * e.scale1 * e.scale2;
}

VECTOR double vexp (double x) {
  return exp_from(exp_reduce(clamp(x, -750.0, 750.0)));
}

/* e^(hi + lo) with little more than half an ulp of error */
VECTOR double exp_pair (double hi, double lo) {
  ExpReduction e = exp_reduce(hi);
  Pair r = fast_sum(e.hi, e.lo + lo);
  Pair s = fast_sum(1.0, r.hi);
  double p = s.hi + fma(r.hi * r.hi, exp_tail(r.hi), s.lo + r.lo);
  return p * e.scale1 * e.scale2;
}

/* 2^n ((1 - 2^-n) + (e^r - 1)); the first part is 0 for n = 0 and at least 1/2 else */
VECTOR double expm1_from (ExpReduction e) {
  double inverse1 = double_of(0x7fe0000000000000 - bits_of(e.scale1));
  double inverse2 = double_of(0x7fe0000000000000 - bits_of(e.scale2));
  Pair s = fast_sum(1.0 - inverse1 * inverse2, e.hi);
  double p = s.hi + fma(e.hi * e.hi, exp_tail(e.hi), s.lo + e.lo);
  return p * e.scale1 * e.scale2;
}

VECTOR double vexpm1 (double x) {
  return copysign(expm1_from(exp_reduce(clamp(x, -40.0, 750.0))), x);
}

/* e^-|x| never overflows, so both tails keep their relative accuracy */
VECTOR double vsigmoid (double x) {
  double e = vexp(-fabs(x));
  return (x < 0 ? e : 1.0) / (1.0 + e);
}

/* with t = e^2|x| - 1:  t/(t + 2) near 0,  1 - 2/(t + 2) further out */
VECTOR double vtanh (double x) {
  double a = fabs(x);
  double t = expm1_from(exp_reduce(clamp(2 * a, 0.0, 80.0)));
  double far = a > 0.55 ? 1.0 : 0.0;
  double q = (a > 0.55 ? -2.0 : t) / (t + 2.0);
  return copysign(far + q, x);
}

/* }====================================================== */


/* {=====================================================
** Logarithms
** ====================================================== */

/* the bits of x moved so that the exponent field changes at sqrt(1/2) 2^k; for normal x > 0 */
VECTOR uint64_t log_bits (double x) {
  return bits_of(x) + 0x95f619980c433;
}

/* bias - exponent as a double */
VECTOR double minus_exponent (uint64_t exponent, uint64_t bias) {
  return 6755399441055744.0 - double_of(exponent - bias + 0x4338000000000000);
}

/* for positive x whose product with scale, a power of two, is normal */
VECTOR LogReduction log_reduce (double x, double scale) {
  uint64_t b = log_bits(x * scale);
  double m = double_of((b & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd);
  return (LogReduction) {
    .n = minus_exponent(b >> 52, bits_of(scale) >> 52), .f = m - 1.0, .error = 0.0
  };
}

/*
** for 1 + x instead of x, given u = 1 + x rounded: f = x 2^n - (1 - 2^n), all
** four times larger so that 2^n is a normal number. The sum is exact but for n = -1, x < 1/2.
*/
VECTOR LogReduction log1p_reduce (double x, double u) {
  uint64_t exponent = log_bits(u) >> 52;
  double scale = double_of((2048 - exponent) << 52);
  double rest = 4.0 - scale;
  double f = fma(x, scale, -rest);
  return (LogReduction) {
    .n = minus_exponent(exponent, 1023), .f = 0.25 * f, .error = 0.25 * fma(x, scale, -(f + rest))
  };
}

/* lifts subnormals to normal numbers */
VECTOR double log_scale (double x) {
  return x < 2.2250738585072014e-308 ? 18014398509481984.0 : 1.0;
}

/* R(z)/z with R = log((1 + s)/(1 - s))/s - 2, z = s^2 <= 0.02945; error of R 2^-58 */
VECTOR double log_series (double z) {
  double z2 = z * z;
  double a = fma(z, 0.39999999999414476148, 0.66666666666667340202);
  double b = fma(z, 0.2222219856628745438, 0.28571428742444371363);
  double c = fma(z, 0.15314038734500848293, 0.18183564738604546251);
  c = fma(z2, 0.14796079081327512261, c);
  return fma(z2, fma(z2, c, b), a);
}

VECTOR double log_quotient (LogReduction r) {
  return r.f / (2.0 + r.f);
}

/* the logarithm of a reduced number, by log(1 + f) = f - s (f - R) */
VECTOR double log_from (LogReduction r, double s) {
  double z = s * s;
  double t = fma(-s, fma(-z, log_series(z), r.f), fma(-r.n, LN2_LOW, r.error));
  return fma(-r.n, LN2_HIGH, r.f + t);
}

VECTOR double log_assemble (LogReduction r) {
  return log_from(r, log_quotient(r));
}

/* `value`, but the right thing where the logarithm of x is not finite */
VECTOR double log_edges (double x, double value) {
  double edge = x == 0 ? -HUGE_VAL : (double) NAN;
  value = x > 0 ? value : edge;
  return x == HUGE_VAL ? x : value;
}

VECTOR double vlog (double x) {
  return log_edges(x, log_assemble(log_reduce(x, log_scale(x))));
}

VECTOR double vlog1p (double x) {
  double u = 1.0 + x;
  return log_edges(u, log_assemble(log1p_reduce(x, u)));
}

/* log(1 + x) for 0 <= x <= 1: above sqrt(2) - 1, n = -1 and f = (x - 1)/2 */
VECTOR double log1p_unit (double x) {
  double d = x - 1.0;
  double error = x - (d + 1.0);
  int far = x > SQRT2_MINUS_1;
  return log_assemble((LogReduction) {
    .n = far ? -1.0 : 0.0, .f = far ? 0.5 * d : x, .error = far ? 0.5 * error : 0.0
  });
}

/*
** log(1 + x) - x = -n ln 2 + (f - x) - f^2/2 + s (f^2/2 + R). The first terms
** cancel, exactly so for n = 0, hence all but the last are summed with their errors.
*/
VECTOR double vlog1pmx (double x) {
  double u = 1.0 + x;
  LogReduction r = log1p_reduce(x, u);
  double s = r.f / (2.0 + r.f);
  double z = s * s;
  double half = 0.5 * r.f * r.f;
  Pair a = exact_sum(r.f, -x);
  Pair b = exact_sum(-r.n * LN2_HIGH, a.hi);
  Pair c = exact_sum(b.hi, -half);
  double errors = r.error + a.lo + b.lo + c.lo - fma(0.5 * r.f, r.f, -half);
  double low = fma(s, fma(z, log_series(z), half), fma(-r.n, LN2_LOW, errors));
  return x == HUGE_VAL ? -x : log_edges(u, c.hi + low);
}

/* x = 2^-n f with 1 <= f < 2 for x > 0; finite for every x */
VECTOR LogReduction mantissa_reduce (double x) {
  double scale = log_scale(x);
  uint64_t b = bits_of(x * scale);
  return (LogReduction) {
    .n = minus_exponent(b >> 52, bits_of(scale) >> 52),
    .f = double_of((b & 0x000fffffffffffff) | 0x3ff0000000000000), .error = 0.0
  };
}

/*
** log(a/b) = -n ln 2 + 2 atanh((a - b)/(a + b)) on mantissas brought within a
** factor sqrt(2) of each other, so that a - b is exact. Zeros, infinities and
** NaN, for which the formula gives something finite, come in by the last term.
*/
VECTOR double vlog_ratio (double a, double b) {
  LogReduction ra = mantissa_reduce(a), rb = mantissa_reduce(b);
  double above = ra.f > SQRT2 * rb.f ? 1.0 : 0.0;
  double below = rb.f > SQRT2 * ra.f ? 1.0 : 0.0;
  double n = (ra.n - rb.n) - (above - below);
  double ma = fma(below, ra.f, ra.f), mb = fma(above, rb.f, rb.f);
  Pair s = pair_quotient(ma - mb, exact_sum(ma, mb));
  Pair t = fast_sum(-n * LN2_HIGH, 2.0 * s.hi);
  double z = s.hi * s.hi;
  double low = fma(s.hi * z, log_series(z), fma(-n, LN2_LOW, fma(2.0, s.lo, t.lo)));
  return (t.hi + low) + (log_edges(a, 0.0) - log_edges(b, 0.0));
}

/* }====================================================== */


/* {=====================================================
** Both
** ====================================================== */

/* log(1 + e^x) */
VECTOR double vsoftplus (double x) {
  return (x > 0 ? x : 0.0) + log1p_unit(vexp(-fabs(x)));
}

/* log(e^a + e^b); near its zeros the absolute error stays about an ulp of 1 */
VECTOR double vlogaddexp (double a, double b) {
  double gap = a == b ? 0.0 : -fabs(a - b);
  return (a > b ? a : b) + log1p_unit(vexp(gap));
}

/*
** log(1 - e^x) for x <= 0: log of -expm1(x) near 0; further out log1p(-e^x), where the
** rounding error of 1 - e^x >= 1/2 is at most doubled by the reduction
*/
VECTOR double vlog1mexp (double x) {
  int near = x > -LN2;
  ExpReduction e = exp_reduce(clamp(x, -750.0, 1.0));
  Pair far = fast_sum(1.0, -exp_from(e));
  double u = near ? -expm1_from(e) : far.hi;
  LogReduction r = log_reduce(u, log_scale(u));
  double rest = r.n > 0 ? 2.0 * far.lo : far.lo;
  Pair f = fast_sum(r.f, near ? 0.0 : rest);
  r.f = f.hi;
  r.error = f.lo;
  return log_edges(u, log_assemble(r));
}

/* }====================================================== */

#endif
