/*
** fma.h - a b + c, rounded once: the instruction where there is one, ours where there is none
*/
#ifndef PERILUNE_FMA_H
#define PERILUNE_FMA_H

#include <math.h>

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__FP_FAST_FMA)
#define HAS_FMA 1
#else
#define HAS_FMA 0
#define fma software_fma
#endif

double software_fma (double a, double b, double c);

#endif
