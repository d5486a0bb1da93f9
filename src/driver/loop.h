/*
** loop.h - the loop that all elementwise work shares
**
** A loop runs over the broadcast of its operands as one line of elements,
** cut into blocks. The line follows memory: dimensions are ordered so that
** operands are read forwards (a loop over transposed tensors is a plain one)
** and neighbours are collapsed where strides allow. Each operand is then
**   linear     its elements lie in loop order: blocks pass straight through;
**   constant   one element for all: a block filled once;
**   gathered   anything else: each block is copied together, unless it lies
**              within a row whose elements are neighbours or all the same.
** The result of a loop is always linear, hence `out_stride`.
*/
#ifndef PERILUNE_LOOP_H
#define PERILUNE_LOOP_H

#include "driver/sizes.h"
#include "driver/threads.h"
#include "kernel/kernel.h"
#include "tensor/tensor.h"

#define LOOP_MAX_IN 16    /* operands: those of a kernel, or of a program */

typedef enum Feed { FEED_LINEAR, FEED_CONSTANT, FEED_GATHERED } Feed;

typedef struct Loop {
  int n;                                     /* operands */
  size_t size;
  int out_rank;                              /* the broadcast, as users see it */
  ptrdiff_t out_shape[TENSOR_MAX_RANK];
  ptrdiff_t out_stride[TENSOR_MAX_RANK];
  int rank;                                  /* ordered and collapsed */
  ptrdiff_t shape[TENSOR_MAX_RANK];
  const double *data[LOOP_MAX_IN];
  ptrdiff_t stride[LOOP_MAX_IN][TENSOR_MAX_RANK];
  Feed feed[LOOP_MAX_IN];
  bool straight;                             /* nothing is gathered */
} Loop;

typedef double LoopBlock[LOOP_BLOCK];

/* The operands' elements of one block, and where they are copied together. */
typedef struct Blocks {
  const double *in[LOOP_MAX_IN];
  const double *repeated[LOOP_MAX_IN];   /* what fills scratch[k], or NULL */
  _Alignas(64) LoopBlock scratch[LOOP_MAX_IN];
} Blocks;

/* Shape of the broadcast of n tensors. Returns NULL, or why there is none. */
const char *loop_broadcast (int n, const Tensor *const in[],
                            int *rank, ptrdiff_t shape[], size_t *size);

/* Plans the loop over n operands. Returns NULL, or why there is none. */
const char *loop_plan (Loop *loop, int n, const Tensor *const in[]);

/* Plans a row-major loop over the given shape, to which every operand
   broadcasts; strides are set whatever the feeds. Returns NULL, or why one
   does not. */
const char *loop_plan_shaped (Loop *loop, int rank, const ptrdiff_t shape[],
                              int n, const Tensor *const in[]);

/* Is it a single block, each operand's elements, or the one that it repeats, being at
   loop->data? */
static inline bool loop_is_small (const Loop *loop) {
  return loop->straight && loop->size > 0 && loop->size <= LOOP_BLOCK;
}

/* Do the elements of a result lie in the order of the loop? */
bool loop_runs_along (const Loop *loop, const Tensor *t);

/* Once before the blocks of a run. */
void loop_start (const Loop *loop, Blocks *blocks);

/* A good length for the block that starts at `first`: it ends with a row, so
   that rows need no copying, unless rows are short. */
size_t loop_length (const Loop *loop, size_t first, size_t last);

/* Points blocks->in[k] at elements first .. first+n-1 of each operand, for
   any n up to LOOP_BLOCK. */
void loop_block (const Loop *loop, size_t first, size_t n, Blocks *blocks);

/* After elements first .. first+n-1 of a loop that is not shared: is it to be given up? */
static inline bool loop_stops (Pool *pool, size_t first, size_t n) {
  return first / LOOP_GRAIN != (first + n) / LOOP_GRAIN && pool_stops(pool);
}

/* Adds a block to elements first .. first+n-1 of something that lies as operand k
   does, from `to` on; where the operand repeats an element, all go to it. */
void loop_add (const Loop *loop, int k, double *to, size_t first, size_t n,
               const double *block);

/* Copies `from`, broadcast to the shape of `to`, into `to`. They must not
   overlap, and `from` must fit. */
void loop_copy (Pool *pool, Tensor *to, const Tensor *from);

/* The same for n elements that follow one another; and zeros. */
void loop_move (Pool *pool, double *to, const double *from, size_t n);
void loop_clear (Pool *pool, double *to, size_t n);

#endif
