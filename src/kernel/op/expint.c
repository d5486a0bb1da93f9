/*
** expint.c - the exponential integral
*/
#include "kernel/kernel.h"
#include "special/expint.h"


/*@ peri.e1e(x) -> number or Tensor
 * exp(x) E1(x): the exponential integral E1, scaled so that it stays in range; for x > 0.
 * > e1e(1)
 * 0.59634736232319 */
static void e1e (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = exp_integral(in[0][i]).value;
}

static void e1e_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = exp_integral(in[0][i]).pull / in[0][i];
}


const Kernel perilune_op_expint[] = {
  {.name = "e1e", .n_in = 1, .value = e1e, .partials = e1e_partials},
  {.name = NULL}
};
