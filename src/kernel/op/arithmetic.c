/*
** arithmetic.c - the operators of Lua, and other arithmetic
*/
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"
#include "kernel/repeated.h"
#include "special/vhypot.h"
#include "special/vmath.h"
#include "special/vpow.h"


static void fill (size_t n, double *out, double value) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = value;
}


/*@ peri.add(x, y) -> number or Tensor
 * x + y, as the operator.
 * > add({ 1, 2 }, 10)
 * Tensor(2)
 *   11  12 */
static void add (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = x[i] + y[i];
}

static void add_partials (size_t n, const double *const in[], double *const d[]) {
  (void)in;
  fill(n, d[0], 1);
  fill(n, d[1], 1);
}


/*@ peri.sub(x, y) -> number or Tensor
 * x - y, as the operator.
 * > sub(3, 1)
 * 2.0 */
static void sub (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = x[i] - y[i];
}

static void sub_partials (size_t n, const double *const in[], double *const d[]) {
  (void)in;
  fill(n, d[0], 1);
  fill(n, d[1], -1);
}


/*@ peri.mul(x, y) -> number or Tensor
 * x times y, as the operator.
 * > mul({ 1, 2 }, { 3, 4 })
 * Tensor(2)
 *   3  8 */
static void mul (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = x[i] * y[i];
}

static void mul_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *y = in[1];
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = y[i];
  EVERY for (size_t i = 0; i < n; i++) d[1][i] = x[i];
}


static void mul_first (size_t n, const double *const in[], double *d) {
  const double *y = in[1];
  EVERY for (size_t i = 0; i < n; i++) d[i] = y[i];
}


/*@ peri.div(x, y) -> number or Tensor
 * x / y, as the operator.
 * > div({ 2, 4 }, 2)
 * Tensor(2)
 *   1  2 */
static void divide (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = x[i] / y[i];
}

static void divide_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *y = in[1];
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = 1 / y[i];
  EVERY for (size_t i = 0; i < n; i++) d[1][i] = -(x[i] / y[i]) / y[i];
}

static void divide_first (size_t n, const double *const in[], double *d) {
  const double *y = in[1];
  EVERY for (size_t i = 0; i < n; i++) d[i] = 1 / y[i];
}


/*@ peri.mod(x, y) -> number or Tensor
 * The remainder x - floor(x/y) y, with the sign of y, as Lua's operator %.
 * > mod(-1, 3)
 * 2.0 */
/* x - floor(x/y) y, the sign of y, as Lua's % */
static void mod (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double m = fmod(x[i], y[i]);
    int opposite = ((m > 0) & (y[i] < 0)) | ((m < 0) & (y[i] > 0));
    out[i] = opposite ? m + y[i] : m;
  }
}

static void mod_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *y = in[1];
  fill(n, d[0], 1);
  EVERY for (size_t i = 0; i < n; i++) d[1][i] = -floor(x[i] / y[i]);
}


/* x^(1/2): adding 0 makes -0 into 0 */
VECTOR double root_at (double x) { return x == -HUGE_VAL ? HUGE_VAL : sqrt(x) + 0.0; }

/*
** Small integer powers, within a unit of the last digit: x^2 = p + e, and 1/x = q (1 + r), are
** exact. Where p is 0 or infinite, so is the power.
*/
VECTOR double cube_at (double x) {
  double p = x * x, low = fma(x, x, -p) * x;
  return fma(p, x, p < HUGE_VAL ? low : 0.0);
}

VECTOR double fourth_at (double x) {
  double p = x * x, low = 2 * p * fma(x, x, -p);
  return fma(p, p, p < HUGE_VAL ? low : 0.0);
}

VECTOR double inverse_square_at (double x) {
  double q = 1 / x, r = fma(-x, q, 1.0), p = q * q, low = fma(2 * r, p, fma(q, q, -p));
  return ((p > 0) & (p < HUGE_VAL)) ? p + low : p;
}

