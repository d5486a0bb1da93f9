/*
** scaling.c - KL divergences of 1 to 10^7 elements
*/
#include "hand.h"
#include "kl_loops.h"

#define SIZE(name, power, n, loop) \
  {name ", n = 1e" #power, n, loop, {{n, SPREAD}, {n, SPREAD}, {n, SPREAD}, {n, SPREAD}}}
#define SIZES(name, loop) \
  SIZE(name, 0, 1, loop), SIZE(name, 1, 10, loop), SIZE(name, 2, 100, loop), \
  SIZE(name, 3, 1000, loop), SIZE(name, 4, 10000, loop), SIZE(name, 5, 100000, loop), \
  SIZE(name, 6, 1000000, loop), SIZE(name, 7, 10000000, loop)

const Workload workloads[] = {
  SIZES("Normal", kl_normal_loop),
  SIZES("Gamma", kl_gamma_loop),
  {NULL, 0, NULL}
};
