/*
** below.c - is there a number in a block that needs another way?
*/
#include "special/below.h"
#include "special/vector.h"


int special_has_below (size_t n, const double *x, double limit) {
  uint64_t some = 0;
  EVERY for (size_t i = 0; i < n; i++) some |= x[i] < limit;
  return some != 0;
}
