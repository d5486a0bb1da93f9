/*
** rows.c - signatures, batches of rows, and the loop over them
*/
#include <stdint.h>
#include <string.h>

#include "driver/rows.h"
#include "driver/sizes.h"



static int letter_index (Signature *signature, char letter) {
  for (int i = 0; i < signature->letters; i++)
    if (signature->letter[i] == letter) return i;
  signature->letter[signature->letters] = letter;
  return signature->letters++;
}

void rows_parse (const Kernel *kernel, Signature *signature) {
  int operand = 0;
  memset(signature, 0, sizeof *signature);
  for (const char *c = kernel->rows->signature; *c != '\0'; c++) {
    if (*c == ')') operand++;
    if (*c < 'a' || *c > 'z') continue;
    int at = signature->event_rank[operand]++;
    signature->event[operand][at] = (unsigned char)letter_index(signature, *c);
  }
}


/* Takes the sizes of the signature's letters from the events of operands
   first, first+1, ... of it. */
static const char *bind_letters (RowsPlan *rows, const Signature *signature, int first,
                                 int n, const Tensor *const in[], int *which) {
  bool known[ROWS_MAX_LETTERS] = {false};
  for (int k = 0; k < n; k++) {
    int event_rank = signature->event_rank[first + k];
    int batch_rank = in[k]->rank - event_rank;
    *which = k;
    if (batch_rank < 0) return "has too few dimensions";
    for (int d = 0; d < event_rank; d++) {
      int letter = signature->event[first + k][d];
      size_t size = (size_t)in[k]->shape[batch_rank + d];
      if (known[letter] && rows->dims[letter] != size) return "does not fit";
      rows->dims[letter] = size;
      known[letter] = true;
    }
  }
  return NULL;
}

/* An operand without its event dimensions. */
static const Tensor *batch_of (StackTensor *block, const Tensor *t, int event_rank) {
  Tensor *batch = tensor_on_stack(block, t, t->rank - event_rank);
  size_t bytes = (size_t)batch->rank * sizeof(ptrdiff_t);
  tensor_count(batch->rank, t->shape, &batch->size);
  memcpy(batch->shape, t->shape, bytes);
  memcpy(batch->stride, t->stride, bytes);
  return batch;
}

/* The loop over `leading` dimensions and the broadcast of the batches. */
static const char *plan_batches (RowsPlan *rows, const Signature *signature, int first,
                                 int n, const Tensor *const in[], int leading,
                                 const ptrdiff_t sample[]) {
  StackTensor batches[KERNEL_MAX_IN];
  const Tensor *batch[KERNEL_MAX_IN];
  ptrdiff_t shape[TENSOR_MAX_RANK];
  size_t size;
  int rank;
  for (int k = 0; k < n; k++)
    batch[k] = batch_of(&batches[k], in[k], signature->event_rank[first + k]);
  const char *why = loop_broadcast(n, batch, &rank, shape, &size);
  if (why != NULL) return why;
  if (leading + rank > TENSOR_MAX_RANK) return "have too many dimensions";
  for (int d = 0; d < leading; d++) rows->out_shape[d] = sample[d];
  for (int d = 0; d < rank; d++) rows->out_shape[leading + d] = shape[d];
  rows->out_rank = leading + rank;
  return loop_plan_shaped(&rows->batch, rows->out_rank, rows->out_shape, n, batch);
}

/* Appends the event of the result to its shape. */
static const char *append_event (RowsPlan *rows, const Signature *signature, int result) {
  size_t total;
  rows->out_event = 1;
  for (int d = 0; d < signature->event_rank[result]; d++) {
    if (rows->out_rank == TENSOR_MAX_RANK) return "have too many dimensions";
    size_t size = rows->dims[signature->event[result][d]];
    rows->out_shape[rows->out_rank++] = (ptrdiff_t)size;
    rows->out_event *= size;
  }
  return tensor_count(rows->out_rank, rows->out_shape, &total)
       ? NULL : "broadcast to too many elements";
}

static const char *plan (RowsPlan *rows, const Signature *signature, int first, int n,
                         const Tensor *const in[], int leading,
                         const ptrdiff_t sample[], int *which) {
  const char *why = bind_letters(rows, signature, first, n, in, which);
  if (why != NULL) return why;
  *which = -1;
  rows->letters = signature->letters;
  why = plan_batches(rows, signature, first, n, in, leading, sample);
  return why != NULL ? why : append_event(rows, signature, first + n);
}

