/*
** row_blocks.h - short rows of a batch, computed together
**
** A loop over the elements of several rows is as fast as one over a long row.
*/
#ifndef PERILUNE_ROW_BLOCKS_H
#define PERILUNE_ROW_BLOCKS_H

#include <string.h>

#include "kernel/kernel.h"

enum { ROW_BLOCK = 256 };   /* elements, unless a row has more */


/* how many rows of k elements */
static inline size_t rows_in_block (size_t k) {
  return k > 0 && k < ROW_BLOCK ? ROW_BLOCK / k : 1;
}

/* operand o of `rows` rows from r on: where they are, or gathered in `room` */
static inline const double *rows_from (const Batch *b, int o, size_t r, size_t rows,
                                       double *room) {
  size_t k = b->dims[0];
  if (b->step[o] == (ptrdiff_t)k || rows == 1) return event(b, o, r);
  for (size_t i = 0; i < rows; i++)
    memcpy(room + i * k, event(b, o, r + i), k * sizeof *room);
  return room;
}

#endif
