/*
** marcum.h - gamma variables with a noncentrality: Marcum's functions P and Q
**
**   g(y) = e^(-y - a) (y/a)^(v/2) I_v(2 sqrt(a y)),  v = m - 1,   P = int_0^y g,  Q = 1 - P
**
** the law of half a noncentral chi-square variable with 2m degrees of freedom and noncentrality
** 2a, and of half the square of a Rice variable (m = 1). Of both tails the smaller is
** computed, as its logarithm.
*/
#ifndef PERILUNE_MARCUM_H
#define PERILUNE_MARCUM_H

/* times sqrt(m + a): about how far the rounding of y may move log g, where that counts */
static const double MARCUM_NOISE = 0x1p-46;

/* log g(y), m > 0, a >= 0, y >= 0 */
double marcum_log_density (double m, double a, double y);

/* the same at as many y as a panel of legendre.h has, 0 if that has to be done one by one */
int marcum_log_densities (double m, double a, const double y[], double log_g[]);

/* its slopes in y and in a */
typedef struct MarcumSlopes { double by_y, by_a; } MarcumSlopes;
MarcumSlopes marcum_log_density_slopes (double m, double a, double y);

/* and in m */
double marcum_log_density_by_m (double m, double a, double y);

/* g_(m+1)/g_m = 1 + d log g/da, and its slopes in y and in m, for m >= 1 */
typedef struct MarcumRatio { double value, by_y, by_m; } MarcumRatio;
MarcumRatio marcum_ratio (double m, double a, double y);

/* log P, or `upper` log Q */
double marcum_log_tail (double m, double a, double y, int upper);

/* y near where P, or `upper` Q, is p: 0 < p < 1 */
double marcum_near (double m, double a, double p, int upper);

/* dy/da and dy/dm at a fixed probability */
double marcum_dy_da (double m, double a, double y);
double marcum_dy_dm (double m, double a, double y);

#endif
