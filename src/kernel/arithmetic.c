/*
** arithmetic.c - a b + c in three ways, for the check when the module opens (host/arithmetic.c)
*/
#include "kernel/kernel.h"
#include "special/vector.h"


static void plain (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = in[0][i] * in[1][i] + in[2][i];
}

static void fused (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = fma(in[0][i], in[1][i], in[2][i]);
}

static void software (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = software_fma(in[0][i], in[1][i], in[2][i]);
}


const Kernel perilune_arithmetic[] = {
  {.name = "plain",    .n_in = 3, .value = plain},
  {.name = "fused",    .n_in = 3, .value = fused},
  {.name = "software", .n_in = 3, .value = software},
  {.name = NULL}
};
