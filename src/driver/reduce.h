/*
** reduce.h - folds a tensor, or each line of it along dimensions, to a value
**
** Elements are taken in row-major order in blocks of LOOP_BLOCK, and the
** states of blocks are merged as a balanced tree. The order depends on the
** shape alone, hence neither on strides nor on the number of threads.
*/
#ifndef PERILUNE_REDUCE_H
#define PERILUNE_REDUCE_H

#include "driver/loop.h"
#include "driver/threads.h"

/* Reduces the last `inner` dimensions of t, of `count` elements together.
   out has one element for each index of the other dimensions, row-major. */
void reduce (Pool *pool, const Kernel *kernel, const Tensor *t, int inner,
             size_t count, double *out);

/* Reduces what an elementwise kernel makes of a row-major loop, all of it, to
   one value: the same as if its result were stored in between. */
double reduce_mapped (Pool *pool, const Kernel *kernel, const Kernel *map,
                      const Loop *loop);

#endif
