/*
** scan.c - a recurrence, forward and back
*/
#include <math.h>

#include "autograd/adjoint.h"
#include "autograd/forward.h"
#include "autograd/scan.h"
#include "autograd/target.h"
#include "driver/sizes.h"


/* {=====================================================
** Steps of single numbers
** ====================================================== */

enum { CALL, ADD, SUB, MUL, DIV, NEG, SQUARE, SQRT, POWER, SAME };

const ScanOperator scan_operators[SCAN_OPERATORS] = {
  {"op/arithmetic", "add"}, {"op/arithmetic", "sub"}, {"op/arithmetic", "mul"},
  {"op/arithmetic", "div"}, {"op/arithmetic", "neg"}, {"op/arithmetic", "square"},
  {"op/arithmetic", "sqrt"}, {"op/arithmetic", "pow"}, {"identity", "identity"}
};

int scan_code (const Node *node, const Kernel *const operators[]) {
  int code = CALL;
  for (int k = 0; k < SCAN_OPERATORS; k++)
    if (node->kernel == operators[k]) code = k + ADD;
  if (code != POWER) return code;
  return node->in[1].is_number && node->in[1].number == 2 ? SQUARE : CALL;
}

/* The same operations as those of the kernels, on a single element. */
static inline void run_op (const ScanOp *op) {
  const double *const *in = op->in;
  switch (op->code) {
    case ADD:    *op->out = *in[0] + *in[1]; break;
    case SUB:    *op->out = *in[0] - *in[1]; break;
    case MUL:    *op->out = *in[0] * *in[1]; break;
    case DIV:    *op->out = *in[0] / *in[1]; break;
    case NEG:    *op->out = -*in[0]; break;
    case SQUARE: *op->out = *in[0] * *in[0]; break;
    case SQRT:   *op->out = sqrt(*in[0]); break;
    case SAME:   *op->out = *in[0]; break;
    default:     op->kernel->value(1, in, op->out);
  }
}

static void call_back (const ScanOp *op, double above) {
  double partial[KERNEL_MAX_IN], *d[KERNEL_MAX_IN];
  if (op->n == 0) return;
  for (int k = 0; k < op->n; k++) d[k] = &partial[k];
  op->kernel->partials(1, op->in, d);
  for (int k = 0; k < op->n; k++) *op->to[k] += above * partial[k];
}

/* And their partials. */
static inline void run_op_back (const ScanOp *op) {
  double above = *op->slope, x, y;
  double *const *to = op->to;
  if (above == 0) return;
  switch (op->code) {
    case ADD: *to[0] += above; *to[1] += above; break;
    case SUB: *to[0] += above; *to[1] -= above; break;
    case MUL:
      x = *op->in[0], y = *op->in[1];
      *to[0] += above * y;
      *to[1] += above * x;
      break;
    case DIV:
      x = *op->in[0], y = *op->in[1];
      *to[0] += above * (1 / y);
      *to[1] += above * (-(x / y) / y);
      break;
    case NEG:    *to[0] -= above; break;
    case SQUARE: *to[0] += above * (2 * *op->in[0]); break;
    case SQRT:   *to[0] += above * (0.5 / sqrt(*op->in[0])); break;
    case SAME:   *to[0] += above; break;
    default:     call_back(op, above);
  }
}

/* }====================================================== */


/* {=====================================================
** Steps of any nodes
** ====================================================== */

typedef struct Run {
  const Scan *scan;
  const Kernel *sum;
  Pool *pool;
  double *scratch;
  size_t left;       /* steps until a watch is asked */
} Run;

/* For a node within a step: few are large enough to be watched. */
static Pool *pool_for (const Run *run, const Node *node) {
  return node_extent(node) < WATCH_MIN_ELEMENTS ? NULL : run->pool;
}

static void compute (const Run *run, const Node *node) {
  if (node->kind == NODE_SCAN) scan_forward(node, run->sum, run->pool, run->scratch);
  else forward_step(node, run->sum, NULL, 0, pool_for(run, node), run->scratch);
}

static void pass_back (const Run *run, Node *node) {
  if (node->empty) return;
  if (node->kind == NODE_SCAN) scan_back(node, run->sum, run->pool, run->scratch);
  else adjoint_step(node, run->sum, false, pool_for(run, node), run->scratch);
}

