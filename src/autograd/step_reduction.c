/*
** step_reduction.c - back over a reduction of some dimensions
*/
#include "autograd/steps.h"
#include "autograd/target.h"
#include "driver/loop.h"
#include "driver/reduce.h"

/* Slopes of elements first .. of a line, up to its end or that of a block. */
static size_t line_slopes (const Node *node, const Loop *loop, Blocks *blocks,
                           size_t count, size_t first, double *d) {
  size_t line = first / count, left = (line + 1) * count - first;
  size_t n = left < BACKWARD_BLOCK ? left : BACKWARD_BLOCK;
  loop_block(loop, first, n, blocks);
  node->kernel->reduction->slope(n, blocks->in[0], count, node->result->data[line], d);
  return n;
}

/* What comes from above for a line, over the sum of its slopes if they are shares. */
static double line_above (const Node *node, const Loop *loop, Blocks *blocks,
                          size_t count, size_t line, Pool *pool) {
  Block d;
  double sum = 0, above = node->gradient[line];
  if (!node->kernel->reduction->unnormalised || above == 0) return above;
  for (size_t i = 0, n; i < count; i += n) {
    n = line_slopes(node, loop, blocks, count, line * count + i, d);
    for (size_t j = 0; j < n; j++) sum += d[j];
    if (loop_stops(pool, i, n)) break;
  }
  return above / sum;
}

void step_reduction (Node *node, Pool *pool) {
  StackTensor lines;
  Blocks blocks;
  Block block;
  const Tensor *t = node->in[0].tensor, *lined_up = &lines.tensor;
  int inner;
  size_t count = reduce_line_up(&lines, t, node->dimensions, &inner);
  double above = 0;
  Loop loop;
  loop_plan_shaped(&loop, t->rank, lined_up->shape, 1, &lined_up);
  Target to = target(pool, node, 0, loop.feed[0] == FEED_LINEAR);
  if (pool_stopped(pool)) return;
  loop_start(&loop, &blocks);
  for (size_t first = 0, n; first < loop.size; first += n) {
    double *d = to.first ? to.at + first : block;
    if (first % count == 0)
      above = line_above(node, &loop, &blocks, count, first / count, pool);
    n = line_slopes(node, &loop, &blocks, count, first, d);
    scale_all(n, above, d, d);
    if (!to.first) loop_add(&loop, 0, to.at, first, n, d);
    if (loop_stops(pool, first, n)) return;
  }
}
