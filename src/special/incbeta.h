/*
** incbeta.h - regularised incomplete beta function, its inverse, and the
** derivatives of a beta quantile with respect to the shapes
**
**   I_x(a,b) = 1/B(a,b) int_0^x t^(a-1) (1-t)^(b-1) dt,   a, b > 0
**
** Whichever tail is the smaller is computed directly, so both I and 1 - I
** keep their relative accuracy. NaN for arguments outside the domain;
** a = 0 (or b = inf) is the unit mass at 0, b = 0 (or a = inf) that at 1.
*/
#ifndef PERILUNE_INCBETA_H
#define PERILUNE_INCBETA_H


/* I_x(a,b) and 1 - I_x(a,b) */
double special_betainc (double a, double b, double x);
double special_betaincc (double a, double b, double x);

/*
** The same with y = 1 - x supplied. The smaller of x and y is taken to be
** exact, the other is ignored: so 1 - x may be far below an ulp of 1.
*/
double special_betainc_xy (double a, double b, double x, double y);
double special_betaincc_xy (double a, double b, double x, double y);

/* logarithms, finite where the tails themselves underflow */
double special_log_betainc (double a, double b, double x);
double special_log_betaincc (double a, double b, double x);
double special_log_betainc_xy (double a, double b, double x, double y);
double special_log_betaincc_xy (double a, double b, double x, double y);

/* log of x^a/(a B(a,b)), to which I_x(a,b) tends for small x, and log of what is left of 1 */
double special_log_beta_leading (double a, double b, double log_x);
double special_log_beta_rest (double a, double b, double log_x);

/* the x with I_x(a,b) = p, and the x with 1 - I_x(a,b) = q */
double special_betaincinv (double a, double b, double p);
double special_betainccinv (double a, double b, double q);

/*
** Both coordinates of the quantile for p (upper = 0) or of the upper
** quantile for p (upper = 1); *y = 1 - *x keeps its relative accuracy.
*/
void special_betaincinv_xy (double a, double b, double p, int upper,
                            double *x, double *y);

/*
** dx/da and dx/db at fixed probability I_x(a,b): the implicit
** reparameterisation gradient of a Beta(a,b) draw x, 0 where x is 0 or 1.
** Both together cost as much as one.
*/
void special_beta_dx (double a, double b, double x, double *da, double *db);
double special_beta_dx_da (double a, double b, double x);

#endif