size_t scan_scratch (const Node *node, const Pool *pool) {
  const Scan *scan = node->scan;
  size_t most = 0;
  for (size_t i = 0; i < scan->n && scan->op == NULL; i++) {
    const Node *inner = scan->node[i];
    bool nested = inner->kind == NODE_SCAN;
    size_t ahead = nested ? scan_scratch(inner, pool) : forward_scratch(inner, pool);
    size_t back = nested ? 0 : adjoint_scratch(inner, pool);
    size_t need = ahead > back ? ahead : back;
    if (need > most) most = need;
  }
  return most;
}

/* Nodes first .. last-1, unless that is given up. */
static void run_forward (const Run *run, size_t first, size_t last) {
  const Scan *scan = run->scan;
  if (scan->op != NULL)
    for (size_t i = first; i < last; i++) run_op(&scan->op[i]);
  else
    for (size_t i = first; i < last && !pool_stopped(run->pool); i++)
      compute(run, scan->node[i]);
}

static void run_back (const Run *run, size_t first, size_t last) {
  const Scan *scan = run->scan;
  if (scan->op != NULL)
    for (size_t i = last; i-- > first; ) run_op_back(&scan->op[i]);
  else
    for (size_t i = last; i-- > first && !pool_stopped(run->pool); )
      pass_back(run, scan->node[i]);
}

/* }====================================================== */


/* {=====================================================
** Between a step and the whole
** ====================================================== */

typedef const ScanMove Move;

/* Says where the wholes are, and what flows back to them. */
static void find_wholes (const Node *node, ScanMoves moves, bool back) {
  for (ScanMove *m = moves.first; m < moves.end; m++) {
    const Input *input = m->input < 0 ? NULL : &node->in[m->input];
    bool wanted = back && (input == NULL || input->tracked);
    m->slopes = NULL;
    if (input != NULL && input->is_number) m->values = (double *)&input->number;
    else m->values = input == NULL ? node->result->data : input->tensor->data;
    if (wanted) m->slopes = input == NULL ? node->gradient : filled_gradient(NULL, input->tensor);
  }
}

static void find_all_wholes (const Node *node, bool back) {
  find_wholes(node, node->scan->begun, back);
  find_wholes(node, node->scan->taken, back);
  find_wholes(node, node->scan->given, back);
}

static inline ptrdiff_t place (Move *m, size_t t) { return m->at + (ptrdiff_t)t * m->step; }

/* From the wholes to step t. */
static inline void take (ScanMoves moves, size_t t) {
  for (Move *m = moves.first; m < moves.end; m++) {
    const double *from = m->values + place(m, t);
    for (size_t i = 0; i < m->n; i++) m->value[i] = from[(ptrdiff_t)i * m->stride];
  }
}

/* From step t to the wholes. */
static inline void give (ScanMoves moves, size_t t) {
  for (Move *m = moves.first; m < moves.end; m++) {
    double *to = m->values + place(m, t);
    for (size_t i = 0; i < m->n; i++) to[(ptrdiff_t)i * m->stride] = m->value[i];
  }
}

/* The same for slopes, which are added. */
static inline void take_slopes (ScanMoves moves, size_t t) {
  for (Move *m = moves.first; m < moves.end; m++) {
    if (m->node == NULL) continue;
    if (m->node->empty) node_fill_gradient(NULL, m->node);
    const double *from = m->slopes + place(m, t);
    for (size_t i = 0; i < m->n; i++) m->slope[i] += from[(ptrdiff_t)i * m->stride];
  }
}

static inline void give_slopes (ScanMoves moves, size_t t) {
  for (Move *m = moves.first; m < moves.end; m++) {
    if (m->slopes == NULL || m->node == NULL || m->node->empty) continue;
    double *to = m->slopes + place(m, t);
    for (size_t i = 0; i < m->n; i++) to[(ptrdiff_t)i * m->stride] += m->slope[i];
  }
}

static ScanMoves states_of (const Scan *scan) {
  return (ScanMoves) {scan->taken.first, scan->taken.first + scan->states};
}

/* }====================================================== */


/* After a step: is the run to be given up? */
static inline bool is_stopped (Run *run) {
  if (pool_stopped(run->pool)) return true;
  if (--run->left > 0) return false;
  run->left = run->scan->pause;
  return pool_stops(run->pool);
}

