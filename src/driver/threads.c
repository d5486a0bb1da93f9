/*
** threads.c - the pool: workers that wait until a job is posted
**
** A job is cut into several shares a thread, and each belongs to whoever claims
** it first, the caller being one of them. So nobody waits for a thread to wake
** up, a core that is slower than the others, or shared with other programs, does
** less of the work, and what a small job loses is at most the call that wakes
** the others.
** Whoever waits spins for some microseconds first, because in a loop over
** tensors the next job is near, and then sleeps.
*/
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "driver/threads.h"

#define SPINS  2000          /* turns of waiting before sleep, */
#define YIELD  32            /* and between giving way */
#define EACH   16            /* shares a thread, if there are as many grains */
#define SHARES 8192          /* a power of two, more than a job is ever cut into */

_Static_assert(SHARES > EACH * THREADS_MAX, "a ticket has room for all shares");

struct Pool {
  pthread_mutex_t mutex;
  pthread_cond_t work, done;
  pid_t owner;               /* a forked child has no workers */
  int threads;               /* the caller's own included */
  atomic_ulong ticket;       /* number of the job * SHARES + its unclaimed shares */
  atomic_ulong unfinished;   /* shares that somebody may still be running */
  atomic_int stopping;
  size_t n, share_size, shares;   /* the job */
  Task task;
  void *job;
  fenv_t environment;        /* the caller's: workers round as it does */
  pthread_t workers[];
};


static void run_share (Pool *pool, size_t share) {
  size_t first = share * pool->share_size;
  size_t last = first + pool->share_size;
  if (last > pool->n) last = pool->n;
  pool->task(pool->job, first, last);
}

static int has_work (Pool *pool) {
  return atomic_load(&pool->ticket) % SHARES != 0;
}

/* Finds a share that nobody has claimed yet. The job stays as it is until that share
   is finished: only who holds one may look at it. */
static bool claim (Pool *pool, size_t *share) {
  unsigned long ticket = atomic_load(&pool->ticket);
  while (ticket % SHARES != 0)
    if (atomic_compare_exchange_weak(&pool->ticket, &ticket, ticket - 1)) {
      *share = pool->shares - ticket % SHARES;
      return true;
    }
  return false;
}

/* Whoever spins gives way now and then: what it waits for may want the same core. */
static void relax (int turn) {
  if (turn % YIELD == YIELD - 1) sched_yield();
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

static int is_called (Pool *pool) {
  return has_work(pool) || atomic_load(&pool->stopping);
}

/* Whoever was woken in vain spins again: more jobs are near. */
static void await_work (Pool *pool) {
  for (;;) {
    for (int i = 0; i < SPINS; i++) {
      if (is_called(pool)) return;
      relax(i);
    }
    pthread_mutex_lock(&pool->mutex);
    if (!is_called(pool)) pthread_cond_wait(&pool->work, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
  }
}

static void await_workers (Pool *pool) {
  for (int i = 0; i < SPINS; i++) {
    if (atomic_load(&pool->unfinished) == 0) return;
    relax(i);
  }
  pthread_mutex_lock(&pool->mutex);
  while (atomic_load(&pool->unfinished) > 0)
    pthread_cond_wait(&pool->done, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
}

/* Who finishes the last share wakes the caller, should it sleep. */
static void report_done (Pool *pool) {
  if (atomic_fetch_sub(&pool->unfinished, 1) > 1) return;
  pthread_mutex_lock(&pool->mutex);
  pthread_cond_signal(&pool->done);
  pthread_mutex_unlock(&pool->mutex);
}

static void *worker_main (void *data) {
  Pool *pool = data;
  for (;;) {
    await_work(pool);
    if (atomic_load(&pool->stopping)) return NULL;
    for (size_t share; claim(pool, &share); report_done(pool)) {
      fesetenv(&pool->environment);
      run_share(pool, share);
    }
  }
}


size_t pool_bytes (int threads) {
  return sizeof(Pool) + (size_t)(threads - 1) * sizeof(pthread_t);
}

int pool_start (Pool *pool, int threads) {
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->work, NULL);
  pthread_cond_init(&pool->done, NULL);
  pool->owner = getpid();
  atomic_init(&pool->ticket, 0);
  atomic_init(&pool->unfinished, 0);
  atomic_init(&pool->stopping, 0);
  sigset_t all, own;         /* signals are for the host's threads */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &own);
  for (pool->threads = 1; pool->threads < threads; pool->threads++)
    if (pthread_create(&pool->workers[pool->threads - 1], NULL, worker_main, pool) != 0)
      break;
  pthread_sigmask(SIG_SETMASK, &own, NULL);
  return pool->threads;
}

void pool_stop (Pool *pool) {
  if (pool->owner != getpid()) return;
  pthread_mutex_lock(&pool->mutex);
  atomic_store(&pool->stopping, 1);
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
  for (int i = 0; i < pool->threads - 1; i++)
    pthread_join(pool->workers[i], NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->work);
  pthread_mutex_destroy(&pool->mutex);
  pool->owner = 0;
}

int pool_threads (const Pool *pool) {
  return pool == NULL ? 1 : pool->threads;
}

int pool_thread (const Pool *pool) {
  pthread_t self = pthread_self();
  for (int i = 0; i < pool_threads(pool) - 1; i++)
    if (pthread_equal(pool->workers[i], self)) return 1 + i;
  return 0;
}


static size_t quotient_above (size_t n, size_t by) { return (n + by - 1) / by; }

static void post (Pool *pool, size_t n, size_t grain, Task task, void *job) {
  size_t grains = quotient_above(n, grain);
  pool->n = n;
  pool->share_size = quotient_above(grains, EACH * (size_t)pool->threads) * grain;
  pool->shares = quotient_above(n, pool->share_size);
  pool->task = task;
  pool->job = job;
  fegetenv(&pool->environment);
  atomic_store(&pool->unfinished, pool->shares);
  pthread_mutex_lock(&pool->mutex);
  atomic_fetch_add(&pool->ticket, SHARES + pool->shares);
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
}

static void run_own_shares (Pool *pool) {
  for (size_t share; claim(pool, &share); atomic_fetch_sub(&pool->unfinished, 1))
    run_share(pool, share);
}

void pool_run (Pool *pool, size_t n, size_t grain, Task task, void *job) {
  if (pool == NULL || n < 2 * grain || pool->threads == 1
      || pool->owner != getpid()) {
    if (n > 0) task(job, 0, n);
    return;
  }
  post(pool, n, grain, task, job);
  run_own_shares(pool);
  await_workers(pool);
}
