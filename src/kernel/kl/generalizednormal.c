/*
** generalizednormal.c - KL(GeneralizedNormal || q) about one centre
**
** To GeneralizedNormal with the same loc, on scale1, shape1, scale2, shape2: with
** a = 1/shape, r = shape2/shape1, e = r - 1 and R the remainder of log Gamma from 1 + a1
** to a1 + r (vshape.h),
**
**   KL = a2 (exp(v) - 1 - v + R) + C(a1, a2) - excess(a2/a1)
**   v = shape2 log(scale1/scale2) + log r + e psi(1 + a1) + R
**
** Below a1 = 1 the excess is taken out of C before it cancels.
*/
#include "kernel/kernel.h"
#include "kernel/kl/extreme.h"
#include "special/vgamma.h"
#include "special/vmath.h"
#include "special/vratio.h"
#include "special/vshape.h"


typedef struct Widths { double a1, a2, r, e, v, bend; } Widths;


static double lgamma_remainder (double x, double y, double d) {
  return fma(y, vexcess(x / y, -d / y), shape_wide(x, y, d));
}

static Widths widths (double scale1, double shape1, double scale2, double shape2) {
  Widths w = {.a1 = 1 / shape1, .a2 = 1 / shape2, .r = shape2 / shape1};
  double gap = vlog_ratio(scale1, scale2);
  w.e = (shape2 - shape1) / shape1;
  w.bend = lgamma_remainder(1 + w.a1, w.a1 + w.r, w.e);
  w.v = fma(shape2, gap, vlog_ratio(shape2, shape1)) + fma(w.e, vdigamma_pos(1 + w.a1), w.bend);
  return w;
}

/* C - excess(a2/a1), from remainders at 1 + a where a is small. (The shapes are exact,
   their reciprocals are not.) */
static double shape_less_excess (Widths w, double shape1, double shape2) {
  double d = -w.e * w.a2, y1 = 1 + w.a1, y2 = 1 + w.a2;
  if (w.a1 >= 1) return shape_wide(w.a1, w.a2, d) - vexcess_wide(shape1, shape2);
  double lower = 0.5 * vexcess(y2 / y1, d / y1) - w.a2 * vexcess_wide(shape2, shape1);
  double rest = binet_remainder(1 / (y1 + SHAPE_SHIFT), 1 / (y2 + SHAPE_SHIFT), d);
  return fma(y2, vexcess(y1 / y2, -d / y2), lower) + rest;
}

static void to_generalizednormal (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) {
    Widths w = widths(in[0][i], in[1][i], in[2][i], in[3][i]);
    out[i] = fma(w.a2, exp_excess(w.v) + w.bend, shape_less_excess(w, in[1][i], in[3][i]));
  }
}

static void to_generalizednormal_partials (size_t n, const double *const in[],
                                           double *const d[]) {
  const double *scale1 = in[0], *shape1 = in[1], *scale2 = in[2], *shape2 = in[3];
  EVERY for (size_t i = 0; i < n; i++) {
    Widths w = widths(scale1[i], shape1[i], scale2[i], shape2[i]);
    double rise = vexpm1(w.v), moment = w.a2 * vexp(w.v), psi = vdigamma_pos(w.a1 + w.r);
    double own = w.a1 * vdigamma_pos(1 + w.a1), gap = vlog_ratio(scale1[i], scale2[i]);
    double first = fma(moment, own - 1 - (w.a1 + w.r) * psi, own + w.a1);
    double second = fma(w.a1, psi, gap);
    d[0][i] = rise / scale1[i];
    d[1][i] = w.a1 * first;
    d[2][i] = -rise / scale2[i];
    d[3][i] = fma(moment, second, -w.a2 * w.a2 * vdigamma_pos(1 + w.a2));
  }
}


const Kernel perilune_kl_generalizednormal[] = {
  {.name = "same_loc", .n_in = 4, .value = to_generalizednormal,
   .partials = to_generalizednormal_partials},
  {.name = NULL}
};
