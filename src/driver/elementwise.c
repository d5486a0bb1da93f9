/*
** elementwise.c - loops over blocks: values, partials, samples, predicates, noise
**
** Elements do not depend on one another, so neither the cutting into blocks
** nor the number of threads can change a bit.
*/
#include <string.h>

#include "driver/elementwise.h"


typedef struct ElementwiseJob {
  const Kernel *kernel;
  const Loop *loop;
  double *out;
  double *const *d;
  const Kernel *noise;
  const struct Philox *generator;
  uint64_t position;
} ElementwiseJob;

size_t elementwise_work (const Kernel *kernel, size_t n) {
  return !kernel->slow || n == 0 ? n : SIZE_MAX;
}

/* A slow kernel begins with one element. */
static void run (Pool *pool, size_t n, Task task, ElementwiseJob *job) {
  if (job->kernel->slow) pool_run(pool, n, 1, 1, task, job);
  else pool_run(pool, n, LOOP_GRAIN, LOOP_GRAIN, task, job);
}


static void value_range (void *data, size_t first, size_t last) {
  const ElementwiseJob *job = data;
  Blocks blocks;
  loop_start(job->loop, &blocks);
  for (size_t n; first < last; first += n) {
    n = loop_length(job->loop, first, last);
    loop_block(job->loop, first, n, &blocks);
    job->kernel->value(n, blocks.in, job->out + first);
  }
}

/* The operands of a small loop, those of one element repeated. */
static void value_of_small (const Kernel *kernel, const Loop *loop, double *out) {
  const double *in[KERNEL_MAX_IN];
  LoopBlock repeated[KERNEL_MAX_IN];
  for (int k = 0; k < loop->n; k++) {
    in[k] = loop->data[k];
    if (loop->feed[k] != FEED_CONSTANT) continue;
    for (size_t i = 0; i < loop->size; i++) repeated[k][i] = *loop->data[k];
    in[k] = repeated[k];
  }
  kernel->value(loop->size, in, out);
}

void elementwise_value (Pool *pool, const Kernel *kernel, const Loop *loop,
                        double *out) {
  if (elementwise_is_small(kernel, loop)) {
    value_of_small(kernel, loop, out);
    return;
  }
  ElementwiseJob job = {.kernel = kernel, .loop = loop, .out = out};
  run(pool, loop->size, value_range, &job);
}


static void partials_range (void *data, size_t first, size_t last) {
  const ElementwiseJob *job = data;
  double *d[KERNEL_MAX_IN];
  Blocks blocks;
  loop_start(job->loop, &blocks);
  for (size_t n; first < last; first += n) {
    n = loop_length(job->loop, first, last);
    if (n > KERNEL_DRAW_MAX) n = KERNEL_DRAW_MAX;
    loop_block(job->loop, first, n, &blocks);
    for (int k = 0; k < job->kernel->n_in; k++) d[k] = job->d[k] + first;
    job->kernel->partials(n, blocks.in, d);
  }
}

void elementwise_partials (Pool *pool, const Kernel *kernel, const Loop *loop,
                           double *const d[]) {
  ElementwiseJob job = {.kernel = kernel, .loop = loop, .d = d};
  run(pool, loop->size, partials_range, &job);
}


/* Asks for the memory of a result while there is still work to do before it
   is written. */
static void prefetch (double *out, size_t n) {
  for (size_t i = 0; i < n; i += 8) __builtin_prefetch(out + i, 1);
}

/* Draws elements first .. first+n-1, with their parameters in `params`. */
static void sample_block (const ElementwiseJob *job, const double *const params[], size_t first,
                          size_t n) {
  const double *in[1 + KERNEL_MAX_IN];
  double noise[KERNEL_DRAW_MAX];
  uint64_t at = job->position + first;
  if (job->noise == NULL) {
    job->kernel->sampler->draw(job->generator, at, n, params, job->out + first);
    return;
  }
  in[0] = noise;
  for (int k = 0; k < job->loop->n; k++) in[1 + k] = params[k];
  job->noise->sampler->draw(job->generator, at, n, NULL, noise);
  job->kernel->value(n, in, job->out + first);
}

static void sample_range (void *data, size_t first, size_t last) {
  const ElementwiseJob *job = data;
  Blocks blocks;
  loop_start(job->loop, &blocks);
  for (size_t n; first < last; first += n) {
    n = loop_length(job->loop, first, last);
    if (n > KERNEL_DRAW_MAX) n = KERNEL_DRAW_MAX;
    loop_block(job->loop, first, n, &blocks);
    prefetch(job->out + first, n);
    sample_block(job, blocks.in, first, n);
  }
}

void elementwise_sample (Pool *pool, const Kernel *kernel, const Kernel *noise,
                         const struct Philox *g, uint64_t position,
                         const Loop *loop, double *out) {
  ElementwiseJob job = {.kernel = kernel, .loop = loop, .out = out, .noise = noise,
             .generator = g, .position = position};
  run(pool, loop->size, sample_range, &job);
}


/* Of ones and zeros: any zero clears all bits. */
static bool all_true (size_t n, const double *truth) {
  uint64_t all = UINT64_MAX, one;
  for (size_t i = 0; i < n; i++) {
    memcpy(&one, &truth[i], sizeof one);
    all &= one;
  }
  return all != 0;
}

size_t elementwise_first_false (Pool *pool, const Kernel *kernel, const Loop *loop) {
  LoopBlock truth;
  Blocks blocks;
  loop_start(loop, &blocks);
  for (size_t first = 0, n; first < loop->size; first += n) {
    n = loop_length(loop, first, loop->size);
    loop_block(loop, first, n, &blocks);
    kernel->value(n, blocks.in, truth);
    if (loop_stops(pool, first, n)) break;
    if (all_true(n, truth)) continue;
    for (size_t i = 0; i < n; i++)
      if (truth[i] == 0) return first + i;
  }
  return loop->size;
}

bool elementwise_holds (Pool *pool, const Kernel *kernel, const Tensor *t) {
  LoopBlock truth;
  Loop loop;
  if (!tensor_is_contiguous(t))
    return loop_plan(&loop, 1, &t) == NULL
        && elementwise_first_false(pool, kernel, &loop) == loop.size;
  for (size_t first = 0, n; first < t->size; first += n) {
    const double *in = t->data + first;
    n = t->size - first < LOOP_BLOCK ? t->size - first : LOOP_BLOCK;
    kernel->value(n, &in, truth);
    if (!all_true(n, truth) || loop_stops(pool, first, n)) return false;
  }
  return true;
}


static void noise_range (void *data, size_t first, size_t last) {
  const ElementwiseJob *job = data;
  job->noise->sampler->draw(job->generator, job->position + first, last - first, NULL,
                            job->out + first);
}

void elementwise_noise (Pool *pool, const Kernel *noise, const struct Philox *g,
                        uint64_t position, size_t n, double *out) {
  ElementwiseJob job = {.noise = noise, .generator = g, .position = position, .out = out};
  pool_run(pool, n, POOL_ALONE, LOOP_GRAIN, noise_range, &job);
}
