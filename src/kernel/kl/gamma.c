/*
** gamma.c - KL(Gamma || q)
**
** To Gamma, with the ratio of means s = (a1 b2)/(a2 b1) and C of vshape.h:
**
**   KL = a2 (s - 1 - log s) + C(a1, a2)
*/
#include "kernel/kernel.h"
#include "special/pair.h"
#include "special/vmath.h"
#include "special/vratio.h"
#include "special/vshape.h"


/* (s - 1) a2 b1, from which nothing is lost when the products are near */
VECTOR double products_apart (double a1, double b1, double a2, double b2) {
  Pair p = exact_product(a1, b2), q = exact_product(a2, b1);
  return (p.hi - q.hi) + (p.lo - q.lo);
}

/* Are the products, their errors and their quotient far from the ends of the range? */
VECTOR int products_plain (double a1, double b1, double a2, double b2) {
  double p = a1 * b2, q = a2 * b1;
  return (p > 0x1p-450) & (p < 0x1p450) & (q > 0x1p-450) & (q < 0x1p450);
}

/* s - 1 = x + y + x y, x and y being what shapes and rates are apart */
VECTOR double means_apart (double a1, double b1, double a2, double b2) {
  double x = (a1 - a2) / a2, y = (b2 - b1) / b1;
  double apart = products_apart(a1, b1, a2, b2) / (a2 * b1);
  return products_plain(a1, b1, a2, b2) ? apart : x + fma(x, y, y);
}

VECTOR double log_means (double a1, double b1, double a2, double b2) {
  return vlog_ratio(a1, a2) + vlog_ratio(b2, b1);
}

/* a b/c, in an order in which nothing overflows before the result does */
static double scaled (double a, double b, double c) {
  double ratio = b / c, first = a / c;
  if ((ratio > 0x1p-1000) & (ratio < 0x1p1000)) return a * ratio;
  return first > 0x1p-1000 ? first * b : a * b / c;
}

static double to_gamma_wide (double a1, double b1, double a2, double b2) {
  double gap = log_means(a1, b1, a2, b2);
  double near = -a2 * vlog1pmx(means_apart(a1, b1, a2, b2));
  double far = scaled(a1, b2, b1) - fma(a2, gap, a2);
  return (fabs(gap) < 0.5 ? near : far) + shape_wide(a1, a2, a2 - a1);
}

static void to_gamma (size_t n, const double *const in[], double *out) {
  const double *a1 = in[0], *b1 = in[1], *a2 = in[2], *b2 = in[3];
  uint64_t odd = 0;
  EVERY for (size_t i = 0; i < n; i++) {
    double inverse = 1 / (a2[i] * b1[i]), s = a1[i] * b2[i] * inverse;
    double e = products_apart(a1[i], b1[i], a2[i], b2[i]) * inverse;
    out[i] = fma(a2[i], vexcess(s, e), shape_near(a1[i], a2[i], a2[i] - a1[i]));
    odd |= !(shape_plain(a1[i], a2[i]) & products_plain(a1[i], b1[i], a2[i], b2[i]));
  }
  for (size_t i = 0; odd && i < n; i++)
    if (!(shape_plain(a1[i], a2[i]) & products_plain(a1[i], b1[i], a2[i], b2[i])))
      out[i] = to_gamma_wide(a1[i], b1[i], a2[i], b2[i]);
}

/* log(1 + e) if e is small, else log t, at the price of one */
VECTOR double log_either (double e, double t) {
  int small = fabs(e) < 0.5;
  LogReduction near = log1p_reduce(e, 1 + e), far = log_reduce(t, log_scale(t));
  LogReduction l = {
    .n = small ? near.n : far.n, .f = small ? near.f : far.f, .error = small ? near.error : 0
  };
  return log_edges(small ? 1 : t, log_assemble(l));
}

/* log t, t = (y2 b1)/(y1 b2) with y = 1 + a, given t - 1 where it is small */
VECTOR double log_tilt (double a1, double b1, double a2, double b2) {
  double y1 = 1 + a1, y2 = 1 + a2, t = (y2 / y1) * (b1 / b2);
  double x = (a2 - a1) / y1, y = (b1 - b2) / b2, e = x + fma(x, y, y);
  double apart = ((b1 - b2) - products_apart(a1, b1, a2, b2)) / (y1 * b2);
  e = (products_plain(a1, b1, a2, b2) & (a1 < 0x1p300)) ? apart : e;
  return log_either(e, t);
}

/* those of C, of s times a2 (s - 1)/s, and in a2 psi(a2) - psi(a1) - log(b2/b1) */
static void to_gamma_partials (size_t n, const double *const in[], double *const d[]) {
  const double *a1 = in[0], *b1 = in[1], *a2 = in[2], *b2 = in[3];
  double *da1 = d[0], *db1 = d[1], *da2 = d[2], *db2 = d[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double e = a2[i] * means_apart(a1[i], b1[i], a2[i], b2[i]), gap = a2[i] - a1[i];
    double tilt = log_tilt(a1[i], b1[i], a2[i], b2[i]);
    da1[i] = fma(-gap, shape_curvature(a1[i]), e / a1[i]);
    db1[i] = -e / b1[i];
    da2[i] = digamma_rest(a1[i], a2[i], gap) + tilt;
    db2[i] = e / b2[i];
  }
}


const Kernel perilune_kl_gamma[] = {
  {.name = "Gamma", .n_in = 4, .value = to_gamma, .partials = to_gamma_partials},
  {.name = NULL}
};
