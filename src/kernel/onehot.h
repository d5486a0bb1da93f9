/*
** onehot.h - draws and slopes of families that choose among the outcomes of a row
**
** Probabilities are p_j = e_j/S with e_j = exp(l_j - m), m the largest logit and S = 1 + T.
** T, the sum without that outcome, holds what is lost in S: log S = log(1 + T), and
** 1 - p = T/S for the outcome itself, (S - e_j)/S for any other.
*/
#ifndef PERILUNE_ONEHOT_H
#define PERILUNE_ONEHOT_H

#include "kernel/kernel.h"
#include "kernel/simplex.h"

typedef struct Weights {
  size_t top;                          /* a most likely outcome */
  double shift, sum, rest, log_sum;    /* m, S, T, log S */
} Weights;

static inline Weights weights_of (size_t k, const double *l) {
  Weights w = {.top = 0, .shift = simplex_shift(k, l)};
  for (size_t j = 1; j < k; j++)
    if (l[j] > l[w.top]) w.top = j;
  double first = vexp(l[w.top] - w.shift);   /* 1, if any outcome is possible */
  w.rest = simplex_sum(w.top, l, w.shift)
         + simplex_sum(k - w.top - 1, l + w.top + 1, w.shift);
  w.sum = first + w.rest;
  w.log_sum = vlog1p((first - 1) + w.rest);
  return w;
}

/* S times (1 - p_j), given e_j */
static inline double weight_of_others (const Weights *w, size_t j, double e) {
  return j == w->top ? w->rest : w->sum - e;
}


/*
** d_j = scale p_j (g_j - sum_i p_i g_i), back through p to the logits. g is counted from
** its value at the top, so that a row that is nearly certain keeps its digits; what it is
** at impossible outcomes does not matter. d may be g.
*/
static inline void weights_adjoint (size_t k, const double *l, const double *g, double scale,
                                    double *d) {
  Weights w = weights_of(k, l);
  double origin = g[w.top], mean = 0;
  for (size_t j = 0; j < k; j++) {
    double e = vexp(l[j] - w.shift);
    mean += e == 0 ? 0 : e * (g[j] - origin);
  }
  mean /= w.sum;
  for (size_t j = 0; j < k; j++) {
    double p = vexp(l[j] - w.shift) / w.sum;
    d[j] = p == 0 ? 0 : scale * p * ((g[j] - origin) - mean);
  }
}


/* running sums of e_j */
static inline void onehot_sums (size_t k, const double *l, double *sums) {
  double shift = simplex_shift(k, l), sum = 0;
  for (size_t j = 0; j < k; j++) sums[j] = vexp(l[j] - shift);
  for (size_t j = 0; j < k; j++) sums[j] = sum += sums[j];
}

/* the first outcome whose sum reaches the share u of all: never an impossible one */
static inline size_t onehot_reached (size_t k, const double *sums, double u) {
  double share = u * sums[k - 1];
  size_t low = 0, high = k - 1;   /* `high` has reached it, what is before `low` has not */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (sums[middle] >= share) high = middle;
    else low = middle + 1;
  }
  return high;
}

/* Draws by inversion, operands u and logits. The sums lie in a row of the result
   itself: that of the draw, or the last one where all draws share their logits. */
static inline void onehot_draw (const Batch *b, double *out) {
  size_t k = b->dims[0];
  int shared = b->step[1] == 0;
  double *last = out + (b->n - 1) * k;
  if (shared) onehot_sums(k, b->in[1], last);
  for (size_t r = 0; r < b->n; r++) {
    double *row = out + r * k, *sums = shared ? last : row;
    if (!shared) onehot_sums(k, event(b, 1, r), row);
    size_t at = onehot_reached(k, sums, *event(b, 0, r));
    for (size_t j = 0; j < k; j++) row[j] = 0;
    row[at] = 1;
  }
}

#endif
