/*
** hand.h - what a file of loops written by hand gives to the worker
**
** The loops fuse all steps, use the inline functions of src/special, and
** write to a buffer that is reused: what remains between them and perilune is
** the driver, the allocation and Lua (and more careful formulas, if any).
*/
#ifndef BENCH_HAND_H
#define BENCH_HAND_H

#include <stddef.h>

#define HAND_INPUTS 4             /* arrays at most */
#define HAND_PARTS  5             /* of a result at most */

/* An array of noise; in Lua g:uniform(size) + 0.5 or g:normal(size). */
typedef enum Kind { SPREAD, NORMAL } Kind;
typedef struct Input { size_t size; Kind kind; } Input;

typedef struct Workload {
  const char *name;               /* as in the other two languages */
  size_t n;                       /* passed to the call */
  void (*call) (size_t n, int threads, double *const in[], double *out);

  /* The arrays, one after the other from the stream of seed 1, and what is made of them.
     Where they are those of the workload in Lua, results are compared with its own.
     Without a list all have n elements of SPREAD, and nothing is compared. */
  Input in[HAND_INPUTS];
  void (*prepare) (size_t n, double *const in[]);
  size_t parts[HAND_PARTS];       /* sizes of the results, which follow one another in out;
                                     without a list, one of n */
} Workload;

extern const Workload workloads[];   /* closed by one without a name */

#endif
