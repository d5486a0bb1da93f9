/*
** vtrig.h - sine, cosine and arctangent, for vector loops
**
**   2 pi u:   u = q/4 + y exactly, |y| <= 1/8; polynomials in y
**   radians:  x = n pi/2 + y, pi/2 in three parts, y kept as a pair;
**             beyond 2^45 the scalar functions sin_any and cos_any multiply by
**             the bits of 2/pi that matter (Payne and Hanek, 1983)
**   atan:     |x| folded at tan(pi/8) and tan(3 pi/8) into |t| <= tan(pi/8)
** Polynomials are weighted minimax fits computed with 60 digits.
*/
#ifndef PERILUNE_VTRIG_H
#define PERILUNE_VTRIG_H

#include "special/constants.h"
#include "special/pair.h"
#include "special/vector.h"


/* above this vsin and vcos give NaN; sin_any and cos_any do not */
static const double TRIG_LIMIT = 35184372088832.0;  /* 2^45 */

/* 2/pi in words of 32 bits after the point, enough for the largest exponent */
static const uint32_t TWO_OVER_PI_BITS[39] = {
  0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
  0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c,
  0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41,
  0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
  0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
  0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08,
  0x56033046, 0xfc7b6bab, 0xf0cfbc20
};


/* sin(2 pi y), |y| <= 1/8: 2 pi y in one fma with its low part and the cubic rest, 2^-56 */
VECTOR double sin_turn (double y, double w) {
  double w2 = w * w;
  double a = fma(w, 81.605249275958513522, -41.341702240399662571);
  double b = fma(w, 42.058685054092052269, -76.705859705588196107);
  double c = fma(w, 3.7806907397882327793, -15.09380052898041491);
  double p = fma(w2, fma(w2, c, b), a);
  return fma(y, 6.283185307179586232, y * fma(w, p, 2.4492935982947064143e-16));
}

/* cos(2 pi y), |y| <= 1/8, w = y^2; 2^-55 */
VECTOR double cos_turn (double w) {
  double w2 = w * w;
  double a = fma(w, 64.939394022667983108, -19.739208802178715985);
  double b = fma(w, 60.244641328710841321, -85.456817206526096697);
  double c = fma(w, 7.9030862634954237578, -26.426250838263271703);
  c = fma(w2, -1.6967160406073384937, c);
  return fma(w, fma(w2, fma(w2, c, b), a), 1.0);
}

/* cosine, sine of y + q quarter turns from those of y; only the last two bits of q count */
VECTOR void quarter_turns (uint64_t q, double *s, double *c) {
  uint64_t odd = q & 1;
  double s0 = odd ? *c : *s;
  double c0 = odd ? *s : *c;
  *s = double_of(bits_of(s0) ^ ((q << 62) & SIGN_BIT));
  *c = double_of(bits_of(c0) ^ (((q + 1) << 62) & SIGN_BIT));
}

/* sin(2 pi u) and cos(2 pi u) for any finite u; NaN for others */
VECTOR void vsincos2pi (double u, double *s, double *c) {
  const double magic = 6755399441055744.0;  /* 1.5 2^52 */
  double r = u - trunc(u);
  double t = fma(r, 4.0, magic);
  double y = fma(t - magic, -0.25, r);
  double w = y * y;
  *s = sin_turn(y, w);
  *c = cos_turn(w);
  quarter_turns(bits_of(t), s, c);
  *s = u == 0 ? u : *s;
}


/*
** x - n pi/2. The first step is exact; the second part of pi/2 has 30 bits, so that
** for |x| < 2^23 the second step is exact in (y, lo), even where it cancels.
*/
VECTOR Pair trig_reduce (double x, uint64_t *quadrant) {
  const double magic = 6755399441055744.0;
  double t = fma(x, 0.63661977236758138243, magic);
  double n = t - magic;
  double y0 = fma(-n, 1.570796326794896558, x);
  double y = fma(-n, 6.1232339940921401925e-17, y0);
  double lo = fma(-n, 6.1232339940921401925e-17, y0 - y);
  *quadrant = bits_of(t);
  return fast_sum(y, fma(-n, 1.6446256936324257602e-26, lo));
}

/* sin(y), |y| <= 0.8, 2^-57 */
VECTOR double sin_kernel (Pair y) {
  double w = y.hi * y.hi;
  double w2 = w * w;
  double a = fma(w, 0.0083333333333202221777, -0.16666666666666624108);
  double b = fma(w, 2.7557313050535562946e-6, -0.00019841269828001600038);
  double c = fma(w, 1.5890771161344112368e-10, -2.5050655778209835812e-8);
  return y.hi + fma(w * y.hi, fma(w2, fma(w2, c, b), a), y.lo);
}

/* cos(y), |y| <= 0.8, 2^-60: 1 - w/2 with its rounding error, then the rest */
VECTOR double cos_kernel (Pair y) {
  double w = y.hi * y.hi;
  double w2 = w * w;
  double a = fma(w, -0.0013888888888871180061, 0.041666666666666581087);
  double b = fma(w, -2.7557313791833593858e-7, 0.000024801587287589465472);
  double c = fma(w, -1.1355547232898932683e-11, 2.0875645468049027791e-9);
  double p = fma(w2, fma(w2, c, b), a);
  Pair d = fast_sum(1.0, -0.5 * w);
  return d.hi + fma(w2, p, fma(-y.hi, y.lo, d.lo));
}

