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

typedef struct Workload {
  const char *name;               /* as in the other two languages */
  size_t n;                       /* elements of every array */
  void (*call) (size_t n, int threads, double *const in[], double *out);
} Workload;

#define HAND_INPUTS 4             /* arrays: numbers between 0.5 and 1.5 */

extern const Workload workloads[];   /* closed by one without a name */

#endif
