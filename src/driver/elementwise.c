/*
** elementwise.c - one loop over blocks for values, partials and samples
**
** Blocks are cut at multiples of LOOP_BLOCK whatever the number of threads,
** and elements do not depend on one another, so threads cannot change a bit.
*/
#include "driver/elementwise.h"

#define GRAIN (32 * LOOP_BLOCK)   /* elements that are worth a thread */

typedef struct Job {
  const Kernel *kernel;
  const Loop *loop;
  double *out;
  double *const *d;
  const Kernel *noise;
  const struct Philox *generator;
  uint64_t position;
} Job;

static size_t block_length (size_t first, size_t last) {
  return last - first < LOOP_BLOCK ? last - first : LOOP_BLOCK;
}


static void value_range (void *data, size_t first, size_t last) {
  const Job *job = data;
  const double *in[KERNEL_MAX_IN];
  LoopBlock scratch[KERNEL_MAX_IN];
  loop_constants(job->loop, scratch, in);
  for (; first < last; first += LOOP_BLOCK) {
    size_t n = block_length(first, last);
    loop_block(job->loop, first, n, scratch, in);
    job->kernel->value(n, in, job->out + first);
  }
}

void elementwise_value (Pool *pool, const Kernel *kernel, const Loop *loop,
                        double *out) {
  Job job = {.kernel = kernel, .loop = loop, .out = out};
  pool_run(pool, loop->size, GRAIN, value_range, &job);
}


static void partials_range (void *data, size_t first, size_t last) {
  const Job *job = data;
  const double *in[KERNEL_MAX_IN];
  double *d[KERNEL_MAX_IN];
  LoopBlock scratch[KERNEL_MAX_IN];
  loop_constants(job->loop, scratch, in);
  for (; first < last; first += LOOP_BLOCK) {
    size_t n = block_length(first, last);
    loop_block(job->loop, first, n, scratch, in);
    for (int k = 0; k < job->kernel->n_in; k++)
      d[k] = job->d[k] == NULL ? NULL : job->d[k] + first;
    job->kernel->partials(n, in, d);
  }
}

void elementwise_partials (Pool *pool, const Kernel *kernel, const Loop *loop,
                           double *const d[]) {
  Job job = {.kernel = kernel, .loop = loop, .d = d};
  pool_run(pool, loop->size, GRAIN, partials_range, &job);
}


static void sample_range (void *data, size_t first, size_t last) {
  const Job *job = data;
  const double *in[1 + KERNEL_MAX_IN];
  LoopBlock noise, scratch[KERNEL_MAX_IN];
  in[0] = noise;
  loop_constants(job->loop, scratch, in + 1);
  for (; first < last; first += LOOP_BLOCK) {
    size_t n = block_length(first, last);
    job->noise->draw(job->generator, job->position + first, n, noise);
    loop_block(job->loop, first, n, scratch, in + 1);
    job->kernel->value(n, in, job->out + first);
  }
}

void elementwise_sample (Pool *pool, const Kernel *kernel, const Kernel *noise,
                         const struct Philox *g, uint64_t position,
                         const Loop *loop, double *out) {
  Job job = {.kernel = kernel, .loop = loop, .out = out, .noise = noise,
             .generator = g, .position = position};
  pool_run(pool, loop->size, GRAIN, sample_range, &job);
}


size_t elementwise_first_false (const Kernel *kernel, const Loop *loop) {
  const double *in[KERNEL_MAX_IN];
  LoopBlock truth, scratch[KERNEL_MAX_IN];
  loop_constants(loop, scratch, in);
  for (size_t first = 0; first < loop->size; first += LOOP_BLOCK) {
    size_t n = block_length(first, loop->size);
    uint64_t failed = 0;
    loop_block(loop, first, n, scratch, in);
    kernel->value(n, in, truth);
    for (size_t i = 0; i < n; i++) failed |= truth[i] == 0;
    for (size_t i = 0; failed && i < n; i++)
      if (truth[i] == 0) return first + i;
  }
  return loop->size;
}
