/*
** kl_normal.c - KL(Normal || Normal) of several sizes
*/
#include "hand.h"
#include "kl_loops.h"

#define E3 1000
#define E5 100000
#define E6 1000000
#define E7 10000000

const Workload workloads[] = {
  {"n = 1e3", E3, kl_normal_loop, {{E3, NORMAL}, {E3, SPREAD}, {E3, NORMAL}, {E3, SPREAD}}},
  {"n = 1e5", E5, kl_normal_loop, {{E5, NORMAL}, {E5, SPREAD}, {E5, NORMAL}, {E5, SPREAD}}},
  {"n = 1e6", E6, kl_normal_loop, {{E6, NORMAL}, {E6, SPREAD}, {E6, NORMAL}, {E6, SPREAD}}},
  {"n = 1e7", E7, kl_normal_loop, {{E7, NORMAL}, {E7, SPREAD}, {E7, NORMAL}, {E7, SPREAD}}},
  {NULL, 0, NULL}
};
