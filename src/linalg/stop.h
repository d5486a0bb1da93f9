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
#define STOP_PART       8192    /* elements of a long row, likewise; a multiple of all lanes */

struct Pool;

typedef struct Stop {
  bool (*asked) (struct Pool *pool);   /* or NULL: there is little work */
  struct Pool *pool;
} Stop;

static const Stop STOP_NEVER = {NULL, NULL};

static inline bool stops (Stop stop) { return stop.asked != NULL && stop.asked(stop.pool); }

/* The same before part i of a loop, each of so many operations; most of them pass unasked. */
static inline bool stops_at (Stop stop, size_t i, size_t operations) {
  return stop.asked != NULL && i % (STOP_OPERATIONS / (operations + 1) + 1) == 0
      && stop.asked(stop.pool);
}

/* Where the part of a row of k elements that begins at j ends; at j itself if nothing is left,
   or the work is to be given up. A row of one part is not asked about. */
static inline size_t part_end (Stop stop, size_t j, size_t k) {
  if (k <= STOP_PART || stop.asked == NULL) return k;
  if (j < k && stop.asked(stop.pool)) return j;
  return k - j < STOP_PART ? k : j + STOP_PART;
}

#endif
