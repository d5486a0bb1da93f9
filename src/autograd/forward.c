/*
** forward.c - computes a node again, by its kind
*/
#include "autograd/forward.h"
#include "autograd/steps.h"
#include "driver/elementwise.h"
#include "driver/reduce.h"
#include "driver/rows.h"


double forward_sum (const Node *node, const Kernel *sum, const Tensor *const in[], Loop *loop,
                    Pool *pool) {
  ptrdiff_t shape[TENSOR_MAX_RANK];
  memcpy(shape, loop->out_shape, sizeof shape);
  loop_plan_shaped(loop, loop->out_rank, shape, node->n, in);
  double total = reduce_mapped(pool, sum, node->kernel, loop);
  return node->kind == NODE_MEAN ? total / (double)loop->size : total;
}

static void compute_elements (const Node *node, const Kernel *sum, Pool *pool) {
  Tensor header[KERNEL_MAX_IN];
  const Tensor *in[KERNEL_MAX_IN];
  Loop loop;
  size_t n = step_block_size(node);
  if (n != SIZE_MAX) {
    step_block_value(node, sum, n);
    return;
  }
  node_inputs(node, header, in);
  step_plan(node, in, &loop);
  if (node->kind == NODE_ELEMENTWISE)
    elementwise_value(pool, node->kernel, &loop, node->result->data);
  else node->result->data[0] = forward_sum(node, sum, in, &loop, pool);
}

/* Elements of a sampler that does its own drawing: its first input is the draw. */
static void draw_elements (const Node *node, uint64_t position, Pool *pool) {
  Tensor header[KERNEL_MAX_IN], *out = node->result;
  const Tensor *in[KERNEL_MAX_IN];
  Loop loop;
  node_inputs(node, header, in);
  loop_plan_shaped(&loop, out->rank, out->shape, node->n - 1, in + 1);
  elementwise_sample(pool, node->kernel, NULL, node->generator, position, &loop, out->data);
}


static void compute_rows (const Node *node, Pool *pool, double *scratch) {
  Signature signature;
  RowsPlan rows;
  step_plan_rows(node, &signature, &rows);
  rows_run(pool, node->kernel, &signature, &rows, scratch, node->result->data);
}

/* Rows of a sampler that does its own drawing. */
static void draw_rows (const Node *node, uint64_t position, Pool *pool, double *scratch) {
  Tensor header[KERNEL_MAX_IN], *first = node->in[0].tensor, *out = node->result;
  const Tensor *in[KERNEL_MAX_IN];
  Signature signature;
  RowsPlan rows;
  int which;
  node_inputs(node, header, in);
  rows_parse(node->kernel, &signature);
  rows_plan_sample(&rows, &signature, node->n - 1, in + 1, 0, NULL, &which);
  rows_plan_sample(&rows, &signature, node->n - 1, in + 1, out->rank - rows.out_rank,
                   out->shape, &which);
  rows_draw(pool, node->kernel, &signature, &rows, scratch, node->generator, position,
            first->data);
  loop_move(pool, out->data, first->data, out->size);
}


static void reduce_lines (const Node *node, Pool *pool) {
  StackTensor lines;
  int inner;
  size_t count = reduce_line_up(&lines, node->in[0].tensor, node->dimensions, &inner);
  reduce(pool, node->kernel, &lines.tensor, inner, count, node->result->data);
}

static void join (const Node *node, Pool *pool) {
  Tensor header[KERNEL_MAX_IN];
  const Tensor *in[KERNEL_MAX_IN];
  node_inputs(node, header, in);
  step_join_value(pool, node->result, node->n, in, node->dimensions);
}

/* Fills the node's first input. */
static void draw_noise (const Node *node, const Kernel *noise, uint64_t position,
                        Pool *pool) {
  Tensor *first = node->in[0].tensor;
  elementwise_noise(pool, noise, node->generator, position, first->size, first->data);
}


size_t forward_scratch (const Node *node, const Pool *pool) {
  Signature signature;
  RowsPlan rows;
  if (node->kind != NODE_ROWS || node->kernel->rows->scratch == NULL) return 0;
  step_plan_rows(node, &signature, &rows);
  return (size_t)pool_threads(pool) * rows_scratch(&rows, node->kernel->rows->scratch);
}

void forward_step (const Node *node, const Kernel *sum, const Kernel *noise, uint64_t position,
                   Pool *pool, double *scratch) {
  bool draws = node->generator != NULL && noise == NULL;
  if (node->result->size == 0) return;
  if (noise != NULL) draw_noise(node, noise, position, pool);
  switch ((NodeKind)node->kind) {
    case NODE_ELEMENTWISE: case NODE_SUM: case NODE_MEAN:
      if (draws) draw_elements(node, position, pool);
      else compute_elements(node, sum, pool);
      break;
    case NODE_ROWS:
      if (draws) draw_rows(node, position, pool, scratch);
      else compute_rows(node, pool, scratch);
      break;
    case NODE_REDUCTION: reduce_lines(node, pool); break;
    case NODE_JOIN: join(node, pool); break;
    case NODE_LEAF: case NODE_SCAN: case NODE_CALL: break;
  }
}
