/*
** adjoint.c - what each kind of node passes on
**
** Where nothing comes from above nothing is passed on, not even if the derivative is
** infinite there: a branch that was not taken spoils no gradient.
*/
#include <string.h>

#include "autograd/adjoint.h"
#include "driver/loop.h"
#include "driver/reduce.h"
#include "driver/rows.h"

#define BLOCK 256   /* operands, partials and gradients stay in the L1 cache */

typedef double Block[BLOCK];


/* Where the elements of t begin within its owner's gradient. */
static double *gradient_at (const Tensor *t) {
  const Tensor *owner = t->owner;
  return owner->node->gradient + (t == owner ? 0 : t->data - owner->data);
}

/* The same, in memory to which something can be added. */
static double *filled_gradient (const Tensor *t) {
  Node *node = t->owner->node;
  if (node->empty) memset(node->gradient, 0, node->result->size * sizeof(double));
  node->empty = false;
  return gradient_at(t);
}

static void scale (size_t n, const double *above, const double *d, double *out) {
  for (size_t i = 0; i < n; i++) out[i] = above[i] == 0 ? 0 : above[i] * d[i];
}

static void scale_all (size_t n, double above, const double *d, double *out) {
  if (above == 1 && out == d) return;
  for (size_t i = 0; i < n; i++) out[i] = above == 0 ? 0 : above * d[i];
}

/* Is no input but the first tracked, and that one cheap? */
static bool is_cheap_first (const Node *node) {
  if (node->kernel->first_partial == NULL) return false;
  for (int k = 1; k < node->n; k++)
    if (node->in[k].tracked) return false;
  return true;
}

/* Does another tracked input share the owner of input k? */
static bool is_shared (const Node *node, int k) {
  for (int j = 0; j < node->n; j++)
    if (j != k && node->in[j].tracked && node_below(node, j) == node_below(node, k))
      return true;
  return false;
}

/* Where the gradient of input k goes. What comes first and fills all of it is written
   straight there, anything else is added. */
typedef struct Target {
  double *at;
  bool first;
} Target;

static Target target (const Node *node, int k, bool linear) {
  const Tensor *t = node->in[k].tensor;
  Node *below = t->owner->node;
  if (!below->empty || !linear || t->size != below->result->size || is_shared(node, k))
    return (Target) {.at = filled_gradient(t), .first = false};
  below->empty = false;
  return (Target) {.at = below->gradient, .first = true};
}


/* {=====================================================
** Elementwise kernels, a single block of elements
** ====================================================== */

/* Elements of a single block: each operand has as many, or one. */
static size_t block_size (const Node *node) {
  size_t size = 1;
  for (int k = 0; k < node->n && size == 1; k++)
    if (!node->in[k].is_number) size = node->in[k].tensor->size;
  return size;
}

/* What comes from above for each of n values whose sum or mean the node is. */
static double above_each (const Node *node, size_t n) {
  return node->gradient[0] / (node->kind == NODE_MEAN ? (double)n : 1);
}

static double sum_of (const Kernel *sum, size_t n, const double *d) {
  double state[KERNEL_MAX_WIDTH];
  sum->fold(n, d, state);
  return state[0];
}

static bool is_one (const Input *input) {
  return input->is_number || input->tensor->size == 1;
}

static const double *elements_of (const Input *input) {
  return input->is_number ? &input->number : input->tensor->data;
}

static const double *repeat (double x, size_t n, double *block) {
  for (size_t i = 0; i < n; i++) block[i] = x;
  return block;
}

static void find_partials (const Node *node, size_t n, const double *const in[],
                           double *const d[]) {
  if (is_cheap_first(node)) node->kernel->first_partial(n, in, d[0]);
  else node->kernel->partials(n, in, d);
}

/* Adds to the gradient of a single number. */
static void add_single (const Tensor *t, double slope) {
  Node *below = t->owner->node;
  if (below->empty && below->result->size == 1) {
    below->gradient[0] = slope;
    below->empty = false;
  } else *filled_gradient(t) += slope;
}