VECTOR double inverse_cube_at (double x) {
  double q = 1 / x, r = fma(-x, q, 1.0), p = q * q, low = fma(3 * r, p, fma(q, q, -p)) * q;
  return ((p > 0) & (p < HUGE_VAL)) ? fma(p, q, low) : p * q;
}

/* squares, roots, reciprocals and x itself are exactly rounded, whatever else is in the block */
VECTOR double power_at (double x, double y) {
  double general = vpow(x, y), root = root_at(x);
  double plain = y == 2 ? x * x : y == -1 ? 1 / x : y == 1 ? x : root;
  double positive = y == 3 ? cube_at(x) : fourth_at(x);
  double negative = y == -2 ? inverse_square_at(x) : inverse_cube_at(x);
  double other = ((y == 3) | (y == 4)) ? positive : ((y == -2) | (y == -3)) ? negative : general;
  return ((y == 2) | (y == -1) | (y == 1) | (y == 0.5)) ? plain : other;
}

/* of a constant exponent, the same without computing the general form; is it such a one? */
static int plain_power (size_t n, const double *x, double y, double *out) {
  if (y == 2) EVERY for (size_t i = 0; i < n; i++) out[i] = x[i] * x[i];
  else if (y == -1) EVERY for (size_t i = 0; i < n; i++) out[i] = 1 / x[i];
  else if (y == 0.5) EVERY for (size_t i = 0; i < n; i++) out[i] = root_at(x[i]);
  else if (y == 1) memcpy(out, x, n * sizeof *out);
  else if (y == 3) EVERY for (size_t i = 0; i < n; i++) out[i] = cube_at(x[i]);
  else if (y == 4) EVERY for (size_t i = 0; i < n; i++) out[i] = fourth_at(x[i]);
  else if (y == -2) EVERY for (size_t i = 0; i < n; i++) out[i] = inverse_square_at(x[i]);
  else if (y == -3) EVERY for (size_t i = 0; i < n; i++) out[i] = inverse_cube_at(x[i]);
  else return 0;
  return 1;
}

/*@ peri.pow(x, y) -> number or Tensor
 * x to the power y, as the operator ^. Exponents 2, 3, 4, -1, -2, -3 and 0.5 cost no more than
 * products, quotients and roots.
 * > pow(2, { 1, 2, 10 })
 * Tensor(3)
 *      2     4  1024 */
static void power (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  if (!all_same(n, y)) EVERY for (size_t i = 0; i < n; i++) out[i] = power_at(x[i], y[i]);
  else if (!plain_power(n, x, y[0], out))
    EVERY for (size_t i = 0; i < n; i++) out[i] = vpow(x[i], y[i]);
}

/* y x^(y - 1), 0 for y = 0 */
static void power_first (size_t n, const double *const in[], double *d) {
  const double *x = in[0], *y = in[1];
  int constant = all_same(n, y) && y[0] != 0;
  if (constant && plain_power(n, x, y[0] - 1, d))
    EVERY for (size_t i = 0; i < n; i++) d[i] *= y[0];
  else if (constant)
    EVERY for (size_t i = 0; i < n; i++) d[i] = y[i] * vpow(x[i], y[i] - 1);
  else EVERY for (size_t i = 0; i < n; i++) {
    double slope = y[i] * power_at(x[i], y[i] - 1);
    d[i] = y[i] == 0 ? 0 : slope;
  }
}

/* and x^y log x, 0 for x = 0 and y > 0 */
static void power_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *y = in[1];
  power_first(n, in, d[0]);
  EVERY for (size_t i = 0; i < n; i++) {
    double slope = power_at(x[i], y[i]) * vlog(x[i]);
    d[1][i] = ((x[i] == 0) & (y[i] > 0)) ? 0 : slope;
  }
}


/*@ peri.neg(x) -> number or Tensor
 * -x.
 * > neg({ 1, -2 })
 * Tensor(2)
 *   -1   2 */
static void neg (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EVERY for (size_t i = 0; i < n; i++) out[i] = -x[i];
}

static void neg_partials (size_t n, const double *const in[], double *const d[]) {
  (void)in;
  fill(n, d[0], -1);
}


