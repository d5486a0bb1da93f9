/*
** noise.c - the streams that samplers are made of, as kernels
*/
#include "kernel/kernel.h"
#include "random/noise.h"


static void uniform (const Philox *g, uint64_t first, size_t n,
                     const double *const in[], double *out) {
  (void)in;
  noise_uniform(g, 0, first, n, out);
}

static void normal (const Philox *g, uint64_t first, size_t n,
                    const double *const in[], double *out) {
  (void)in;
  noise_normal(g, 0, first, n, out);
}

static void exponential (const Philox *g, uint64_t first, size_t n,
                         const double *const in[], double *out) {
  (void)in;
  noise_exponential(g, 0, first, n, out);
}


const Kernel perilune_noise[] = {
  {.name = "uniform",     .n_in = 1, .draw = uniform},
  {.name = "normal",      .n_in = 1, .draw = normal},
  {.name = "exponential", .n_in = 1, .draw = exponential},
  {.name = NULL}
};