/* Of a node of single numbers. */
static void step_single (const Node *node) {
  const double *in[KERNEL_MAX_IN];
  double partial[KERNEL_MAX_IN], *d[KERNEL_MAX_IN], above = node->gradient[0];
  for (int k = 0; k < node->n; k++) {
    in[k] = elements_of(&node->in[k]);
    d[k] = &partial[k];
  }
  find_partials(node, 1, in, d);
  for (int k = 0; k < node->n; k++)
    if (node->in[k].tracked)
      add_single(node->in[k].tensor, above == 0 ? 0 : above * partial[k]);
}

static void pass_block (const Node *node, const Kernel *sum, int k, size_t n, double *d) {
  bool one = is_one(&node->in[k]);
  Target to = target(node, k, !one);
  double *out = to.first ? to.at : d;
  if (node->kind == NODE_ELEMENTWISE) scale(n, node->gradient, d, out);
  else scale_all(n, above_each(node, n), d, out);
  if (to.first) return;
  if (one) to.at[0] += sum_of(sum, n, d);
  else for (size_t i = 0; i < n; i++) to.at[i] += d[i];
}

/* Of a node whose operands are a single block of n elements, more than one. */
static void step_block (const Node *node, const Kernel *sum, size_t n) {
  const double *in[KERNEL_MAX_IN];
  double *d[KERNEL_MAX_IN];
  Block partials[KERNEL_MAX_IN], repeated[KERNEL_MAX_IN];
  for (int k = 0; k < node->n; k++) {
    in[k] = elements_of(&node->in[k]);
    if (is_one(&node->in[k])) in[k] = repeat(*in[k], n, repeated[k]);
    d[k] = partials[k];
  }
  find_partials(node, n, in, d);
  for (int k = 0; k < node->n; k++)
    if (node->in[k].tracked) pass_block(node, sum, k, n, d[k]);
}

/* }====================================================== */


/* {=====================================================
** Elementwise kernels, any number of blocks
**
** What is summed over the whole loop is summed over its leaves first, blocks of LOOP_BLOCK
** elements, whoever computes them: derivatives for an input that is one number, and the
** values of a sum that waits, whose order is that of driver/reduce.c. So a loss that
** was differentiated need not be computed any more.
** ====================================================== */

typedef struct Walk {
  const Node *node;
  const Loop *loop;
  const Kernel *sum;
  const double *above;     /* an element for each of the loop, or NULL: */
  double above_all;
  bool first_alone;        /* no input but the first is tracked, and that is cheap */
  bool valued;             /* the sum itself is wanted as well */
  bool total;              /* the kernel sums up everything but slopes of the first input */
  double *values;          /* where those of the leaf at hand go, or NULL */
  size_t leaves;
  double *sums;            /* a column of leaves for the values, and one for each input */
  Target to[KERNEL_MAX_IN];
} Walk;

static double *column (const Walk *walk, int k) {
  return walk->sums + (size_t)(1 + k) * walk->leaves;
}

/* Is input k the same number for all elements of the loop? */
static bool is_single (const Walk *walk, int k) {
  return walk->loop->feed[k] == FEED_CONSTANT;
}

/* Can the derivatives for input k be written where they go, as they are? */
static bool is_direct (const Walk *walk, int k) {
  return walk->node->in[k].tracked && walk->to[k].first && walk->above == NULL
      && walk->above_all == 1;
}

static void pass_on (const Walk *walk, int k, size_t first, size_t n, double *d) {
  double *to = walk->to[k].at, *out = walk->to[k].first ? to + first : d;
  if (walk->above == NULL) scale_all(n, walk->above_all, d, out);
  else scale(n, walk->above + first, d, out);
  if (walk->to[k].first) return;
  if (is_single(walk, k)) column(walk, k)[first / LOOP_BLOCK] += sum_of(walk->sum, n, d);
  else loop_add(walk->loop, k, to, first, n, d);
}