/*@ peri.abs(x) -> number or Tensor
 * The absolute value; its derivative at 0 is 0.
 * > abs({ 3, -2 })
 * Tensor(2)
 *   3  2 */
static void absolute (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EVERY for (size_t i = 0; i < n; i++) out[i] = fabs(x[i]);
}

static void absolute_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0];
  EVERY for (size_t i = 0; i < n; i++) {
    double sign = copysign(1, x[i]);
    d[0][i] = x[i] == 0 ? 0 : sign;
  }
}


/*@ peri.sign(x) -> number or Tensor
 * -1, 0 or 1: the sign of x.
 * > sign({ -3, 0, 2 })
 * Tensor(3)
 *   -1   0   1 */
static void sign (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EVERY for (size_t i = 0; i < n; i++) {
    double s = copysign(1, x[i]);
    out[i] = ((x[i] > 0) | (x[i] < 0)) ? s : x[i];   /* NaN and zeros stay */
  }
}

/* of every step function: sign, floor, ceil, round */
static void flat_partials (size_t n, const double *const in[], double *const d[]) {
  (void)in;
  fill(n, d[0], 0);
}


/*@ peri.square(x) -> number or Tensor
 * x times x.
 * > square(3)
 * 9.0 */
static void square (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EVERY for (size_t i = 0; i < n; i++) out[i] = x[i] * x[i];
}

static void square_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0];
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = 2 * x[i];
}


/*@ peri.sqrt(x) -> number or Tensor
 * The square root; NaN below 0.
 * > sqrt(2)
 * 1.4142135623731 */
static void square_root (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EVERY for (size_t i = 0; i < n; i++) out[i] = sqrt(x[i]);
}

static void square_root_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0];
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = 0.5 / sqrt(x[i]);
}


/*@ peri.reciprocal(x) -> number or Tensor
 * 1/x.
 * > reciprocal(4)
 * 0.25 */
static void reciprocal (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EVERY for (size_t i = 0; i < n; i++) out[i] = 1 / x[i];
}

static void reciprocal_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0];
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = -1 / x[i] / x[i];
}


/*@ peri.floor(x) -> number or Tensor
 * The largest integer that is not above x.
 * > floor({ 1.5, -1.5 })
 * Tensor(2)
 *    1  -2 */
static void round_down (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EVERY for (size_t i = 0; i < n; i++) out[i] = floor(x[i]);
}

/*@ peri.ceil(x) -> number or Tensor
 * The smallest integer that is not below x.
 * > ceil({ 1.5, -1.5 })
 * Tensor(2)
 *    2  -1 */
static void round_up (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EVERY for (size_t i = 0; i < n; i++) out[i] = ceil(x[i]);
}

/*@ peri.round(x) -> number or Tensor
 * The nearest integer; of two that are equally near, the even one.
 * > round({ 0.5, 1.5, 2.4 })
 * Tensor(3)
 *   0  2  2 */
/* to the nearest integer, ties to even */
static void round_nearest (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EVERY for (size_t i = 0; i < n; i++) {
    double magic = copysign(0x1p52, x[i]), rounded = (x[i] + magic) - magic;
    out[i] = fabs(x[i]) < 0x1p52 ? copysign(rounded, x[i]) : x[i];
  }
}


/*@ peri.maximum(x, y) -> number or Tensor
 * The larger of x and y, element by element; NaN if either is. At a tie, half of the gradient
 * goes to each. (max looks for the largest element.)
 * > maximum({ 1, 5 }, 3)
 * Tensor(2)
 *   3  5 */
/* NaN if either is, as all that follows a NaN */
static void maximum (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double larger = x[i] > y[i] ? x[i] : y[i];
    out[i] = ((x[i] != x[i]) | (y[i] != y[i])) ? x[i] + y[i] : larger;
  }
}

