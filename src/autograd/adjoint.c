/*
** adjoint.c - what each kind of node passes on
**
** Where nothing comes from above nothing is passed on, not even if the derivative is
** infinite there: a branch that was not taken spoils no gradient.
*/
#include <string.h>

#include "autograd/adjoint.h"
#include "driver/loop.h"
#include "driver/rows.h"

#define BLOCK 256   /* operands, partials and gradients stay in the L1 cache */

typedef double Block[BLOCK];


/* Where the elements of t begin within its owner's gradient. */
static double *gradient_at (const Tensor *t) {
  return t->owner->node->gradient + (t->data - t->owner->data);
}

static void scale (size_t n, const double *above, double *d) {
  for (size_t i = 0; i < n; i++) d[i] = above[i] == 0 ? 0 : above[i] * d[i];
}

/* The inputs of a node as tensors; `header` holds those that are numbers. */
static void inputs (const Node *node, Tensor header[], const Tensor *in[]) {
  for (int k = 0; k < node->n; k++)
    in[k] = node->in[k].tensor != NULL
          ? node->in[k].tensor
          : tensor_scalar(&header[k], (double *)&node->in[k].number);
}

/* The same loop over gradients instead of elements. */
static Loop over_gradients (const Node *node, const Loop *loop) {
  Loop gradients = *loop;
  for (int k = 0; k < node->n; k++)
    if (node->in[k].tracked) gradients.data[k] = gradient_at(node->in[k].tensor);
  return gradients;
}


/* {=====================================================
** Elementwise kernels
** ====================================================== */

/* `above` has one element for each of the loop, or one for all. */
typedef struct Walk {
  const Node *node;
  Loop loop, gradients;
  const double *above;
  bool one_for_all;
} Walk;

static void walk_range (void *data, size_t first, size_t last) {
  const Walk *walk = data;
  const Node *node = walk->node;
  Block partials[KERNEL_MAX_IN], repeated;
  double *d[KERNEL_MAX_IN];
  Blocks blocks;
  loop_start(&walk->loop, &blocks);
  for (int k = 0; k < node->n; k++) d[k] = partials[k];
  for (size_t i = 0; walk->one_for_all && i < BLOCK; i++) repeated[i] = walk->above[0];
  for (size_t n; first < last; first += n) {
    n = loop_length(&walk->loop, first, last);
    if (n > BLOCK) n = BLOCK;
    loop_block(&walk->loop, first, n, &blocks);
    node->kernel->partials(n, blocks.in, d);
    for (int k = 0; k < node->n; k++) {
      if (!node->in[k].tracked) continue;
      scale(n, walk->one_for_all ? repeated : walk->above + first, d[k]);
      loop_add(&walk->gradients, k, first, n, d[k]);
    }
  }
}

/* May threads share the work? Not where they would add to the same element. */
static bool is_separate (const Node *node, const Loop *loop) {
  for (int k = 0; k < node->n; k++) {
    if (!node->in[k].tracked) continue;
    if (loop->feed[k] != FEED_LINEAR) return false;
  }
  return true;
}

/* Do the elements of t lie in the order of the loop? If not, they are row-major. */
static bool lies_along (const Tensor *t, const Loop *loop) {
  if (t->rank != loop->out_rank) return false;
  for (int d = 0; d < t->rank; d++)
    if (t->stride[d] != loop->out_stride[d]) return false;
  return true;
}

static void step_elementwise (Node *node, Pool *pool) {
  Tensor header[KERNEL_MAX_IN];
  const Tensor *in[KERNEL_MAX_IN];
  Walk walk = {.node = node, .above = node->gradient,
               .one_for_all = node->kind == NODE_SUM};
  inputs(node, header, in);
  loop_plan(&walk.loop, node->n, in);
  if (!walk.one_for_all && !lies_along(node->result, &walk.loop))
    loop_plan_shaped(&walk.loop, node->result->rank, node->result->shape, node->n, in);
  walk.gradients = over_gradients(node, &walk.loop);
  pool_run(is_separate(node, &walk.loop) ? pool : NULL, walk.loop.size,
           4 * LOOP_BLOCK, walk_range, &walk);
}

/* }====================================================== */


/* {=====================================================
** Row kernels
** ====================================================== */

/* A plan of the run that was recorded. */
static void plan_rows (const Node *node, Signature *signature, Rows *rows) {
  Tensor header[KERNEL_MAX_IN];
  const Tensor *in[KERNEL_MAX_IN];
  int which;
  inputs(node, header, in);
  rows_parse(node->kernel, signature);
  rows_plan(rows, signature, node->n, in, &which);
}

/* Doubles for the derivatives of one input, over all rows. */
static size_t slopes_size (const Rows *rows, const Signature *signature, int k) {
  return rows->batch.size * rows_event_size(rows, signature, k);
}

static size_t rows_need (const Node *node, const Pool *pool) {
  Signature signature;
  Rows rows;
  plan_rows(node, &signature, &rows);
  size_t size = (size_t)pool_threads(pool)
              * rows_scratch(&rows, node->kernel->adjoint_scratch);
  for (int k = 0; k < node->n; k++) size += slopes_size(&rows, &signature, k);
  return size;
}

