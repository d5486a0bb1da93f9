/*
** elementwise.h - runs an elementwise kernel over a planned loop
*/
#ifndef PERILUNE_ELEMENTWISE_H
#define PERILUNE_ELEMENTWISE_H

#include "driver/loop.h"
#include "driver/threads.h"

/* How much there is to do for n elements, in those of a kernel that is not slow. */
size_t elementwise_work (const Kernel *kernel, size_t n);

/* Is the loop run at once, as a single block? */
static inline bool elementwise_is_small (const Kernel *kernel, const Loop *loop) {
  return loop_is_small(loop) && !kernel->slow;
}

/* out has loop->size elements, in loop order. */
void elementwise_value (Pool *pool, const Kernel *kernel, const Loop *loop,
                        double *out);

/* d[k] has loop->size elements, in loop order. */
void elementwise_partials (Pool *pool, const Kernel *kernel, const Loop *loop,
                           double *const d[]);

/* As elementwise_value for a sampler, whose operands in the loop are its
   parameters: it takes elements position, position+1, ... of the generator's
   stream. `noise` is the kernel that feeds it, or NULL if it draws itself. */
void elementwise_sample (Pool *pool, const Kernel *kernel, const Kernel *noise,
                         const struct Philox *g, uint64_t position,
                         const Loop *loop, double *out);

/* Index, in loop order, of the first element for which a predicate kernel
   gives 0, or loop->size. */
size_t elementwise_first_false (Pool *pool, const Kernel *kernel, const Loop *loop);

/* Does a predicate of one operand hold for all elements of t? */
bool elementwise_holds (Pool *pool, const Kernel *kernel, const Tensor *t);

/* Fills `out` with noise, from element `position` of the stream on. */
void elementwise_noise (Pool *pool, const Kernel *noise, const struct Philox *g,
                        uint64_t position, size_t n, double *out);

#endif
