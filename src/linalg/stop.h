/*
** stop.h - whether long work on one matrix, or one long row, is to be given up
**
** Functions that may take more than a millisecond ask between parts of ten thousand operations
** or more, and return with whatever is there: nobody will look at it. Once the answer was yes
** it stays so, hence only the function with the loop need ask, not those who call it.
*/
#ifndef PERILUNE_STOP_H
#define PERILUNE_STOP_H

#include <stdbool.h>

struct Pool;

typedef struct Stop {
  bool (*asked) (struct Pool *pool);   /* or NULL: there is little work */
  struct Pool *pool;
} Stop;

static inline bool stops (Stop stop) { return stop.asked != NULL && stop.asked(stop.pool); }

#endif
