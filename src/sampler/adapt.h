/*
** adapt.h - the warm-up of a chain: its step and its metric
**
** The step by dual averaging (Hoffman and Gelman 2014): with the share of accepted steps it is
** made to reach a target. The metric is the inverse of the covariance of windows of draws, each
** twice as long as the one before, between a stretch at the beginning and one at the end that
** belong to the step alone.
*/
#ifndef PERILUNE_ADAPT_H
#define PERILUNE_ADAPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Adaptation {
  double target;
  double mu, error, log_step_mean, count;    /* of the step */
  uint64_t warmup, first, last;              /* iterations whose draws count: first <= i < last */
  uint64_t window, window_end;               /* length and last iteration of the present window */
  double draws;                              /* in it */
} Adaptation;

/* Doubles of the inverse metric, of what it is computed from, and of its factor. */
size_t adapt_doubles (size_t size, bool dense);

/* Begins. The inverse metric is s s^T, where s is a lower triangular matrix if it is dense, and a
   diagonal one, of `size` numbers, if not; NULL for 1. */
void adapt_start (Adaptation *a, uint64_t warmup, double target, size_t size, bool dense,
                  const double *scale, double *metric);

/* Forgets what is known of the step, which is about this large. */
void adapt_restart_step (Adaptation *a, double step);

double adapt_step (Adaptation *a, double accept);      /* the next step */
double adapt_final_step (const Adaptation *a);         /* after the warm-up */

/* Notes the draw q of an iteration. True if there is a new metric: the step begins anew. */
bool adapt_metric (Adaptation *a, uint64_t iteration, size_t size, bool dense, const double *q,
                   double *metric);

/* The factor l of the inverse metric W = l l^T: a diagonal, or a lower triangular matrix, after
   which there is its transpose. */
const double *adapt_factor (const double *metric, size_t size, bool dense);

bool adapt_is_sound (const Adaptation *a, uint64_t warmup);

#endif