const char *rows_plan (RowsPlan *rows, const Signature *signature, int n,
                       const Tensor *const in[], int *which) {
  return plan(rows, signature, 0, n, in, 0, NULL, which);
}

const char *rows_plan_sample (RowsPlan *rows, const Signature *signature, int n,
                              const Tensor *const in[], int sample_rank,
                              const ptrdiff_t sample[], int *which) {
  return plan(rows, signature, 1, n, in, sample_rank, sample, which);
}


typedef struct RowsJob {
  const Kernel *kernel;
  const Signature *signature;
  int drawn;                   /* 1 if operand 0 of the signature is what is drawn */
  const RowsPlan *rows;
  Pool *pool;
  double *scratch;
  size_t scratch_size;         /* of one thread */
  double *out;
  const double *upstream, *result;
  double *const *d;
  unsigned wanted;
  const struct Philox *generator;
  uint64_t position;
  Stop stop;                   /* for kernels whose events take long */
} RowsJob;

/* Points at[k] at row `first` of each operand; returns how many rows follow in
   the same run along the last batch dimension. */
static size_t seek (const Loop *batch, size_t first, const double *at[]) {
  size_t left = 1;
  for (int k = 0; k < batch->n; k++) at[k] = batch->data[k];
  for (int d = batch->rank - 1; d >= 0; d--) {
    size_t index = first % (size_t)batch->shape[d];
    first /= (size_t)batch->shape[d];
    if (d == batch->rank - 1) left = (size_t)batch->shape[d] - index;
    for (int k = 0; k < batch->n; k++)
      at[k] += (ptrdiff_t)index * batch->stride[k][d];
  }
  return left;
}

/* What a job does with `b`, whose row 0 is row `first` of all. */
typedef void Work (const RowsJob *job, size_t first, const Batch *b);

static void value (const RowsJob *job, size_t first, const Batch *b) {
  job->kernel->rows->run(b, job->out + first * job->rows->out_event);
}

static void draw (const RowsJob *job, size_t first, const Batch *b) {
  size_t element = first * job->rows->out_event;
  job->kernel->sampler->draw_rows(job->generator, job->position + element, b,
                         job->out + element);
}

static void adjoint (const RowsJob *job, size_t first, const Batch *b) {
  double *d[KERNEL_MAX_IN];
  for (int k = 0; k < job->rows->batch.n; k++)
    d[k] = job->d[k] + first * rows_event_size(job->rows, job->signature, k);
  job->kernel->rows->adjoint(b, job->upstream + first * job->rows->out_event, d);
}

/* Rows first .. last-1, one call for each run along the last batch dimension. */
static void run_batches (RowsJob *job, Work *work, size_t first, size_t last) {
  const Loop *batch = &job->rows->batch;
  const double *at[KERNEL_MAX_IN];
  ptrdiff_t step[KERNEL_MAX_IN];
  size_t mine = (size_t)pool_thread(job->pool);
  double none;   /* stands for scratch of no elements: not even nothing is copied to NULL */
  double *scratch = job->scratch_size > 0 ? job->scratch + mine * job->scratch_size : &none;
  Batch b = {.dims = job->rows->dims, .in = at, .step = step, .wanted = job->wanted,
             .scratch = scratch, .stop = job->stop};
  int inner = batch->rank - 1;
  for (int k = 0; k < batch->n; k++) step[k] = inner < 0 ? 0 : batch->stride[k][inner];
  for (; first < last; first += b.n) {
    b.n = seek(batch, first, at);
    if (b.n > last - first) b.n = last - first;
    if (job->result != NULL) b.result = job->result + first * job->rows->out_event;
    work(job, first, &b);
  }
}

static void value_range (void *job, size_t first, size_t last) {
  run_batches(job, value, first, last);
}

static void draw_range (void *job, size_t first, size_t last) {
  run_batches(job, draw, first, last);
}

static void adjoint_range (void *job, size_t first, size_t last) {
  run_batches(job, adjoint, first, last);
}

/* All letters' sizes multiplied, or the largest event, or a lot. */
static size_t work_of_one (const Kernel *kernel, const Signature *signature, const RowsPlan *rows) {
  size_t work = 1;
  for (int i = 0; i < rows->letters && work < THREADS_MIN_ELEMENTS; i++) work *= rows->dims[i] + 1;
  for (int k = 0; k <= kernel->n_in; k++) {
    size_t size = rows_event_size(rows, signature, k);
    if (size > work) work = size;
  }
  return work;
}

