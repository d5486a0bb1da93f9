/*
** optim.c - one step of an optimiser, in place, in one pass over a parameter
**
** Rows are the parameter x and the optimiser's memory. The first constants are the sign of the
** gradient, -1 to go up, and the decay of weights: g = sign gradient + decay x. Momentum m, mean
** square v, mean a, total t, largest u, step d, its mean square or size s, and the last gradient p;
** blend(b, m, g) = b m + (1 - b) g:
**
**   descent         x -= lr g
**   sgd             m = keep m + take g                 x -= lr (direct g + through m)
**   adam            m = blend(b1, m, g)                 x = shrink x
**                   v = blend(b2, v, g^2)                   - lr m/(correct sqrt(v) + eps)
**                   where sign gradient is moved into [-clip, clip]
**   amsgrad         m, v as there, u = max(u, v)        x as there, with u for v
**   nadam           m, v as there                       x = shrink x - (direct g + ahead m)
**                                                           / (sqrt(v/correct) + eps)
**   radam           m, v as there                       x = shrink x - lr m/correct
**                                                           rectify root/(sqrt(v) + eps)
**                   without the last two factors if rectify is 0
**   adamax          m as there, u = max(b2 u, |g| + eps)    x -= lr m/u
**   adadelta        v = blend(b, v, g^2)                x -= lr d
**                   d = sqrt(s + eps)/sqrt(v + eps) g, s = blend(b, s, d^2)
**   rmsprop         v = blend(b, v, g^2)                x -= lr g/(sqrt(v) + eps)
**   rmsprop_moving  v as there, a = blend(b, a, g)      x -= lr m
**                   m = keep m + g/(sqrt(v - centred a^2) + eps)
**   adagrad         t = t + g^2                         x -= lr g/(sqrt(t) + eps)
**   rprop           s = s up where g p > 0, s down      x -= s sign(g)
**                   where g p < 0, within [least, most]; there g = 0; p = g
**
** Operations are in the order of PyTorch 1.13's, whose loops without fma give the same bits. (Adam
** there divides sqrt(v), which would take a third longer; rmsprop_moving multiplies by lr last.)
*/
#include <math.h>

#include "kernel/kernel.h"
#include "special/vector.h"

static double decayed (double gradient, double x, double sign, double decay) {
  return sign * gradient + decay * x;
}

static double blend (double keep, double old, double x) {
  return keep * old + (1 - keep) * x;
}

static double blend_square (double keep, double old, double x) {
  return keep * old + (1 - keep) * x * x;
}

static double larger (double a, double b) { return a > b ? a : b; }


static void descent (size_t n, const double *gradient, const double *c, double *const row[]) {
  double sign = c[0], decay = c[1], lr = c[2], *x = row[0];
  EVERY for (size_t i = 0; i < n; i++) x[i] -= lr * decayed(gradient[i], x[i], sign, decay);
}

static void sgd (size_t n, const double *gradient, const double *c, double *const row[]) {
  double sign = c[0], decay = c[1], lr = c[2], keep = c[3], take = c[4];
  double direct = c[5], through = c[6], *x = row[0], *m = row[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double g = decayed(gradient[i], x[i], sign, decay), momentum = keep * m[i] + take * g;
    m[i] = momentum;
    x[i] -= lr * (direct * g + through * momentum);
  }
}


static void adam (size_t n, const double *gradient, const double *c, double *const row[]) {
  double sign = c[0], decay = c[1], lr = c[2], shrink = c[3], b1 = c[4], b2 = c[5];
  double correct = c[6], eps = c[7], clip = c[8], *x = row[0], *m = row[1], *v = row[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double g = clamp(sign * gradient[i], -clip, clip) + decay * x[i];
    double momentum = blend(b1, m[i], g), square = blend_square(b2, v[i], g);
    m[i] = momentum;
    v[i] = square;
    x[i] = shrink * x[i] - lr * momentum / (correct * sqrt(square) + eps);
  }
}

static void amsgrad (size_t n, const double *gradient, const double *c, double *const row[]) {
  double sign = c[0], decay = c[1], lr = c[2], shrink = c[3], b1 = c[4], b2 = c[5];
  double correct = c[6], eps = c[7], *x = row[0], *m = row[1], *v = row[2], *u = row[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double g = decayed(gradient[i], x[i], sign, decay);
    double momentum = blend(b1, m[i], g), square = blend_square(b2, v[i], g);
    double largest = larger(u[i], square);
    m[i] = momentum;
    v[i] = square;
    u[i] = largest;
    x[i] = shrink * x[i] - lr * momentum / (correct * sqrt(largest) + eps);
  }
}

static void nadam (size_t n, const double *gradient, const double *c, double *const row[]) {
  double sign = c[0], decay = c[1], direct = c[2], shrink = c[3], b1 = c[4], b2 = c[5];
  double correct = c[6], eps = c[7], ahead = c[8], *x = row[0], *m = row[1], *v = row[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double g = decayed(gradient[i], x[i], sign, decay);
    double momentum = blend(b1, m[i], g), square = blend_square(b2, v[i], g);
    double scale = sqrt(square / correct) + eps;
    m[i] = momentum;
    v[i] = square;
    x[i] = shrink * x[i] - direct * g / scale - ahead * momentum / scale;
  }
}

