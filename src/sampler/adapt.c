/*
** adapt.c - the warm-up of a chain: its step and its metric
**
**   e = target - accept,  s_t = (1 - 1/(t + 10)) s_{t-1} + e/(t + 10)
**   log step = mu - s_t sqrt(t)/0.05,  averaged with weights t^-0.75;  mu = log(10 first step)
**
** The covariance is shrunk towards a thousandth of the metric before, so that units do not matter:
** n/(n + 5) cov + 0.005/(n + 5) diag(W).
*/
#include <math.h>
#include <string.h>

#include "linalg/triangle.h"
#include "sampler/adapt.h"
#include "special/vmath.h"

#define DELAY 10.0
#define GAMMA 0.05
#define KAPPA 0.75

#define FIRST_BUFFER 25   /* Stan has 75: chains start from draws near where they go (sampling.lua) */
#define LAST_BUFFER  100  /* Stan has 50: the step has not settled by then, and is too short */
#define FIRST_WINDOW 25
#define PER_NUMBER   5    /* draws of the first window for each row of a dense metric */
#define LEAST_WARMUP 20   /* shorter ones adapt the step alone */


/* {=====================================================
** The step
** ====================================================== */

void adapt_restart_step (Adaptation *a, double step) {
  a->mu = vlog(10 * step);
  a->error = a->log_step_mean = a->count = 0;
}

double adapt_step (Adaptation *a, double accept) {
  a->count++;
  double eta = 1 / (a->count + DELAY);
  a->error = (1 - eta) * a->error + eta * (a->target - accept);
  double log_step = a->mu - a->error * sqrt(a->count) / GAMMA;
  double weight = vexp(-KAPPA * vlog(a->count));
  a->log_step_mean = (1 - weight) * a->log_step_mean + weight * log_step;
  return vexp(log_step);
}

double adapt_final_step (const Adaptation *a) { return vexp(a->log_step_mean); }

/* }====================================================== */


/* {=====================================================
** The metric: W, then means, sums of squares or products, and the factor of W
** ====================================================== */

size_t adapt_doubles (size_t size, bool dense) {
  return dense ? 4 * size * size + size : 4 * size;
}

static double *means (double *metric, size_t size, bool dense) {
  return metric + (dense ? size * size : size);
}

static double *products (double *metric, size_t size, bool dense) {
  return means(metric, size, dense) + size;
}

const double *adapt_factor (const double *metric, size_t size, bool dense) {
  return metric + (dense ? 2 * size * size + size : 3 * size);
}

static double *factor_of (double *metric, size_t size, bool dense) {
  return metric + (adapt_factor(metric, size, dense) - metric);
}

/* The lower triangle of a dense factor is there. */
static void finish_factor (size_t size, double *l) {
  triangle_clear_above(size, l);
  for (size_t i = 0; i < size; i++)
    for (size_t j = 0; j < size; j++) l[(size + j) * size + i] = l[i * size + j];
}

static void forget_draws (Adaptation *a, size_t size, bool dense, double *metric) {
  a->draws = 0;
  memset(means(metric, size, dense), 0, size * sizeof(double));
  memset(products(metric, size, dense), 0, (dense ? size * size : size) * sizeof(double));
}

static void set_windows (Adaptation *a, uint64_t n, size_t size, bool dense) {
  uint64_t begin = FIRST_BUFFER, end = LAST_BUFFER;
  a->warmup = n;
  a->window = dense && PER_NUMBER * size > FIRST_WINDOW ? PER_NUMBER * size : FIRST_WINDOW;
  if (n < FIRST_BUFFER + a->window + LAST_BUFFER) {
    begin = (uint64_t)(0.15 * (double)n);
    end = (uint64_t)(0.1 * (double)n);
    a->window = n - begin - end;
  }
  a->first = n < LEAST_WARMUP ? n : begin;
  a->last = n < LEAST_WARMUP ? n : n - end;
  a->window_end = n < LEAST_WARMUP ? n : begin + a->window - 1;
}

/* w = l l^T */
static void set_square (size_t size, const double *l, double *w) {
  for (size_t i = 0; i < size; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = 0;
      for (size_t k = 0; k <= j; k++) sum += l[i * size + k] * l[j * size + k];
      w[i * size + j] = w[j * size + i] = sum;
    }
}

void adapt_start (Adaptation *a, uint64_t warmup, double target, size_t size, bool dense,
                  const double *scale, double *metric) {
  *a = (Adaptation) {.target = target};
  set_windows(a, warmup, size, dense);
  memset(metric, 0, adapt_doubles(size, dense) * sizeof(double));
  double *factor = factor_of(metric, size, dense);
  if (!dense) {
    for (size_t i = 0; i < size; i++) {
      factor[i] = scale == NULL ? 1 : scale[i];
      metric[i] = factor[i] * factor[i];
    }
    return;
  }
  if (scale != NULL) memcpy(factor, scale, size * size * sizeof(double));
  else for (size_t i = 0; i < size; i++) factor[i * size + i] = 1;
  finish_factor(size, factor);
  set_square(size, factor, metric);
}

/* Welford's running means and products. */
static void note_draw (Adaptation *a, size_t size, bool dense, const double *q, double *metric) {
  double *mean = means(metric, size, dense), *sum = products(metric, size, dense);
  a->draws++;
  double share = (a->draws - 1) / a->draws;
  for (size_t i = 0; i < size; i++) {
    double d = q[i] - mean[i];
    if (!dense) sum[i] += share * d * d;
    else for (size_t j = 0; j <= i; j++) sum[i * size + j] += share * d * (q[j] - mean[j]);
  }
  for (size_t i = 0; i < size; i++) mean[i] += (q[i] - mean[i]) / a->draws;
}

static void update (const Adaptation *a, size_t size, bool dense, double *metric) {
  const double *sum = products(metric, size, dense);
  double n = a->draws, share = n / (n + 5) / (n - 1), floor = 1e-3 * 5 / (n + 5);
  double *factor = factor_of(metric, size, dense);
  if (!dense) {
    for (size_t i = 0; i < size; i++) {
      metric[i] = share * sum[i] + floor * metric[i];
      factor[i] = sqrt(metric[i]);
    }
    return;
  }
  for (size_t i = 0; i < size; i++) {
    for (size_t j = 0; j < i; j++)
      metric[i * size + j] = metric[j * size + i] = share * sum[i * size + j];
    metric[i * size + i] = share * sum[i * size + i] + floor * metric[i * size + i];
  }
  triangle_cholesky((Stop) {NULL, NULL}, size, metric, factor, triangle_first(size));
  finish_factor(size, factor);
}

/* The window after the one that ends with this iteration; the last one reaches to the end. */
static void next_window (Adaptation *a, uint64_t iteration) {
  if (a->window_end == a->last - 1) return;
  a->window *= 2;
  a->window_end = iteration + a->window;
  if (a->window_end == a->last - 1) return;
  if (a->window_end + 2 * a->window >= a->last) a->window_end = a->last - 1;
}

bool adapt_metric (Adaptation *a, uint64_t iteration, size_t size, bool dense, const double *q,
                   double *metric) {
  if (iteration < a->first || iteration >= a->last) return false;
  note_draw(a, size, dense, q, metric);
  if (iteration != a->window_end || a->draws < 2) return false;
  update(a, size, dense, metric);
  forget_draws(a, size, dense, metric);
  next_window(a, iteration);
  return true;
}

/* }====================================================== */


bool adapt_is_sound (const Adaptation *a, uint64_t warmup) {
  return a->warmup == warmup && a->first <= warmup && a->last <= warmup;
}
