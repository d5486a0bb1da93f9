/*
** kernel.h - the contract between mathematics and everything else
**
** A kernel is mathematics and nothing else: it works on contiguous blocks
** of doubles, knows no shapes, strides, threads or Lua, and cannot fail,
** allocate or hold state. Every file in kernel/ ends with one table of
** kernels, named after the file, closed by a kernel without a name.
**
** Most are elementwise: a value and its partials. What other kinds have is in
** a struct of that kind.
*/
#ifndef PERILUNE_KERNEL_H
#define PERILUNE_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "linalg/stop.h"

#define KERNEL_MAX_IN    8   /* operands of a kernel */
#define KERNEL_MAX_WIDTH 4   /* doubles in a reduction's state */
#define KERNEL_MAX_CONSTANTS 10   /* of a step */
#define KERNEL_DRAW_MAX  256     /* elements that `draw` is asked for at once: noise and result
                                    stay in the L1 cache, and samplers have buffers of this size */

struct Philox;

/* What a row kernel works on: n events of each operand, each contiguous. */
typedef struct Batch {
  size_t n;
  const size_t *dims;        /* sizes of the signature's letters, as they appear */
  const double *const *in;
  const ptrdiff_t *step;     /* from one event of operand k to the next; 0 where
                                all rows share one */
  double *scratch;           /* as much as the kernel asked for */
  const double *result;      /* of an adjoint: what `run` gave for these rows, or NULL */
  unsigned wanted;           /* of an adjoint: a bit for each operand whose derivatives
                                are; those of others may be left as they are */
  Stop stop;                 /* asked by kernels that take long for one event */
} Batch;

static inline int is_wanted (const Batch *b, int k) { return (b->wanted >> k & 1) != 0; }

/* Event r of operand k. */
static inline const double *event (const Batch *b, int k, size_t r) {
  return b->in[k] + (ptrdiff_t)r * b->step[k];
}

/* Zeros, n of them. */
static inline void clear (Stop stop, size_t n, double *out) {
  for (size_t i = 0, end; (end = part_end(stop, i, n)) > i; i = end)
    memset(out + i, 0, (end - i) * sizeof *out);
}

/* A kernel of rows works on event dimensions. */
typedef struct RowKernel {
  const char *signature;   /* which they are, as in "(m,k),(k,n)->(m,n)" */
  void (*run) (const Batch *b, double *out);   /* the rows of out follow one another */

  /* The derivative, contracted with what comes from above: row r of d[k] is the sum over
     results o of upstream[o] times d out[o]/d in[k], for all k that are wanted. The rows of
     upstream and of each d[k] follow one another. */
  void (*adjoint) (const Batch *b, const double *upstream, double *const d[]);

  /* Doubles of scratch that each needs; every thread has its own. */
  size_t (*scratch) (const size_t dims[]);
  size_t (*adjoint_scratch) (const size_t dims[]);

  int side;     /* rows that are worked on side by side: slices of a batch are no shorter */
  int whole;    /* it does work for all rows of a batch at once, so that this is cut for threads
                   only: the kernel asks `stop` between rows */
} RowKernel;

/* A sampler by transformation is an elementwise or row kernel whose first operand is noise. */
typedef struct Sampler {
  const char *noise;   /* the driver fills in[0] from the noise kernel of this name */

  /* Or it does its own drawing, as noise itself: out[i] = element first + i of the generator's
     stream, given parameters in[0], in[1], ...; n is at most KERNEL_DRAW_MAX, and any split of a
     request into pieces gives the same numbers. Such a sampler's n_in counts one more operand,
     because its partials are functions of the draw: in[0] is x, in[1], ... the parameters,
     d[k] = dx/d in[k] at fixed randomness, d[0] = 1. */
  void (*draw) (const struct Philox *g, uint64_t first, size_t n,
                const double *const in[], double *out);

  /* The same for rows: row r of out is drawn from elements first + r*e, ...,
     first + (r + 1)*e - 1 of the stream, e being the size of one result. As with `draw`, the
     operands of b are the parameters, and the signature has the draw before them. */
  void (*draw_rows) (const struct Philox *g, uint64_t first, const Batch *b, double *out);
} Sampler;

