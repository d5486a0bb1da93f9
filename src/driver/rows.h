/*
** rows.h - runs a row kernel over the broadcast of batch dimensions
**
** Each operand's last dimensions are its event, as the kernel's signature
** says; those must be contiguous. What lies before them is broadcast.
*/
#ifndef PERILUNE_ROWS_H
#define PERILUNE_ROWS_H

#include "driver/loop.h"
#include "driver/threads.h"

#define ROWS_MAX_LETTERS 8

/* A signature taken apart. Operand n_in is the result. */
typedef struct Signature {
  int letters;
  char letter[ROWS_MAX_LETTERS];
  int event_rank[KERNEL_MAX_IN + 1];
  unsigned char event[KERNEL_MAX_IN + 1][TENSOR_MAX_RANK];   /* which letter */
} Signature;

void rows_parse (const Kernel *kernel, Signature *signature);

/* A planned run: sizes of the letters, and the broadcast of the batches. */
typedef struct RowsPlan {
  int letters;
  size_t dims[ROWS_MAX_LETTERS];
  Loop batch;              /* over batch dimensions alone, row-major */
  int out_rank;
  ptrdiff_t out_shape[TENSOR_MAX_RANK];
  size_t out_event;        /* elements of one result */
} RowsPlan;

/* Returns NULL, or why the operands do not fit; *which is then the operand
   whose event disagrees, or -1 when it is the batches. */
const char *rows_plan (RowsPlan *rows, const Signature *signature, int n,
                       const Tensor *const in[], int *which);

/* The same for the parameters of a sampler, operands 1, 2, ... of the
   signature, with `sample` before the batch shape. */
const char *rows_plan_sample (RowsPlan *rows, const Signature *signature, int n,
                              const Tensor *const in[], int sample_rank,
                              const ptrdiff_t sample[], int *which);

/* How much there is to do, in elements of a kernel that is not slow. */
size_t rows_work (const Kernel *kernel, const Signature *signature, const RowsPlan *rows);

/* Memory that each thread has to itself: `scratch` has room for so many doubles
   a thread, by one of the kernel's functions. */
typedef size_t (*Scratch) (const size_t dims[]);
size_t rows_scratch (const RowsPlan *rows, Scratch scratch);

void rows_run (Pool *pool, const Kernel *kernel, const Signature *signature, const RowsPlan *rows,
               double *scratch, double *out);

/* Runs draw_rows; element 0 of out is element `position` of the stream. */
void rows_draw (Pool *pool, const Kernel *kernel, const Signature *signature, const RowsPlan *rows,
                double *scratch, const struct Philox *g, uint64_t position, double *out);

/* The elements of one event of operand k. */
size_t rows_event_size (const RowsPlan *rows, const Signature *signature, int k);

/* d[k] has room for one event of operand k in each row of the batch; upstream
   has the shape of the result, which may be NULL. A bit of `wanted` for each k tells which d[k]
   are. */
void rows_adjoint (Pool *pool, const Kernel *kernel, const Signature *signature,
                   const RowsPlan *rows, unsigned wanted, double *scratch, const double *result,
                   const double *upstream, double *const d[]);

#endif
