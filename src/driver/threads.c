/*
** threads.c - the pool: workers that wait until a job is posted
**
** A job is posted by raising `posted`; every worker runs its own share once
** and lowers `busy`; the caller runs share 0 and waits for busy == 0. Whoever
** waits spins for some microseconds first, because in a loop over tensors the
** next job is near, and then sleeps.
*/
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "driver/threads.h"

#define SPINS 2000

typedef struct Worker {
  Pool *pool;
  int share;
  pthread_t thread;
} Worker;

struct Pool {
  pthread_mutex_t mutex;
  pthread_cond_t work, done;
  pid_t owner;               /* a forked child has no workers */
  int threads;               /* the caller's own included */
  atomic_ulong posted;       /* jobs so far */
  atomic_int busy;
  atomic_int stopping;
  size_t n, share_size;      /* the job */
  Task task;
  void *job;
  fenv_t environment;        /* the caller's: workers round as it does */
  Worker workers[];
};


static void run_share (Pool *pool, int share) {
  size_t first = (size_t)share * pool->share_size;
  size_t last = first + pool->share_size;
  if (last > pool->n) last = pool->n;
  if (first < last) pool->task(pool->job, first, last);
}

static void relax (void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

static int has_work (Pool *pool, unsigned long seen) {
  return atomic_load(&pool->posted) != seen || atomic_load(&pool->stopping);
}

static void await_work (Pool *pool, unsigned long seen) {
  for (int i = 0; i < SPINS; i++) {
    if (has_work(pool, seen)) return;
    relax();
  }
  pthread_mutex_lock(&pool->mutex);
  while (!has_work(pool, seen)) pthread_cond_wait(&pool->work, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
}

static void await_workers (Pool *pool) {
  for (int i = 0; i < SPINS; i++) {
    if (atomic_load(&pool->busy) == 0) return;
    relax();
  }
  pthread_mutex_lock(&pool->mutex);
  while (atomic_load(&pool->busy) > 0)
    pthread_cond_wait(&pool->done, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
}

/* The last worker to finish wakes the caller, should it sleep. */
static void report_done (Pool *pool) {
  if (atomic_fetch_sub(&pool->busy, 1) > 1) return;
  pthread_mutex_lock(&pool->mutex);
  pthread_cond_signal(&pool->done);
  pthread_mutex_unlock(&pool->mutex);
}

static void *worker_main (void *data) {
  Worker *worker = data;
  Pool *pool = worker->pool;
  for (unsigned long seen = 0; ; ) {
    await_work(pool, seen);
    if (atomic_load(&pool->stopping)) return NULL;
    seen = atomic_load(&pool->posted);
    fesetenv(&pool->environment);
    run_share(pool, worker->share);
    report_done(pool);
  }
}


size_t pool_bytes (int threads) {
  return sizeof(Pool) + (size_t)(threads - 1) * sizeof(Worker);
}

int pool_start (Pool *pool, int threads) {
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->work, NULL);
  pthread_cond_init(&pool->done, NULL);
  pool->owner = getpid();
  atomic_init(&pool->posted, 0);
  atomic_init(&pool->busy, 0);
  atomic_init(&pool->stopping, 0);
  sigset_t all, own;         /* signals are for the host's threads */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &own);
  for (pool->threads = 1; pool->threads < threads; pool->threads++) {
    Worker *worker = &pool->workers[pool->threads - 1];
    *worker = (Worker){.pool = pool, .share = pool->threads};
    if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0) break;
  }
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
    pthread_join(pool->workers[i].thread, NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->work);
  pthread_mutex_destroy(&pool->mutex);
  pool->owner = 0;
}

int pool_threads (const Pool *pool) {
  return pool == NULL ? 1 : pool->threads;
}


static void post (Pool *pool, size_t n, size_t grain, Task task, void *job) {
  size_t grains = (n + grain - 1) / grain;
  size_t shares = (size_t)pool->threads;
  pool->n = n;
  pool->share_size = (grains + shares - 1) / shares * grain;
  pool->task = task;
  pool->job = job;
  fegetenv(&pool->environment);
  atomic_store(&pool->busy, pool->threads - 1);
  pthread_mutex_lock(&pool->mutex);
  atomic_fetch_add(&pool->posted, 1);
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
}

void pool_run (Pool *pool, size_t n, size_t grain, Task task, void *job) {
  if (pool == NULL || n < 2 * grain || pool->threads == 1
      || pool->owner != getpid()) {
    if (n > 0) task(job, 0, n);
    return;
  }
  post(pool, n, grain, task, job);
  run_share(pool, 0);
  await_workers(pool);
}
