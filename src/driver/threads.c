/*
** threads.c - the pool: workers that wait until a job is posted
**
** A job is cut into shares. Every thread, the caller included, begins with a stretch of its own,
** the same as in the last job, whose elements are in its cache; then it takes over shares that
** others have not begun. So nobody waits for a thread to wake up, a slow or busy core does less of
** the work, and a small job loses at most the time of the call that wakes the others. A thread
** without work spins for some microseconds, because in a loop over tensors the next job comes soon,
** and then sleeps.
**
** A share is done in slices, each twice as long as the one before, until they take a few tenths of
** a millisecond, so that reading the clock between them costs little. Between slices the caller
** asks the watch; if it stops the work, all threads end after their slice.
**
** A host may lend its own threads (Jobs). Then there are no workers, and their places are taken by
** whatever threads the host runs the parts on, for as long as these run.
*/
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "driver/threads.h"

#define WAIT_SPINS 2000           /* turns of waiting before sleep, */
#define WAIT_YIELD 32             /* and between giving way */
#define SHARES_PER_THREAD  8              /* shares a thread, if there are as many grains */
#define SLICE_MIN_NS 250000         /* nanoseconds that a slice should take at least, */
#define SLICE_MAX_NS  1000000        /* and at most */

typedef struct Work {
  Task task;
  void *job;
  size_t unit;               /* of slices */
} Work;

typedef struct Worker {
  Pool *pool;
  pthread_t thread;          /* of the caller, the first one, none is kept */
  atomic_uintptr_t guest;    /* the host's thread that has this place, or 0 */
  atomic_size_t left;        /* shares of its own that nobody has claimed */
} Worker;

struct Pool {
  pthread_mutex_t mutex;
  pthread_cond_t work, done;
  pid_t owner;               /* a forked child has no workers */
  int threads;               /* the caller's own included */
  Watch *watch;
  const Jobs *lent;          /* the host's threads, or NULL */
  uintptr_t caller;          /* of the job, if these run it */
  bool busy;                 /* with a job, during which the caller may begin another */
  atomic_ulong jobs;         /* posted so far */
  atomic_size_t unfinished;  /* shares that somebody may still be running */
  atomic_int stopping;
  unsigned long number;      /* of the job, */
  size_t n, share_size, shares;
  Work job;
  fenv_t environment;        /* the caller's: workers round as it does */
  Worker workers[];
};


/* Items first .. last-1; the caller's thread asks the watch. */
static void run_slices (Watch *watch, bool asks, const Work *work, size_t first, size_t last) {
  size_t slice = work->unit;
  uint64_t now = last - first > slice ? watch_clock() : 0;
  for (size_t n; first < last && !watch_stopped(watch); first += n) {
    n = last - first < slice ? last - first : slice;
    work->task(work->job, first, first + n);
    if (n == last - first) return;
    uint64_t before = now, took = (now = watch_clock()) - before;
    if (took < SLICE_MIN_NS) slice *= 2;
    else if (took > SLICE_MAX_NS && slice > work->unit) slice /= 2;
    if (asks) watch_look(watch, now);
  }
}

static void run_share (Pool *pool, bool asks, size_t share) {
  size_t first = share * pool->share_size;
  size_t last = first + pool->share_size;
  if (last > pool->n) last = pool->n;
  run_slices(pool->watch, asks, &pool->job, first, last);
}

/* The shares of thread i end where those of the next one begin. */
static size_t begin_of (const Pool *pool, int i) {
  return pool->shares * (size_t)i / (size_t)pool->threads;
}

/* Claims a share of thread i. The job stays as it is until that share is finished: only a thread
   that holds a share may read it. */
static bool claim_of (Pool *pool, int i, size_t *share) {
  atomic_size_t *left = &pool->workers[i].left;
  size_t n = atomic_load(left);
  while (n > 0)
    if (atomic_compare_exchange_weak(left, &n, n - 1)) {
      *share = begin_of(pool, i + 1) - n;
      return true;
    }
  return false;
}

