/*
** halfline.h - families of x >= 0 that are scaled copies of one law
**
** Such a family is known by functions of z = x/scale, which a kernel gives as VECTOR
** functions:
**
**   F(x) = G(z),   log p(x) = g(z) - log(scale),   x = scale z(p)
**
** Functions take x and scale, not z, because logarithms of tails are finite even where z is out of
** range. A slope is df/dz; a drift is df/d log z, for functions that grow like log z from x = 0.
** Below 0 everything is as at 0.
*/
#ifndef PERILUNE_HALFLINE_H
#define PERILUNE_HALFLINE_H

#include "kernel/sided.h"
#include "special/vmath.h"

typedef double OfScaled (double x, double scale);
typedef double OfRatio (double z);

/* What a family's file says; and log_density_slopes, of log p(x) itself in {x, scale}. */
typedef struct HalflineLaw {
  OfScaled *log_density;                /* g */
  OfScaled *cdf, *sf, *log_cdf, *log_sf;
  OfRatio *cdf_slope, *sf_slope, *log_cdf_drift, *log_sf_slope;
  SidedSlopes *tail_slopes;             /* in {x, scale}, in place of slopes in z */
  PointwiseSlopes *log_sf_slopes;
  OfRatio *icdf, *icdf_slope, *isf, *isf_slope;
  OfRatio *from_noise, *from_noise_slope;   /* z from a sampler's noise */
  double entropy;                           /* of the law with scale 1 */
} HalflineLaw;

/* below this z, terms of relative order z^2 vanish */
static const double HALFLINE_TINY = 1e-9;


/* z, 0 below the support, and finite, so that z times a vanishing slope is 0 */
VECTOR double halfline_ratio (double x, double scale) {
  return clamp(x / scale, 0.0, 1.7976931348623157e308);
}

#endif
