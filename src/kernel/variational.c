/*
** variational.c - a step of variational inference, apart from the model
**
** A draw from a Gaussian guide with log scale w; the log density of the draw, and its slope by
** the draw; and what has the gradient of the bound where draws go, to be summed:
**
**   draw(noise, loc, w)                  = loc + e^w noise
**   log_density(noise, w)                = -w - (noise^2 + log(2 pi))/2
**   slope(noise, w)                      = -noise / e^w
**   push(path, slope, gradient, counts)  = path (slope - gradient) counts
**
** Gradients that are far larger than they were, `square` being a moving average of their squares
** (0 where nothing is known): are they no larger than `most` of its roots; as large as that at
** most; and that average after one more:
**
**   is_usual(gradient, square, most)     = |gradient| <= most sqrt(square), or square = 0
**   cut(gradient, square, most)          = gradient, or that limit with its sign
**   follow(gradient, square, kept)       = kept square + (1 - kept) gradient^2
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
  const double *noise = in[0], *w = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = -w[i] - (0.5 * noise[i] * noise[i] + HALF_LOG_2PI);
}

static void slope (size_t n, const double *const in[], double *out) {
  const double *noise = in[0], *w = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = -noise[i] / vexp(w[i]);
}

static void push (size_t n, const double *const in[], double *out) {
  const double *path = in[0], *slopes = in[1], *gradient = in[2], *counts = in[3];
  EVERY for (size_t i = 0; i < n; i++) out[i] = path[i] * ((slopes[i] - gradient[i]) * counts[i]);
}

static void push_partials (size_t n, const double *const in[], double *const d[]) {
  const double *path = in[0], *slopes = in[1], *gradient = in[2], *counts = in[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double force = slopes[i] - gradient[i], weight = path[i] * counts[i];
    d[0][i] = force * counts[i];
    d[1][i] = weight;
    d[2][i] = -weight;
    d[3][i] = path[i] * force;
  }
}


VECTOR double limit (double square, double most) {
  return square > 0 ? square * most * most : HUGE_VAL;
}

static void is_usual (size_t n, const double *const in[], double *out) {
  const double *gradient = in[0], *square = in[1], *most = in[2];
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = gradient[i] * gradient[i] <= limit(square[i], most[i]);
}

static void cut (size_t n, const double *const in[], double *out) {
  const double *gradient = in[0], *square = in[1], *most = in[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double g = gradient[i], l = limit(square[i], most[i]);
    out[i] = g * g <= l ? g : copysign(sqrt(l), g);
  }
}

static void follow (size_t n, const double *const in[], double *out) {
  const double *gradient = in[0], *square = in[1], *kept = in[2];
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = square[i] * kept[i] + gradient[i] * gradient[i] * (1 - kept[i]);
}


const Kernel perilune_variational[] = {
  {.name = "draw",        .n_in = 3, .value = draw, .partials = draw_partials},
  {.name = "log_density", .n_in = 2, .value = log_density},
  {.name = "slope",       .n_in = 2, .value = slope},
  {.name = "push",        .n_in = 4, .value = push, .partials = push_partials},
  {.name = "is_usual",    .n_in = 3, .value = is_usual},
  {.name = "cut",         .n_in = 3, .value = cut},
  {.name = "follow",      .n_in = 3, .value = follow},
  {.name = NULL}
};
