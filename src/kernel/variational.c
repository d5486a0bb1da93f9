/*
** variational.c - a step of variational inference, apart from the model
**
** A draw from a Gaussian guide with log scale w, and the log density of v there; and what has the
** gradient of a bound where draws go, to be summed:
**
**   draw(noise, loc, w)      = loc + e^w noise
**   log_density(v, loc, w)   = -w - (z^2 + log(2 pi))/2,    z = (v - loc)/e^w
**   push(u, gradient, count) = u gradient count
**
** An update of a gradient and of `square`, a moving average of its squares (0 where nothing is
** known): elements beyond `most` roots of that are cut there, and those that are left are averaged.
**
**   cut                      gradient = gradient, or most sqrt(square) with its sign
**                            square = kept square + (1 - kept) gradient^2
*/
#include <math.h>

#include "kernel/kernel.h"
#include "special/constants.h"
#include "special/vmath.h"


static void draw (size_t n, const double *const in[], double *out) {
  const double *noise = in[0], *loc = in[1], *w = in[2];
  EVERY for (size_t i = 0; i < n; i++) out[i] = loc[i] + vexp(w[i]) * noise[i];
}

static void draw_partials (size_t n, const double *const in[], double *const d[]) {
  const double *noise = in[0], *w = in[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double scale = vexp(w[i]);
    d[0][i] = scale;
    d[1][i] = 1;
    d[2][i] = scale * noise[i];
  }
}

static void log_density (size_t n, const double *const in[], double *out) {
  const double *v = in[0], *loc = in[1], *w = in[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double z = (v[i] - loc[i]) / vexp(w[i]);
    out[i] = -w[i] - (0.5 * z * z + HALF_LOG_2PI);
  }
}

static void log_density_partials (size_t n, const double *const in[], double *const d[]) {
  const double *v = in[0], *loc = in[1], *w = in[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double scale = vexp(w[i]), z = (v[i] - loc[i]) / scale;
    d[0][i] = -z / scale;
    d[1][i] = z / scale;
    d[2][i] = z * z - 1;
  }
}

static void push (size_t n, const double *const in[], double *out) {
  const double *u = in[0], *gradient = in[1], *count = in[2];
  EVERY for (size_t i = 0; i < n; i++) out[i] = u[i] * (gradient[i] * count[i]);
}

static void push_partials (size_t n, const double *const in[], double *const d[]) {
  const double *u = in[0], *gradient = in[1], *count = in[2];
  EVERY for (size_t i = 0; i < n; i++) {
    d[0][i] = gradient[i] * count[i];
    d[1][i] = u[i] * count[i];
    d[2][i] = u[i] * gradient[i];
  }
}


VECTOR double limit (double square, double most) {
  return square > 0 ? square * most * most : HUGE_VAL;
}

/* Rows: where the gradient is, and `square`. Where all of that is kept, gradient^2 may overflow. */
static void cut (size_t n, const double *gradient, const double *c, double *const row[]) {
  double most = c[0], kept = c[1], *left = row[0], *square = row[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double g = gradient[i], l = limit(square[i], most);
    left[i] = g * g <= l ? g : copysign(sqrt(l), g);
  }
  if (kept == 1) return;
  EVERY for (size_t i = 0; i < n; i++)
    square[i] = square[i] * kept + left[i] * left[i] * (1 - kept);
}


const Kernel perilune_variational[] = {
  {.name = "draw",        .n_in = 3, .value = draw, .partials = draw_partials},
  {.name = "log_density", .n_in = 3, .value = log_density, .partials = log_density_partials},
  {.name = "push",        .n_in = 3, .value = push, .partials = push_partials},
  {.name = "cut",         .n_in = 2, .update = cut},
  {.name = NULL}
};
