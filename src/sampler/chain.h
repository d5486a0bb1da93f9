/*
** chain.h - a Markov chain by the No-U-Turn sampler, one leapfrog step at a time
**
** M. Hoffman and A. Gelman, "The No-U-Turn sampler", JMLR 15 (2014); M. Betancourt, "A conceptual
** introduction to Hamiltonian Monte Carlo" (2017); with the additional checks and the warm-up of
** Stan. A chain is one block of memory without pointers: a copy of it is its state, and goes on
** to the same bits.
**
** H(q, p) = -log density(q) + p'Wp/2, W the inverse metric: a diagonal, or a dense matrix.
*/
#ifndef PERILUNE_CHAIN_H
#define PERILUNE_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/kernel.h"
#include "random/philox.h"

#define CHAIN_MAX_DEPTH 20     /* trajectories have at most 2^20 steps */
#define CHAIN_UNIFORMS  64     /* uniform numbers drawn at once */

/* What is sampled from, and the noise and the functions that it takes. */
typedef struct LogDensity {
  size_t size;
  double (*evaluate) (void *self, const double *u, double *gradient);   /* log density */
  void *self;
  const Sampler *normal, *uniform;
  const Kernel *exp, *log1p;
} LogDensity;

typedef struct ChainOptions {
  size_t size;             /* free numbers */
  bool dense;              /* the metric */
  int max_depth;
  uint64_t warmup, draws;
  double accept;           /* the share of steps to be accepted, that steps are adapted to */
  double step;             /* the first step, and the only one without warm-up */
  int steps;               /* of a trajectory at most: Hamiltonian Monte Carlo; 0 for No-U-Turn */
} ChainOptions;

/* Of an iteration. */
typedef struct ChainStats {
  double log_density, energy, accept, step;
  double depth, leapfrogs, divergent;
} ChainStats;

typedef enum ChainPhase { CHAIN_SEARCH, CHAIN_TREE, CHAIN_DONE } ChainPhase;

typedef struct Chain Chain;

/* Bytes of a chain. */
size_t chain_bytes (const ChainOptions *options);

/* Makes `chain`, of chain_bytes(options), a chain that starts at q, where the log density is
   finite, with a first metric (see adapt_start). */
void chain_start (Chain *chain, const ChainOptions *options, const Philox *rng, const double *q,
                  const double *scale, const LogDensity *target);

/* One evaluation of the target, or two. True when an iteration has ended: see below. */
bool chain_advance (Chain *chain, const LogDensity *target);

/* Of the iteration that ended last: its place, whether it belongs to the warm-up, and the draw. */
uint64_t chain_iterations (const Chain *chain);
bool chain_is_done (const Chain *chain);
const double *chain_position (const Chain *chain);
ChainStats chain_stats (const Chain *chain);

/* Can this block, of so many bytes, be a chain with these options? */
bool chain_is_sound (const Chain *chain, size_t bytes, const ChainOptions *options);

#endif
