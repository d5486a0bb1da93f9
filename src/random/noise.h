/*
** noise.h - streams of standard uniform, normal and exponential numbers
**
** Each function writes elements first, ..., first + n - 1 of a stream fixed by
** the generator's key and a lane; g->position is neither read nor moved. Elements
** come in groups of eight, made of four blocks of the lane: element 8g + r is the first
** word of block 4g + r for r < 4, and the second of block 4g + r - 4 else. However a
** request is cut into pieces, and whoever computes them, the numbers are the same, bit for
** bit, on every machine.
** The three streams of one key and lane share their blocks: use an element once.
** Plain noise is lane 0; a sampler that needs more numbers for an element, or rejects and
** tries again, takes them from lanes 1, 2, ... at the same element.
**
**   uniform      (k + 1/2) 2^-52, k of 52 bits: from 2^-53 to 1 - 2^-53
**   normal       Box-Muller on the two words of a block; |z| <= 8.572, a bound
**                passed with probability 1e-17
**   exponential  -log of the uniform: from 1.1e-16 to 36.74
*/
#ifndef PERILUNE_NOISE_H
#define PERILUNE_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "random/philox.h"

void noise_uniform (const Philox *g, uint32_t lane, uint64_t first, size_t n, double *out);
void noise_normal (const Philox *g, uint32_t lane, uint64_t first, size_t n, double *out);
void noise_exponential (const Philox *g, uint32_t lane, uint64_t first, size_t n, double *out);

/*
** Two uniform numbers for each of the elements first + place[0], ..., first + place[n - 1]: the
** words of block `element` of the lane. A lane gives either these or the streams above.
*/
void noise_pairs (const Philox *g, uint32_t lane, uint64_t first, size_t n, const size_t *place,
                  double *u, double *v);

#endif
