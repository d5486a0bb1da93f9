/*
** subnormal.h - logarithms of quotients of probabilities that may be subnormal
**
** A quotient with a subnormal number in it loses digits or overflows. So probabilities are scaled
** up first:   log p = log(lifted(p)) - lift(p)
*/
#ifndef PERILUNE_SUBNORMAL_H
#define PERILUNE_SUBNORMAL_H

#include "special/vector.h"

static const double SMALLEST_NUMBER = 0x1p-1074;

VECTOR double lifted (double p) { return p < 0x1p-900 ? p * 0x1p200 : p; }
VECTOR double lift (double p) { return p < 0x1p-900 ? 138.62943611198906188 : 0.0; }

/* half of a probability that is not 0, or about that */
VECTOR double half_of (double p) { return p > SMALLEST_NUMBER ? 0.5 * p : p; }

#endif
