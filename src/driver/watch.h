/*
** watch.h - interrupts long work
**
** About once a millisecond, always on the thread that called, long work calls `ask`, which runs the
** host's hooks (src/host/watch.c). If the work is to be given up, `stopped` is set until the caller
** has noticed: meanwhile all loops end early, and their results are not used.
*/
#ifndef PERILUNE_WATCH_H
#define PERILUNE_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Watch {
  bool (*ask) (struct Watch *watch);   /* is the work to be given up? */
  uint64_t asked;                      /* when it was called last, in nanoseconds */
  bool asking;                         /* it is running: what begins meanwhile is not watched */
  atomic_bool stopped;
} Watch;

uint64_t watch_clock (void);

/* Calls `ask`, if the last call was long enough ago; `now` is the time. */
void watch_look (Watch *watch, uint64_t now);

static inline bool watch_stopped (const Watch *watch) {
  return atomic_load_explicit(&watch->stopped, memory_order_relaxed);
}

#endif