static void radam (size_t n, const double *gradient, const double *c, double *const row[]) {
  double sign = c[0], decay = c[1], lr = c[2], shrink = c[3], b1 = c[4], b2 = c[5];
  double root = c[6], eps = c[7], correct = c[8], rectify = c[9];
  double *x = row[0], *m = row[1], *v = row[2];
  int adapts = rectify > 0;
  EVERY for (size_t i = 0; i < n; i++) {
    double g = decayed(gradient[i], x[i], sign, decay);
    double momentum = blend(b1, m[i], g), square = blend_square(b2, v[i], g);
    double step = momentum / correct * lr;
    double adapted = step * (1 / (sqrt(square) + eps) * root) * rectify;
    m[i] = momentum;
    v[i] = square;
    x[i] = shrink * x[i] - (adapts ? adapted : step);
  }
}

static void adamax (size_t n, const double *gradient, const double *c, double *const row[]) {
  double sign = c[0], decay = c[1], lr = c[2], b1 = c[3], b2 = c[4], eps = c[5];
  double *x = row[0], *m = row[1], *u = row[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double g = decayed(gradient[i], x[i], sign, decay);
    double momentum = blend(b1, m[i], g), largest = larger(b2 * u[i], fabs(g) + eps);
    m[i] = momentum;
    u[i] = largest;
    x[i] -= lr * momentum / largest;
  }
}

static void adadelta (size_t n, const double *gradient, const double *c, double *const row[]) {
  double sign = c[0], decay = c[1], lr = c[2], b = c[3], eps = c[4];
  double *x = row[0], *v = row[1], *s = row[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double g = decayed(gradient[i], x[i], sign, decay), square = blend_square(b, v[i], g);
    double step = sqrt(s[i] + eps) / sqrt(square + eps) * g;
    v[i] = square;
    s[i] = blend_square(b, s[i], step);
    x[i] -= lr * step;
  }
}


static void rmsprop (size_t n, const double *gradient, const double *c, double *const row[]) {
  double sign = c[0], decay = c[1], lr = c[2], b = c[3], eps = c[6], *x = row[0], *v = row[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double g = decayed(gradient[i], x[i], sign, decay), square = blend_square(b, v[i], g);
    v[i] = square;
    x[i] -= lr * g / (sqrt(square) + eps);
  }
}

static void rmsprop_moving (size_t n, const double *gradient, const double *c,
                            double *const row[]) {
  double sign = c[0], decay = c[1], lr = c[2], b = c[3], keep = c[4], centred = c[5];
  double eps = c[6], *x = row[0], *m = row[1], *v = row[2], *a = row[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double g = decayed(gradient[i], x[i], sign, decay);
    double square = blend_square(b, v[i], g), mean = blend(b, a[i], g);
    double spread = square - centred * mean * mean;   /* rounding may make it negative */
    double momentum = keep * m[i] + g / (sqrt(spread < 0 ? 0 : spread) + eps);
    v[i] = square;
    a[i] = mean;
    m[i] = momentum;
    x[i] -= lr * momentum;
  }
}

static void adagrad (size_t n, const double *gradient, const double *c, double *const row[]) {
  double sign = c[0], decay = c[1], lr = c[2], eps = c[3], *x = row[0], *t = row[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double g = decayed(gradient[i], x[i], sign, decay), total = t[i] + g * g;
    t[i] = total;
    x[i] -= lr * g / (sqrt(total) + eps);
  }
}

static void rprop (size_t n, const double *gradient, const double *c, double *const row[]) {
  double sign = c[0], decay = c[1], down = c[2], up = c[3], least = c[4], most = c[5];
  double *x = row[0], *p = row[1], *s = row[2];
  EVERY for (size_t i = 0; i < n; i++) {
    double g = decayed(gradient[i], x[i], sign, decay), agreement = g * p[i];
    double grown = agreement > 0 ? up : 1, used = agreement < 0 ? 0 : g;
    double size = clamp(s[i] * (agreement < 0 ? down : grown), least, most);
    double step = used > 0 ? size : 0;
    p[i] = used;
    s[i] = size;
    x[i] -= used < 0 ? -size : step;
  }
}


const Kernel perilune_optim[] = {
  {.name = "descent", .n_in = 1, .update = descent},
  {.name = "sgd", .n_in = 2, .update = sgd},
  {.name = "adam", .n_in = 3, .update = adam},
  {.name = "amsgrad", .n_in = 4, .update = amsgrad},
  {.name = "nadam", .n_in = 3, .update = nadam},
  {.name = "radam", .n_in = 3, .update = radam},
  {.name = "adamax", .n_in = 3, .update = adamax},
  {.name = "adadelta", .n_in = 3, .update = adadelta},
  {.name = "rmsprop", .n_in = 2, .update = rmsprop},
  {.name = "rmsprop_moving", .n_in = 4, .update = rmsprop_moving},
  {.name = "adagrad", .n_in = 2, .update = adagrad},
  {.name = "rprop", .n_in = 3, .update = rprop},
  {.name = NULL}
};
