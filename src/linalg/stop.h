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
#include <stddef.h>

#define STOP_OPERATIONS 65536   /* between two questions: some tens of microseconds */

struct Pool;

typedef struct Stop {
  bool (*asked) (struct Pool *pool);   /* or NULL: there is little work */
  struct Pool *pool;
} Stop;

static inline bool stops (Stop stop) { return stop.asked != NULL && stop.asked(stop.pool); }

/* The same before part i of a loop, each of so many operations; most of them pass unasked. */
static inline bool stops_at (Stop stop, size_t i, size_t operations) {
  return stop.asked != NULL && i % (STOP_OPERATIONS / (operations + 1) + 1) == 0
      && stop.asked(stop.pool);
}

#endif
