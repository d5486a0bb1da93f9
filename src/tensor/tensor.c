/*
** tensor.c - shapes, strides, and the layout of a tensor's memory
*/
#include "tensor/tensor.h"

#define ALIGNMENT          64   /* of elements: a cache line, */
#define ALIGN_MIN_ELEMENTS 64   /* unless there are fewer */


bool tensor_count (int rank, const ptrdiff_t shape[], size_t *size) {
  size_t nonzero = 1, total = 1;
  *size = 0;
  for (int d = 0; d < rank; d++) {
    size_t extent = (size_t)shape[d];
    total *= extent;
    if (extent != 0 && __builtin_mul_overflow(nonzero, extent, &nonzero))
      return false;
  }
  *size = total;
  return nonzero <= (size_t)(PTRDIFF_MAX / 2) / sizeof(double);
}


size_t tensor_room (size_t size) {
  return size * sizeof(double) + (size < ALIGN_MIN_ELEMENTS ? 0 : ALIGNMENT);
}

size_t tensor_bytes (int rank, size_t size) {
  return tensor_header_bytes(rank) + tensor_room(size);
}


double *tensor_aligned (void *p) {
  uintptr_t address = (uintptr_t)p;
  size_t past = address % ALIGNMENT;
  return (double *)(void *)((char *)p + (past == 0 ? 0 : ALIGNMENT - past));
}

double *tensor_place (void *p, size_t size) {
  return size < ALIGN_MIN_ELEMENTS ? p : tensor_aligned(p);
}

Tensor *tensor_init (void *block, int rank, size_t size, double *data) {
  Tensor *t = block;
  t->proof = tensor_proof(t);
  t->data = data != NULL ? data
                         : tensor_place((char *)block + tensor_header_bytes(rank), size);
  t->size = size;
  t->rank = rank;
  t->shape = (ptrdiff_t *)(t + 1);
  t->stride = t->shape + rank;
  t->is_view = false;
  t->awaited = false;
  t->writes = 0;
  t->version = &t->writes;
  t->owner = t;
  t->node = NULL;
  return t;
}

Tensor *tensor_on_stack (StackTensor *block, const Tensor *t, int rank) {
  tensor_init(&block->tensor, rank, t->size, t->data);
  block->tensor.shape = block->dims;
  block->tensor.stride = block->dims + rank;
  return &block->tensor;
}

void tensor_row_major (int rank, const ptrdiff_t shape[], ptrdiff_t stride[]) {
  ptrdiff_t step = 1;
  for (int d = rank - 1; d >= 0; d--) {
    stride[d] = step;
    step *= shape[d] > 0 ? shape[d] : 1;
  }
}

bool tensor_is_contiguous (const Tensor *t) {
  const ptrdiff_t *shape = t->shape, *stride = t->stride;
  ptrdiff_t step = 1;
  for (int d = t->rank - 1; d >= 0; d--) {
    if (shape[d] != 1 && stride[d] != step) return false;
    step *= shape[d];
  }
  return true;
}

bool tensor_is_one (const Tensor *t) {
  for (int d = 0; d < t->rank; d++)
    if (t->shape[d] != 1 && t->stride[d] != 0) return false;
  return true;
}

bool tensor_same_shape (const Tensor *a, const Tensor *b) {
  if (a->rank != b->rank) return false;
  for (int d = 0; d < a->rank; d++)
    if (a->shape[d] != b->shape[d]) return false;
  return true;
}
