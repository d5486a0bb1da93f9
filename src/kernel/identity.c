/*
** identity.c - elements as they are, for copies that have a gradient
*/
#include <string.h>

#include "kernel/kernel.h"
#include "special/vector.h"


static void identity (size_t n, const double *const in[], double *out) {
  memcpy(out, in[0], n * sizeof *out);
}

static void identity_partials (size_t n, const double *const in[], double *const d[]) {
  (void)in;
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = 1;
}


const Kernel perilune_identity[] = {
  {.name = "identity", .n_in = 1, .value = identity, .partials = identity_partials},
  {.name = NULL}
};
