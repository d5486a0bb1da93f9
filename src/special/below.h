/*
** below.h - is there a number in a block that needs another way?
*/
#ifndef PERILUNE_BELOW_H
#define PERILUNE_BELOW_H

#include <stddef.h>

int special_has_below (size_t n, const double *x, double limit);

#endif
