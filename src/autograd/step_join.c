/*
** step_join.c - tensors one after the other along a dimension, and back
*/
#include "autograd/steps.h"
#include "autograd/target.h"


/* The place of a part in memory that is laid out as the whole is, beginning at `data`. */
static Tensor *place_of (StackTensor *block, const Tensor *whole, double *data,
                         const Tensor *part, ptrdiff_t at, int dim) {
  Tensor *place = tensor_on_stack(block, whole, whole->rank);
  size_t bytes = (size_t)whole->rank * sizeof(ptrdiff_t);
  memcpy(place->shape, part->shape, bytes);
  memcpy(place->stride, whole->stride, bytes);
  place->data = data + at * whole->stride[dim];
  place->size = part->size;
  return place;
}

void step_join_value (Pool *pool, Tensor *whole, int n, const Tensor *const in[], int dim) {
  StackTensor block;
  ptrdiff_t at = 0;
  for (int k = 0; k < n; k++) {
    loop_copy(pool, place_of(&block, whole, whole->data, in[k], at, dim), in[k]);
    at += in[k]->shape[dim];
  }
}

void step_add (Pool *pool, const Tensor *t, const Tensor *from) {
  const Tensor *both[2] = {t, from};
  Blocks blocks;
  Loop loop;
  loop_plan_shaped(&loop, t->rank, t->shape, 2, both);
  double *to = filled_gradient(pool, t);
  loop_start(&loop, &blocks);
  for (size_t first = 0, n; first < loop.size; first += n) {
    n = loop_length(&loop, first, loop.size);
    loop_block(&loop, first, n, &blocks);
    loop_add(&loop, 0, to, first, n, blocks.in[1]);
    if (loop_stops(pool, first, n)) return;
  }
}

void step_join (const Node *node, Pool *pool) {
  StackTensor block;
  ptrdiff_t at = 0;
  int dim = node->dimensions;
  for (int k = 0; k < node->n; k++) {
    const Tensor *t = node->in[k].tensor;
    if (node->in[k].tracked && t->size > 0)
      step_add(pool, t, place_of(&block, node->result, node->gradient, t, at, dim));
    if (pool_stopped(pool)) return;
    at += t->shape[dim];
  }
}
