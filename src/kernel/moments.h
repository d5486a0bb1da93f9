/*
** moments.h - moments of a family with two parameters, each with its slopes
**
** A family gives a moment and its slopes by one function of both parameters; the loops are
** written here, once (and the kernels themselves in moments_kernels.h).
*/
#ifndef PERILUNE_MOMENTS_H
#define PERILUNE_MOMENTS_H

#include "kernel/kernel.h"
#include "special/vector.h"

/* slopes in the first and the second parameter */
typedef struct Moment { double value, by_first, by_second; } Moment;

typedef Moment MomentOf (double first, double second);

/* what moments_kernels.h makes kernels of */
typedef struct Moments { MomentOf *mean, *mode, *stddev, *variance, *entropy; } Moments;


VECTOR void moment_value (size_t n, const double *const in[], double *out, MomentOf *f) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = f(in[0][i], in[1][i]).value;
}

VECTOR void moment_partials (size_t n, const double *const in[], double *const d[],
                             MomentOf *f) {
  double *first = d[0], *second = d[1];
  EVERY for (size_t i = 0; i < n; i++) {
    Moment m = f(in[0][i], in[1][i]);
    first[i] = m.by_first;
    second[i] = m.by_second;
  }
}

#endif
