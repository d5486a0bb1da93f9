/*
** program.h - several elementwise kernels run as one
**
** A step's operands are leaves, which a loop reads, or the results of earlier
** steps, which never leave the cache: each block of elements goes through all
** steps before the next one begins. The last step's result is the program's.
*/
#ifndef PERILUNE_PROGRAM_H
#define PERILUNE_PROGRAM_H

#include "driver/loop.h"
#include "driver/threads.h"

#define PROGRAM_MAX_STEPS 24

/* Leaf number k, or the result of a step. */
typedef struct Source {
  bool is_step;
  int index;
} Source;

typedef struct ProgramStep {
  const Kernel *kernel;
  Source in[KERNEL_MAX_IN];
  int slot;                    /* where its result is kept, set by program_run */
} ProgramStep;

typedef struct Program {
  int leaves, steps;
  const Tensor *leaf[LOOP_MAX_IN];
  ProgramStep step[PROGRAM_MAX_STEPS];
} Program;

/* Runs all steps over a row-major loop over the leaves; `out` has one element
   for each of the loop. */
void program_run (Pool *pool, Program *program, const Loop *loop, double *out);

#endif
