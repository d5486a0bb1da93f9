/*
** arithmetic.c - the operators of Lua, and what stands beside them
*/
#include <math.h>

#include "kernel/kernel.h"
#include "special/vmath.h"
#include "special/vpow.h"


static void fill (size_t n, double *out, double value) {
  EACH (i, n) out[i] = value;
}


static void add (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EACH (i, n) out[i] = x[i] + y[i];
}

static void add_partials (size_t n, const double *const in[], double *const d[]) {
  (void)in;
  fill(n, d[0], 1);
  fill(n, d[1], 1);
}


static void sub (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EACH (i, n) out[i] = x[i] - y[i];
}

static void sub_partials (size_t n, const double *const in[], double *const d[]) {
  (void)in;
  fill(n, d[0], 1);
  fill(n, d[1], -1);
}


static void mul (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EACH (i, n) out[i] = x[i] * y[i];
}

static void mul_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *y = in[1];
  EACH (i, n) d[0][i] = y[i];
  EACH (i, n) d[1][i] = x[i];
}


static void mul_first (size_t n, const double *const in[], double *d) {
  const double *y = in[1];
  EACH (i, n) d[i] = y[i];
}


static void divide (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EACH (i, n) out[i] = x[i] / y[i];
}

static void divide_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *y = in[1];
  EACH (i, n) d[0][i] = 1 / y[i];
  EACH (i, n) d[1][i] = -(x[i] / y[i]) / y[i];
}

static void divide_first (size_t n, const double *const in[], double *d) {
  const double *y = in[1];
  EACH (i, n) d[i] = 1 / y[i];
}


/* x - floor(x/y) y, the sign of y, as Lua's % */
static void mod (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EACH (i, n) {
    double m = fmod(x[i], y[i]);
    int opposite = ((m > 0) & (y[i] < 0)) | ((m < 0) & (y[i] > 0));
    out[i] = opposite ? m + y[i] : m;
  }
}

static void mod_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *y = in[1];
  fill(n, d[0], 1);
  EACH (i, n) d[1][i] = -floor(x[i] / y[i]);
}


static void power (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EACH (i, n) out[i] = vpow(x[i], y[i]);
}

/* y x^(y-1), 0 for y = 0;  x^y log x, 0 for x = 0 and y > 0 */
static void power_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *y = in[1];
  EACH (i, n) {
    double slope = y[i] * vpow(x[i], y[i] - 1);
    d[0][i] = y[i] == 0 ? 0 : slope;
  }
  EACH (i, n) {
    double slope = vpow(x[i], y[i]) * vlog(x[i]);
    d[1][i] = ((x[i] == 0) & (y[i] > 0)) ? 0 : slope;
  }
}


static void neg (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EACH (i, n) out[i] = -x[i];
}

static void neg_partials (size_t n, const double *const in[], double *const d[]) {
  (void)in;
  fill(n, d[0], -1);
}


static void absolute (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EACH (i, n) out[i] = fabs(x[i]);
}

static void absolute_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0];
  EACH (i, n) {
    double sign = copysign(1, x[i]);
    d[0][i] = x[i] == 0 ? 0 : sign;
  }
}


static void sign (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EACH (i, n) {
    double s = copysign(1, x[i]);
    out[i] = ((x[i] > 0) | (x[i] < 0)) ? s : x[i];   /* NaN and zeros stay */
  }
}

/* of every step function: sign, floor, ceil, round */
static void flat_partials (size_t n, const double *const in[], double *const d[]) {
  (void)in;
  fill(n, d[0], 0);
}


static void square (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EACH (i, n) out[i] = x[i] * x[i];
}

static void square_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0];
  EACH (i, n) d[0][i] = 2 * x[i];
}


static void square_root (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EACH (i, n) out[i] = sqrt(x[i]);
}

static void square_root_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0];
  EACH (i, n) d[0][i] = 0.5 / sqrt(x[i]);
}


static void reciprocal (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EACH (i, n) out[i] = 1 / x[i];
}

static void reciprocal_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0];
  EACH (i, n) d[0][i] = -1 / x[i] / x[i];
}


static void round_down (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EACH (i, n) out[i] = floor(x[i]);
}

static void round_up (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EACH (i, n) out[i] = ceil(x[i]);
}

/* to the nearest integer, ties to even */
static void round_nearest (size_t n, const double *const in[], double *out) {
  const double *x = in[0];
  EACH (i, n) {
    double magic = copysign(0x1p52, x[i]), rounded = (x[i] + magic) - magic;
    out[i] = fabs(x[i]) < 0x1p52 ? copysign(rounded, x[i]) : x[i];
  }
}


/* NaN if either is, as all that follows a NaN */
static void maximum (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EACH (i, n) {
    double larger = x[i] > y[i] ? x[i] : y[i];
    out[i] = ((x[i] != x[i]) | (y[i] != y[i])) ? x[i] + y[i] : larger;
  }
}

/* at a tie, half to each */
static void maximum_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *y = in[1];
  for (int k = 0; k < 2; k++) {
    EACH (i, n) {
      double own = k == 0 ? x[i] : y[i], other = k == 0 ? y[i] : x[i];
      d[k][i] = 0.5 * (own >= other) + 0.5 * (own > other);
    }
  }
}


static void minimum (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EACH (i, n) {
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
  {.name = "pow",        .n_in = 2, .value = power,         .partials = power_partials},
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
  {.name = NULL}
};
