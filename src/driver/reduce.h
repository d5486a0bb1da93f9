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

/* Points `lines` at the elements of t with the dimensions of the set last; `inner` is how many
   those are. Returns how many elements each line has. */
size_t reduce_line_up (StackTensor *lines, const Tensor *t, unsigned set, int *inner);

/* Reduces the last `inner` dimensions of t, of `count` elements together.
   out has one element for each index of the other dimensions, row-major. */
void reduce (Pool *pool, const Kernel *kernel, const Tensor *t, int inner,
             size_t count, double *out);

/* Reduces what an elementwise kernel makes of a row-major loop, all of it, to
   sum or mean: the same as if its result were stored in between. */
double reduce_mapped (Pool *pool, const Kernel *kernel, const Kernel *map,
                      const Loop *loop);

/* Are blocks of the loop summed up by the kernel's `block_sums`? reduce_mapped does so if they
   can be, and the sum of stored values may then differ in its last digits. */
bool reduce_is_total (const Kernel *map, const Loop *loop);

/* The same from states of one number, of one block after the other. */
double reduce_states (const Kernel *kernel, size_t blocks, const double *states, size_t count);

#endif
