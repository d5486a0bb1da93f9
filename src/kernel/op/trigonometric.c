/*
** trigonometric.c - sine, cosine, tangent and arc tangent
**
** The vector functions give NaN for huge arguments, which need a reduction
** with many digits of pi; these few are then computed one by one.
*/
#include "kernel/kernel.h"
#include "special/vtrig.h"


/* out = vector(x), or any(x) where that gave no number */
static void mend (size_t n, const double *x, double *out, double (*any) (double)) {
  uint64_t odd = 0;
  for (size_t i = 0; i < n; i++) odd |= out[i] != out[i];
  for (size_t i = 0; odd && i < n; i++)
    if (out[i] != out[i]) out[i] = any(x[i]);
}

/*@ peri.sin(x) -> number or Tensor
 * The sine of x, in radians.
 * > sin(1)
 * 0.8414709848079 */
static void sine (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vsin(in[0][i]);
  mend(n, in[0], out, sin_any);
}

/*@ peri.cos(x) -> number or Tensor
 * The cosine of x, in radians.
 * > cos(1)
 * 0.54030230586814 */
static void cosine (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vcos(in[0][i]);
  mend(n, in[0], out, cos_any);
}

static void sine_partials (size_t n, const double *const in[], double *const d[]) {
  cosine(n, in, d[0]);
}

static void cosine_partials (size_t n, const double *const in[], double *const d[]) {
  sine(n, in, d[0]);
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = -d[0][i];
}


static double tan_any (double x) { return sin_any(x) / cos_any(x); }

/*@ peri.tan(x) -> number or Tensor
 * The tangent of x, in radians.
 * > tan(1)
 * 1.5574077246549 */
static void tangent (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vsin(in[0][i]) / vcos(in[0][i]);
  mend(n, in[0], out, tan_any);
}

static void tangent_partials (size_t n, const double *const in[], double *const d[]) {
  cosine(n, in, d[0]);
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = 1 / (d[0][i] * d[0][i]);
}


/*@ peri.atan(x) -> number or Tensor
 * The arc tangent of x, in radians between -pi/2 and pi/2.
 * > atan(1)
 * 0.78539816339745 */
static void arc_tangent (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vatan(in[0][i]);
}

static void arc_tangent_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = 1 / fma(in[0][i], in[0][i], 1);
}


const Kernel perilune_op_trigonometric[] = {
  {.name = "sin",  .n_in = 1, .value = sine,        .partials = sine_partials},
  {.name = "cos",  .n_in = 1, .value = cosine,      .partials = cosine_partials},
  {.name = "tan",  .n_in = 1, .value = tangent,     .partials = tangent_partials},
  {.name = "atan", .n_in = 1, .value = arc_tangent, .partials = arc_tangent_partials},
  {.name = NULL}
};
