/*
** optim.c - one step of an optimiser, in place, in one pass over a parameter
**
** Rows are the parameter x and the optimiser's memory. A gradient has the decay of weights in
** it, g = clamp(gradient, -clip, clip) + decay x. Momentum m, mean square v, mean a, total t:
**
**   descent         x -= lr g
**   sgd             m = keep m + take g                 x -= lr (direct g + through m)
**   adam            m = b1 m + (1 - b1) g               x = shrink x
**                   v = b2 v + (1 - b2) g^2                   - lr m/(correct sqrt(v) + eps)
**   rmsprop         v = b v + (1 - b) g^2               x -= lr g/(sqrt(v) + eps)
**   rmsprop_moving  v as above, a = b a + (1 - b) g     x -= lr m
**                   m = keep m + g/(sqrt(v - centred a^2) + eps)
**   adagrad         t = t + g^2                         x -= lr g/(sqrt(t) + eps)
*/
#include <math.h>

#include "kernel/kernel.h"
#include "special/vector.h"

static double decayed (double g, double x, double clip, double decay) {
  double below = g > clip ? clip : g;
  return (below < -clip ? -clip : below) + decay * x;
}

static double blend (double keep, double old, double x) {
  return keep * old + (1 - keep) * x;
}


static void descent (size_t n, const double *gradient, const double *c, double *const row[]) {
  double clip = c[0], decay = c[1], lr = c[2], *x = row[0];
  EVERY for (size_t i = 0; i < n; i++) x[i] -= lr * decayed(gradient[i], x[i], clip, decay);
}

static void sgd (size_t n, const double *gradient, const double *c, double *const row[]) {
  double clip = c[0], decay = c[1], lr = c[2], keep = c[3], take = c[4];
  double direct = c[5], through = c[6], *x = row[0], *m = row[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double g = decayed(gradient[i], x[i], clip, decay), momentum = keep * m[i] + take * g;
    m[i] = momentum;
    x[i] -= lr * (direct * g + through * momentum);
  }
}

static void adam (size_t n, const double *gradient, const double *c, double *const row[]) {
  double clip = c[0], decay = c[1], lr = c[2], shrink = c[3], b1 = c[4], b2 = c[5];
  double correct = c[6], eps = c[7], *x = row[0], *m = row[1], *v = row[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double g = decayed(gradient[i], x[i], clip, decay);
    double momentum = blend(b1, m[i], g), square = blend(b2, v[i], g * g);
    m[i] = momentum;
    v[i] = square;
    x[i] = shrink * x[i] - lr * momentum / (correct * sqrt(square) + eps);
  }
}

static void rmsprop (size_t n, const double *gradient, const double *c, double *const row[]) {
  double clip = c[0], decay = c[1], lr = c[2], b = c[3], eps = c[6], *x = row[0], *v = row[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double g = decayed(gradient[i], x[i], clip, decay), square = blend(b, v[i], g * g);
    v[i] = square;
    x[i] -= lr * (g / (sqrt(square) + eps));
  }
}

static void rmsprop_moving (size_t n, const double *gradient, const double *c,
                            double *const row[]) {
  double clip = c[0], decay = c[1], lr = c[2], b = c[3], keep = c[4], centred = c[5];
  double eps = c[6], *x = row[0], *m = row[1], *v = row[2], *a = row[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double g = decayed(gradient[i], x[i], clip, decay);
    double square = blend(b, v[i], g * g), mean = blend(b, a[i], g);
    double spread = square - centred * mean * mean;   /* rounding may make it negative */
    double momentum = keep * m[i] + g / (sqrt(spread < 0 ? 0 : spread) + eps);
    v[i] = square;
    a[i] = mean;
    m[i] = momentum;
    x[i] -= lr * momentum;
  }
}

static void adagrad (size_t n, const double *gradient, const double *c, double *const row[]) {
  double clip = c[0], decay = c[1], lr = c[2], eps = c[3], *x = row[0], *t = row[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double g = decayed(gradient[i], x[i], clip, decay), total = t[i] + g * g;
    t[i] = total;
    x[i] -= lr * g / (sqrt(total) + eps);
  }
}


const Kernel perilune_optim[] = {
  {.name = "descent", .n_in = 1, .update = descent},
  {.name = "sgd", .n_in = 2, .update = sgd},
  {.name = "adam", .n_in = 3, .update = adam},
  {.name = "rmsprop", .n_in = 2, .update = rmsprop},
  {.name = "rmsprop_moving", .n_in = 4, .update = rmsprop_moving},
  {.name = "adagrad", .n_in = 2, .update = adagrad},
  {.name = NULL}
};
