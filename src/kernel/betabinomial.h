/*
** betabinomial.h - the law of BetaBinomial(a, b, n), for the family made of it
*/
#ifndef PERILUNE_BETABINOMIAL_H
#define PERILUNE_BETABINOMIAL_H

/* betabinomial.c: keeps its digits where it is near 0; a, b > 0, 0 <= n < inf */
double betabinomial_entropy (double a, double b, double n);

#endif
