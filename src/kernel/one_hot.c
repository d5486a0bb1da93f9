/*
** one_hot.c - one_hot(index, j, n): 1 if the index, from 1 to n, is j, else 0
*/
#include <math.h>

#include "kernel/kernel.h"
#include "special/vector.h"

/* Who calls it has looked at the index; a replay may find other numbers there: NaN for those. */
static void one_hot (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *j = in[1], *count = in[2];
  EVERY for (size_t i = 0; i < n; i++) {
    int is_place = (x[i] >= 1) & (x[i] <= count[i]) & (floor(x[i]) == x[i]);
    double value = x[i] == j[i];
    out[i] = is_place ? value : (double)NAN;
  }
}

const Kernel perilune_one_hot[] = {
  {.name = "one_hot", .n_in = 3, .value = one_hot, .flat = 1},
  {.name = NULL}
};
