/*
** alike.h - is a block of parameters one value repeated, as a scalar parameter gives?
**
** What depends on parameters alone may then be computed once, with the same bits.
*/
#ifndef PERILUNE_ALIKE_H
#define PERILUNE_ALIKE_H

#include <stddef.h>
#include <stdint.h>


static inline int all_same (size_t n, const double *v) {
  uint64_t differ = 0;
  for (size_t i = 1; i < n; i++) differ |= v[i] != v[0];
  return differ == 0;
}

#endif
