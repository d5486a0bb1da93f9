/*
** onehotcategorical.c - OneHotCategorical(logits), a row with a single 1 among zeros
**
**   log P(row with its 1 at j) = l_j - log sum_i exp(l_i)
**
** Rows of logits are normalised on the way (onehot.h). A row of zeros and a 1 cannot be
** moved a little: slopes along x are 0.
*/
#include "kernel/kernel.h"
#include "kernel/onehot.h"


/* where the 1 is, or k: any other row; *sum is NaN if an element is */
static size_t chosen (size_t k, const double *x, double *sum) {
  size_t at = k, odd = 0;
  *sum = 0;
  for (size_t j = 0; j < k; j++) {
    if (x[j] == 1) at = j;
    odd += x[j] != 0 && x[j] != 1;
    *sum += x[j];
  }
  return odd == 0 && *sum == 1 ? at : k;
}

static void log_prob (const Batch *b, double *out) {
  size_t k = b->dims[0];
  const double *seen = NULL;
  Weights w = {0};
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 1, r);
    double sum;
    size_t at = chosen(k, event(b, 0, r), &sum);
    if (l != seen) w = weights_of(k, l);   /* once for a shared row */
    seen = l;
    if (at < k) out[r] = (l[at] - w.shift) - w.log_sum;
    else out[r] = sum == sum ? -INFINITY : sum;
  }
}

/* upstream (x_j - p_j) */
static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 1, r);
    double *dx = d[0] + r * k, *dl = d[1] + r * k, sum;
    size_t at = chosen(k, event(b, 0, r), &sum);
    Weights w = weights_of(k, l);
    double scale = at < k ? upstream[r] / w.sum : 0;
    for (size_t j = 0; j < k; j++) {
      dx[j] = 0;
      dl[j] = -scale * vexp(l[j] - w.shift);
    }
    if (at < k) dl[at] = scale * weight_of_others(&w, at, vexp(l[at] - w.shift));
  }
}


/* the probabilities */
static void mean (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *l = event(b, 0, r);
    Weights w = weights_of(k, l);
    for (size_t j = 0; j < k; j++) out[j] = vexp(l[j] - w.shift) / w.sum;
  }
}

static void mean_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++)
    weights_adjoint(k, event(b, 0, r), upstream + r * k, 1, d[0] + r * k);
}


/* p_j (1 - p_j) */
static void variance (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *l = event(b, 0, r);
    Weights w = weights_of(k, l);
    for (size_t j = 0; j < k; j++) {
      double e = vexp(l[j] - w.shift);
      out[j] = e / w.sum * (weight_of_others(&w, j, e) / w.sum);
    }
  }
}

/* upstream (1 - 2 p_j), back through p */
static void variance_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 0, r);
    double *dl = d[0] + r * k;
    Weights w = weights_of(k, l);
    for (size_t j = 0; j < k; j++) {
      double e = vexp(l[j] - w.shift);
      dl[j] = upstream[r * k + j] * ((weight_of_others(&w, j, e) - e) / w.sum);
    }
    weights_adjoint(k, l, dl, 1, dl);
  }
}


/* the first of the most likely rows */
static void mode (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    size_t top = weights_of(k, event(b, 0, r)).top;
    for (size_t j = 0; j < k; j++) out[j] = j == top;
  }
}


/* sum_j p_j (log S + m - l_j), no term of which is negative */
static void entropy (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 0, r);
    Weights w = weights_of(k, l);
    double weighted = 0;
    for (size_t j = 0; j < k; j++) {
      double e = vexp(l[j] - w.shift);
      weighted += e == 0 ? 0 : e * ((w.shift - l[j]) + w.log_sum);
    }
    out[r] = weighted / w.sum;
  }
}

/* -p_j (l_j - sum_i p_i l_i) */
static void entropy_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 0, r);
    weights_adjoint(k, l, l, -upstream[r], d[0] + r * k);
  }
}


/* l_j - log sum_(i > j) exp(l_i): the log odds of j once it is none before it */
static void conditional_logits (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *l = event(b, 0, r);
    double after = -INFINITY;
    for (size_t j = k; j-- > 0; ) {
      out[j] = l[j] == -INFINITY ? l[j] : l[j] - after;
      after = vlogaddexp(after, l[j]);
    }
  }
}


const Kernel perilune_onehotcategorical[] = {
  {.name = "log_prob", .n_in = 2, .signature = "(k),(k)->()", .rows = log_prob,
   .adjoint = log_prob_adjoint},
  {.name = "mean",     .n_in = 1, .signature = "(k)->(k)",    .rows = mean,
   .adjoint = mean_adjoint},
  {.name = "variance", .n_in = 1, .signature = "(k)->(k)",    .rows = variance,
   .adjoint = variance_adjoint},
  {.name = "mode",     .n_in = 1, .signature = "(k)->(k)",    .rows = mode},
  {.name = "entropy",  .n_in = 1, .signature = "(k)->()",     .rows = entropy,
   .adjoint = entropy_adjoint},
  {.name = "sample",   .n_in = 2, .signature = "(),(k)->(k)", .rows = onehot_draw,
   .noise = "uniform"},
  {.name = "conditional_logits", .n_in = 1, .signature = "(k)->(k)",
   .rows = conditional_logits},
  {.name = NULL}
};
