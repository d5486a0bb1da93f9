/*
** threads.h - an optional pool of worker threads
**
** The pool belongs to one Lua state and lives in memory that the caller
** provides. Workers never see Lua. A pool of one thread starts none; after
** fork the child works alone.
*/
#ifndef PERILUNE_THREADS_H
#define PERILUNE_THREADS_H

#include <stddef.h>

#define THREADS_MAX 256

typedef struct Pool Pool;

/* Work on items first .. last-1 of a job. */
typedef void (*Task) (void *job, size_t first, size_t last);

size_t pool_bytes (int threads);

/* Makes `block`, of pool_bytes(threads) bytes, a pool. Returns the number of
   threads it could start, the caller's own included: at least 1. */
int pool_start (Pool *pool, int threads);
void pool_stop (Pool *pool);   /* joins the threads; again does nothing */

/* How many threads may run a task, and which of them is asking, from 0;
   NULL is the caller alone. */
int pool_threads (const Pool *pool);
int pool_thread (const Pool *pool);

/* Runs the task over 0 .. n-1, cut at multiples of `grain`, by several calls a
   thread; returns when all is done. A NULL pool, or less than two grains of
   work, runs in the caller. */
void pool_run (Pool *pool, size_t n, size_t grain, Task task, void *job);

#endif
