/*
** vonmisesfisher.c - KL(VonMisesFisher || q)
**
** To VonMisesFisher, with the gap of bessel_gap.h for order v = d/2 - 1:
**
**   KL = gap(k1, k2) + k2 A(k1) |m1 - m2|^2/2,    |m1| = |m2| = 1
*/
#include "kernel/kernel.h"
#include "special/bessel_gap.h"


/* |m1 - m2|^2/2 */
static double half_square (size_t d, const double *m1, const double *m2) {
  double sum = 0;
  for (size_t i = 0; i < d; i++) sum = fma(m1[i] - m2[i], m1[i] - m2[i], sum);
  return 0.5 * sum;
}

static void to_vonmisesfisher (const Batch *b, double *out) {
  size_t d = b->dims[0];
  double v = 0.5 * (double)d - 1;
  for (size_t r = 0; r < b->n; r++) {
    double k1 = *event(b, 1, r), k2 = *event(b, 3, r);
    double pull = k2 * (k1 * bessel_order(v, k1).share);
    out[r] = fma(pull, half_square(d, event(b, 0, r), event(b, 2, r)), bessel_gap(v, k1, k2));
  }
}

/* with h = |m1 - m2|^2/2:  by k1: A'(k1) (k1 - k2 + k2 h);  by k2: A(k2) - A(k1) + A(k1) h */
static void to_vonmisesfisher_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t n = b->dims[0];
  double v = 0.5 * (double)n - 1;
  for (size_t r = 0; r < b->n; r++) {
    const double *m1 = event(b, 0, r), *m2 = event(b, 2, r);
    double k1 = *event(b, 1, r), k2 = *event(b, 3, r), up = upstream[r];
    BesselOrder one = bessel_order(v, k1);
    double length = k1 * one.share, half = half_square(n, m1, m2);
    EVERY for (size_t i = 0; i < n; i++) {
      d[0][r * n + i] = up * k2 * length * (m1[i] - m2[i]);
      d[2][r * n + i] = -d[0][r * n + i];
    }
    d[1][r] = up * one.slope * fma(k2, half, k1 - k2);
    d[3][r] = up * fma(length, half, bessel_ratio_gap(v, k1, k2));
  }
}


const Kernel perilune_kl_vonmisesfisher[] = {
  {.name = "VonMisesFisher", .n_in = 4,
   .rows = &(const RowKernel) {
     .signature = "(d),(),(d),()->()", .run = to_vonmisesfisher,
     .adjoint = to_vonmisesfisher_adjoint}},
  {.name = NULL}
};
