/*
** rsample_kernels.h - the kernel of a sampler that is given point by point (sided.h)
**
** To be included once by a family's file, below its `static const SidedLaw law`.
*/
#include "kernel/sided.h"


static inline void rsample (size_t n, const double *const in[], double *out) {
  pointwise_value(law.operands, n, in, out, law.from_noise);
}

static inline void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  pointwise_partials(law.operands, n, in, d, law.from_noise_slopes);
}
