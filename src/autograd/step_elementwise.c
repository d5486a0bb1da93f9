/*
** step_elementwise.c - back over an elementwise kernel, or the sum of its values, by blocks
**
** Two things are summed over the whole loop: derivatives for an input that is one number, and the
** values of a sum that waits. Both are summed over leaves first, blocks of LOOP_BLOCK elements, in
** the order of driver/reduce.c, whichever thread computes them. So a loss that was differentiated
** need not be computed again.
*/
#include "autograd/steps.h"
#include "autograd/target.h"
#include "driver/loop.h"
#include "driver/reduce.h"

typedef struct ElementwiseStep {
  const Node *node;
  const Loop *loop;
  const Kernel *sum;
  Pool *pool;
  const double *above;     /* an element for each of the loop, or NULL: */
  double above_all;
  bool first_alone;        /* no input but the first is tracked, and that is cheap */
  bool with_sums;          /* the sum itself is wanted as well */
  bool total;              /* the kernel sums up everything but slopes of the first input */
  double *values;          /* where those of the leaf at hand go, or NULL */
  size_t leaves;
  double *sums;            /* a column of leaves for the values, and one for each input */
  Target to[KERNEL_MAX_IN];
} ElementwiseStep;

static double *column (const ElementwiseStep *step, int k) {
  return step->sums + (size_t)(1 + k) * step->leaves;
}

/* Is input k the same number for all elements of the loop? */
static bool is_single (const ElementwiseStep *step, int k) {
  return step->loop->feed[k] == FEED_CONSTANT;
}

/* Can the derivatives for input k be written where they go, as they are? */
static bool is_direct (const ElementwiseStep *step, int k) {
  return step->node->in[k].tracked && step->to[k].first && step->above == NULL
      && step->above_all == 1;
}

static void pass_on (const ElementwiseStep *step, int k, size_t first, size_t n, double *d) {
  double *to = step->to[k].at, *out = step->to[k].first ? to + first : d;
  if (step->above == NULL) scale_all(n, step->above_all, d, out);
  else scale(n, step->above + first, d, out);
  if (step->to[k].first) return;
  if (is_single(step, k)) column(step, k)[first / LOOP_BLOCK] += sum_of(step->sum, n, d);
  else loop_add(step->loop, k, to, first, n, d);
}

static void values_and_partials (const Kernel *kernel, const double *const in[], size_t n,
                                 double *values, double *const d[]) {
  if (kernel->shortcuts != NULL && kernel->shortcuts->both != NULL) {
    kernel->shortcuts->both(n, in, values, d);
    return;
  }
  kernel->partials(n, in, d);
  kernel->value(n, in, values);
}

/* Partials of a slow kernel, whose elements are told apart. */
static void slow_partials (const ElementwiseStep *step, const double *const in[], size_t n,
                           double *const d[]) {
  const double *from[KERNEL_MAX_IN];
  double *to[KERNEL_MAX_IN];
  for (size_t i = 0; i < n && !pool_stops(step->pool); i++) {
    for (int k = 0; k < step->node->n; k++) {
      from[k] = in[k] + i;
      to[k] = d[k] + i;
    }
    step->node->kernel->partials(1, from, to);
  }
}

static void back_over_block (const ElementwiseStep *step, const double *const in[], size_t first,
                             size_t n) {
  const Node *node = step->node;
  _Alignas(64) Block partials[KERNEL_MAX_IN];
  double *d[KERNEL_MAX_IN];
  for (int k = 0; k < node->n; k++)
    d[k] = is_direct(step, k) ? step->to[k].at + first : partials[k];
  if (node->kernel->slow) slow_partials(step, in, n, d);
  else if (step->first_alone) node->kernel->shortcuts->first_partial(n, in, d[0]);
  else if (step->values == NULL) node->kernel->partials(n, in, d);
  else values_and_partials(node->kernel, in, n, step->values + first % LOOP_BLOCK, d);
  for (int k = 0; k < node->n; k++)
    if (node->in[k].tracked) pass_on(step, k, first, n, d[k]);
}

static void total_leaf (const ElementwiseStep *step, Blocks *blocks, size_t first, size_t n) {
  double sums[KERNEL_MAX_IN];
  loop_block(step->loop, first, n, blocks);
  step->node->kernel->shortcuts->block_sums(n, blocks->in, sums);
  step->sums[first / LOOP_BLOCK] = sums[0];
  for (int k = 1; k < step->node->n; k++)
    column(step, k)[first / LOOP_BLOCK] = step->above_all == 0 ? 0 : step->above_all * sums[k];
}

static void back_over_leaf (const ElementwiseStep *step, Blocks *blocks, size_t first,
                            size_t last) {
  for (int k = 0; k < step->node->n; k++) column(step, k)[first / LOOP_BLOCK] = 0;
  for (size_t n; first < last; first += n) {
    n = loop_length(step->loop, first, last);
    if (n > BACKWARD_BLOCK) n = BACKWARD_BLOCK;
    loop_block(step->loop, first, n, blocks);
    back_over_block(step, blocks->in, first, n);
  }
}

