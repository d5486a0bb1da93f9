/*
** implicit_kernels.h - the kernels of a family that is given point by point (implicit.h)
**
** To be included once by a family's file, below its `static const Implicit family` and
** `static const ImplicitTails tails`.
*/
#include "kernel/implicit.h"


static void cdf (size_t n, const double *const in[], double *out) {
  implicit_value(&family, n, in, out, tails.cdf);
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  implicit_tail_partials(&family, n, in, d, 1, NULL);
}

static void sf (size_t n, const double *const in[], double *out) {
  implicit_value(&family, n, in, out, tails.sf);
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  implicit_tail_partials(&family, n, in, d, -1, NULL);
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  implicit_value(&family, n, in, out, tails.log_cdf);
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  implicit_tail_partials(&family, n, in, d, 1, tails.log_cdf);
}

static void log_sf (size_t n, const double *const in[], double *out) {
  implicit_value(&family, n, in, out, tails.log_sf);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  implicit_tail_partials(&family, n, in, d, -1, tails.log_sf);
}

static void icdf (size_t n, const double *const in[], double *out) {
  implicit_value(&family, n, in, out, tails.icdf);
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  implicit_quantile_partials(&family, n, in, d, 1, tails.icdf);
}

static void isf (size_t n, const double *const in[], double *out) {
  implicit_value(&family, n, in, out, tails.isf);
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  implicit_quantile_partials(&family, n, in, d, -1, tails.isf);
}

static void draw_partials (size_t n, const double *const in[], double *const d[]) {
  implicit_draw_partials(&family, n, in, d);
}