static void values_and_partials (const Kernel *kernel, const double *const in[], size_t n,
                                 double *values, double *const d[]) {
  if (kernel->both != NULL) {
    kernel->both(n, in, values, d);
    return;
  }
  kernel->partials(n, in, d);
  kernel->value(n, in, values);
}

static void walk_block (const Walk *walk, const double *const in[], size_t first, size_t n) {
  const Node *node = walk->node;
  _Alignas(64) Block partials[KERNEL_MAX_IN];
  double *d[KERNEL_MAX_IN];
  for (int k = 0; k < node->n; k++)
    d[k] = is_direct(walk, k) ? walk->to[k].at + first : partials[k];
  if (walk->first_alone) node->kernel->first_partial(n, in, d[0]);
  else if (walk->values == NULL) node->kernel->partials(n, in, d);
  else values_and_partials(node->kernel, in, n, walk->values + first % LOOP_BLOCK, d);
  for (int k = 0; k < node->n; k++)
    if (node->in[k].tracked) pass_on(walk, k, first, n, d[k]);
}

static void total_leaf (const Walk *walk, Blocks *blocks, size_t first, size_t n) {
  double totals[KERNEL_MAX_IN];
  loop_block(walk->loop, first, n, blocks);
  walk->node->kernel->totals(n, blocks->in, totals);
  walk->sums[first / LOOP_BLOCK] = totals[0];
  for (int k = 1; k < walk->node->n; k++)
    column(walk, k)[first / LOOP_BLOCK] = walk->above_all == 0 ? 0 : walk->above_all * totals[k];
}

static void walk_leaf (const Walk *walk, Blocks *blocks, size_t first, size_t last) {
  for (int k = 0; k < walk->node->n; k++) column(walk, k)[first / LOOP_BLOCK] = 0;
  for (size_t n; first < last; first += n) {
    n = loop_length(walk->loop, first, last);
    if (n > BLOCK) n = BLOCK;
    loop_block(walk->loop, first, n, blocks);
    walk_block(walk, blocks->in, first, n);
  }
}

static void walk_range (void *data, size_t first, size_t last) {
  const Walk *walk = data;
  Blocks blocks;
  LoopBlock values;
  Walk own;
  if (walk->valued && !walk->total) {
    own = *walk;
    own.values = values;
    walk = &own;
  }
  loop_start(walk->loop, &blocks);
  for (size_t n; first < last; first += n) {
    n = last - first < LOOP_BLOCK ? last - first : LOOP_BLOCK;
    if (!walk->total || walk->node->in[0].tracked) walk_leaf(walk, &blocks, first, first + n);
    if (walk->total) total_leaf(walk, &blocks, first, n);
    else if (walk->valued) walk->sums[first / LOOP_BLOCK] = sum_of(walk->sum, n, values);
  }
}

static bool meets (const Node *node, int j, int k) {
  return node_below(node, j) == node_below(node, k)
      && node->in[j].tensor->data != node->in[k].tensor->data;
}

/* May threads share the work? Not where they would add to the same element. */
static bool is_separate (const Walk *walk) {
  const Node *node = walk->node;
  for (int k = 0; k < node->n; k++) {
    if (!node->in[k].tracked || is_single(walk, k)) continue;
    if (walk->loop->feed[k] != FEED_LINEAR) return false;
    for (int j = 0; j < k; j++)
      if (node->in[j].tracked && !is_single(walk, j) && meets(node, j, k)) return false;
  }
  return true;
}

static void start_walk (Walk *walk, const Node *node, const Loop *loop, const Kernel *sum) {
  walk->sum = sum;
  walk->node = node;
  walk->loop = loop;
  walk->above = node->kind == NODE_ELEMENTWISE ? node->gradient : NULL;
  walk->values = NULL;
  walk->first_alone = is_cheap_first(node);
}

/* Is the loop in the order in which elements are summed? */
static bool is_row_major (const Loop *loop) {
  ptrdiff_t linear = 1;
  for (int d = loop->out_rank - 1; d >= 0; d--) {
    if (loop->out_shape[d] != 1 && loop->out_stride[d] != linear) return false;
    linear *= loop->out_shape[d];
  }
  return true;
}