/* sine and cosine of x radians: within an ulp for |x| < 2^23, within 2^-52 up to 2^45 */
VECTOR void vsincos (double x, double *s, double *c) {
  uint64_t quadrant;
  Pair y = trig_reduce(fabs(x) <= TRIG_LIMIT ? x : (double) NAN, &quadrant);
  *s = sin_kernel(y);
  *c = cos_kernel(y);
  quarter_turns(quadrant, s, c);
}

VECTOR double vsin (double x) {
  double s, c;
  vsincos(x, &s, &c);
  return x == 0 ? x : s;
}

VECTOR double vcos (double x) {
  double s, c;
  vsincos(x, &s, &c);
  return c;
}


/* the fraction, in 32-bit places from the highest, that is f or, if f >= 1/2, f - 1 */
static inline Pair signed_fraction (const uint32_t place[5]) {
  uint32_t flip = place[0] >> 31 ? 0xffffffff : 0;
  double unit = flip ? -0x1p-32 : 0x1p-32;
  Pair sum = {0.0, 0.0};
  for (int i = 0; i < 5; i++, unit *= 0x1p-32) {
    Pair s = exact_sum(sum.hi, (double) (place[i] ^ flip) * unit);
    sum = (Pair) {s.hi, sum.lo + s.lo};
  }
  return sum;
}

/*
** trig_reduce for finite |x| >= 2^45. With x = m 2^e, words of 2/pi that only add
** multiples of four quadrants are skipped and the next eight (256 bits) are multiplied by m;
** the product holds the quadrant above `point` bits of fraction.
*/
static inline Pair trig_reduce_far (double x, uint64_t *quadrant) {
  uint64_t b = bits_of(x);
  int e = (int) (b >> 52 & 0x7ff) - 1075;
  uint64_t m = (b & 0x000fffffffffffff) | 0x0010000000000000;
  int first = e < 2 ? 0 : (e - 2) / 32, point = 32 * (first + 8) - e;
  uint32_t product[10] = {0}, place[5];
  for (int half = 0; half < 2; half++) {
    uint64_t carry = 0, factor = half ? m >> 32 : m & 0xffffffff;
    for (int i = 0; i < 8; i++) {
      carry += factor * TWO_OVER_PI_BITS[first + 7 - i] + product[i + half];
      product[i + half] = (uint32_t) carry;
      carry >>= 32;
    }
    product[8 + half] = (uint32_t) carry;
  }
  for (int i = 0; i < 5; i++) {
    int low = point - 32 * (i + 1);
    uint64_t two = (uint64_t) product[low / 32 + 1] << 32 | product[low / 32];
    place[i] = (uint32_t) (two >> low % 32);
  }
  uint64_t top = (uint64_t) product[point / 32 + 1] << 32 | product[point / 32];
  *quadrant = (top >> point % 32) + (place[0] >> 31);
  Pair right_angle = {1.570796326794896558, 6.1232339957367660359e-17};
  Pair y = pair_product(signed_fraction(place), right_angle);
  return fast_sum(y.hi, y.lo);
}

/* sine and cosine of any x, infinities giving NaN; not for vector loops */
static inline void sincos_any (double x, double *s, double *c) {
  uint64_t quadrant;
  vsincos(x, s, c);
  if (fabs(x) > TRIG_LIMIT && fabs(x) < HUGE_VAL) {
    Pair y = trig_reduce_far(fabs(x), &quadrant);
    *s = sin_kernel(y);
    *c = cos_kernel(y);
    quarter_turns(quadrant, s, c);
    *s = x < 0 ? -*s : *s;
  }
}

static inline double sin_any (double x) {
  double s, c;
  sincos_any(x, &s, &c);
  return x == 0 ? x : s;
}

static inline double cos_any (double x) {
  double s, c;
  sincos_any(x, &s, &c);
  return c;
}


/* (atan(t) - t)/t^3, z = t^2 <= 0.1716; 2^-59 */
VECTOR double atan_series (double z) {
  double z2 = z * z;
  double z4 = z2 * z2;
  double a = fma(z, 0.19999999999954001795, -0.33333333333333198256);
  double b = fma(z, 0.11111110785786691701, -0.14285714280241237906);
  double c = fma(z, 0.076920614599455761073, -0.090908978264707548944);
  double d = fma(z, 0.058479941412744131102, -0.066631183640567026583);
  double e = fma(z, 0.038076606415099550906, -0.050397785041558326724);
  e = fma(z2, -0.017920387857975589307, e);
  return fma(z4, fma(z4, e, fma(z2, d, c)), fma(z2, b, a));
}

/* atan x = base + atan(t), t = x, (x - 1)/(x + 1) or -1/x with base 0, pi/4, pi/2 */
VECTOR double vatan (double x) {
  double a = fabs(x);
  int far = a > 2.4142135623730950488, middle = a > SQRT2_MINUS_1;
  double num = far ? -1.0 : (middle ? a - 1.0 : a);
  double den = far ? a : (middle ? a + 1.0 : 1.0);
  double base = far ? 1.570796326794896558 : (middle ? 0.78539816339744827900 : 0.0);
  double base_low = far ? 6.1232339957367660359e-17 : (middle ? 3.0616169978683830179e-17 : 0.0);
  double t = num / den;
  double z = t * t;
  Pair h = fast_sum(base, t);
  return copysign(h.hi + fma(t * z, atan_series(z), h.lo + base_low), x);
}

#endif