/* at a tie, half to each */
static void maximum_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *y = in[1];
  for (int k = 0; k < 2; k++) {
    EVERY for (size_t i = 0; i < n; i++) {
      double own = k == 0 ? x[i] : y[i], other = k == 0 ? y[i] : x[i];
      d[k][i] = 0.5 * (own >= other) + 0.5 * (own > other);
    }
  }
}


/*@ peri.hypot(x, y) -> number or Tensor
 * sqrt(x^2 + y^2), without overflow on the way.
 * > hypot(3e200, 4e200)
 * 5e+200 */
static void hypotenuse (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  for (size_t i = 0; i < n; i++) {
    double h = vhypot(x[i], y[i]);
    out[i] = ((x[i] != x[i]) | (y[i] != y[i])) ? x[i] + y[i] : h;
  }
}

/* at the origin, as that of abs, 0 */
static void hypotenuse_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *y = in[1];
  double *dx = d[0], *dy = d[1];
  for (size_t i = 0; i < n; i++) {
    Legs l = scaled_legs(x[i], y[i]);
    double h = long_side(l);
    dx[i] = h == 0 ? 0.0 : x[i] / l.unit / h;
    dy[i] = h == 0 ? 0.0 : y[i] / l.unit / h;
  }
}


/*@ peri.minimum(x, y) -> number or Tensor
 * The smaller of x and y, element by element; NaN if either is.
 * > minimum({ 1, 5 }, 3)
 * Tensor(2)
 *   1  3 */
static void minimum (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double smaller = x[i] < y[i] ? x[i] : y[i];
    out[i] = ((x[i] != x[i]) | (y[i] != y[i])) ? x[i] + y[i] : smaller;
  }
}

static void minimum_partials (size_t n, const double *const in[], double *const d[]) {
  const double *const swapped[2] = {in[1], in[0]};
  maximum_partials(n, swapped, d);
}


const Kernel perilune_op_arithmetic[] = {
  {.name = "add", .n_in = 2, .value = add, .partials = add_partials,
   .shortcuts = &(const Shortcuts) {.partials_read = READ_NONE}},
  {.name = "sub", .n_in = 2, .value = sub, .partials = sub_partials,
   .shortcuts = &(const Shortcuts) {.partials_read = READ_NONE}},
  {.name = "mul", .n_in = 2, .value = mul, .partials = mul_partials,
   .shortcuts = &(const Shortcuts) {.first_partial = mul_first, .partials_read = READ_OTHERS}},
  {.name = "div", .n_in = 2, .value = divide, .partials = divide_partials,
   .shortcuts = &(const Shortcuts) {.first_partial = divide_first, .partials_read = READ_OTHERS}},
  {.name = "mod",        .n_in = 2, .value = mod,           .partials = mod_partials},
  {.name = "pow", .n_in = 2, .value = power, .partials = power_partials,
   .shortcuts = &(const Shortcuts) {.first_partial = power_first}},
  {.name = "neg", .n_in = 1, .value = neg, .partials = neg_partials,
   .shortcuts = &(const Shortcuts) {.partials_read = READ_NONE}},
  {.name = "abs",        .n_in = 1, .value = absolute,      .partials = absolute_partials},
  {.name = "sign",       .n_in = 1, .value = sign,          .partials = flat_partials},
  {.name = "square",     .n_in = 1, .value = square,        .partials = square_partials},
  {.name = "sqrt",       .n_in = 1, .value = square_root,   .partials = square_root_partials},
  {.name = "reciprocal", .n_in = 1, .value = reciprocal,    .partials = reciprocal_partials},
  {.name = "floor",      .n_in = 1, .value = round_down,    .partials = flat_partials},
  {.name = "ceil",       .n_in = 1, .value = round_up,      .partials = flat_partials},
  {.name = "round",      .n_in = 1, .value = round_nearest, .partials = flat_partials},
  {.name = "maximum",    .n_in = 2, .value = maximum,       .partials = maximum_partials},
  {.name = "minimum",    .n_in = 2, .value = minimum,       .partials = minimum_partials},
  {.name = "hypot",      .n_in = 2, .value = hypotenuse,    .partials = hypotenuse_partials},
  {.name = NULL}
};
