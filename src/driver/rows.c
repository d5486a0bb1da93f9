/*
** rows.c - signatures, batches of rows, and the walk over them
*/
#include <string.h>

#include "driver/rows.h"

#define WORTH 16384   /* elements of work that are worth a thread */


static int letter_index (Signature *signature, char letter) {
  for (int i = 0; i < signature->letters; i++)
    if (signature->letter[i] == letter) return i;
  signature->letter[signature->letters] = letter;
  return signature->letters++;
}

void rows_parse (const Kernel *kernel, Signature *signature) {
  int operand = 0;
  memset(signature, 0, sizeof *signature);
  for (const char *c = kernel->signature; *c != '\0'; c++) {
    if (*c == ')') operand++;
    if (*c < 'a' || *c > 'z') continue;
    int at = signature->event_rank[operand]++;
    signature->event[operand][at] = (unsigned char)letter_index(signature, *c);
  }
}


/* Takes the sizes of the signature's letters from the events of operands
   first, first+1, ... of it. */
static const char *bind_letters (Rows *rows, const Signature *signature, int first,
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

static const char *plan_batches (Rows *rows, const Signature *signature, int first,
                                 int n, const Tensor *const in[]) {
  StackTensor batches[KERNEL_MAX_IN];
  const Tensor *batch[KERNEL_MAX_IN];
  size_t size;
  for (int k = 0; k < n; k++)
    batch[k] = batch_of(&batches[k], in[k], signature->event_rank[first + k]);
  const char *why = loop_broadcast(n, batch, &rows->out_rank, rows->out_shape,
                                   &size);
  return why != NULL ? why : loop_plan_shaped(&rows->batch, rows->out_rank,
                                              rows->out_shape, n, batch);
}

static const char *plan (Rows *rows, const Signature *signature, int first, int n,
                         const Tensor *const in[], int *which) {
  const char *why = bind_letters(rows, signature, first, n, in, which);
  if (why != NULL) return why;
  *which = -1;
  rows->letters = signature->letters;
  return plan_batches(rows, signature, first, n, in);
}

const char *rows_plan_sample (Rows *rows, const Signature *signature, int n,
                              const Tensor *const in[], int *which) {
  return plan(rows, signature, 1, n, in, which);
}

const char *rows_plan (Rows *rows, const Signature *signature, int n,
                       const Tensor *const in[], int *which) {
  const char *why = plan(rows, signature, 0, n, in, which);
  if (why != NULL) return why;
  rows->out_event = 1;
  for (int d = 0; d < signature->event_rank[n]; d++) {
    if (rows->out_rank == TENSOR_MAX_RANK) return "have too many dimensions";
    size_t size = rows->dims[signature->event[n][d]];
    rows->out_shape[rows->out_rank++] = (ptrdiff_t)size;
    rows->out_event *= size;
  }
  size_t total;
  return tensor_count(rows->out_rank, rows->out_shape, &total)
       ? NULL : "broadcast to too many elements";
}


typedef struct Job {
  const Kernel *kernel;
  const Signature *signature;
  const Rows *rows;
  double *out;
  const double *upstream;
  double *const *d;
} Job;

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

static void steps (const Loop *batch, ptrdiff_t step[]) {
  int inner = batch->rank - 1;
  for (int k = 0; k < batch->n; k++) step[k] = inner < 0 ? 0 : batch->stride[k][inner];
}

/* Rows first .. last-1, one call for each run along the last batch dimension. */
static void run_range (void *data, size_t first, size_t last) {
  const Job *job = data;
  const Loop *batch = &job->rows->batch;
  const double *at[KERNEL_MAX_IN];
  ptrdiff_t step[KERNEL_MAX_IN];
  steps(batch, step);
  while (first < last) {
    size_t run = seek(batch, first, at);
    if (run > last - first) run = last - first;
    job->kernel->rows(run, job->rows->dims, at, step,
                      job->out + first * job->rows->out_event);
    first += run;
  }
}

static void adjoint_range (void *data, size_t first, size_t last) {
  const Job *job = data;
  const Loop *batch = &job->rows->batch;
  const double *at[KERNEL_MAX_IN];
  double *d[KERNEL_MAX_IN];
  ptrdiff_t step[KERNEL_MAX_IN];
  steps(batch, step);
  while (first < last) {
    size_t run = seek(batch, first, at);
    if (run > last - first) run = last - first;
    for (int k = 0; k < batch->n; k++)
      d[k] = job->d[k] + first * rows_event_size(job->rows, job->signature, k);
    job->kernel->adjoint(run, job->rows->dims, at, step,
                         job->upstream + first * job->rows->out_event, d);
    first += run;
  }
}

/* Rows that are worth a thread: work is all letters' sizes multiplied. */
static size_t grain (const Rows *rows) {
  size_t work = 1;
  for (int i = 0; i < rows->letters && work < WORTH; i++) work *= rows->dims[i] + 1;
  return WORTH / work + 1;
}

size_t rows_event_size (const Rows *rows, const Signature *signature, int k) {
  size_t size = 1;
  for (int d = 0; d < signature->event_rank[k]; d++)
    size *= rows->dims[signature->event[k][d]];
  return size;
}

void rows_run (Pool *pool, const Kernel *kernel, const Rows *rows, double *out) {
  Job job = {.kernel = kernel, .rows = rows, .out = out};
  pool_run(pool, rows->batch.size, grain(rows), run_range, &job);
}

void rows_adjoint (Pool *pool, const Kernel *kernel, const Signature *signature,
                   const Rows *rows, const double *upstream, double *const d[]) {
  Job job = {.kernel = kernel, .signature = signature, .rows = rows,
             .upstream = upstream, .d = d};
  pool_run(pool, rows->batch.size, grain(rows), adjoint_range, &job);
}
