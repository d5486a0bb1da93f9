/*
** steps.h - the step back over a node, for each kind
*/
#ifndef PERILUNE_STEPS_H
#define PERILUNE_STEPS_H

#include "autograd/node.h"
#include "driver/loop.h"
#include "driver/rows.h"
#include "driver/threads.h"

/* A NODE_ELEMENTWISE, NODE_SUM or NODE_MEAN of a single block of n elements; `sum` is the
   reduction of that name. */
size_t step_block_size (const Node *node);   /* or SIZE_MAX for more than such a block */
void step_block (const Node *node, const Kernel *sum, size_t n);
void step_block_value (const Node *node, const Kernel *sum, size_t n);   /* forward again */

/* Finds the inputs of such a node. If this gives true, all of them are blocks of n elements,
   and step_block_whole does what step_block does. */
bool step_block_inputs (const Node *node, size_t n, const double *in[]);
void step_block_whole (const Node *node, const Kernel *sum, size_t n, const double *const in[]);

/* The loop of any elementwise kernel, over inputs as node_inputs gives them, along its result. */
void step_plan (const Node *node, const Tensor *const in[], Loop *loop);

/* One of any size. Sums that wait get their values, if `with_sums`. `scratch` is as many
   doubles as there is need for. */
size_t step_elementwise_need (const Node *node);
void step_elementwise (Node *node, const Kernel *sum, bool with_sums, Pool *pool,
                       double *scratch);

/* The run of a row kernel that was recorded. */
void step_plan_rows (const Node *node, Signature *signature, RowsPlan *rows);

size_t step_rows_need (const Node *node, const Pool *pool);
void step_rows (Node *node, Pool *pool, double *scratch);

void step_reduction (Node *node, Pool *pool);

/* Adds `from`, of the shape of t, to the gradient of t's owner. */
void step_add (Pool *pool, const Tensor *t, const Tensor *from);

void step_join (const Node *node, Pool *pool);
void step_join_value (Pool *pool, Tensor *whole, int n, const Tensor *const in[], int dim);

#endif
