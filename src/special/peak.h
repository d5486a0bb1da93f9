/*
** peak.h - integrals of positive functions with one peak, given by their logarithms
**
** The peak is found, and from there panels of 32 points go outwards, each as wide as the function
** allows, to where it has fallen by e^-42. How well a panel fits is seen from its coefficients of
** Legendre's polynomials of degree 30 and 31: they are about the root of the relative error, and no
** smaller than rounding errors leave them.
*/
#ifndef PERILUNE_PEAK_H
#define PERILUNE_PEAK_H

enum { PEAK_PARTS = 8 };

typedef void PeakLevels (const void *law, const double t[], double level[]);
typedef void PeakFactors (const void *law, double t, double level, double f[]);

/* a function of t between low and high, which may be infinite */
typedef struct Peaked {
  const void *law;
  double (*level) (const void *law, double t);   /* its logarithm */
  PeakFactors *factors;   /* what is averaged */
  int n;   /* how many, or 0; below PEAK_PARTS */
  double low, high;
  double noise;   /* rounding errors of its logarithm, beside those that its size brings */
  PeakLevels *levels;   /* the logarithm at as many t as a panel has, or NULL */
} Peaked;

/* the integral and, from sum[1] on, those with each factor, in units of e^top, which is 0 where the
   function is */
typedef struct PeakSums { double top, sum[PEAK_PARTS]; } PeakSums;

/* over the whole range, of a function that is not 0 at `start`; `step` is about its scale there */
PeakSums peak_integral (const Peaked *p, double start, double step);

#endif
