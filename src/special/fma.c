/*
** fma.c - a b + c, rounded once, where there is no instruction for it
**
** C libraries are slow there (glibc, musl) or not exact (Windows). The product and the sum are
** taken apart into doubles without error, and what lies below the result's last digit is rounded
** to odd, so that the last addition rounds as if it saw everything: Boldo and Melquiond, Emulation
** of a FMA and correctly rounded sums, IEEE Trans. Computers 57 (2008). Where parts might overflow
** or underflow, 128-bit integers do the same.
*/
#include "special/fma.h"
#include "special/vector.h"

/* Between these, products and their errors are normal numbers. */
#define LEAST_FACTOR  0x1p-450
#define LARGEST_FACTOR 0x1p480
#define LARGEST_TERM 0x1p1000


typedef struct Pair { double hi, lo; } Pair;   /* hi + lo, hi being the rounded sum */

static inline Pair two_sum (double a, double b) {
  double sum = a + b, of_b = sum - a;
  return (Pair) {sum, (a - (sum - of_b)) + (b - of_b)};
}

/* x as two numbers of 26 bits */
static inline Pair halves (double x) {
  double scaled = 0x1.0000002p27 * x, hi = scaled - (scaled - x);
  return (Pair) {hi, x - hi};
}

static inline Pair two_product (double a, double b) {
  Pair x = halves(a), y = halves(b);
  double p = a * b;
  return (Pair) {p, x.lo * y.lo - (((p - x.hi * y.hi) - x.lo * y.hi) - x.hi * y.lo)};
}

/* a + b, and if that is not exact, the one of its two neighbours whose last bit is set */
static inline double sum_to_odd (double a, double b) {
  Pair s = two_sum(a, b);
  uint64_t bits = bits_of(s.hi);
  if (s.lo != 0 && (bits & 1) == 0) bits += (s.lo > 0) == (s.hi > 0) ? 1 : (uint64_t)-1;
  return double_of(bits);
}


typedef struct Wide { uint64_t hi, lo; } Wide;

static Wide product (uint64_t a, uint64_t b) {
  uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
  uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (middle & 0xffffffff);
  return (Wide) {a1 * b1 + (middle >> 32) + (other >> 32), (other << 32) | (low & 0xffffffff)};
}

static Wide shifted_left (Wide x, int by) {
  if (by >= 64) return (Wide) {x.lo << (by - 64), 0};
  if (by == 0) return x;
  return (Wide) {x.hi << by | x.lo >> (64 - by), x.lo << by};
}

/* The last bit tells whether anything was lost. */
static Wide shifted_right (Wide x, int by) {
  if (by == 0) return x;
  if (by >= 128) return (Wide) {0, (x.hi | x.lo) != 0};
  Wide lost = shifted_left(x, 128 - by);
  Wide y = by >= 64 ? (Wide) {0, x.hi >> (by - 64)} :
           (Wide) {x.hi >> by, x.hi << (64 - by) | x.lo >> by};
  y.lo |= (lost.hi | lost.lo) != 0;
  return y;
}

static int is_below (Wide x, Wide y) { return x.hi < y.hi || (x.hi == y.hi && x.lo < y.lo); }

static Wide sum_of (Wide x, Wide y) {
  uint64_t lo = x.lo + y.lo;
  return (Wide) {x.hi + y.hi + (lo < x.lo), lo};
}

static Wide difference (Wide x, Wide y) {
  return (Wide) {x.hi - y.hi - (x.lo < y.lo), x.lo - y.lo};
}

/* |x| = integer 2^exponent, x being finite */
static uint64_t integer_of (double x, int *exponent) {
  uint64_t bits = bits_of(x), m = bits & 0xfffffffffffff;
  int e = (int)(bits >> 52 & 0x7ff);
  *exponent = (e > 0 ? e : 1) - 1075;
  return e > 0 ? m | (uint64_t)1 << 52 : m;
}

/* 2^exponent x with bit 126 set, x not being 0 */
static Wide normalised (Wide x, int *exponent) {
  int by = (x.hi ? __builtin_clzll(x.hi) : 64 + __builtin_clzll(x.lo)) - 1;
  *exponent -= by;
  return by >= 0 ? shifted_left(x, by) : shifted_right(x, -by);
}

/* sign x 2^exponent, rounded to the nearest double, bit 126 of x being set */
static double rounded (uint64_t sign, Wide x, int exponent) {
  int e = exponent + 126 + 1023, drop = 126 - 52;
  if (e <= 0) drop += 1 - e, e = 0;
  Wide q = shifted_right(x, drop - 2);   /* two more bits: a half, and what is below */
  uint64_t m = q.lo >> 2, rest = q.lo & 3;
  if (e > 0) m -= (uint64_t)1 << 52;     /* a sum that carries enters the exponent as it should */
  m += (uint64_t)(rest > 2 || (rest == 2 && (m & 1)));
  uint64_t bits = ((uint64_t)e << 52) + m, infinite = (uint64_t)0x7ff << 52;
  return double_of(sign | (e >= 0x7ff || bits > infinite ? infinite : bits));
}

/* All are finite, and none is 0. */
ONE_COPY double integer_fma (double a, double b, double c) {
  int ea, eb, ec;
  uint64_t ma = integer_of(a, &ea), mb = integer_of(b, &eb), mc = integer_of(c, &ec);
  uint64_t sign = (bits_of(a) ^ bits_of(b)) & SIGN_BIT, sign_c = bits_of(c) & SIGN_BIT;
  int e = ea + eb;
  Wide p = normalised(product(ma, mb), &e), t = normalised((Wide) {0, mc}, &ec);
  if (e > ec || (e == ec && !is_below(p, t))) t = shifted_right(t, e - ec < 128 ? e - ec : 128);
  else {
    Wide smaller = shifted_right(p, ec - e < 128 ? ec - e : 128);
    uint64_t sign_p = sign;
    p = t, t = smaller, e = ec, sign = sign_c, sign_c = sign_p;
  }
  Wide s = sign == sign_c ? sum_of(p, t) : difference(p, t);
  if ((s.hi | s.lo) == 0) return 0;
  s = normalised(s, &e);
  return rounded(sign, s, e);
}

static inline int lies_within (double x, double low, double high) {
  return fabs(x) >= low && fabs(x) <= high;
}

double software_fma (double a, double b, double c) {
  if (lies_within(a, LEAST_FACTOR, LARGEST_FACTOR) && lies_within(b, LEAST_FACTOR, LARGEST_FACTOR)
      && fabs(c) <= LARGEST_TERM) {
    Pair p = two_product(a, b), low = two_sum(c, p.lo), high = two_sum(p.hi, low.hi);
    return high.hi + sum_to_odd(low.lo, high.lo);
  }
  if (a == 0 || b == 0 || a - a != 0 || b - b != 0) return a * b + c;
  if (c - c != 0) return c + c;
  return c == 0 ? a * b : integer_fma(a, b, c);
}
