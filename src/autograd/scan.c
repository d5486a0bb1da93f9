/*
** scan.c - a recurrence, forward and back
*/
#include "autograd/adjoint.h"
#include "autograd/forward.h"
#include "autograd/scan.h"
#include "autograd/steps.h"
#include "autograd/target.h"
#include "driver/sizes.h"


typedef struct Run {
  const Scan *scan;
  const Kernel *sum;
  Pool *pool;
  double *scratch;
  size_t left;       /* steps until a watch is asked */
} Run;


/* {=====================================================
** What to do for a node
** ====================================================== */

bool scan_is_block (const Node *node) {
  const double *in[KERNEL_MAX_IN];
  size_t size = step_block_size(node);
  return node->kind == NODE_ELEMENTWISE && size != SIZE_MAX && !node->kernel->slow
      && step_block_inputs(node, size, in);
}

/* For a node within a step: few are large enough to be watched. */
static Pool *pool_for (const Run *run, const Node *node) {
  return node_extent(node) < WATCH_MIN_ELEMENTS ? NULL : run->pool;
}

static void compute (const Run *run, const Node *node) {
  if (pool_stopped(run->pool)) return;
  if (node->kind == NODE_SCAN) scan_forward(node, run->sum, run->pool, run->scratch);
  else forward_step(node, run->sum, NULL, 0, pool_for(run, node), run->scratch);
}

static inline void run_op (const Run *run, const ScanOp *op) {
  if (op->number.code != NUMBER_NONE) number_run(&op->number);
  else if (op->is_block) op->number.kernel->value(op->size, op->number.in, op->number.out);
  else compute(run, op->node);
}

/* Comes nothing from above? Large nodes are not looked through. */
static bool is_idle (const Node *node) {
  if (node->result->size > 16) return false;
  for (size_t i = 0; i < node->result->size; i++)
    if (node->gradient[i] != 0) return false;
  return true;
}

static void pass_back (const Run *run, const ScanOp *op) {
  Node *node = op->node;
  if (op->number.n == 0 || is_idle(node) || pool_stopped(run->pool)) return;
  if (op->is_block) step_block_whole(node, run->sum, op->size, op->number.in);
  else if (node->kind == NODE_SCAN) scan_back(node, run->sum, run->pool, run->scratch);
  else adjoint_step(node, run->sum, false, pool_for(run, node), run->scratch);
}

static inline void run_op_back (const Run *run, const ScanOp *op) {
  if (op->number.code != NUMBER_NONE) number_back(&op->number);
  else pass_back(run, op);
}

/* Nodes first .. last-1, unless that is given up. */
static void run_forward (const Run *run, size_t first, size_t last) {
  const ScanOp *op = run->scan->op;
  for (size_t i = first; i < last; i++) run_op(run, &op[i]);
}

static void run_back (const Run *run, size_t first, size_t last) {
  const ScanOp *op = run->scan->op;
  for (size_t i = last; i-- > first; ) run_op_back(run, &op[i]);
}

size_t scan_scratch (const Node *node, const Pool *pool) {
  const Scan *scan = node->scan;
  size_t most = 0;
  for (size_t i = 0; i < scan->n; i++) {
    const Node *inner = scan->node[i];
    bool nested = inner->kind == NODE_SCAN;
    if (scan->op[i].is_block || scan->op[i].number.code != NUMBER_NONE) continue;
    size_t ahead = nested ? scan_scratch(inner, pool) : forward_scratch(inner, pool);
    size_t back = nested ? 0 : adjoint_scratch(inner, pool);
    size_t need = ahead > back ? ahead : back;
    if (need > most) most = need;
  }
  return most;
}

/* }====================================================== */


/* {=====================================================
** Between a step and the whole
** ====================================================== */

typedef const ScanMove Move;

/* Says where an input is, and, on the way back, what flows to it. */
static void find_input (ScanMove *m, const Input *input, bool back) {
  m->values = input->is_number ? (double *)&input->number : input->tensor->data;
  m->slopes = back && input->tracked ? filled_gradient(NULL, input->tensor) : NULL;
}

