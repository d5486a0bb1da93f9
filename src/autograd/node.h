/*
** node.h - how a tensor was computed, for the backward pass
**
** A recorded tensor has a node: the kernel, and the operands it was given. The gradient of a tensor
** is laid out in memory as its elements are, so views need no node: the gradient of a view is added
** to its owner's, at the places of the view's elements.
**
** Nodes are numbered in the order of their creation; no operand is younger than
** its result. A backward pass goes through them from the youngest on.
*/
#ifndef PERILUNE_NODE_H
#define PERILUNE_NODE_H

#include <string.h>

#include "driver/loop.h"
#include "kernel/kernel.h"
#include "tensor/tensor.h"

typedef enum NodeKind {
  NODE_LEAF,          /* a parameter */
  NODE_ELEMENTWISE,
  NODE_SUM,           /* of all values of an elementwise kernel, */
  NODE_MEAN,          /* or their mean */
  NODE_ROWS,
  NODE_REDUCTION,
  NODE_JOIN,          /* of its inputs, along the dimension whose number is `dimensions` */
  NODE_SCAN,          /* a recurrence (scan.h) */
  NODE_CALL           /* of a function in Lua, which comes with its own backward */
} NodeKind;

typedef struct Input {
  union {
    Tensor *tensor;      /* kept alive by the recorded tensor */
    double number;
  };
  uint32_t version;      /* of the elements that were read */
  bool is_number;
  bool is_one;           /* element, or one that all are: see tensor_is_one */
  bool tracked;          /* does it have a gradient? */
} Input;

typedef struct Node {
  union {
    const Kernel *kernel;
    Tensor *grad;        /* of a parameter: memory for its grad, kept alive by it, or NULL */
    struct Scan *scan;   /* of a recurrence, kept alive by it */
  };
  Tensor *result;
  uint64_t order;
  uint64_t pass;         /* number of the last backward pass that met it */
  double *gradient;      /* during a pass: of the result's elements, or NULL */
  struct Philox *generator;   /* of a draw that is traced: it is drawn again from there */
  uint8_t kind;          /* a NodeKind */
  uint8_t n;             /* inputs */
  uint16_t dimensions;   /* that a reduction reduced, as a set of bits */
  uint8_t depth;         /* of a sum that waits, or of what was made of one: operations */
  uint16_t block;        /* elements of the single block that it came of, or 0: see loop_is_small */
  bool empty;            /* nothing has been written there yet */
  bool freed;            /* backward without `retain` has gone over it */
  bool has_grad;         /* of a parameter: `grad` is set, */
  bool grad_is_public;   /* and Lua has a reference to it */
  uint32_t finite;       /* of a parameter: the version of `grad` that was found finite, or 0 */
  Input in[];
} Node;

static inline size_t node_bytes (int n) {
  return sizeof(Node) + (size_t)n * sizeof(Input);
}

/* Does it pass nothing on? Only traces record such nodes. */
static inline bool node_is_flat (const Node *node) {
  return node->kind <= NODE_REDUCTION && node->kind != NODE_LEAF && node->kernel->flat;
}

static inline bool is_tracked (const Tensor *t) { return t->owner->node != NULL; }

/* Room for the element of a result that is a single number, behind the inputs. */
static inline double *node_room (const Node *node) {
  return (double *)(void *)((char *)node + node_bytes(node->n));
}

/* The node that receives the gradient of input k. */
static inline Node *node_below (const Node *node, int k) {
  return node->in[k].tensor->owner->node;
}

/* Elements that a step over it goes through: of the result, or of the largest operand where
   they were summed up; a lot for a slow kernel or a recurrence. */
static inline size_t node_extent (const Node *node) {
  size_t size = node->result->size;
  if (node->kind == NODE_SCAN) return SIZE_MAX;
  if ((node->kind == NODE_ELEMENTWISE || node->kind == NODE_ROWS) && node->kernel->slow)
    return SIZE_MAX;
  for (int k = 0; k < node->n; k++)
    if (!node->in[k].is_number && node->in[k].tensor->size > size)
      size = node->in[k].tensor->size;
  return size;
}

/* Where nothing came from above there are zeros. */
static inline void node_fill_gradient (Pool *pool, Node *node) {
  size_t size = node->result->size;
  if (node->empty && pool == NULL) memset(node->gradient, 0, size * sizeof(double));
  else if (node->empty) loop_clear(pool, node->gradient, size);
  node->empty = false;
}

/* The inputs of a node as tensors; `header` holds those that are numbers. */
static inline void node_inputs (const Node *node, Tensor header[], const Tensor *in[]) {
  for (int k = 0; k < node->n; k++)
    in[k] = node->in[k].is_number
          ? tensor_scalar(&header[k], (double *)&node->in[k].number)
          : node->in[k].tensor;
}

#endif
