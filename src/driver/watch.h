/*
** watch.h - may work that takes long go on?
**
** Somebody above, who may run the host's hooks, is asked about once a millisecond, always on
** the thread that called. If the work is to be given up, `stopped` stays set until that one
** has noticed: all loops end early meanwhile, and their results count for nothing.
*/
#ifndef PERILUNE_WATCH_H
#define PERILUNE_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Watch {
  bool (*ask) (struct Watch *watch);   /* is the work to be given up? */
  uint64_t asked;                      /* when that was done last, in nanoseconds */
  bool asking;                         /* it is being done: what runs meanwhile is not watched */
  atomic_bool stopped;
} Watch;

uint64_t watch_clock (void);

/* Asks, if the last time is long enough ago; `now` is the time. */
void watch_look (Watch *watch, uint64_t now);

static inline bool watch_stopped (const Watch *watch) {
  return atomic_load_explicit(&watch->stopped, memory_order_relaxed);
}

#endif
