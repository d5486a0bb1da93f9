/*
** poisson.h - the law of Poisson(rate), for the families made of it
**
**   log P(k) = -(k log(k/rate) + rate - k) - log(2 pi k)/2 - mu(k),   k > 0
**   P(X <= k) = Q(k + 1, rate)
**
** C. Loader, "Fast and accurate computation of binomial probabilities" (2000);
** mu is the error of Stirling's formula. x need not be an integer in the tails: they are constant
** between outcomes.
*/
#ifndef PERILUNE_POISSON_H
#define PERILUNE_POISSON_H

#include "random/noise.h"
#include "random/rejection.h"
#include "special/constants.h"
#include "special/incgamma.h"
#include "special/vgamma.h"


/* log P(k) at an outcome k >= 0 */
VECTOR double poisson_log_prob (double k, double rate) {
  double k1 = k < 1 ? 1 : k;
  double stirling = fma(0.5, vlog(k1), HALF_LOG_2PI) + stirlerr_above(k1);
  return k == 0 ? 0 - rate : -(vbd0(k1, rate) + stirling);
}

/* `value` at outcomes, -inf elsewhere; NaN stays */
VECTOR double poisson_at_outcome (double x, double value) {
  double off = x == x ? -HUGE_VAL : x;
  return ((x >= 0) & (x < HUGE_VAL) & (floor(x) == x)) ? value : off;
}

/* the same for one that is an integer by its nature, as in a step function */
VECTOR double poisson_log_step (double x, double rate) {
  return poisson_at_outcome(floor(x), poisson_log_prob(floor(x), rate));
}


static inline double poisson_cdf (double x, double rate) {
  return x < 0 ? 0 : special_gammaincc(floor(x) + 1, rate);
}

static inline double poisson_sf (double x, double rate) {
  return x < 0 ? 1 : special_gammainc(floor(x) + 1, rate);
}

static inline double poisson_log_cdf (double x, double rate) {
  return x < 0 ? -HUGE_VAL : special_log_gammaincc(floor(x) + 1, rate);
}

static inline double poisson_log_sf (double x, double rate) {
  return x < 0 ? 0 : special_log_gammainc(floor(x) + 1, rate);
}

/* near the quantile that a normal number z stands for: Cornish and Fisher's first terms */
static inline double poisson_near (double z, double rate) {
  return rate + sqrt(rate) * z + (z * z - 1) / 6;
}


/* poisson.c */
double poisson_entropy (double rate);
double poisson_entropy_slope (double rate);

/*
** draws of elements first, ..., first + n - 1, n <= POISSON_BLOCK, from lanes 0 to
** POISSON_LANES - 1
*/
enum { POISSON_BLOCK = REJECTION_BLOCK, POISSON_LANES = 2 + REJECTION_LANES };

void poisson_draw (const Philox *g, uint64_t first, size_t n, const double *rate, double *out);

#endif
