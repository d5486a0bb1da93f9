/*
** incgamma_parts.h - what the files of the incomplete gamma functions share
**
** A tail is m e^E with E a pair, so that neither an exponent of -700 nor an
** underflow costs digits.
*/
#ifndef PERILUNE_INCGAMMA_PARTS_H
#define PERILUNE_INCGAMMA_PARTS_H

#include "special/constants.h"
#include "special/pair.h"


/* m e^E is P or, if `upper`, Q; d e^E is x times the density */
typedef struct GammaTail { Pair e; double m, d; int upper; } GammaTail;

/* h is the continued fraction of the upper tail or the series of the lower one, dh is dh/da */
typedef struct Dual { double h, dh; } Dual;


/* incgamma_factors.c */

/* atanh(s)/s - 1 for |s| <= 0.172, relative error 2^-62 */
Pair incgamma_atanh_series (Pair s);

/* 1/Gamma(1+b) - 1 for |b| <= 1/2 */
double incgamma_reciprocal_gamma1pm1 (double b);

/* 1/Gamma(1+a) for 0 <= a < 10 */
double incgamma_reciprocal_gamma1p (double a);

/* log Gamma(1+a), relative accuracy for a -> 0 */
double incgamma_log_gamma1p (double a);

/* -a (mu - log(1 + mu)), mu = (x - a)/a */
Pair incgamma_deviance_exponent (double a, Pair x);

/* E and d of the tail: x^a e^-x/Gamma(a) = d e^E */
GammaTail incgamma_density (double a, Pair x);

/* sum x^n/((a+1)...(a+n)), the series of P */
Dual incgamma_lower_series (double a, double x);

/* 1/(x+1-a- 1(1-a)/(x+3-a- 2(2-a)/(x+5-a- ...: the continued fraction of Q */
Dual incgamma_upper_fraction (double a, double x);

/* incgamma_temme.c, for a >= 40 and |x - a| <= a/2: the smaller tail; dx/da at fixed P */
GammaTail incgamma_uniform_tail (double a, Pair x);
double incgamma_uniform_dx_da (double a, double x);

/* incgamma.c, for finite a > 0 and x > 0: the smaller of P and Q, or nearly; and factor e^E */
GammaTail incgamma_tail (double a, Pair x);
double incgamma_scaled_exp (double factor, Pair e);

#endif
