/*
** threads.h - an optional pool of worker threads
**
** The pool belongs to one Lua state and lives in memory that the caller
** provides. Workers never see Lua. A pool of one thread starts none; after
** fork the child works alone.
**
** Work is done in slices, and a watch may end it after any of them.
*/
#ifndef PERILUNE_THREADS_H
#define PERILUNE_THREADS_H

#include <stddef.h>

#include "driver/watch.h"

#define THREADS_MAX 256
#define POOL_ALONE  (SIZE_MAX / 2)   /* a grain: the work is not shared */

typedef struct Pool Pool;

/* Work on items first .. last-1 of a job. */
typedef void (*Task) (void *job, size_t first, size_t last);

/* A host's threads in place of the pool's own: `run` calls part(argument, i) for i = 0 .. n-1, on
   any threads, the calling one among them, and returns when all have ended. */
typedef struct Jobs {
  void (*run) (void *data, int n, void (*part) (void *argument, int i), void *argument);
  void *data;
} Jobs;

size_t pool_bytes (int threads);

/* Makes `block`, of pool_bytes(threads) bytes, a pool. Returns the number of
   threads it could start, the caller's own included: at least 1. None is
   started where the host lends its own (or NULL), which must outlive the pool. */
int pool_start (Pool *pool, int threads, Watch *watch, const Jobs *jobs);
void pool_stop (Pool *pool);   /* joins the threads; again does nothing */

/* How many threads may run a task, and which of them is asking, from 0;
   NULL is the caller alone. */
int pool_threads (const Pool *pool);
int pool_thread (const Pool *pool);

/* Runs the task over 0 .. n-1, cut at multiples of `grain` for the threads, and
   of `unit` into slices; returns when all is done, or the watch has stopped it.
   A unit is work of some microseconds. Less than two grains, or work that begins
   while the watch is being asked, runs in the caller; for a NULL pool in a
   single call that is not watched. */
void pool_run_watched (Pool *pool, size_t n, size_t grain, size_t unit, Task task, void *job);

static inline void pool_run (Pool *pool, size_t n, size_t grain, size_t unit, Task task,
                             void *job) {
  if (pool != NULL) pool_run_watched(pool, n, grain, unit, task, job);
  else if (n > 0) task(job, 0, n);
}

/* For a task whose items take long: is the work to be given up? */
bool pool_stops (Pool *pool);

/* Was it given up? Then what it has written must not be used. */
bool pool_stopped (const Pool *pool);

#endif
