/*
** compare.c - questions about numbers: 1 for yes, 0 for no
*/
#include <math.h>

#include "kernel/kernel.h"
#include "special/vector.h"


/*@ peri.eq(x, y) -> number or Tensor
 * 1 where x = y, 0 elsewhere.
 * > eq({ 1, 2, 3 }, 2)
 * Tensor(3)
 *   0  1  0 */
static void eq (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = in[0][i] == in[1][i];
}

/*@ peri.ne(x, y) -> number or Tensor
 * 1 where x differs from y, 0 elsewhere; NaN differs from all.
 * > ne({ 1, 2, 3 }, 2)
 * Tensor(3)
 *   1  0  1 */
static void ne (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = in[0][i] != in[1][i];
}

/*@ peri.lt(x, y) -> number or Tensor
 * 1 where x < y, 0 elsewhere.
 * > lt({ 1, 2, 3 }, 2)
 * Tensor(3)
 *   1  0  0 */
static void lt (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = in[0][i] < in[1][i];
}

/*@ peri.le(x, y) -> number or Tensor
 * 1 where x <= y, 0 elsewhere.
 * > le({ 1, 2, 3 }, 2)
 * Tensor(3)
 *   1  1  0 */
static void le (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = in[0][i] <= in[1][i];
}

/*@ peri.gt(x, y) -> number or Tensor
 * 1 where x > y, 0 elsewhere.
 * > gt({ 1, 2, 3 }, 2)
 * Tensor(3)
 *   0  0  1 */
static void gt (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = in[0][i] > in[1][i];
}

/*@ peri.ge(x, y) -> number or Tensor
 * 1 where x >= y, 0 elsewhere.
 * > ge({ 1, 2, 3 }, 2)
 * Tensor(3)
 *   0  1  1 */
static void ge (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = in[0][i] >= in[1][i];
}

/*@ peri.isnan(x) -> number or Tensor
 * 1 where x is NaN, 0 elsewhere.
 * > isnan({ 1, 0/0 })
 * Tensor(2)
 *   0  1 */
static void is_nan (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = in[0][i] != in[0][i];
}

/*@ peri.isinf(x) -> number or Tensor
 * 1 where x is infinite, of either sign, 0 elsewhere.
 * > isinf({ 1, -1/0, 0/0 })
 * Tensor(3)
 *   0  1  0 */
static void is_inf (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = fabs(in[0][i]) == INFINITY;
}

/*@ peri.isfinite(x) -> number or Tensor
 * 1 where x is neither infinite nor NaN, 0 elsewhere.
 * > isfinite({ 1, -1/0, 0/0 })
 * Tensor(3)
 *   1  0  0 */
static void is_finite (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = fabs(in[0][i]) < INFINITY;
}

/*@ peri.isclose(x, y, rtol, atol) -> number or Tensor
 * 1 where |x - y| <= atol + rtol |y|, 0 elsewhere. Equal infinities are close, NaN never is.
 * (allclose says it of all elements.)
 * > isclose({ 1, 2 }, { 1.001, 2.1 }, 0.01, 0)
 * Tensor(2)
 *   1  0 */
/* |x - y| <= absolute + relative |y|; equal infinities are close, NaN never */
static void is_close (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1], *relative = in[2], *absolute = in[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double bound = absolute[i] + relative[i] * fabs(y[i]);
    int near = fabs(x[i] - y[i]) <= bound && fabs(y[i]) < INFINITY;
    out[i] = near || x[i] == y[i];
  }
}


/*@ peri.where(condition, x, y) -> number or Tensor
 * x where the condition is not 0, y elsewhere. What is not taken spoils no gradient, even if
 * it is NaN.
 * > where(gt({ 1, -2 }, 0), { 1, -2 }, 0)
 * Tensor(2)
 *   1  0 */
/* condition ? x : y; a NaN condition counts as yes, as any number but 0 */
static void where (size_t n, const double *const in[], double *out) {
  const double *condition = in[0], *x = in[1], *y = in[2];
  EVERY for (size_t i = 0; i < n; i++) out[i] = condition[i] != 0 ? x[i] : y[i];
}

static void where_partials (size_t n, const double *const in[], double *const d[]) {
  const double *condition = in[0];
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = 0;
  EVERY for (size_t i = 0; i < n; i++) d[1][i] = condition[i] != 0;
  EVERY for (size_t i = 0; i < n; i++) d[2][i] = condition[i] == 0;
}


const Kernel perilune_op_compare[] = {
  {.name = "eq",       .n_in = 2, .value = eq, .flat = 1},
  {.name = "ne",       .n_in = 2, .value = ne, .flat = 1},
  {.name = "lt",       .n_in = 2, .value = lt, .flat = 1},
  {.name = "le",       .n_in = 2, .value = le, .flat = 1},
  {.name = "gt",       .n_in = 2, .value = gt, .flat = 1},
  {.name = "ge",       .n_in = 2, .value = ge, .flat = 1},
  {.name = "isnan",    .n_in = 1, .value = is_nan, .flat = 1},
  {.name = "isinf",    .n_in = 1, .value = is_inf, .flat = 1},
  {.name = "isfinite", .n_in = 1, .value = is_finite, .flat = 1},
  {.name = "isclose",  .n_in = 4, .value = is_close, .flat = 1},
  {.name = "where",    .n_in = 3, .value = where, .partials = where_partials},
  {.name = NULL}
};