static size_t leaves_of (size_t size) { return (size + LOOP_BLOCK - 1) / LOOP_BLOCK; }

/* Doubles for what is summed up, unless there is but one leaf. */
static size_t elementwise_need (const Node *node) {
  Tensor header[KERNEL_MAX_IN];
  const Tensor *in[KERNEL_MAX_IN];
  ptrdiff_t shape[TENSOR_MAX_RANK];
  size_t size = node->result->size;
  int rank;
  if (node->kind != NODE_ELEMENTWISE) {
    node_inputs(node, header, in);
    loop_broadcast(node->n, in, &rank, shape, &size);
  }
  return size > LOOP_BLOCK ? (size_t)(1 + node->n) * leaves_of(size) : 0;
}

/* Is a sum computed together with its slopes? Not where that of the first input alone costs
   little beside it. */
static bool is_valued (const Walk *walk, bool valued) {
  return walk->node->result->data == NULL && is_row_major(walk->loop)
      && (walk->total || (valued && !walk->first_alone));
}

/* What a walk is to sum up, with memory for it. */
static void start_sums (Walk *walk, bool valued, double *scratch) {
  const Node *node = walk->node;
  bool is_sum = node->kind != NODE_ELEMENTWISE;
  walk->sums = scratch;
  walk->leaves = leaves_of(walk->loop->size);
  walk->total = is_sum && reduce_is_total(node->kernel, walk->loop);
  walk->valued = is_sum && is_valued(walk, valued);
  walk->above_all = above_each(node, walk->loop->size);
}

/* Passes on what was summed up; the sum has its value from now on. */
static void finish_sums (const Walk *walk, Node *node) {
  for (int k = 0; k < node->n; k++)
    if (node->in[k].tracked && is_single(walk, k))
      walk->to[k].at[0] += sum_of(walk->sum, walk->leaves, column(walk, k));
  if (!walk->valued) return;
  double count = node->kind == NODE_MEAN ? (double)walk->loop->size : 1;
  node->result->data = node_room(node);
  node->result->data[0]
    = reduce_states(walk->sum, walk->leaves, walk->sums, walk->loop->size) / count;
}

static void step_elementwise (Node *node, const Kernel *sum, bool valued, Pool *pool,
                              double *scratch) {
  Tensor header[KERNEL_MAX_IN];
  const Tensor *in[KERNEL_MAX_IN];
  double leaf[1 + KERNEL_MAX_IN];
  Loop loop;
  Walk walk;
  node_inputs(node, header, in);
  loop_plan(&loop, node->n, in);
  if (node->kind == NODE_ELEMENTWISE && !loop_runs_along(&loop, node->result))
    loop_plan_shaped(&loop, node->result->rank, node->result->shape, node->n, in);
  start_walk(&walk, node, &loop, sum);
  if (loop.size == 0) return;
  start_sums(&walk, valued, loop.size > LOOP_BLOCK ? scratch : leaf);
  for (int k = 0; k < node->n; k++)
    if (node->in[k].tracked) walk.to[k] = target(node, k, loop.feed[k] == FEED_LINEAR);
  pool_run(pool != NULL && is_separate(&walk) ? pool : NULL, loop.size, 4 * LOOP_BLOCK,
           walk_range, &walk);
  finish_sums(&walk, node);
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
  node_inputs(node, header, in);
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
  double *to = filled_gradient(t);
  for (size_t first = 0, n; first < loop.size; first += n) {
    n = loop_length(&loop, first, loop.size);
    loop_add(&loop, 0, to, first, n, slopes + first);
  }
}

static bool is_zero (size_t n, const double *x) {
  for (size_t i = 0; i < n; i++)
    if (x[i] != 0) return false;
  return true;
}

/* Nothing goes on from a row to which nothing comes from above. */
static void clear_idle_rows (const Node *node, const Rows *rows, const Signature *signature,
                             int k, double *slopes) {
  size_t size = rows_event_size(rows, signature, k);
  for (size_t r = 0; r < rows->batch.size; r++)
    if (is_zero(rows->out_event, node->gradient + r * rows->out_event))
      memset(slopes + r * size, 0, size * sizeof *slopes);
}

