/*
** number.h - nodes of single numbers, run without looking at them
**
** An elementwise kernel of single numbers costs less than finding out what to do. So a recurrence,
** or a trace, finds that out once for each such node, and where its operands are. The commonest
** operators are done in place: the same operations as those of the kernels.
**
** What flows back is added, so gradients are to be zero before.
*/
#ifndef PERILUNE_NUMBER_H
#define PERILUNE_NUMBER_H

#include <math.h>

#include "autograd/node.h"

typedef enum NumberCode {
  NUMBER_NONE,     /* another kind of node */
  NUMBER_CALL,     /* of its kernel */
  NUMBER_ADD, NUMBER_SUB, NUMBER_MUL, NUMBER_DIV, NUMBER_NEG, NUMBER_SQUARE, NUMBER_SQRT,
  NUMBER_POWER, NUMBER_SAME
} NumberCode;

/* The operators that are done in place: in which files of kernels they are. */
#define NUMBER_OPERATORS 9

typedef struct NumberOperator {
  const char *file, *name;
} NumberOperator;

extern const NumberOperator number_operators[NUMBER_OPERATORS];

typedef struct NumberOp {
  NumberCode code;
  int n;                        /* operands, or 0 if nothing flows back to them */
  bool first_alone;             /* the first one's slope is all there is to compute */
  const Kernel *kernel;
  double *out, *slope;          /* its value, and what flows back to it */
  const double *in[KERNEL_MAX_IN];
  double *to[KERNEL_MAX_IN];    /* where slopes of operands are added */
} NumberOp;

/* Is it an elementwise kernel of single numbers? */
bool number_is_single (const Node *node);

/* What to do for a node, whose kernel may be one of these operators'. */
NumberCode number_code (const Node *node, const Kernel *const operators[]);

/* Slopes of any kernel. */
void number_call_back (const NumberOp *op, double above);


static inline void number_run (const NumberOp *op) {
  const double *const *in = op->in;
  switch (op->code) {
    case NUMBER_ADD:    *op->out = *in[0] + *in[1]; break;
    case NUMBER_SUB:    *op->out = *in[0] - *in[1]; break;
    case NUMBER_MUL:    *op->out = *in[0] * *in[1]; break;
    case NUMBER_DIV:    *op->out = *in[0] / *in[1]; break;
    case NUMBER_NEG:    *op->out = -*in[0]; break;
    case NUMBER_SQUARE: *op->out = *in[0] * *in[0]; break;
    case NUMBER_SQRT:   *op->out = sqrt(*in[0]); break;
    case NUMBER_SAME:   *op->out = *in[0]; break;
    default:            op->kernel->value(1, in, op->out);
  }
}

static inline void number_back (const NumberOp *op) {
  double above = *op->slope, x, y;
  double *const *to = op->to;
  if (above == 0 || op->n == 0) return;
  switch (op->code) {
    case NUMBER_ADD: *to[0] += above; *to[1] += above; break;
    case NUMBER_SUB: *to[0] += above; *to[1] -= above; break;
    case NUMBER_MUL:
      x = *op->in[0], y = *op->in[1];
      *to[0] += above * y;
      *to[1] += above * x;
      break;
    case NUMBER_DIV:
      x = *op->in[0], y = *op->in[1];
      *to[0] += above * (1 / y);
      *to[1] += above * (-(x / y) / y);
      break;
    case NUMBER_NEG:    *to[0] -= above; break;
    case NUMBER_SQUARE: *to[0] += above * (2 * *op->in[0]); break;
    case NUMBER_SQRT:   *to[0] += above * (0.5 / sqrt(*op->in[0])); break;
    case NUMBER_SAME:   *to[0] += above; break;
    default:            number_call_back(op, above);
  }
}

#endif
