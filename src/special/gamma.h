/*
** gamma.h - relatives of the gamma function that need a loop
*/
#ifndef PERILUNE_GAMMA_H
#define PERILUNE_GAMMA_H

/*
** Hurwitz zeta, the sum of (q + k)^-s over k = 0, 1, 2, ...; s > 1. +inf at s = 1 and
** for q = 0, -1, -2, ...; other negative q are defined for integer s only. NaN elsewhere.
*/
double special_zeta (double s, double q);

/* the n-th derivative of digamma at x; NaN unless n is an integer >= 0 */
double special_polygamma (double n, double x);

#endif
