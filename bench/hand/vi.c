/*
** vi.c - a step of mean-field VI for logistic regression, one pass over the data
**
**   w = loc + exp(u) * noise,  z = w . x,  log likelihood = sum of y z - log(1 + exp z)
**   its derivative in w = sum of (y - 1/(1 + exp -z)) x,  KL = sum of (exp 2u + loc^2 - 1)/2 - u
**
** The guide is kept between steps. Features are rows of in[0], labels come of in[1].
*/
#include "hand.h"
#include "random/noise.h"
#include "special/vmath.h"

#define FEATURES 10
#define BLOCK    256
#define RATE     0.01

typedef struct Adam { double value[FEATURES], mean[FEATURES], square[FEATURES]; } Adam;

static Adam loc, u;
static uint64_t taken;             /* steps */
static double decay1 = 1, decay2 = 1;


static void update (Adam *p, const double *grad) {
  for (int k = 0; k < FEATURES; k++) {
    p->mean[k] = fma(0.1, grad[k] - p->mean[k], p->mean[k]);
    p->square[k] = fma(0.001, grad[k] * grad[k] - p->square[k], p->square[k]);
    double root = sqrt(p->square[k] / (1 - decay2));
    p->value[k] -= RATE / (1 - decay1) * p->mean[k] / (root + 1e-8);
  }
}

/* The log likelihood of n data; `grad` takes on its derivative in w. */
static double block (size_t n, size_t stride, const double *x, const double *y,
                     const double w[], double grad[]) {
  double z[BLOCK] = {0}, sum = 0;
  for (int k = 0; k < FEATURES; k++)
    for (size_t i = 0; i < n; i++) z[i] = fma(w[k], x[(size_t)k * stride + i], z[i]);
#pragma omp simd reduction(+: sum)
  for (size_t i = 0; i < n; i++) {
    double label = y[i] > 1 ? 1.0 : 0.0, e = vexp(-fabs(z[i])), s = 1 / (1 + e);
    sum += label * z[i] - (z[i] > 0 ? z[i] : 0) - vlog(1 + e);
    z[i] = label - (z[i] > 0 ? s : e * s);
  }
  for (int k = 0; k < FEATURES; k++) {
    double slope = 0;
#pragma omp simd reduction(+: slope)
    for (size_t i = 0; i < n; i++) slope = fma(z[i], x[(size_t)k * stride + i], slope);
    grad[k] += slope;
  }
  return sum;
}

/* w drawn from the guide, and what it was made from; returns minus the KL to the prior. */
static double draw (const Philox *g, double noise[], double scale[], double w[]) {
  double sum = 0;
  noise_normal(g, 0, taken++ * FEATURES, FEATURES, noise);
  for (int k = 0; k < FEATURES; k++) {
    scale[k] = vexp(u.value[k]);
    w[k] = fma(scale[k], noise[k], loc.value[k]);
    sum += 0.5 - 0.5 * (scale[k] * scale[k] + loc.value[k] * loc.value[k]) + u.value[k];
  }
  return sum;
}

/* Descends along minus the ELBO, given the derivative of the log likelihood in w. */
static void descend (const double noise[], const double scale[], const double grad[]) {
  double to_loc[FEATURES], to_u[FEATURES];
  for (int k = 0; k < FEATURES; k++) {
    to_loc[k] = loc.value[k] - grad[k];
    to_u[k] = scale[k] * scale[k] - 1 - grad[k] * noise[k] * scale[k];
  }
  decay1 *= 0.9;
  decay2 *= 0.999;
  update(&loc, to_loc);
  update(&u, to_u);
}

static void step (size_t n, int threads, double *const in[], double *out) {
  Philox g = philox_seed(1);
  size_t data = n / FEATURES;
  double noise[FEATURES], scale[FEATURES], w[FEATURES], grad[FEATURES] = {0};
  (void)threads;
  out[0] = draw(&g, noise, scale, w);
  for (size_t i = 0; i < data; i += BLOCK)
    out[0] += block(data - i < BLOCK ? data - i : BLOCK, data, in[0] + i, in[1] + i, w, grad);
  descend(noise, scale, grad);
}

const Workload workloads[] = {
  {.name = "logistic regression, N = 1e2", .n = 100 * FEATURES,     .call = step},
  {.name = "logistic regression, N = 1e3", .n = 1000 * FEATURES,    .call = step},
  {.name = "logistic regression, N = 1e4", .n = 10000 * FEATURES,   .call = step},
  {.name = "logistic regression, N = 1e5", .n = 100000 * FEATURES,  .call = step},
  {.name = "logistic regression, N = 1e6", .n = 1000000 * FEATURES, .call = step},
  {.name = NULL}
};
