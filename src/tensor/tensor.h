/*
** tensor.h - tensors: a shape and strides over doubles
**
** The header and the elements of a tensor share one block of memory, whose
** owner is the caller (a Lua userdata). A view has a header only; whoever
** makes it keeps the base alive. Strides count elements and are never
** negative; a stride of 0 repeats the same element along that dimension.
*/
#ifndef PERILUNE_TENSOR_H
#define PERILUNE_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TENSOR_MAX_RANK 16

typedef struct Tensor {
  uint64_t proof;               /* that a block is a tensor: see tensor_proven */
  double *data;
  size_t size;                  /* number of elements */
  ptrdiff_t *shape, *stride;    /* behind the header, in the same block */
  int16_t rank;
  bool is_view;                 /* of elements that another block holds */
  bool awaited;                 /* something that waits may read its elements */
  uint32_t writes;              /* since its elements were first set */
  uint32_t *version;            /* the writes of whoever has the elements */
  struct Tensor *owner;         /* to whom a gradient goes: a view's base */
  struct Node *node;            /* how an owner was computed, or NULL */
} Tensor;

/* Whoever has the elements of t. */
static inline Tensor *tensor_holder (const Tensor *t) {
  return (Tensor *)(void *)((char *)t->version - offsetof(Tensor, writes));
}

/* A tensor on the C stack: a header with room for any shape. */
typedef struct StackTensor {
  Tensor tensor;
  ptrdiff_t dims[2 * TENSOR_MAX_RANK];
} StackTensor;

/* Number of elements of a shape, or false when the elements could not be
   addressed (also when some other dimension is zero). */
bool tensor_count (int rank, const ptrdiff_t shape[], size_t *size);

/* Bytes for the header alone, and for header and elements. */
static inline size_t tensor_header_bytes (int rank) {
  return sizeof(Tensor) + 2 * (size_t)rank * sizeof(ptrdiff_t);
}

size_t tensor_bytes (int rank, size_t size);

/* Bytes for the elements alone, and where they begin from p on: at a cache line, unless
   there are few. */
size_t tensor_room (size_t size);
double *tensor_place (void *p, size_t size);

/* Makes `block` a tensor, its own owner. With data == NULL the elements follow the header
   in the same block, which must then have tensor_bytes(rank, size) bytes.
   Shape and strides are left for the caller to fill. */
Tensor *tensor_init (void *block, int rank, size_t size, double *data);

/* A view of the elements of t on the C stack, its shape still to be filled. */
Tensor *tensor_on_stack (StackTensor *block, const Tensor *t, int rank);

/* A number seen as a tensor of rank 0, without proof; lives as long as both arguments. */
static inline Tensor *tensor_scalar (Tensor *header, double *value) {
  *header = (Tensor) {.data = value, .size = 1, .version = &header->writes, .owner = header};
  header->shape = header->stride = (ptrdiff_t *)(header + 1);
  return header;
}

static inline bool tensor_is_number (const Tensor *t) { return t->proof == 0; }

/* Is there one element, or one that all are? */
bool tensor_is_one (const Tensor *t);

/* The first cache line from p on. */
double *tensor_aligned (void *p);

/* A copy of a tensor elsewhere in memory proves nothing. */
static inline uint64_t tensor_proof (const Tensor *t) {
  return 0x70657269746e7372u ^ (uintptr_t)t;   /* "peritnsr" */
}

static inline bool tensor_proven (const void *block, size_t bytes) {
  return bytes >= sizeof(Tensor) && ((const Tensor *)block)->proof == tensor_proof(block);
}

/* Strides of a row-major tensor. */
void tensor_row_major (int rank, const ptrdiff_t shape[], ptrdiff_t stride[]);
bool tensor_is_contiguous (const Tensor *t);
bool tensor_same_shape (const Tensor *a, const Tensor *b);

#endif
