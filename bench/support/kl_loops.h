/*
** kl_loops.h - divergences of Normal and of Gamma by their textbook formulas, one fused loop each
**
** Few elements are not worth a thread, nor the entrance to a parallel region.
*/
#ifndef BENCH_KL_LOOPS_H
#define BENCH_KL_LOOPS_H

#include "special/vgamma.h"
#include "special/vmath.h"

#define SHARED_FROM 16384

/* Elements first .. last-1. */
typedef void Span (size_t first, size_t last, double *const in[], double *restrict out);

static inline void share_out (Span *span, size_t n, int threads, double *const in[],
                              double *out) {
  size_t shares = (size_t)threads;
  if (threads == 1 || n < SHARED_FROM) {
    span(0, n, in, out);
    return;
  }
#pragma omp parallel for num_threads(threads)
  for (size_t t = 0; t < shares; t++) span(n * t / shares, n * (t + 1) / shares, in, out);
}

/* (r^2 + d^2 - 1)/2 - log r,  r = s1/s2,  d = (m1 - m2)/s2 */
static inline void normal_span (size_t first, size_t last, double *const in[], double *restrict out) {
  const double *m1 = in[0], *s1 = in[1], *m2 = in[2], *s2 = in[3];
#pragma omp simd
  for (size_t i = first; i < last; i++) {
    double inverse = 1 / s2[i], r = s1[i] * inverse, d = (m1[i] - m2[i]) * inverse;
    out[i] = 0.5 * (fma(r, r, d * d) - 1) - vlog(r);
  }
}

/* a2 log(b1/b2) + log G(a2)/G(a1) + (a1 - a2) psi(a1) + a1 (b2 - b1)/b1 */
static inline void gamma_span (size_t first, size_t last, double *const in[],
                               double *restrict out) {
  const double *a1 = in[0], *b1 = in[1], *a2 = in[2], *b2 = in[3];
#pragma omp simd
  for (size_t i = first; i < last; i++) {
    double lgamma1, digamma1, r = b2[i] / b1[i];
    vlgamma_digamma(a1[i], &lgamma1, &digamma1);
    out[i] = vlgamma_pos(a2[i]) - lgamma1 + (a1[i] - a2[i]) * digamma1 + a1[i] * (r - 1)
             - a2[i] * vlog(r);
  }
}

static inline void kl_normal_loop (size_t n, int threads, double *const in[], double *out) {
  share_out(normal_span, n, threads, in, out);
}

static inline void kl_gamma_loop (size_t n, int threads, double *const in[], double *out) {
  share_out(gamma_span, n, threads, in, out);
}

#endif
