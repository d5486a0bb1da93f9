/*
** adjoint.h - from the gradient of a node to those of its inputs
*/
#ifndef PERILUNE_ADJOINT_H
#define PERILUNE_ADJOINT_H

#include "autograd/node.h"
#include "driver/threads.h"

/* Doubles of scratch that adjoint_step needs for this node. */
size_t adjoint_scratch (const Node *node, const Pool *pool);

/* Adds to the gradients of all tracked inputs, for which there is memory, unless the pool's
   watch stops it. Not for leaves, scans and calls. `sum` is the reduction of that name. If `with_sums`,
   sums that wait get their values in passing. */
void adjoint_step (Node *node, const Kernel *sum, bool with_sums, Pool *pool, double *scratch);

#endif
