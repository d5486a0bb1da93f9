/*
** forward.h - computing a node again, from its inputs as they are now
*/
#ifndef PERILUNE_FORWARD_H
#define PERILUNE_FORWARD_H

#include "autograd/node.h"
#include "driver/loop.h"
#include "driver/threads.h"

/* Of a NODE_SUM or NODE_MEAN: the sum of all values, or their mean. The loop over its inputs
   becomes a row-major one. */
double forward_sum (const Node *node, const Kernel *sum, const Tensor *const in[], Loop *loop,
                    Pool *pool);

/* Doubles of scratch that forward_step needs for this node. */
size_t forward_scratch (const Node *node, const Pool *pool);

/* Writes the result's elements where they are, unless the pool's watch stops it. Not for
   leaves, scans and calls. `sum` is the reduction of that name. A draw takes as many elements of its
   generator's stream, from `position` on, as its first input has; `noise` is the kernel that
   feeds it, or NULL if it draws itself. */
void forward_step (const Node *node, const Kernel *sum, const Kernel *noise, uint64_t position,
                   Pool *pool, double *scratch);

#endif
