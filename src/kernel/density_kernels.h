/*
** density_kernels.h - the kernel of a density that is given point by point (sided.h)
**
** To be included once by a family's file, below its `static const SidedLaw law`, unless its
** densities are computed a block at a time.
*/
#include "kernel/sided.h"


static inline void log_prob (size_t n, const double *const in[], double *out) {
  pointwise_value(law.operands, n, in, out, law.log_density);
}

static inline void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  pointwise_partials(law.operands, n, in, d, law.log_density_slopes);
}