/* A share for thread `self`, one of its own if there are any. */
static bool claim (Pool *pool, int self, size_t *share) {
  for (int k = 0; k < pool->threads; k++)
    if (claim_of(pool, (self + k) % pool->threads, share)) return true;
  return false;
}

/* Spins, but yields now and then: what the thread waits for may need the same core. */
static void relax (int turn) {
  if (turn % WAIT_YIELD == WAIT_YIELD - 1) sched_yield();
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/* Is there another job than the one that was seen last? */
static bool is_called (Pool *pool, unsigned long seen) {
  return atomic_load(&pool->jobs) != seen || atomic_load(&pool->stopping);
}

/* A thread that was woken in vain spins again: more jobs will come soon. */
static void await_work (Pool *pool, unsigned long seen) {
  for (;;) {
    for (int i = 0; i < WAIT_SPINS; i++) {
      if (is_called(pool, seen)) return;
      relax(i);
    }
    pthread_mutex_lock(&pool->mutex);
    if (!is_called(pool, seen)) pthread_cond_wait(&pool->work, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
  }
}

/* Sleeps until all is done, but not much longer than a millisecond. */
static void doze (Pool *pool) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += SLICE_MAX_NS;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&pool->mutex);
  if (atomic_load(&pool->unfinished) > 0)
    pthread_cond_timedwait(&pool->done, &pool->mutex, &until);
  pthread_mutex_unlock(&pool->mutex);
}

static void await_workers (Pool *pool) {
  for (int i = 0; i < WAIT_SPINS; i++) {
    if (atomic_load(&pool->unfinished) == 0) return;
    relax(i);
  }
  for (; atomic_load(&pool->unfinished) > 0; doze(pool))
    watch_look(pool->watch, watch_clock());
}

/* The thread that finishes the last share wakes the caller, should it sleep. */
static void report_done (Pool *pool) {
  if (atomic_fetch_sub(&pool->unfinished, 1) > 1) return;
  pthread_mutex_lock(&pool->mutex);
  pthread_cond_signal(&pool->done);
  pthread_mutex_unlock(&pool->mutex);
}

static void *worker_main (void *data) {
  Worker *self = data;
  Pool *pool = self->pool;
  for (unsigned long seen = 0, current = 0; ; ) {
    await_work(pool, seen);
    if (atomic_load(&pool->stopping)) return NULL;
    seen = atomic_load(&pool->jobs);
    for (size_t share; claim(pool, (int)(self - pool->workers), &share); report_done(pool)) {
      if (current != pool->number) fesetenv(&pool->environment);
      current = pool->number;
      run_share(pool, false, share);
    }
  }
}


size_t pool_bytes (int threads) {
  return sizeof(Pool) + (size_t)threads * sizeof(Worker);
}

/* Returns how many threads there are then, the caller's own included. */
static int start_workers (Pool *pool, int threads) {
  for (int i = 0; i < threads; i++) {
    Worker *worker = &pool->workers[i];
    worker->pool = pool;
    atomic_init(&worker->left, 0);
    atomic_init(&worker->guest, 0);
    if (i > 0 && pool->lent == NULL
        && pthread_create(&worker->thread, NULL, worker_main, worker) != 0) return i;
  }
  return threads;
}

int pool_start (Pool *pool, int threads, Watch *watch, const Jobs *jobs) {
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->work, NULL);
  pthread_cond_init(&pool->done, NULL);
  pool->owner = getpid();
  pool->watch = watch;
  pool->lent = jobs;
  pool->busy = false;
  pool->number = 0;
  atomic_init(&pool->jobs, 0);
  atomic_init(&pool->unfinished, 0);
  atomic_init(&pool->stopping, 0);
  sigset_t all, own;         /* signals are for the host's threads */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &own);
  pool->threads = start_workers(pool, threads);
  pthread_sigmask(SIG_SETMASK, &own, NULL);
  return pool->threads;
}

void pool_stop (Pool *pool) {
  if (pool->owner != getpid()) return;
  pthread_mutex_lock(&pool->mutex);
  atomic_store(&pool->stopping, 1);
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
  for (int i = 1; i < pool->threads && pool->lent == NULL; i++)
    pthread_join(pool->workers[i].thread, NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->work);
  pthread_mutex_destroy(&pool->mutex);
  pool->owner = 0;
}

