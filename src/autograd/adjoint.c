/*
** adjoint.c - the step back over a node: calls the step of its kind
*/
#include "autograd/adjoint.h"
#include "autograd/steps.h"


size_t adjoint_scratch (const Node *node, const Pool *pool) {
  switch ((NodeKind)node->kind) {
    case NODE_ELEMENTWISE: case NODE_SUM: case NODE_MEAN:
      return node->block ? 0 : step_elementwise_need(node);
    case NODE_ROWS: return step_rows_need(node, pool);
    default: return 0;
  }
}

void adjoint_step (Node *node, const Kernel *sum, bool with_sums, Pool *pool, double *scratch) {
  size_t n;
  if (node_is_flat(node)) return;
  node_fill_gradient(pool, node);
  if (pool_stopped(pool)) return;
  switch ((NodeKind)node->kind) {
    case NODE_ELEMENTWISE: case NODE_SUM: case NODE_MEAN:
      if ((n = step_block_size(node)) != SIZE_MAX) step_block(node, sum, n);
      else step_elementwise(node, sum, with_sums, pool, scratch);
      break;
    case NODE_ROWS: step_rows(node, pool, scratch); break;
    case NODE_REDUCTION: step_reduction(node, pool); break;
    case NODE_JOIN: step_join(node, pool); break;
    case NODE_LEAF: case NODE_SCAN: case NODE_CALL: break;
  }
}