static void back_over_range (void *data, size_t first, size_t last) {
  const ElementwiseStep *step = data;
  Blocks blocks;
  LoopBlock values;
  ElementwiseStep own;
  if (step->with_sums && !step->total) {
    own = *step;
    own.values = values;
    step = &own;
  }
  loop_start(step->loop, &blocks);
  for (size_t n; first < last; first += n) {
    n = last - first < LOOP_BLOCK ? last - first : LOOP_BLOCK;
    if (!step->total || step->node->in[0].tracked) back_over_leaf(step, &blocks, first, first + n);
    if (step->total) total_leaf(step, &blocks, first, n);
    else if (step->with_sums) step->sums[first / LOOP_BLOCK] = sum_of(step->sum, n, values);
  }
}

static bool meets (const Node *node, int j, int k) {
  return node_below(node, j) == node_below(node, k)
      && node->in[j].tensor->data != node->in[k].tensor->data;
}

/* May threads share the work? Not where they would add to the same element. */
static bool is_separate (const ElementwiseStep *step) {
  const Node *node = step->node;
  for (int k = 0; k < node->n; k++) {
    if (!node->in[k].tracked || is_single(step, k)) continue;
    if (step->loop->feed[k] != FEED_LINEAR) return false;
    for (int j = 0; j < k; j++)
      if (node->in[j].tracked && !is_single(step, j) && meets(node, j, k)) return false;
  }
  return true;
}

static void start_step (ElementwiseStep *step, const Node *node, const Loop *loop,
                        const Kernel *sum, Pool *pool) {
  step->sum = sum;
  step->pool = pool;
  step->node = node;
  step->loop = loop;
  step->above = node->kind == NODE_ELEMENTWISE ? node->gradient : NULL;
  step->values = NULL;
  step->first_alone = is_cheap_first(node);
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
size_t step_elementwise_need (const Node *node) {
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
static bool computes_sum (const ElementwiseStep *step, bool with_sums) {
  return step->node->result->data == NULL && is_row_major(step->loop)
      && (step->total || (with_sums && !step->first_alone));
}

/* Decides what the step is to sum up, and where. */
static void start_sums (ElementwiseStep *step, bool with_sums, double *scratch) {
  const Node *node = step->node;
  bool is_sum = node->kind != NODE_ELEMENTWISE;
  step->sums = scratch;
  step->leaves = leaves_of(step->loop->size);
  step->total = is_sum && reduce_is_total(node->kernel, step->loop);
  step->with_sums = is_sum && computes_sum(step, with_sums);
  step->total &= step->with_sums || !is_first_alone(node);
  step->above_all = above_each(node, step->loop->size);
}

/* Passes on what was summed up; a sum that waited has its value now. */
static void finish_sums (const ElementwiseStep *step, Node *node) {
  for (int k = 0; k < node->n; k++)
    if (node->in[k].tracked && is_single(step, k))
      step->to[k].at[0] += sum_of(step->sum, step->leaves, column(step, k));
  if (!step->with_sums) return;
  double count = node->kind == NODE_MEAN ? (double)step->loop->size : 1;
  node->result->data = node_room(node);
  node->result->data[0]
    = reduce_states(step->sum, step->leaves, step->sums, step->loop->size) / count;
}

void step_plan (const Node *node, const Tensor *const in[], Loop *loop) {
  loop_plan(loop, node->n, in);
  if (node->kind == NODE_ELEMENTWISE && !loop_runs_along(loop, node->result))
    loop_plan_shaped(loop, node->result->rank, node->result->shape, node->n, in);
}

void step_elementwise (Node *node, const Kernel *sum, bool with_sums, Pool *pool,
                       double *scratch) {
  Tensor header[KERNEL_MAX_IN];
  const Tensor *in[KERNEL_MAX_IN];
  double leaf[1 + KERNEL_MAX_IN];
  Loop loop;
  ElementwiseStep step;
  node_inputs(node, header, in);
  step_plan(node, in, &loop);
  start_step(&step, node, &loop, sum, pool);
  if (loop.size == 0) return;
  start_sums(&step, with_sums, loop.size > LOOP_BLOCK ? scratch : leaf);
  for (int k = 0; k < node->n; k++)
    if (node->in[k].tracked) step.to[k] = target(pool, node, k, loop.feed[k] == FEED_LINEAR);
  bool shared = pool != NULL && is_separate(&step);
  pool_run(pool, loop.size, shared ? LOOP_GRAIN : POOL_ALONE, LOOP_GRAIN, back_over_range, &step);
  if (!pool_stopped(pool)) finish_sums(&step, node);
}