/* Adds the derivatives of input k, one event a row, to its gradient. */
static void add_slopes (const Node *node, const Rows *rows, const Signature *signature,
                        int k, double *slopes) {
  ptrdiff_t shape[2 * TENSOR_MAX_RANK];
  int rank = rows->out_rank - signature->event_rank[node->n];
  const Tensor *t = node->in[k].tensor;
  Loop loop;
  memcpy(shape, rows->out_shape, (size_t)rank * sizeof *shape);
  for (int d = 0; d < signature->event_rank[k]; d++)
    shape[rank++] = (ptrdiff_t)rows->dims[signature->event[k][d]];
  loop_plan_shaped(&loop, rank, shape, 1, &t);
  loop.data[0] = gradient_at(t);
  for (size_t first = 0, n; first < loop.size; first += n) {
    n = loop_length(&loop, first, loop.size);
    loop_add(&loop, 0, first, n, slopes + first);
  }
}

static void step_rows (Node *node, Pool *pool, double *scratch) {
  Signature signature;
  double *d[KERNEL_MAX_IN];
  Rows rows;
  plan_rows(node, &signature, &rows);
  for (int k = 0; k < node->n; k++) {
    d[k] = scratch;
    scratch += slopes_size(&rows, &signature, k);
  }
  rows_adjoint(pool, node->kernel, &signature, &rows, scratch, node->gradient, d);
  for (int k = 0; k < node->n; k++)
    if (node->in[k].tracked) add_slopes(node, &rows, &signature, k, d[k]);
}

/* }====================================================== */


/* {=====================================================
** Reductions
** ====================================================== */

/* t with the reduced dimensions last; returns how many elements a line has */
static size_t line_up (StackTensor *lines, const Tensor *t, unsigned reduced) {
  Tensor *to = tensor_on_stack(lines, t, t->rank);
  size_t count = 1;
  int at = 0;
  for (int last = 0; last < 2; last++)
    for (int d = 0; d < t->rank; d++) {
      if ((int)(reduced >> d & 1) != last) continue;
      to->shape[at] = t->shape[d];
      to->stride[at++] = t->stride[d];
      if (last) count *= (size_t)t->shape[d];
    }
  return count;
}

/* Slopes of elements first .. of a line, up to its end or that of a block. */
static size_t line_slopes (const Node *node, const Loop *loop, Blocks *blocks,
                           size_t count, size_t first, double *d) {
  size_t line = first / count, left = (line + 1) * count - first;
  size_t n = left < BLOCK ? left : BLOCK;
  loop_block(loop, first, n, blocks);
  node->kernel->slope(n, blocks->in[0], count, node->result->data[line], d);
  return n;
}

/* What comes from above for a line, over the sum of its slopes if they are shares. */
static double line_above (const Node *node, const Loop *loop, Blocks *blocks,
                          size_t count, size_t line) {
  Block d;
  double sum = 0, above = node->gradient[line];
  if (!node->kernel->shares) return above;
  for (size_t i = 0, n; i < count; i += n) {
    n = line_slopes(node, loop, blocks, count, line * count + i, d);
    for (size_t j = 0; j < n; j++) sum += d[j];
  }
  return above / sum;
}

static void step_reduction (Node *node) {
  StackTensor lines;
  Blocks blocks;
  Block d, above;
  const Tensor *t = node->in[0].tensor, *lined_up = &lines.tensor;
  size_t count = line_up(&lines, t, node->dimensions);
  Loop loop;
  loop_plan_shaped(&loop, t->rank, lined_up->shape, 1, &lined_up);
  Loop gradients = over_gradients(node, &loop);
  loop_start(&loop, &blocks);
  for (size_t first = 0, n; first < loop.size; first += n) {
    if (first % count == 0) above[0] = line_above(node, &loop, &blocks, count, first / count);
    n = line_slopes(node, &loop, &blocks, count, first, d);
    for (size_t i = 1; i < n; i++) above[i] = above[0];
    scale(n, above, d);
    loop_add(&gradients, 0, first, n, d);
  }
}

/* }====================================================== */


size_t adjoint_scratch (const Node *node, const Pool *pool) {
  return node->kind == NODE_ROWS ? rows_need(node, pool) : 0;
}

void adjoint_step (Node *node, Pool *pool, double *scratch) {
  switch (node->kind) {
    case NODE_ELEMENTWISE: case NODE_SUM: step_elementwise(node, pool); break;
    case NODE_ROWS: step_rows(node, pool, scratch); break;
    case NODE_REDUCTION: step_reduction(node); break;
    case NODE_LEAF: case NODE_CALL: break;
  }
}

void adjoint_add (const Tensor *t, const Tensor *from) {
  const Tensor *both[2] = {t, from};
  Blocks blocks;
  Loop loop;
  loop_plan_shaped(&loop, t->rank, t->shape, 2, both);
  Loop gradients = loop;
  gradients.data[0] = gradient_at(t);
  loop_start(&loop, &blocks);
  for (size_t first = 0, n; first < loop.size; first += n) {
    n = loop_length(&loop, first, loop.size);
    loop_block(&loop, first, n, &blocks);
    loop_add(&gradients, 0, first, n, blocks.in[1]);
  }
}
