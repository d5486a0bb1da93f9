/*
** variational.c - a step of variational inference, apart from the model
**
** A draw from a Gaussian guide with log scale w; minus the log density of the draw, to be summed
** over all elements; and the loss, minus an estimate of the evidence lower bound:
**
**   draw(noise, loc, w)             = loc + e^w noise
**   surprise(noise, w)              = w + (noise^2 + log(2 pi))/2
**   loss(joint, log_det, surprise)  = -(joint + log_det + surprise)
*/
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


static void surprise (size_t n, const double *const in[], double *out) {
  const double *noise = in[0], *w = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = w[i] + (0.5 * noise[i] * noise[i] + HALF_LOG_2PI);
}

static void surprise_partials (size_t n, const double *const in[], double *const d[]) {
  const double *noise = in[0];
  EVERY for (size_t i = 0; i < n; i++) {
    d[0][i] = noise[i];
    d[1][i] = 1;
  }
}


static void loss (size_t n, const double *const in[], double *out) {
  const double *joint = in[0], *log_det = in[1], *surprised = in[2];
  EVERY for (size_t i = 0; i < n; i++) out[i] = -(joint[i] + log_det[i] + surprised[i]);
}

static void loss_partials (size_t n, const double *const in[], double *const d[]) {
  (void)in;
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = d[1][i] = d[2][i] = -1;
}


const Kernel perilune_variational[] = {
  {.name = "draw",     .n_in = 3, .value = draw,     .partials = draw_partials},
  {.name = "surprise", .n_in = 2, .value = surprise, .partials = surprise_partials},
  {.name = "loss", .n_in = 3, .value = loss, .partials = loss_partials,
   .shortcuts = &(const Shortcuts) {.partials_read = READ_NONE}},
  {.name = NULL}
};
