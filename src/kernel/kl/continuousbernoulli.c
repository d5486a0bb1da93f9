/*
** continuousbernoulli.c - KL(ContinuousBernoulli || q)
**
** To ContinuousBernoulli, on logits a of p and b of q, a turned to be positive (x becomes
** 1 - x), so that p falls like e^(-a x) from its end, D = b - a and m the mean of x:
**
**   KL = log E e^(-D (x - m)) = log(1 + E f(-D (x - m))),   f(d) = e^d - 1 - d >= 0
**
** while D is small: an integral, in which an error of m counts only by its square. Further
** out, with L(x) = log((1 - e^-x)/x),
**
**   KL = (|b| - b)/2 + L(|b|) - L(a) + m D
**
** where a and b exceed 2 with the excess of b/a in place of the logarithms of both; for large
** ones, where the laws are exponential, nothing else is left.
*/
#include "kernel/kernel.h"
#include "kernel/bernoulli_kl.h"
#include "special/legendre.h"
#include "special/vratio.h"

static const double EXPONENTIAL_FROM = 45;   /* e^-45 of the mass is at the other end */
static const double INTEGRAL_MAX = 4;     /* |D| up to which the integral is taken */


/* L; 0 at 0 */
static double level (double x) {
  return x < 1e-8 ? -0.5 * x : vlog(-vexpm1(-x) / x);
}

/* 1/a - 1/(e^a - 1), a series where those cancel */
static double mean_of (double a) {
  double z = a * a;
  double near = 0.5 - a / 12 * (1 - z / 60 * (1 - z / 42 * (1 - z / 40)));
  return a < 0.05 ? near : 1 / a - 1 / vexpm1(a);
}

/* e^d - 1 - d for |d| <= 4 */
VECTOR double above_tangent (double d) {
  double near = d * d * bernoulli_kl_curve(clamp(d, -1.0, 1.0)), far = vexpm1(d) - d;
  return fabs(d) <= 1 ? near : far;
}

static double by_integral (double a, double gap) {
  double weight[LEGENDRE], term[LEGENDRE], m = mean_of(a);
  for (int i = 0; i < LEGENDRE; i++) {
    double x = 1 - legendre_node[i];
    weight[i] = vexp(-a * x);
    term[i] = weight[i] * above_tangent(-gap * (x - m));
  }
  return vlog1p(legendre_sum(term) / legendre_sum(weight));
}

static double divergence (double l1, double l2) {
  double a = fabs(l1), b = l1 < 0 ? -l2 : l2, gap = b - a;
  if (l1 != l1 || l2 != l2) return (double)NAN;
  if (l1 == l2) return 0;
  if (a == HUGE_VAL || fabs(b) == HUGE_VAL) return HUGE_VAL;
  if (a > EXPONENTIAL_FROM && b > EXPONENTIAL_FROM) return vexcess_wide(b, a);
  if (fabs(gap) <= INTEGRAL_MAX) return by_integral(a, gap);
  if (a > 2 && b > 2)
    return vexcess_wide(b, a) + ((vlog1mexp(-b) - vlog1mexp(-a)) - gap / vexpm1(a));
  return 0.5 * (fabs(b) - b) + ((level(fabs(b)) - level(a)) + mean_of(a) * gap);
}

static void to_continuousbernoulli (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = divergence(in[0][i], in[1][i]);
}

/* the mean of the law, counted from 1/2: its sign is that of l */
static double offset (double l) {
  double away = fabs(l) < 0.05 ? fabs(l) / 12 * (1 - l * l / 60 * (1 - l * l / 42))
                               : 0.5 - mean_of(fabs(l));
  return l < 0 ? -away : away;
}

/* 1/a^2 - e^-a/(1 - e^-a)^2 */
static double variance_of (double a) {
  double z = a * a, e = vexp(-a), rest = -vexpm1(-a);
  if (a < 0.5) return (1 - z / 20 * (1 - z / 25.2 * (1 - z / 28.571428571428573
                       * (1 - z / 30.8 * (1 - z / 32.325))))) / 12;
  return 1 / a / a - e / rest / rest;
}

/* -(variance of p) (b - a), and what the mean gains */
static void to_continuousbernoulli_partials (size_t n, const double *const in[],
                                             double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    double l1 = in[0][i], l2 = in[1][i];
    d[0][i] = l1 == l2 ? 0 : variance_of(fabs(l1)) * (l1 - l2);
    d[1][i] = l1 == l2 ? 0 : offset(l2) - offset(l1);
  }
}


const Kernel perilune_kl_continuousbernoulli[] = {
  {.name = "ContinuousBernoulli", .n_in = 2, .value = to_continuousbernoulli,
   .partials = to_continuousbernoulli_partials},
  {.name = NULL}
};
