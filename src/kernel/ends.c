/*
** ends.c - slopes at the ends of the probabilities, for laws whose kernels work on logits
**
** ends(p, low, high) is 0, with slope `low` along p where p is 0 and `high` where it is 1;
** held(x) is x without a slope.
*/
#include "kernel/kernel.h"
#include "special/vector.h"


static void ends (size_t n, const double *const in[], double *out) {
  (void)in;
  EVERY for (size_t i = 0; i < n; i++) out[i] = 0;
}

static void ends_partials (size_t n, const double *const in[], double *const d[]) {
  const double *p = in[0], *low = in[1], *high = in[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double above = p[i] == 1 ? high[i] : 0;
    d[0][i] = p[i] == 0 ? low[i] : above;
    d[1][i] = d[2][i] = 0;
  }
}


static void held (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = in[0][i];
}


const Kernel perilune_ends[] = {
  {.name = "ends", .n_in = 3, .value = ends, .partials = ends_partials},
  {.name = "held", .n_in = 1, .flat = 1, .value = held},
  {.name = NULL}
};
