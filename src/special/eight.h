/*
** eight.h - eight doubles in registers
**
** Compilers keep sums that are under way in several arrays in memory, or work on them one by one;
** Eights they keep in vector registers. Each lane is what a double alone would be, on every
** machine. An Eight is passed by its address: how vectors go by value depends on the
** instruction set.
*/
#ifndef PERILUNE_EIGHT_H
#define PERILUNE_EIGHT_H

#include "special/vector.h"

typedef double Four __attribute__((vector_size(32)));
typedef double FourAnywhere __attribute__((vector_size(32), aligned(8), may_alias));

typedef struct Eight { Four low, high; } Eight;


VECTOR void eight_load (Eight *s, const double *x) {
  s->low = *(const FourAnywhere *)x;
  s->high = *(const FourAnywhere *)(x + 4);
}

VECTOR void eight_store (const Eight *s, double *x) {
  *(FourAnywhere *)x = s->low;
  *(FourAnywhere *)(x + 4) = s->high;
}

VECTOR void four_subtract (Four *s, double a, const Four *x) {
  *s = (Four) {fma(a, -(*x)[0], (*s)[0]), fma(a, -(*x)[1], (*s)[1]),
               fma(a, -(*x)[2], (*s)[2]), fma(a, -(*x)[3], (*s)[3])};
}

/* s -= a x, fused */
VECTOR void eight_subtract (Eight *s, double a, const Eight *x) {
  four_subtract(&s->low, a, &x->low);
  four_subtract(&s->high, a, &x->high);
}

VECTOR void four_add (Four *s, double a, const Four *x) {
  *s = (Four) {fma(a, (*x)[0], (*s)[0]), fma(a, (*x)[1], (*s)[1]),
               fma(a, (*x)[2], (*s)[2]), fma(a, (*x)[3], (*s)[3])};
}

/* s += a x, fused */
VECTOR void eight_add (Eight *s, double a, const Eight *x) {
  four_add(&s->low, a, &x->low);
  four_add(&s->high, a, &x->high);
}

VECTOR void eight_multiply (Eight *s, double a) {
  s->low *= a;
  s->high *= a;
}

VECTOR void eight_divide (Eight *s, double a) {
  s->low /= a;
  s->high /= a;
}

#endif
