/*
** rejection.h - draws by rejection, a block of elements at a time
**
** A proposal is made of two numbers, the first uniform or normal, the second uniform. A
** sampler proposes for all elements of its block from streams of noise (noise.h), and settles
** those it can by a quick test; `rejection` does the rest. Elements not settled are tried by the
** exact test on the numbers they have, then on fresh ones, all that are left at once. An element
** that is still left after the last attempt, which hardly ever happens, gets the quantile of a
** uniform number. A draw depends on its element alone, whatever else is in its block.
*/
#ifndef PERILUNE_REJECTION_H
#define PERILUNE_REJECTION_H

#include <stddef.h>
#include <stdint.h>

#include "random/philox.h"

enum {
  REJECTION_BLOCK  = 256,   /* the largest n */
  REJECTION_MAX_IN = 3,     /* parameters of a law */
  REJECTION_LANES  = 100    /* of noise, one for each fresh proposal */
};

typedef struct Rejection {
  int n_in;
  int normal;   /* is the first number of a proposal normal? */

  /* out[i] = the draw that u[i], v[i] make for parameters in[0][i], ..., NaN if rejected */
  void (*attempt) (size_t n, const double *const in[], const double *u, const double *v,
                   double *out);
  double (*quantile) (double u, const double *params);
} Rejection;

/* Draws where out is NaN, from proposals u, v, which are lost, and then from the lanes. */
void rejection (const Rejection *law, const Philox *g, uint32_t lane, uint64_t first, size_t n,
                const double *const in[], double *u, double *v, double *out);

#endif