void scan_forward (const Node *node, const Kernel *sum, Pool *pool, double *scratch) {
  const Scan *scan = node->scan;
  Run run = {scan, sum, pool, scratch, scan->pause};
  find_all_wholes(node, false);
  take(scan->begun, 0);
  give(states_of(scan), 0);
  run_forward(&run, 0, scan->fixed);
  for (size_t t = 0; t < scan->steps; t++) {
    take(scan->taken, t);
    run_forward(&run, scan->fixed, scan->n);
    give(scan->given, t);
    if (is_stopped(&run)) break;
  }
  for (size_t i = 0; i < scan->n; i++) scan->node[i]->result->writes++;
  for (size_t i = 0; i < scan->leaves; i++) scan->leaf[i]->result->writes++;
}


static double *lend (Node *node, double *slopes) {
  node->gradient = slopes;
  return slopes + node->result->size;
}

void scan_lend_slopes (const Scan *scan) {
  double *at = scan->slopes;
  for (size_t i = 0; i < scan->n; i++) at = lend(scan->node[i], at);
  for (size_t i = 0; i < scan->leaves; i++) at = lend(scan->leaf[i], at);
}

void scan_claim (const Scan *scan) {
  for (size_t i = 0; i < scan->n; i++) scan->node[i]->walk = 0;
  for (size_t i = 0; i < scan->leaves; i++) scan->leaf[i]->walk = 0;
}

/* Nothing has flowed yet to nodes first, ..., or to leaves. */
static inline void clear_slopes (const Scan *scan, size_t first) {
  if (scan->op != NULL) {
    size_t begin = first == 0 ? 0 : scan->fixed_slopes;
    memset(scan->slopes + begin, 0, (scan->all_slopes - begin) * sizeof(double));
    return;
  }
  for (size_t i = first; i < scan->n; i++) scan->node[i]->empty = true;
  for (size_t i = 0; i < scan->leaves; i++) scan->leaf[i]->empty = true;
}

static void start_back (Node *node, Pool *pool) {
  Scan *scan = node->scan;
  node_fill_gradient(pool, node);
  find_all_wholes(node, true);
  scan_lend_slopes(scan);
  scan_claim(scan);
  clear_slopes(scan, 0);
  for (size_t i = 0; scan->op != NULL && i < scan->n; i++) scan->node[i]->empty = false;
  for (size_t i = 0; scan->op != NULL && i < scan->leaves; i++) scan->leaf[i]->empty = false;
  for (size_t i = 0; i < scan->sums; i++) scan->sum[i].slope = 0;
}

/* What the first states, and inputs that are the same in all steps, get. */
static void finish_back (const Run *run) {
  const Scan *scan = run->scan;
  clear_slopes(scan, scan->fixed);
  take_slopes(states_of(scan), 0);
  give_slopes(scan->begun, 0);
  run_back(run, 0, scan->fixed);
  for (size_t i = 0; i < scan->sums; i++)
    *filled_gradient(NULL, scan->sum[i].tensor) += scan->sum[i].slope;
}

void scan_back (Node *node, const Kernel *sum, Pool *pool, double *scratch) {
  const Scan *scan = node->scan;
  Run run = {scan, sum, pool, scratch, scan->pause};
  start_back(node, pool);
  run_forward(&run, 0, scan->fixed);
  for (size_t t = scan->steps; t-- > 0; ) {
    take(scan->taken, t);
    run_forward(&run, scan->fixed, scan->n);
    clear_slopes(scan, scan->fixed);
    take_slopes(scan->given, t);
    run_back(&run, scan->fixed, scan->n);
    if (is_stopped(&run)) return;
    give_slopes(scan->taken, t);
  }
  finish_back(&run);
}

bool scan_is_ours (const Node *node) {
  if (node->kind != NODE_SCAN) return true;
  const Scan *scan = node->scan;
  for (size_t i = 0; i < scan->leaves; i++)
    if (scan->leaf[i]->walk != 0) return false;
  for (size_t i = 0; i < scan->n; i++)
    if (scan->node[i]->walk != 0 || !scan_is_ours(scan->node[i])) return false;
  return true;
}
