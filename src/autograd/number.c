/*
** number.c - what to do for a node of single numbers
*/
#include "autograd/number.h"
#include "autograd/steps.h"

const NumberOperator number_operators[NUMBER_OPERATORS] = {
  {"op/arithmetic", "add"}, {"op/arithmetic", "sub"}, {"op/arithmetic", "mul"},
  {"op/arithmetic", "div"}, {"op/arithmetic", "neg"}, {"op/arithmetic", "square"},
  {"op/arithmetic", "sqrt"}, {"op/arithmetic", "pow"}, {"identity", "identity"}
};

bool number_is_single (const Node *node) {
  return node->kind == NODE_ELEMENTWISE && node->result->size == 1 && step_block_size(node) == 1;
}

NumberCode number_code (const Node *node, const Kernel *const operators[]) {
  NumberCode code = NUMBER_CALL;
  if (!number_is_single(node)) return NUMBER_NONE;
  for (int k = 0; k < NUMBER_OPERATORS; k++)
    if (node->kernel == operators[k]) code = (NumberCode)(k + NUMBER_ADD);
  if (code != NUMBER_POWER) return code;
  return node->in[1].is_number && node->in[1].number == 2 ? NUMBER_SQUARE : NUMBER_CALL;
}

void number_call_back (const NumberOp *op, double above) {
  double partial[KERNEL_MAX_IN], *d[KERNEL_MAX_IN];
  if (op->first_alone) {
    op->kernel->shortcuts->first_partial(1, op->in, &partial[0]);
    *op->to[0] += above * partial[0];
    return;
  }
  for (int k = 0; k < op->n; k++) d[k] = &partial[k];
  op->kernel->partials(1, op->in, d);
  for (int k = 0; k < op->n; k++) *op->to[k] += above * partial[k];
}
