/*
** step_elementwise.c - back over an elementwise kernel, or the sum of its values, by blocks
**
** What is summed over the whole loop is summed over its leaves first, blocks of LOOP_BLOCK
** elements, whoever computes them: derivatives for an input that is one number, and the
** values of a sum that waits, whose order is that of driver/reduce.c. So a loss that
** was differentiated need not be computed any more.
*/
#include "autograd/steps.h"
#include "autograd/target.h"
#include "driver/loop.h"
#include "driver/reduce.h"

typedef struct Walk {
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
  if (kernel->shortcuts != NULL && kernel->shortcuts->both != NULL) {
    kernel->shortcuts->both(n, in, values, d);
    return;
  }
  kernel->partials(n, in, d);
  kernel->value(n, in, values);
}

/* Partials of a slow kernel, whose elements are told apart. */
static void slow_partials (const Walk *walk, const double *const in[], size_t n,
                           double *const d[]) {
  const double *from[KERNEL_MAX_IN];
  double *to[KERNEL_MAX_IN];
  for (size_t i = 0; i < n && !pool_stops(walk->pool); i++) {
    for (int k = 0; k < walk->node->n; k++) {
      from[k] = in[k] + i;
      to[k] = d[k] + i;
    }
    walk->node->kernel->partials(1, from, to);
  }
}

static void walk_block (const Walk *walk, const double *const in[], size_t first, size_t n) {
  const Node *node = walk->node;
  _Alignas(64) Block partials[KERNEL_MAX_IN];
  double *d[KERNEL_MAX_IN];
  for (int k = 0; k < node->n; k++)
    d[k] = is_direct(walk, k) ? walk->to[k].at + first : partials[k];
  if (node->kernel->slow) slow_partials(walk, in, n, d);
  else if (walk->first_alone) node->kernel->shortcuts->first_partial(n, in, d[0]);
  else if (walk->values == NULL) node->kernel->partials(n, in, d);
  else values_and_partials(node->kernel, in, n, walk->values + first % LOOP_BLOCK, d);
  for (int k = 0; k < node->n; k++)
    if (node->in[k].tracked) pass_on(walk, k, first, n, d[k]);
}

static void total_leaf (const Walk *walk, Blocks *blocks, size_t first, size_t n) {
  double sums[KERNEL_MAX_IN];
  loop_block(walk->loop, first, n, blocks);
  walk->node->kernel->shortcuts->block_sums(n, blocks->in, sums);
  walk->sums[first / LOOP_BLOCK] = sums[0];
  for (int k = 1; k < walk->node->n; k++)
    column(walk, k)[first / LOOP_BLOCK] = walk->above_all == 0 ? 0 : walk->above_all * sums[k];
}

static void walk_leaf (const Walk *walk, Blocks *blocks, size_t first, size_t last) {
  for (int k = 0; k < walk->node->n; k++) column(walk, k)[first / LOOP_BLOCK] = 0;
  for (size_t n; first < last; first += n) {
    n = loop_length(walk->loop, first, last);
    if (n > BACKWARD_BLOCK) n = BACKWARD_BLOCK;
    loop_block(walk->loop, first, n, blocks);
    walk_block(walk, blocks->in, first, n);
  }
}

static void walk_range (void *data, size_t first, size_t last) {
  const Walk *walk = data;
  Blocks blocks;
  LoopBlock values;
  Walk own;
  if (walk->with_sums && !walk->total) {
    own = *walk;
    own.values = values;
    walk = &own;
  }
  loop_start(walk->loop, &blocks);
  for (size_t n; first < last; first += n) {
    n = last - first < LOOP_BLOCK ? last - first : LOOP_BLOCK;
    if (!walk->total || walk->node->in[0].tracked) walk_leaf(walk, &blocks, first, first + n);
    if (walk->total) total_leaf(walk, &blocks, first, n);
    else if (walk->with_sums) walk->sums[first / LOOP_BLOCK] = sum_of(walk->sum, n, values);
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

static void start_walk (Walk *walk, const Node *node, const Loop *loop, const Kernel *sum,
                        Pool *pool) {
  walk->sum = sum;
  walk->pool = pool;
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
static bool computes_sum (const Walk *walk, bool with_sums) {
  return walk->node->result->data == NULL && is_row_major(walk->loop)
      && (walk->total || (with_sums && !walk->first_alone));
}

/* What a walk is to sum up, with memory for it. */
static void start_sums (Walk *walk, bool with_sums, double *scratch) {
  const Node *node = walk->node;
  bool is_sum = node->kind != NODE_ELEMENTWISE;
  walk->sums = scratch;
  walk->leaves = leaves_of(walk->loop->size);
  walk->total = is_sum && reduce_is_total(node->kernel, walk->loop);
  walk->with_sums = is_sum && computes_sum(walk, with_sums);
  walk->above_all = above_each(node, walk->loop->size);
}

/* Passes on what was summed up; the sum has its value from now on. */
static void finish_sums (const Walk *walk, Node *node) {
  for (int k = 0; k < node->n; k++)
    if (node->in[k].tracked && is_single(walk, k))
      walk->to[k].at[0] += sum_of(walk->sum, walk->leaves, column(walk, k));
  if (!walk->with_sums) return;
  double count = node->kind == NODE_MEAN ? (double)walk->loop->size : 1;
  node->result->data = node_room(node);
  node->result->data[0]
    = reduce_states(walk->sum, walk->leaves, walk->sums, walk->loop->size) / count;
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
  Walk walk;
  node_inputs(node, header, in);
  step_plan(node, in, &loop);
  start_walk(&walk, node, &loop, sum, pool);
  if (loop.size == 0) return;
  start_sums(&walk, with_sums, loop.size > LOOP_BLOCK ? scratch : leaf);
  for (int k = 0; k < node->n; k++)
    if (node->in[k].tracked) walk.to[k] = target(pool, node, k, loop.feed[k] == FEED_LINEAR);
  bool shared = pool != NULL && is_separate(&walk);
  pool_run(pool, loop.size, shared ? LOOP_GRAIN : POOL_ALONE, LOOP_GRAIN, walk_range, &walk);
  if (!pool_stopped(pool)) finish_sums(&walk, node);
}
