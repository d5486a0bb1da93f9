/*
** decimal.c - doubles as decimal text, and back
**
** A text is m 10^e with an integer m. If m < 2^64 and |e| <= 27 it is rounded once from an
** integer of 128 bits, because 5^27 < 2^63. All others, some of a thousand in practice, are
** given to strtod as digits without a point: that reads the same in every locale.
*/
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/decimal.h"

enum {
  MOST_DIGITS  = 19,      /* that an integer of 64 bits holds */
  LONG_DIGITS  = 800,     /* no more decide how a number is rounded, but whether any follow */
  EXACT_POWER  = 22,      /* 10^22 is a double */
  LARGEST_FIVE = 27,
  HUGE_POWER   = 100000   /* stands for all exponents beyond it */
};

/* A text as it was found: m 10^power, and its significant digits for those that m has no room for. */
typedef struct Decimal {
  const char *first, *last;   /* from the first digit that is not 0 on */
  uint64_t m;
  int digits, power, cut;     /* digits in m; are others left out that are not 0? */
} Decimal;

static int is_digit (char c) { return c >= '0' && c <= '9'; }

static void take_digit (Decimal *d, const char *s, int is_fraction) {
  int digit = *s - '0';
  if (d->digits == 0 && digit == 0) {
    d->power -= is_fraction;
    return;
  }
  if (d->digits == 0) d->first = s;
  d->last = s + 1;
  if (d->digits < MOST_DIGITS) {
    d->m = 10 * d->m + (uint64_t)digit;
    d->digits++;
    d->power -= is_fraction;
  } else {
    d->cut |= digit != 0;
    d->power += !is_fraction;
  }
}

static const char *read_exponent (const char *s, const char *end, int *power) {
  const char *at = s + 1;
  int is_negative = at < end && *at == '-', value = 0;
  if (at < end && (*at == '-' || *at == '+')) at++;
  if (at == end || !is_digit(*at)) return s;
  for (; at < end && is_digit(*at); at++)
    if (value < HUGE_POWER) value = 10 * value + (*at - '0');
  *power += is_negative ? -value : value;
  return at;
}

static const char *read_digits (const char *s, const char *end, char point, Decimal *d) {
  int found = 0;
  for (; s < end && is_digit(*s); s++, found = 1) take_digit(d, s, 0);
  if (s < end && *s == point)
    for (s++; s < end && is_digit(*s); s++, found = 1) take_digit(d, s, 1);
  if (!found) return NULL;
  return s < end && (*s == 'e' || *s == 'E') ? read_exponent(s, end, &d->power) : s;
}

/* By strtod, from the digits as an integer and an exponent. */
static double slow_value (const Decimal *d, char point) {
  char text[LONG_DIGITS + 32];
  size_t n = 0;
  int power = d->power, rest = 0;
  for (const char *s = d->first; s < d->last; s++) {
    if (*s == point) continue;
    if (n < LONG_DIGITS) text[n++] = *s;
    else rest |= *s != '0';
  }
  /* power belongs to the first MOST_DIGITS of them */
  power -= (int)n - d->digits;
  if (rest) text[n++] = '1', power--;
  snprintf(text + n, sizeof text - n, "e%d", power);
  return strtod(text, NULL);
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 Wide;

/* q 2^e, a bit below q being set if something was left out; q >= 2^54 */
static double rounded (Wide q, int left_out, int e) {
  uint64_t high = (uint64_t)(q >> 64);
  int bits = high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)q);
  int drop = bits - 54;
  if (drop > 0) {
    left_out |= (q & (((Wide)1 << drop) - 1)) != 0;
    q >>= drop;
    e += drop;
  }
  uint64_t m = (uint64_t)q;                     /* 54 bits: the last one is half of a unit */
  uint64_t up = (m & 1) && (left_out || (m & 2));
  return ldexp((double)((m >> 1) + up), e + 1);
}

static double wide_value (uint64_t m, int power) {
  uint64_t five = 1;
  for (int i = abs(power); i > 0; i--) five *= 5;
  int shift = __builtin_clzll(m);
  if (power >= 0) return rounded((Wide)(m << shift) * five, 0, power - shift);
  Wide n = (Wide)(m << shift) << 63;
  return rounded(n / five, n % five != 0, power - shift - 63);
}

static int is_wide (const Decimal *d) { return !d->cut && abs(d->power) <= LARGEST_FIVE; }
#else
static double wide_value (uint64_t m, int power) { return (double)m * (double)power; }
static int is_wide (const Decimal *d) { return (void)d, 0; }
#endif

static double value_of (const Decimal *d, char point) {
  static const double ten[EXACT_POWER + 1] = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22
  };
  if (d->m == 0) return 0;
  if (!d->cut && d->m <= (uint64_t)1 << 53 && abs(d->power) <= EXACT_POWER)
    return d->power < 0 ? (double)d->m / ten[-d->power] : (double)d->m * ten[d->power];
  return is_wide(d) ? wide_value(d->m, d->power) : slow_value(d, point);
}

/* The end of a word at s in any case, or NULL. */
static const char *read_word (const char *s, const char *end, const char *word) {
  for (; *word; s++, word++)
    if (s == end || (*s | 0x20) != *word) return NULL;
  return s;
}

static const char *read_special (const char *s, const char *end, double *x) {
  const char *after = read_word(s, end, "nan");
  *x = after ? (double)NAN : (double)INFINITY;
  if (after == NULL) after = read_word(s, end, "infinity");
  return after ? after : read_word(s, end, "inf");
}

const char *decimal_read (const char *s, const char *end, char point, double *x) {
  Decimal d = {0};
  int is_negative = s < end && *s == '-';
  if (s < end && (*s == '-' || *s == '+')) s++;
  const char *after = read_digits(s, end, point, &d);
  if (after != NULL) *x = value_of(&d, point);
  else after = read_special(s, end, x);
  if (is_negative && *x == *x) *x = -*x;
  return after;
}


size_t decimal_write (double x, char point, char text[DECIMAL_ROOM]) {
  if (x != x || x - x != 0)
    return (size_t)snprintf(text, DECIMAL_ROOM, "%s", x != x ? "nan" : x > 0 ? "inf" : "-inf");
  for (int digits = 15; ; digits++) {
    double back = 0;
    size_t n = (size_t)snprintf(text, DECIMAL_ROOM, "%.*g", digits, x);
    for (size_t i = 0; i < n; i++)   /* whatever the locale has for a point */
      if (!is_digit(text[i]) && text[i] != '-' && text[i] != '+' && text[i] != 'e') text[i] = point;
    if (digits >= 17 || (decimal_read(text, text + n, point, &back) == text + n && back == x)) return n;
  }
}
