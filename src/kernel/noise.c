/*
** noise.c - the streams that samplers are made of, as kernels
*/
#include "kernel/kernel.h"
#include "random/gammas.h"
#include "random/noise.h"
#include "random/rejection.h"
#include "special/vector.h"

_Static_assert(KERNEL_DRAW_MAX <= GAMMAS_BLOCK && KERNEL_DRAW_MAX <= REJECTION_BLOCK,
               "samplers have buffers for as many elements as they are asked for");


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
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = 1;
}


const Kernel perilune_noise[] = {
  {.name = "uniform", .n_in = 1, .partials = partials,
   .sampler = &(const Sampler) {.draw = uniform}},
  {.name = "normal", .n_in = 1, .partials = partials, .sampler = &(const Sampler) {.draw = normal}},
  {.name = "exponential", .n_in = 1, .partials = partials,
   .sampler = &(const Sampler) {.draw = exponential}},
  {.name = NULL}
};