int pool_threads (const Pool *pool) {
  return pool == NULL ? 1 : pool->threads;
}

static uintptr_t thread_id (void) { return (uintptr_t)pthread_self(); }

/* (A thread has at most one place, since it runs one part at a time.) */
static int guest_thread (const Pool *pool) {
  uintptr_t self = thread_id();
  for (int i = 1; i < pool->threads; i++)
    if (atomic_load_explicit(&pool->workers[i].guest, memory_order_relaxed) == self) return i;
  return 0;
}

int pool_thread (const Pool *pool) {
  pthread_t self = pthread_self();
  if (pool != NULL && pool->lent != NULL) return guest_thread(pool);
  for (int i = 1; i < pool_threads(pool); i++)
    if (pthread_equal(pool->workers[i].thread, self)) return i;
  return 0;
}

/* Is this the thread that called, which alone may ask the watch? */
static bool is_caller (const Pool *pool) {
  if (pool->lent == NULL || !pool->busy) return pool_thread(pool) == 0;
  return pool->caller == thread_id();
}


static size_t quotient_above (size_t n, size_t by) { return (n + by - 1) / by; }

static void post (Pool *pool, size_t n, size_t grain, const Work *work) {
  size_t grains = quotient_above(n, grain);
  pool->number++;
  pool->n = n;
  pool->share_size = quotient_above(grains, SHARES_PER_THREAD * (size_t)pool->threads) * grain;
  pool->shares = quotient_above(n, pool->share_size);
  pool->job = *work;
  fegetenv(&pool->environment);
  atomic_store(&pool->unfinished, pool->shares);
  for (int i = 0; i < pool->threads; i++)
    atomic_store(&pool->workers[i].left, begin_of(pool, i + 1) - begin_of(pool, i));
  pthread_mutex_lock(&pool->mutex);
  atomic_fetch_add(&pool->jobs, 1);
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
}

static void run_own_shares (Pool *pool) {
  for (size_t share; claim(pool, 0, &share); atomic_fetch_sub(&pool->unfinished, 1))
    run_share(pool, true, share);
}

/* Part i of a job, on a thread of the host's, which keeps its floating-point environment. */
static void run_part (void *argument, int i) {
  Pool *pool = argument;
  if (i < 0 || i >= pool->threads) return;
  bool asks = is_caller(pool);
  fenv_t own;
  fegetenv(&own);
  if (!asks) fesetenv(&pool->environment);
  atomic_store(&pool->workers[i].guest, thread_id());
  for (size_t share; claim(pool, i, &share); atomic_fetch_sub(&pool->unfinished, 1))
    run_share(pool, asks, share);
  atomic_store(&pool->workers[i].guest, 0);
  if (!asks) fesetenv(&own);
}

/* Whatever the host has not run is run by the caller. */
static void run_on_host (Pool *pool) {
  pool->caller = thread_id();
  pool->lent->run(pool->lent->data, pool->threads, run_part, pool);
  run_own_shares(pool);
}

static bool is_shared (const Pool *pool, size_t n, size_t grain) {
  return n >= 2 * grain && pool->threads > 1 && !pool->busy && pool->owner == getpid();
}

void pool_run_watched (Pool *pool, size_t n, size_t grain, size_t unit, Task task, void *job) {
  Work work = {task, job, unit};
  if (!is_shared(pool, n, grain)) run_slices(pool->watch, true, &work, 0, n);
  else {
    pool->busy = true;
    post(pool, n, grain, &work);
    if (pool->lent != NULL) run_on_host(pool);
    else {
      run_own_shares(pool);
      await_workers(pool);
    }
    pool->busy = false;
  }
}

bool pool_stops (Pool *pool) {
  if (pool == NULL) return false;
  if (is_caller(pool)) watch_look(pool->watch, watch_clock());
  return watch_stopped(pool->watch);
}

bool pool_stopped (const Pool *pool) {
  return pool != NULL && watch_stopped(pool->watch);
}