/* Are the derivatives of input k all of its gradient, in the order of its elements? */
static bool is_whole (const Node *node, const Rows *rows, const Signature *signature, int k) {
  if (!node->in[k].tracked || is_shared(node, k)) return false;
  const Tensor *t = node->in[k].tensor;
  return t->owner->node->empty && t->data == t->owner->data && tensor_is_contiguous(t)
      && t->size == t->owner->size && t->size == slopes_size(rows, signature, k);
}

static void step_rows (Node *node, Pool *pool, double *scratch) {
  Signature signature;
  double *d[KERNEL_MAX_IN];
  bool whole[KERNEL_MAX_IN];
  unsigned wanted = 0;
  Rows rows;
  plan_rows(node, &signature, &rows);
  for (int k = 0; k < node->n; k++) {
    if (node->in[k].tracked) wanted |= 1u << k;
    whole[k] = is_whole(node, &rows, &signature, k);
    d[k] = whole[k] ? node_below(node, k)->gradient : scratch;
    if (whole[k]) node_below(node, k)->empty = false;
    else scratch += slopes_size(&rows, &signature, k);
  }
  rows_adjoint(pool, node->kernel, &signature, &rows, wanted, scratch, node->gradient, d);
  for (int k = 0; k < node->n; k++) {
    if (!node->in[k].tracked) continue;
    clear_idle_rows(node, &rows, &signature, k, d[k]);
    if (!whole[k]) add_slopes(node, &rows, &signature, k, d[k]);
  }
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
  if (!node->kernel->shares || above == 0) return above;
  for (size_t i = 0, n; i < count; i += n) {
    n = line_slopes(node, loop, blocks, count, line * count + i, d);
    for (size_t j = 0; j < n; j++) sum += d[j];
  }
  return above / sum;
}

static void step_reduction (Node *node) {
  StackTensor lines;
  Blocks blocks;
  Block block;
  const Tensor *t = node->in[0].tensor, *lined_up = &lines.tensor;
  size_t count = line_up(&lines, t, node->dimensions);
  double above = 0;
  Loop loop;
  loop_plan_shaped(&loop, t->rank, lined_up->shape, 1, &lined_up);
  Target to = target(node, 0, loop.feed[0] == FEED_LINEAR);
  loop_start(&loop, &blocks);
  for (size_t first = 0, n; first < loop.size; first += n) {
    double *d = to.first ? to.at + first : block;
    if (first % count == 0) above = line_above(node, &loop, &blocks, count, first / count);
    n = line_slopes(node, &loop, &blocks, count, first, d);
    scale_all(n, above, d, d);
    if (!to.first) loop_add(&loop, 0, to.at, first, n, d);
  }
}

/* }====================================================== */


size_t adjoint_scratch (const Node *node, const Pool *pool) {
  switch ((NodeKind)node->kind) {
    case NODE_ELEMENTWISE: case NODE_SUM: case NODE_MEAN:
      return node->block ? 0 : elementwise_need(node);
    case NODE_ROWS: return rows_need(node, pool);
    default: return 0;
  }
}

void adjoint_step (Node *node, const Kernel *sum, bool valued, Pool *pool, double *scratch) {
  size_t size = node->block ? block_size(node) : SIZE_MAX;
  switch ((NodeKind)node->kind) {
    case NODE_ELEMENTWISE: case NODE_SUM: case NODE_MEAN:
      if (size == 1) step_single(node);
      else if (size <= BLOCK) step_block(node, sum, size);
      else step_elementwise(node, sum, valued, pool, scratch);
      break;
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
  double *to = filled_gradient(t);
  loop_start(&loop, &blocks);
  for (size_t first = 0, n; first < loop.size; first += n) {
    n = loop_length(&loop, first, loop.size);
    loop_block(&loop, first, n, &blocks);
    loop_add(&loop, 0, to, first, n, blocks.in[1]);
  }
}
