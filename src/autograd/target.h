/*
** target.h - the gradients that a step back adds to
**
** Where the gradient from above is 0, what is passed on is 0, even if the derivative is infinite or
** NaN there: a branch of `where` that was not taken spoils no gradient.
*/
#ifndef PERILUNE_TARGET_H
#define PERILUNE_TARGET_H

#include "autograd/node.h"
#include "driver/sizes.h"


typedef double Block[BACKWARD_BLOCK];


/* Where the elements of t begin within its owner's gradient. */
static inline double *gradient_at (const Tensor *t) {
  const Tensor *owner = t->owner;
  return owner->node->gradient + (t == owner ? 0 : t->data - owner->data);
}

/* The same, zeros where nothing has been written yet; unless that was interrupted. */
static inline double *filled_gradient (Pool *pool, const Tensor *t) {
  double *at = gradient_at(t);
  node_fill_gradient(pool, t->owner->node);
  return at;
}

static inline void scale (size_t n, const double *above, const double *d, double *out) {
  for (size_t i = 0; i < n; i++) {
    double passed = above[i] * d[i];   /* always: no branches */
    out[i] = above[i] == 0 ? 0 : passed;
  }
}

static inline void scale_all (size_t n, double above, const double *d, double *out) {
  if (above == 1 && out == d) return;
  for (size_t i = 0; i < n; i++) out[i] = above == 0 ? 0 : above * d[i];
}

/* Does another tracked input share the owner of input k? */
static inline bool is_shared (const Node *node, int k) {
  for (int j = 0; j < node->n; j++)
    if (j != k && node->in[j].tracked && node_below(node, j) == node_below(node, k))
      return true;
  return false;
}

/* Where the gradient of input k goes. What comes first and fills all of it is written
   straight there, anything else is added. */
typedef struct Target {
  double *at;
  bool first;
} Target;

static inline Target target (Pool *pool, const Node *node, int k, bool linear) {
  const Tensor *t = node->in[k].tensor;
  Node *below = t->owner->node;
  if (!below->empty || !linear || t->size != below->result->size || is_shared(node, k))
    return (Target) {.at = filled_gradient(pool, t), .first = false};
  below->empty = false;
  return (Target) {.at = below->gradient, .first = true};
}

/* Is no input but the first tracked, */
static inline bool is_first_alone (const Node *node) {
  for (int k = 1; k < node->n; k++)
    if (node->in[k].tracked) return false;
  return true;
}

/* and that one cheap? */
static inline bool is_cheap_first (const Node *node) {
  const Shortcuts *shortcuts = node->kernel->shortcuts;
  return shortcuts != NULL && shortcuts->first_partial != NULL && is_first_alone(node);
}

/* What comes from above for each of n values whose sum or mean the node is. */
static inline double above_each (const Node *node, size_t n) {
  return node->gradient[0] / (node->kind == NODE_MEAN ? (double)n : 1);
}

static inline double sum_of (const Kernel *sum, size_t n, const double *d) {
  double state[KERNEL_MAX_WIDTH];
  sum->reduction->fold(n, d, state);
  return state[0];
}

#endif
