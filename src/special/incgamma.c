/*
** incgamma.c - the regularised incomplete gamma functions and their logarithms
**
**   P(a,x) = 1/Gamma(a) int_0^x t^(a-1) e^-t dt,    Q = 1 - P
**
** One function, incgamma_tail, gives the smaller of P and Q, as m e^E with E a double-double,
** so that neither an exponent of -700 nor an underflow costs digits. With mu = (x - a)/a:
**
**   a < 1, x < 1, Q small   1 - x^a/Gamma(1+a) (1 + a sum_(n>0) (-x)^n/(n! (a+n)))
**   a >= 40, |mu| <= 1/2    Temme's uniform expansion (SIAM J. Math. Anal. 10, 1979)
**   x < a                   P = x^a e^-x/Gamma(a+1) sum x^n/((a+1)...(a+n))
**   else                    Q = x^a e^-x/Gamma(a) 1/(x+1-a- 1(1-a)/(x+3-a- 2(2-a)/(x+5-a- ...
*/
#include "special/incgamma.h"
#include "special/incgamma_parts.h"
#include "special/vgamma.h"
#include "special/vmath.h"

enum { MAX_TERMS = 500 };


/* {=====================================================
** The smaller tail
** ====================================================== */

/* x^a/Gamma(1+a) = 1 + z;  Q = -z - (1 + z) a sum_(n>0) (-x)^n/(n! (a+n)) */
static GammaTail small_upper (double a, Pair argument) {
  double x = argument.hi;
  double g = a <= 0.5 ? incgamma_reciprocal_gamma1pm1(a) : incgamma_reciprocal_gamma1p(a) - 1;
  double z = fma(vexpm1(a * vlog(x)), 1 + g, g);
  double term = 1, sum = 0;
  for (int n = 1; n < MAX_TERMS; n++) {
    term *= -x / n;
    sum += term / (a + n);
    if (fabs(term) <= 1e-17 * fabs(sum)) break;
  }
  double q = -fma((1 + z) * a, sum, z), d = a * (1 + z) * vexp(-x);
  return (GammaTail) {.m = fma(-d, argument.lo / x, q), .d = d, .upper = 1};
}

/* for finite a > 0 and x > 0; the series and the fraction do not feel the last bits of x */
GammaTail incgamma_tail (double a, Pair argument) {
  double x = argument.hi;
  if (a >= 40 && fabs(x - a) <= 0.5 * a) return incgamma_uniform_tail(a, argument);
  if (a < 1 && x < 1 && (x < 0.5 ? a * vlog(x) > -0.4 : a < 0.75 * x))
    return small_upper(a, argument);
  GammaTail t = incgamma_density(a, argument);
  t.upper = x >= 1 && x >= a;
  t.m = t.upper ? t.d * incgamma_upper_fraction(a, x).h : t.d / a * incgamma_lower_series(a, x).h;
  return t;
}

/* factor e^E; the halves of E cannot underflow before the product does */
double incgamma_scaled_exp (double factor, Pair e) {
  if (e.hi < -1600) return 0;
  double root = exp_pair(0.5 * e.hi, 0.5 * e.lo);
  return factor * root * root;
}

/* }====================================================== */


/* {=====================================================
** P, Q and their logarithms
** ====================================================== */

/* P and Q where no expansion is needed, NaN elsewhere */
static double edge (double a, double x, int upper) {
  double one = upper ? 0 : 1;
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == HUGE_VAL && x == HUGE_VAL))
    return (double) NAN;
  return (a == 0 || x == HUGE_VAL) ? one : 1 - one;
}

static int is_edge (double a, double x) {
  return !(a > 0 && x > 0 && a < HUGE_VAL && x < HUGE_VAL);
}

double special_gamma_tail (double a, Pair x, int upper) {
  if (is_edge(a, x.hi)) return edge(a, x.hi, upper);
  GammaTail t = incgamma_tail(a, x);
  double v = incgamma_scaled_exp(t.m, t.e);
  return t.upper == upper ? v : 1 - v;
}

/* beyond x = 1e20 the factor m, which may underflow, no longer counts */
static double log_tail (double a, Pair x, int upper) {
  if (is_edge(a, x.hi)) return vlog(edge(a, x.hi, upper));
  GammaTail t = incgamma_tail(a, x);
  double v = incgamma_scaled_exp(t.m, t.e);
  if (t.upper != upper) return 0.0 + vlog1p(-v);
  if (v > 1e-290) return vlog(v);
  return t.e.hi + (t.e.lo + vlog(fmax(t.m, 2.2250738585072014e-308)));
}

/* Q is proportional to a for tiny a, which is so kept away from the subnormals */
double special_log_gamma_tail (double a, Pair x, int upper) {
  if (upper && a > 0 && a < 1e-280) return log_tail(a * 0x1p200, x, 1) - 200 * LN2;
  return log_tail(a, x, upper);
}

double special_gammainc (double a, double x) {
  return special_gamma_tail(a, (Pair) {x, 0}, 0);
}

double special_gammaincc (double a, double x) {
  return special_gamma_tail(a, (Pair) {x, 0}, 1);
}

double special_log_gammainc (double a, double x) {
  return special_log_gamma_tail(a, (Pair) {x, 0}, 0);
}

double special_log_gammaincc (double a, double x) {
  return special_log_gamma_tail(a, (Pair) {x, 0}, 1);
}

/* }====================================================== */


/* {=====================================================
** Implicit reparameterisation
** ====================================================== */

/* from P = x^a e^-x/Gamma(a+1) h or Q = x^a e^-x/Gamma(a) h, divided by the density */
double special_gamma_dx_da (double a, double x) {
  if (!(a > 0 && x >= 0 && a < HUGE_VAL)) return (double) NAN;
  if (x == 0 || x == HUGE_VAL) return x;
  if (a >= 40 && fabs(x - a) <= 0.5 * a) return incgamma_uniform_dx_da(a, x);
  if (x < 1 || x < a) {
    Dual s = incgamma_lower_series(a, x);
    return -(x / a) * fma(s.h, vlog(x) - vdigamma_pos(a + 1), s.dh);
  }
  Dual f = incgamma_upper_fraction(a, x);
  return x * fma(f.h, vlog(x) - vdigamma_pos(a), f.dh);
}

/* }====================================================== */
