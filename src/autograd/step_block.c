/*
** step_block.c - back over an elementwise kernel of a single block, or forward again; no loop needs
** to be planned
*/
#include "autograd/steps.h"
#include "autograd/target.h"

/* Each operand has as many elements, or repeats one. */
size_t step_block_size (const Node *node) {
  return node->block > 0 && node->block <= BACKWARD_BLOCK ? node->block : SIZE_MAX;
}

static const double *elements_of (const Input *input) {
  return input->is_number ? &input->number : input->tensor->data;
}

static const double *repeat (double x, size_t n, double *block) {
  for (size_t i = 0; i < n; i++) block[i] = x;
  return block;
}

static void find_partials (const Node *node, size_t n, const double *const in[],
                           double *const d[]) {
  if (is_cheap_first(node)) node->kernel->shortcuts->first_partial(n, in, d[0]);
  else node->kernel->partials(n, in, d);
}

/* Adds to the gradient of a single number. */
static void add_single (const Tensor *t, double slope) {
  Node *below = t->owner->node;
  if (below->empty && below->result->size == 1) {
    below->gradient[0] = slope;
    below->empty = false;
  } else *filled_gradient(NULL, t) += slope;
}

/* Of a node of single numbers. */
static void step_single (const Node *node, const double *const in[]) {
  double partial[KERNEL_MAX_IN], *d[KERNEL_MAX_IN], above = node->gradient[0];
  for (int k = 0; k < node->n; k++) d[k] = &partial[k];
  find_partials(node, 1, in, d);
  for (int k = 0; k < node->n; k++)
    if (node->in[k].tracked)
      add_single(node->in[k].tensor, above == 0 ? 0 : above * partial[k]);
}

static void pass_block (const Node *node, const Kernel *sum, int k, size_t n, double *d) {
  bool one = node->in[k].is_one;
  Target to = target(NULL, node, k, !one);
  double *out = to.first ? to.at : d;
  if (node->kind == NODE_ELEMENTWISE) scale(n, node->gradient, d, out);
  else scale_all(n, above_each(node, n), d, out);
  if (to.first) return;
  if (one) to.at[0] += sum_of(sum, n, d);
  else for (size_t i = 0; i < n; i++) to.at[i] += d[i];
}

/* Of a node whose operands are blocks of n elements. */
static void step_several (const Node *node, const Kernel *sum, size_t n,
                          const double *const in[]) {
  Block partials[KERNEL_MAX_IN];
  double *d[KERNEL_MAX_IN];
  for (int k = 0; k < node->n; k++) d[k] = partials[k];
  find_partials(node, n, in, d);
  for (int k = 0; k < node->n; k++)
    if (node->in[k].tracked) pass_block(node, sum, k, n, d[k]);
}

static void find_inputs (const Node *node, const double *in[]) {
  for (int k = 0; k < node->n; k++) in[k] = elements_of(&node->in[k]);
}

/* Repeats those of one element. */
static void repeat_inputs (const Node *node, size_t n, const double *in[], Block repeated[]) {
  for (int k = 0; k < node->n; k++)
    if (node->in[k].is_one) in[k] = repeat(*in[k], n, repeated[k]);
}

static bool are_whole (const Node *node, size_t n) {
  for (int k = 0; k < node->n; k++)
    if (n > 1 && node->in[k].is_one) return false;
  return true;
}

void step_block (const Node *node, const Kernel *sum, size_t n) {
  const double *in[KERNEL_MAX_IN];
  Block repeated[KERNEL_MAX_IN];
  find_inputs(node, in);
  if (n > 1) repeat_inputs(node, n, in, repeated);
  step_block_whole(node, sum, n, in);
}

bool step_block_inputs (const Node *node, size_t n, const double *in[]) {
  find_inputs(node, in);
  return are_whole(node, n);
}

void step_block_whole (const Node *node, const Kernel *sum, size_t n,
                       const double *const in[]) {
  if (n == 1) step_single(node, in);
  else step_several(node, sum, n, in);
}

void step_block_value (const Node *node, const Kernel *sum, size_t n) {
  const double *in[KERNEL_MAX_IN];
  Block values, repeated[KERNEL_MAX_IN];
  find_inputs(node, in);
  if (n > 1) repeat_inputs(node, n, in, repeated);
  if (node->kind == NODE_ELEMENTWISE) {
    node->kernel->value(n, in, node->result->data);
    return;
  }
  node->kernel->value(n, in, values);
  node->result->data[0] = sum_of(sum, n, values) / (node->kind == NODE_MEAN ? (double)n : 1);
}
