/*
** binomial.h - the law of Binomial(n, logits), for the families made of it
*/
#ifndef PERILUNE_BINOMIAL_H
#define PERILUNE_BINOMIAL_H

#include "kernel/binomial_law.h"
#include "random/rejection.h"
#include "special/constants.h"


/* log P(k) for 0 <= k <= n; neither need be an integer if both are at least 1/2 apart */
VECTOR double binomial_log_prob (double k, double n, double logit) {
  Odds o = odds_of(logit);
  double y = n - k, x1 = k < 0.5 ? 1 : k, y1 = y < 0.5 ? 1 : y, n1 = x1 + y1;
  double mu = stirlerr_above(n1) - stirlerr_above(x1) - stirlerr_above(y1);
  double root = fma(0.5, vlog(x1 * (y1 / n1)), HALF_LOG_2PI);
  double inside = mu - binomial_deviances(x1, y1, n1, o) - root;
  double none = y == 0 ? 0 : 0 - y * o.log_q;
  double value = y == 0 ? 0 - k * o.log_p : inside;
  return k == 0 ? none : value;
}


/*
** binomial.c: draws of elements first, ..., first + n - 1, n <= BINOMIAL_BLOCK, from
** lanes 0 to BINOMIAL_LANES - 1
*/
enum { BINOMIAL_BLOCK = REJECTION_BLOCK, BINOMIAL_LANES = 2 + REJECTION_LANES };

void binomial_draw (const Philox *g, uint64_t first, size_t n, const double *total,
                    const double *logit, double *out);

#endif
