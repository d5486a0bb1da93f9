/*
** gammas.h - standard gamma variates, in a form that does not underflow
**
** A draw with shape a is size e^-depth, size > 0 and depth >= 0. For a >= 1 the depth is 0
** and the size is the variate; for a < 1 the depth is an exponential number over a, so a
** variate as small as 1e-5000 still has its logarithm, log(size) - depth, and its ratio to
** another. What a sampler needs of several gammas (Beta, F, Dirichlet) it takes from both.
**
** Element first + i of the generator's stream, given shape[i], is the same however a request
** is cut. A call takes numbers from lanes lane, ..., lane + GAMMAS_LANES - 1 (noise.h): a second,
** independent gamma of the same element starts GAMMAS_LANES further on.
*/
#ifndef PERILUNE_GAMMAS_H
#define PERILUNE_GAMMAS_H

#include <stddef.h>
#include <stdint.h>

#include "random/philox.h"

#define GAMMAS_LANES 128
#define GAMMAS_BLOCK 256   /* the largest n */

/* Returns 0 if all depths are 0. size and depth have room for n numbers; shape may not overlap
   them. */
int gammas (const Philox *g, uint32_t lane, uint64_t first, size_t n, const double *shape,
            double *size, double *depth);

#endif