static void find_wholes (const Node *node, ScanMoves moves, bool back) {
  for (ScanMove *m = moves.first; m < moves.end; m++) {
    if (m->whole >= 0) find_input(m, &node->in[m->whole], back);
    else if (m->whole == SCAN_HISTORY) m->values = node->scan->history;
    else {
      m->values = node->result->data;
      m->slopes = back ? node->gradient : NULL;
    }
  }
}

static void find_all_wholes (const Node *node, bool back) {
  find_wholes(node, node->scan->begun, back);
  find_wholes(node, node->scan->taken, back);
  find_wholes(node, node->scan->given, back);
  find_wholes(node, node->scan->kept, back);
}

static inline ptrdiff_t place (Move *m, size_t t) { return m->at + (ptrdiff_t)t * m->step; }

static inline bool is_long (Move *m) { return m->n > 4 && m->stride == 1; }

/* From the wholes to step t. */
static inline void take (ScanMoves moves, size_t t) {
  for (Move *m = moves.first; m < moves.end; m++) {
    const double *from = m->values + place(m, t);
    if (is_long(m)) memcpy(m->value, from, m->n * sizeof(double));
    else for (size_t i = 0; i < m->n; i++) m->value[i] = from[(ptrdiff_t)i * m->stride];
  }
}

/* From step t to the wholes. */
static inline void give (ScanMoves moves, size_t t) {
  for (Move *m = moves.first; m < moves.end; m++) {
    double *to = m->values + place(m, t);
    if (is_long(m)) memcpy(to, m->value, m->n * sizeof(double));
    else for (size_t i = 0; i < m->n; i++) to[(ptrdiff_t)i * m->stride] = m->value[i];
  }
}

/* The same for slopes, which are added. */
static inline void take_slopes (ScanMoves moves, size_t t) {
  for (Move *m = moves.first; m < moves.end; m++) {
    if (m->node == NULL) continue;
    const double *from = m->slopes + place(m, t);
    for (size_t i = 0; i < m->n; i++) m->slope[i] += from[(ptrdiff_t)i * m->stride];
  }
}

static inline void give_slopes (ScanMoves moves, size_t t) {
  for (Move *m = moves.first; m < moves.end; m++) {
    if (m->slopes == NULL || m->node == NULL) continue;
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
    give(scan->kept, t);
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
  for (size_t i = 0; i < scan->n; i++) scan->node[i]->pass = 0;
  for (size_t i = 0; i < scan->leaves; i++) scan->leaf[i]->pass = 0;
}

/* Nothing has flowed back yet, but to the first so many elements. */
static inline void clear_slopes (const Scan *scan, size_t first) {
  memset(scan->slopes + first, 0, (scan->all_slopes - first) * sizeof(double));
}

static void start_back (Node *node, Pool *pool) {
  Scan *scan = node->scan;
  node_fill_gradient(pool, node);
  find_all_wholes(node, true);
  scan_lend_slopes(scan);
  scan_claim(scan);
  clear_slopes(scan, 0);
  for (size_t i = 0; i < scan->n; i++) scan->node[i]->empty = false;
  for (size_t i = 0; i < scan->leaves; i++) scan->leaf[i]->empty = false;
  for (size_t i = 0; i < scan->sums; i++) scan->sum[i].slope = 0;
}

/* What the first states, and inputs that are the same in all steps, get. */
static void finish_back (const Run *run) {
  const Scan *scan = run->scan;
  clear_slopes(scan, scan->fixed_slopes);
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
    if (scan->history != NULL) take(scan->kept, t);
    else run_forward(&run, scan->fixed, scan->n);
    clear_slopes(scan, scan->fixed_slopes);
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
    if (scan->leaf[i]->pass != 0) return false;
  for (size_t i = 0; i < scan->n; i++)
    if (scan->node[i]->pass != 0 || !scan_is_ours(scan->node[i])) return false;
  return true;
}
