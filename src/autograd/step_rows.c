/*
** step_rows.c - back over a row kernel
*/
#include "autograd/steps.h"
#include "autograd/target.h"
#include "driver/loop.h"
#include "driver/rows.h"

void step_plan_rows (const Node *node, Signature *signature, RowsPlan *rows) {
  Tensor header[KERNEL_MAX_IN];
  const Tensor *in[KERNEL_MAX_IN];
  int which;
  node_inputs(node, header, in);
  rows_parse(node->kernel, signature);
  rows_plan(rows, signature, node->n, in, &which);
}

/* Doubles for the derivatives of one input, over all rows. */
static size_t slopes_size (const RowsPlan *rows, const Signature *signature, int k) {
  return rows->batch.size * rows_event_size(rows, signature, k);
}

size_t step_rows_need (const Node *node, const Pool *pool) {
  Signature signature;
  RowsPlan rows;
  step_plan_rows(node, &signature, &rows);
  size_t size = (size_t)pool_threads(pool)
              * rows_scratch(&rows, node->kernel->rows->adjoint_scratch);
  for (int k = 0; k < node->n; k++) size += slopes_size(&rows, &signature, k);
  return size;
}

/* Adds the derivatives of input k, one event a row, to its gradient. */
static void add_slopes (const Node *node, const RowsPlan *rows, const Signature *signature,
                        int k, Pool *pool, double *slopes) {
  ptrdiff_t shape[2 * TENSOR_MAX_RANK];
  int rank = rows->out_rank - signature->event_rank[node->n];
  const Tensor *t = node->in[k].tensor;
  Loop loop;
  memcpy(shape, rows->out_shape, (size_t)rank * sizeof *shape);
  for (int d = 0; d < signature->event_rank[k]; d++)
    shape[rank++] = (ptrdiff_t)rows->dims[signature->event[k][d]];
  loop_plan_shaped(&loop, rank, shape, 1, &t);
  double *to = filled_gradient(pool, t);
  for (size_t first = 0, n; first < loop.size; first += n) {
    n = loop_length(&loop, first, loop.size);
    loop_add(&loop, 0, to, first, n, slopes + first);
    if (loop_stops(pool, first, n)) return;
  }
}

static bool is_zero (size_t n, const double *x) {
  for (size_t i = 0; i < n; i++)
    if (x[i] != 0) return false;
  return true;
}

/* Nothing goes on from a row to which nothing comes from above. */
static void clear_idle_rows (const Node *node, const RowsPlan *rows, const Signature *signature,
                             int k, Pool *pool, double *slopes) {
  size_t size = rows_event_size(rows, signature, k);
  for (size_t r = 0; r < rows->batch.size; r++) {
    if (is_zero(rows->out_event, node->gradient + r * rows->out_event))
      loop_clear(pool, slopes + r * size, size);
    if (pool_stopped(pool)) return;
  }
}

/* Are the derivatives of input k all of its gradient, in the order of its elements? */
static bool is_whole (const Node *node, const RowsPlan *rows, const Signature *signature, int k) {
  if (!node->in[k].tracked || is_shared(node, k)) return false;
  const Tensor *t = node->in[k].tensor;
  return t->owner->node->empty && t->data == t->owner->data && tensor_is_contiguous(t)
      && t->size == t->owner->size && t->size == slopes_size(rows, signature, k);
}

void step_rows (Node *node, Pool *pool, double *scratch) {
  Signature signature;
  double *d[KERNEL_MAX_IN];
  bool whole[KERNEL_MAX_IN];
  unsigned wanted = 0;
  RowsPlan rows;
  step_plan_rows(node, &signature, &rows);
  for (int k = 0; k < node->n; k++) {
    if (node->in[k].tracked) wanted |= 1u << k;
    whole[k] = is_whole(node, &rows, &signature, k);
    d[k] = whole[k] ? node_below(node, k)->gradient : scratch;
    if (whole[k]) node_below(node, k)->empty = false;
    else scratch += slopes_size(&rows, &signature, k);
  }
  rows_adjoint(pool, node->kernel, &signature, &rows, wanted, scratch, node->result->data,
               node->gradient, d);
  for (int k = 0; k < node->n && !pool_stopped(pool); k++) {
    if (!node->in[k].tracked) continue;
    clear_idle_rows(node, &rows, &signature, k, pool, d[k]);
    if (!whole[k]) add_slopes(node, &rows, &signature, k, pool, d[k]);
  }
}