/* A reduction folds a block into a state of `width` doubles, merges the state of what follows
   into the state of what came before, and turns the state of `count` elements into a value. */
typedef struct Reduction {
  int width;
  void (*fold)   (size_t n, const double *x, double *state);
  void (*merge)  (double *state, const double *next);
  double (*finish) (size_t count, const double *state);

  /* The derivative with respect to n of the elements. */
  void (*slope) (size_t n, const double *x, size_t count, double value, double *d);
  int unnormalised;   /* derivatives that the driver divides by their sum */
} Reduction;

/* What the partials of an elementwise kernel depend on. */
typedef enum PartialsRead {
  READ_ALL,       /* all operands; so does first_partial */
  READ_NONE,      /* they are constants */
  READ_OTHERS     /* first_partial does not read the first operand */
} PartialsRead;

/* Faster ways for an elementwise kernel. */
typedef struct Shortcuts {
  PartialsRead partials_read;

  /* df/d in[0] alone, where that costs far less than all of them */
  void (*first_partial) (size_t n, const double *const in[], double *d);

  /* value and partials at once, where they share work; the bits are those of each alone */
  void (*both) (size_t n, const double *const in[], double *out, double *const d[]);

  /* Where all operands but the first are single numbers, in[k][0]: out[0] is the sum of f over
     the block, out[k] that of df/d in[k], k > 0. Sums of f are then taken this way. */
  void (*block_sums) (size_t n, const double *const in[], double *out);
} Shortcuts;

/* Small numbers are bytes: whoever loads the module writes addresses into every page of these tables. */
typedef struct Kernel {
  const char *name;   /* "log_prob" */
  unsigned char n_in;

  unsigned char flat;      /* constant but for jumps: its derivative is 0 */
  unsigned char slow;      /* an element, or event, may take more than some microseconds: the
                              first block has but one of them */
  unsigned char integer;   /* results are integers, draws or places: a single one is a Lua
                              integer */

  /* out[i] = f(in[0][i], ..., in[n_in-1][i]); out may not overlap in */
  void (*value) (size_t n, const double *const in[], double *out);

  /* d[k][i] = df/d in[k], for all k, without any upstream gradient; what
     nobody wants goes to a block that is thrown away */
  void (*partials) (size_t n, const double *const in[], double *const d[]);

  /* What other kinds have, or NULL. */
  const RowKernel *rows;
  const Sampler *sampler;
  const Reduction *reduction;
  const Shortcuts *shortcuts;

  /* One step of an optimiser, in place: row[0][i], ..., row[n_in-1][i], the parameter and its
     memory, move by gradient[i]. There are always KERNEL_MAX_CONSTANTS constants. */
  void (*update) (size_t n, const double *gradient, const double *constant, double *const row[]);
} Kernel;

/* Is there a derivative? */
static inline int kernel_differentiates (const Kernel *k) {
  return k->partials != NULL || (k->rows != NULL && k->rows->adjoint != NULL);
}

/* The name of a sampler's noise, or NULL. */
static inline const char *kernel_noise (const Kernel *k) {
  return k->sampler == NULL ? NULL : k->sampler->noise;
}

static inline PartialsRead kernel_partials_read (const Kernel *k) {
  return k->shortcuts == NULL ? READ_ALL : k->shortcuts->partials_read;
}

static inline int kernel_has_block_sums (const Kernel *k) {
  return k->shortcuts != NULL && k->shortcuts->block_sums != NULL;
}

/* The kernels of one file: "normal" or "kl/normal", and its table. */
typedef struct KernelFile {
  const char *name;
  const Kernel *kernels;
} KernelFile;

#endif