size_t rows_work (const Kernel *kernel, const Signature *signature, const RowsPlan *rows) {
  size_t one = work_of_one(kernel, signature, rows), n = rows->batch.size;
  return kernel->slow || n > SIZE_MAX / one ? SIZE_MAX : n * one;
}

/*
** How long a row takes is not known before; it is guessed, so that a first slice is short, and
** so is the time between two questions: ROWS_WORK_PER_ELEMENT operations for an element of a
** vector; for a matrix as many as it takes to factor it, or to go through it where all rows
** share it.
*/
static double guess_of_operand (const RowsJob *job, int k) {
  const Loop *batch = &job->rows->batch;
  const Signature *s = job->signature;
  double size = (double)rows_event_size(job->rows, s, k), side = size;
  if (s->event_rank[k] < 2) return ROWS_WORK_PER_ELEMENT * size;
  for (int d = 0; d < s->event_rank[k]; d++) {
    double extent = (double)job->rows->dims[s->event[k][d]];
    side = extent < side ? extent : side;
  }
  bool shared = k - job->drawn < batch->n && k >= job->drawn && batch->rank > 0
             && batch->stride[k - job->drawn][batch->rank - 1] == 0;
  return shared ? size : size * side;
}

static size_t first_slice (const RowsJob *job) {
  size_t least = job->kernel->rows->side > 0 ? (size_t)job->kernel->rows->side : 1;
  double most = 1;
  for (int k = 0; k <= job->kernel->n_in; k++) {
    double guess = guess_of_operand(job, k);
    most = guess > most ? guess : most;
  }
  return most * (double)least > ROWS_SLICE ? least : (size_t)(ROWS_SLICE / most);
}

/* May one event take long? */
static bool is_long (const RowsJob *job) {
  double side = 1;
  bool is_matrix = false;
  for (int i = 0; i < job->rows->letters; i++)
    side = (double)job->rows->dims[i] > side ? (double)job->rows->dims[i] : side;
  for (int k = 0; k <= job->kernel->n_in; k++) is_matrix |= job->signature->event_rank[k] > 1;
  return (is_matrix ? side * side * side : side * side) > ROWS_LONG;
}

static void run (Pool *pool, RowsJob *job, Task task) {
  const Kernel *kernel = job->kernel;
  size_t n = job->rows->batch.size, grain = 1, unit = n;
  job->pool = pool;
  if (pool != NULL) {
    grain = THREADS_MIN_ELEMENTS / work_of_one(kernel, job->signature, job->rows) + 1;
    if (!kernel->rows->whole) unit = kernel->slow ? 1 : first_slice(job);
    if (kernel->rows->whole || kernel->slow || is_long(job)) job->stop = (Stop) {pool_stops, pool};
  }
  pool_run(pool, n, grain, unit, task, job);
}

size_t rows_event_size (const RowsPlan *rows, const Signature *signature, int k) {
  size_t size = 1;
  for (int d = 0; d < signature->event_rank[k]; d++)
    size *= rows->dims[signature->event[k][d]];
  return size;
}

size_t rows_scratch (const RowsPlan *rows, Scratch scratch) {
  return scratch == NULL ? 0 : scratch(rows->dims);
}

void rows_run (Pool *pool, const Kernel *kernel, const Signature *signature, const RowsPlan *rows,
               double *scratch, double *out) {
  RowsJob job = {.kernel = kernel, .signature = signature, .rows = rows, .scratch = scratch,
             .scratch_size = rows_scratch(rows, kernel->rows->scratch), .out = out};
  run(pool, &job, value_range);
}

void rows_draw (Pool *pool, const Kernel *kernel, const Signature *signature, const RowsPlan *rows,
                double *scratch, const struct Philox *g, uint64_t position, double *out) {
  RowsJob job = {.kernel = kernel, .signature = signature, .drawn = 1, .rows = rows,
             .scratch = scratch,
             .scratch_size = rows_scratch(rows, kernel->rows->scratch), .out = out,
             .generator = g, .position = position};
  run(pool, &job, draw_range);
}

void rows_adjoint (Pool *pool, const Kernel *kernel, const Signature *signature,
                   const RowsPlan *rows, unsigned wanted, double *scratch, const double *result,
                   const double *upstream, double *const d[]) {
  RowsJob job = {.kernel = kernel, .signature = signature, .rows = rows,
             .wanted = wanted,
             .scratch = scratch, .result = result, .upstream = upstream, .d = d,
             .scratch_size = rows_scratch(rows, kernel->rows->adjoint_scratch)};
  run(pool, &job, adjoint_range);
}
