/*
** threads.c - the pool: workers that sleep until a job is posted
**
** A job is posted by raising `posted`; every worker runs its own share once
** and lowers `busy`; the caller runs share 0 and waits for busy == 0. One
** mutex guards it all: shares are large, so it is taken rarely.
*/
#include <pthread.h>
#include <unistd.h>

#include "driver/threads.h"

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
  unsigned long posted;      /* jobs so far */
  int busy;
  int stopping;
  size_t n, share_size;      /* the job */
  Task task;
  void *job;
  Worker workers[];
};


static void run_share (Pool *pool, int share) {
  size_t first = (size_t)share * pool->share_size;
  size_t last = first + pool->share_size;
  if (last > pool->n) last = pool->n;
  if (first < last) pool->task(pool->job, first, last);
}

static void *worker_main (void *data) {
  Worker *worker = data;
  Pool *pool = worker->pool;
  unsigned long seen = 0;
  pthread_mutex_lock(&pool->mutex);
  for (;;) {
    while (pool->posted == seen && !pool->stopping)
      pthread_cond_wait(&pool->work, &pool->mutex);
    if (pool->stopping) break;
    seen = pool->posted;
    pthread_mutex_unlock(&pool->mutex);
    run_share(pool, worker->share);
    pthread_mutex_lock(&pool->mutex);
    if (--pool->busy == 0) pthread_cond_signal(&pool->done);
  }
  pthread_mutex_unlock(&pool->mutex);
  return NULL;
}


size_t pool_bytes (int threads) {
  return sizeof(Pool) + (size_t)(threads - 1) * sizeof(Worker);
}

int pool_start (Pool *pool, int threads) {
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->work, NULL);
  pthread_cond_init(&pool->done, NULL);
  pool->owner = getpid();
  pool->posted = 0;
  pool->busy = pool->stopping = 0;
  for (pool->threads = 1; pool->threads < threads; pool->threads++) {
    Worker *worker = &pool->workers[pool->threads - 1];
    *worker = (Worker){.pool = pool, .share = pool->threads};
    if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0) break;
  }
  return pool->threads;
}

void pool_stop (Pool *pool) {
  if (pool->owner != getpid()) return;
  pthread_mutex_lock(&pool->mutex);
  pool->stopping = 1;
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
  for (int i = 0; i < pool->threads - 1; i++)
    pthread_join(pool->workers[i].thread, NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->work);
  pthread_mutex_destroy(&pool->mutex);
  pool->owner = 0;
}


static void post (Pool *pool, size_t n, size_t grain, Task task, void *job) {
  size_t grains = (n + grain - 1) / grain;
  size_t shares = (size_t)pool->threads;
  pool->n = n;
  pool->share_size = (grains + shares - 1) / shares * grain;
  pool->task = task;
  pool->job = job;
  pool->busy = pool->threads - 1;
  pool->posted++;
  pthread_cond_broadcast(&pool->work);
}

void pool_run (Pool *pool, size_t n, size_t grain, Task task, void *job) {
  if (pool == NULL || n < 2 * grain || pool->threads == 1
      || pool->owner != getpid()) {
    if (n > 0) task(job, 0, n);
    return;
  }
  pthread_mutex_lock(&pool->mutex);
  post(pool, n, grain, task, job);
  pthread_mutex_unlock(&pool->mutex);
  run_share(pool, 0);
  pthread_mutex_lock(&pool->mutex);
  while (pool->busy > 0) pthread_cond_wait(&pool->done, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
}
