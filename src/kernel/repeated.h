/*
** repeated.h - is a block of parameters one value repeated, as a scalar parameter gives?
**
** What depends on parameters alone may then be computed once, with the same bits.
*/
#ifndef PERILUNE_REPEATED_H
#define PERILUNE_REPEATED_H

#include <stddef.h>
#include <string.h>


/* NaN is never the same. (Not inlined: gcc does not vectorise another loop over what it
   knows to have been read.) */
static __attribute__((noinline, unused)) int all_same (size_t n, const double *v) {
  return v[0] == v[n - 1] && (n == 1 || memcmp(v, v + 1, (n - 1) * sizeof *v) == 0);
}

#endif
