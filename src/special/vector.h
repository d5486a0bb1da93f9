/*
** vector.h - what makes a function fit for a vector loop
**
** A VECTOR function is branch-free: it computes all cases and selects among
** them, so a loop `out[i] = vexp(x[i])` becomes SIMD code and the scalar
** remainder of the loop gives the same bits. Only +, -, *, /, sqrt, fma, floor
** and trunc are used (each exactly rounded), hence the same bits on every
** machine, provided that the compiler contracts nothing (-ffp-contract=off).
**
** One call left in a loop keeps the whole loop scalar, and compilers leave
** long functions as calls unless told otherwise: VECTOR, in the place of
** `static inline`, tells them. Without an instruction for fma every lane calls
** libm all the same, and a vector loop is larger, not faster: there VECTOR
** functions stay functions.
*/
#ifndef PERILUNE_VECTOR_H
#define PERILUNE_VECTOR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__FP_FAST_FMA)
#define VECTOR static inline __attribute__((always_inline))
#else
#define VECTOR static __attribute__((unused))
#endif

/*
** EVERY for (...): in any order, since no element reads what another one wrote. Blocks do not
** overlap (kernel.h), so gcc need not compile a loop twice, once for the case that they do. (Of
** `restrict` it heeds parameters only, and partials are written through pointers in an array.)
*/
#if defined(__GNUC__) && !defined(__clang__)
#define EVERY _Pragma("GCC ivdep")
#else
#define EVERY
#endif

/*
** for (...; i++, singly()): one after the other. Of a loop with a long body, which few need, vectors
** would take much memory.
*/
static inline void singly (void) { __asm__ volatile (""); }

/* A function of which there is one copy, not one for each constant that it is called with. */
#if defined(__GNUC__) && !defined(__clang__)
#define ONE_COPY static __attribute__((noinline, noclone))
#else
#define ONE_COPY static __attribute__((noinline))
#endif


static const uint64_t SIGN_BIT = 0x8000000000000000;


VECTOR uint64_t bits_of (double x) {
  uint64_t b;
  memcpy(&b, &x, sizeof b);
  return b;
}

VECTOR double double_of (uint64_t b) {
  double x;
  memcpy(&x, &b, sizeof x);
  return x;
}

/* slope x, and 0 where the slope is 0 though x may be infinite: slopes vanish faster than x grows.
   Where x is NaN, so is the slope. */
VECTOR double slope_times (double slope, double x) {
  return slope == 0 ? 0.0 : slope * x;
}

/* x brought into [low, high]; NaN stays. (Both tests look at x: gcc then sees two selects.) */
VECTOR double clamp (double x, double low, double high) {
  double y = x < low ? low : x;
  return x > high ? high : y;
}

/* a + b x + c x^2 + d x^3, given x^2: the step of a long polynomial */
VECTOR double cubic (double x, double x2, double a, double b, double c, double d) {
  return fma(x2, fma(x, d, c), fma(x, b, a));
}

#endif
