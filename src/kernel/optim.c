/*
** optim.c - one step of an optimiser, in one pass over a parameter
**
** Operands: the parameter x, its gradient g, what the last step gave (new x,
** and the optimiser's memory, a row each), and the constants of this step. The
** result is the next of the third. A gradient has the decay of weights in it:
**
**   g = clamp(gradient, -clip, clip) + decay x
**
** Momentum m, mean square v, mean a, total t:
**
**   sgd       m = keep m + take g                       x -= lr (direct g + through m)
**   adam      m = b1 m + (1 - b1) g                     x = shrink x
**             v = b2 v + (1 - b2) g^2                         - lr m/(sqrt(v)/root + eps)
**   rmsprop   v = b v + (1 - b) g^2,  a = b a + (1 - b) g
**             m = keep m + g/(sqrt(v - centred a^2) + eps)    x -= lr m
**   adagrad   t = t + g^2                               x -= lr g/(sqrt(t) + eps)
*/
#include <math.h>

#include "kernel/kernel.h"

typedef struct Step {
  size_t n;
  const double *x, *gradient, *old, *constant;
  double *next;
} Step;

/* A row of memory before and after the step; row 0 is x itself. */
static const double *old_row (const Step *s, size_t row) { return s->old + row * s->n; }
static double *next_row (const Step *s, size_t row) { return s->next + row * s->n; }

/* Steps that need so many rows and constants; with fewer, all is unknown. */
static void each (const Batch *b, size_t rows, size_t constants, void (*step) (const Step *s),
                  double *out) {
  size_t n = b->dims[0], size = b->dims[1] * n;
  int fits = b->dims[1] >= rows && b->dims[2] >= constants;
  for (size_t r = 0; r < b->n; r++, out += size) {
    Step s = {n, event(b, 0, r), event(b, 1, r), event(b, 2, r), event(b, 3, r), out};
    if (fits) step(&s);
    else for (size_t i = 0; i < size; i++) out[i] = NAN;
  }
}

static double decayed (double g, double x, double clip, double decay) {
  double below = g > clip ? clip : g;
  return (below < -clip ? -clip : below) + decay * x;
}

static double blend (double keep, double old, double x) {
  return keep * old + (1 - keep) * x;
}


static void sgd_step (const Step *s) {
  const double *c = s->constant, *x = s->x, *gradient = s->gradient, *m = old_row(s, 1);
  double clip = c[0], decay = c[1], lr = c[2], keep = c[3], take = c[4];
  double direct = c[5], through = c[6], *next_x = next_row(s, 0), *next_m = next_row(s, 1);
  for (size_t i = 0; i < s->n; i++) {
    double g = decayed(gradient[i], x[i], clip, decay);
    double momentum = keep * m[i] + take * g;
    next_m[i] = momentum;
    next_x[i] = x[i] - lr * (direct * g + through * momentum);
  }
}

static void adam_step (const Step *s) {
  const double *c = s->constant, *x = s->x, *gradient = s->gradient;
  const double *m = old_row(s, 1), *v = old_row(s, 2);
  double clip = c[0], decay = c[1], lr = c[2], shrink = c[3], b1 = c[4], b2 = c[5];
  double root = c[6], eps = c[7];
  double *next_x = next_row(s, 0), *next_m = next_row(s, 1), *next_v = next_row(s, 2);
  for (size_t i = 0; i < s->n; i++) {
    double g = decayed(gradient[i], x[i], clip, decay);
    double momentum = blend(b1, m[i], g), square = blend(b2, v[i], g * g);
    next_m[i] = momentum;
    next_v[i] = square;
    next_x[i] = shrink * x[i] - lr * momentum / (sqrt(square) / root + eps);
  }
}

static void rmsprop_step (const Step *s) {
  const double *c = s->constant, *x = s->x, *gradient = s->gradient;
  const double *m = old_row(s, 1), *v = old_row(s, 2), *a = old_row(s, 3);
  double clip = c[0], decay = c[1], lr = c[2], b = c[3], keep = c[4], centred = c[5];
  double eps = c[6], *next_x = next_row(s, 0), *next_m = next_row(s, 1);
  double *next_v = next_row(s, 2), *next_a = next_row(s, 3);
  for (size_t i = 0; i < s->n; i++) {
    double g = decayed(gradient[i], x[i], clip, decay);
    double square = blend(b, v[i], g * g), mean = blend(b, a[i], g);
    double spread = square - centred * mean * mean;   /* rounding may make it negative */
    double momentum = keep * m[i] + g / (sqrt(spread < 0 ? 0 : spread) + eps);
    next_v[i] = square;
    next_a[i] = mean;
    next_m[i] = momentum;
    next_x[i] = x[i] - lr * momentum;
  }
}

static void adagrad_step (const Step *s) {
  const double *c = s->constant, *x = s->x, *gradient = s->gradient, *t = old_row(s, 1);
  double clip = c[0], decay = c[1], lr = c[2], eps = c[3];
  double *next_x = next_row(s, 0), *next_t = next_row(s, 1);
  for (size_t i = 0; i < s->n; i++) {
    double g = decayed(gradient[i], x[i], clip, decay), total = t[i] + g * g;
    next_t[i] = total;
    next_x[i] = x[i] - lr * g / (sqrt(total) + eps);
  }
}


static void sgd (const Batch *b, double *out) { each(b, 2, 7, sgd_step, out); }
static void adam (const Batch *b, double *out) { each(b, 3, 8, adam_step, out); }
static void rmsprop (const Batch *b, double *out) { each(b, 4, 7, rmsprop_step, out); }
static void adagrad (const Batch *b, double *out) { each(b, 2, 4, adagrad_step, out); }

#define SIGNATURE "(n),(n),(s,n),(c)->(s,n)"

const Kernel perilune_optim[] = {
  {.name = "sgd",     .n_in = 4, .signature = SIGNATURE, .rows = sgd},
  {.name = "adam",    .n_in = 4, .signature = SIGNATURE, .rows = adam},
  {.name = "rmsprop", .n_in = 4, .signature = SIGNATURE, .rows = rmsprop},
  {.name = "adagrad", .n_in = 4, .signature = SIGNATURE, .rows = adagrad},
  {.name = NULL}
};
