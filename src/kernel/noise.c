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


/* of a draw that depends on nothing: so that it can be recorded */
static void partials (size_t n, const double *const in[], double *const d[]) {
  (void)in;
  for (size_t i = 0; i < n; i++) d[0][i] = 1;
}


const Kernel perilune_noise[] = {
  {.name = "uniform",     .n_in = 1, .draw = uniform,     .partials = partials},
  {.name = "normal",      .n_in = 1, .draw = normal,      .partials = partials},
  {.name = "exponential", .n_in = 1, .draw = exponential, .partials = partials},
  {.name = NULL}
};
