/*
** scan_program.c - the nodes of a step, as the program of a scan
**
** Nodes that do not vary from step to step run once. The others run in each step, between moves
** from and to the rows of the whole.
*/
#include <string.h>

#include "autograd/steps.h"
#include "autograd/target.h"
#include "engine/draft.h"

/* Marks: it differs from step to step; what flows back to it is wanted; its single value is
   among the scan's numbers, or else in its tensor. */
enum { VARIES = 1, NEEDED = 2, NUMBER = 4 };

#define NO_NUMBER SIZE_MAX


/* {=====================================================
** What varies from step to step, and what flows back
** ====================================================== */

/* The number of a node that is part of the step, by age, leaves last. It is in the nodes' `pass`
   meanwhile. */
static size_t number_of (const Draft *draft, const Node *node) {
  const Scan *scan = draft->scan;
  size_t number = node == NULL ? NO_NUMBER : (size_t)node->pass;
  if (number >= scan->n + scan->leaves) return NO_NUMBER;
  const Node *found = number < scan->n ? draft->by_age[number] : scan->leaf[number - scan->n];
  return found == node ? number : NO_NUMBER;
}

/* Its marks, or NULL. */
static unsigned char *mark_of (const Draft *draft, const Node *node) {
  size_t number = number_of(draft, node);
  return number == NO_NUMBER ? NULL : &draft->mark[number];
}

/* Of input k of a node of the step: its node's marks. */
static int marks_below (const Draft *draft, const Node *node, int k) {
  const Input *input = &node->in[k];
  if (input->is_number || input->tensor->owner->node == NULL) return 0;
  const unsigned char *mark = mark_of(draft, input->tensor->owner->node);
  return mark != NULL ? *mark & (VARIES | NEEDED) : input->tracked ? NEEDED : 0;
}

static void mark_leaves (const Draft *draft, const Node *top) {
  const Scan *scan = draft->scan;
  for (size_t k = 0; k < scan->leaves; k++)
    draft->mark[scan->n + k] = VARIES | (top->in[k].tracked ? NEEDED : 0);
}

/* Marks nodes by what is below them. */
static void mark_nodes (const Draft *draft) {
  for (size_t i = 0; i < draft->scan->n; i++)
    for (int k = 0; k < draft->by_age[i]->n; k++)
      draft->mark[i] |= (unsigned char)marks_below(draft, draft->by_age[i], k);
}

/* A state is needed if what becomes of it is. Was it not known? */
static bool mark_states (lua_State *L, const Draft *draft) {
  bool changed = false;
  for (int k = 0; k < draft->states; k++) {
    const unsigned char *made = mark_of(draft, draft_listed(L, MADE, k + 1)->node);
    unsigned char *leaf = &draft->mark[draft->scan->n + (size_t)k];
    if (made == NULL || !(*made & NEEDED) || (*leaf & NEEDED)) continue;
    *leaf |= NEEDED;
    changed = true;
  }
  return changed;
}

/* Nodes of the step pass on what is needed, and those that do not vary come first. */
static void arrange (lua_State *L, Draft *draft, const Node *top) {
  Scan *scan = draft->scan;
  size_t at = 0;
  memset(draft->mark, 0, scan->n + scan->leaves);
  for (size_t i = 0; i < scan->n; i++) draft->by_age[i]->pass = i;
  for (size_t k = 0; k < scan->leaves; k++) scan->leaf[k]->pass = scan->n + k;
  mark_leaves(draft, top);
  do mark_nodes(draft); while (mark_states(L, draft));
  for (size_t i = 0; i < scan->n; i++) {
    Node *node = draft->by_age[i];
    for (int k = 0; k < node->n; k++)
      node->in[k].tracked = (marks_below(draft, node, k) & NEEDED) != 0;
  }
  for (int varies = 0; varies <= VARIES; varies++) {
    for (size_t i = 0; i < scan->n; i++) {
      if ((draft->mark[i] & VARIES) != varies) continue;
      scan->node[at++] = draft->by_age[i];
      if (varies) continue;
      scan->fixed++;
      scan->fixed_slopes += draft->by_age[i]->result->size;
    }
  }
}

/* Finds places for the values of nodes; how many numbers there are. Those of single numbers that
   no other kind of node reads, directly or as a view, are the scan's own: in the order of its
   nodes, so that those of a step lie side by side. */
static size_t place_values (const Draft *draft) {
  const Scan *scan = draft->scan;
  size_t numbers = 0;
  for (size_t i = 0; i < scan->n; i++)
    if (number_is_single(draft->by_age[i])) draft->mark[i] |= NUMBER;
  for (size_t i = 0; i < scan->n; i++) {
    const Node *node = draft->by_age[i];
    bool single = number_is_single(node);
    for (int k = 0; k < node->n; k++) {
      const Tensor *t = node->in[k].is_number ? NULL : node->in[k].tensor;
      unsigned char *mark = t == NULL ? NULL : mark_of(draft, t->owner->node);
      if (mark != NULL && (!single || t != t->owner)) *mark &= (unsigned char)~NUMBER;
    }
  }
  for (size_t i = 0; i < scan->n; i++) {
    size_t number = number_of(draft, scan->node[i]);
    draft->value[number] = draft->mark[number] & NUMBER ? &scan->numbers[numbers++]
                                                        : scan->node[i]->result->data;
  }
  return numbers;
}

/* A scan within a step runs once in each of them, and keeps nothing. */
static void forget_history (Scan *scan) {
  scan->history = NULL;
  scan->kept.end = scan->kept.first;
}

/* Where the elements of a tensor are during a run. */
static double *value_of (const Draft *draft, const Tensor *t) {
  size_t number = t->owner == t ? number_of(draft, t->node) : NO_NUMBER;
  return number < draft->scan->n ? draft->value[number] : t->data;
}

/* What is to be kept of each step: numbers, and the results of other nodes. How many elements. */
static size_t keep_values (const Draft *draft, size_t numbers) {
  Scan *scan = draft->scan;
  ScanMove *move = scan->kept.first;
  size_t size = 0, fixed = 0;
  for (size_t i = 0; i < scan->fixed; i++)
    fixed += (draft->mark[number_of(draft, scan->node[i])] & NUMBER) != 0;
  if (numbers > fixed)
    *move++ = (ScanMove) {.value = scan->numbers + fixed, .n = numbers - fixed, .stride = 1,
                          .whole = SCAN_HISTORY};
  size = numbers - fixed;
  for (size_t i = scan->fixed; i < scan->n; i++) {
    const Tensor *t = scan->node[i]->result;
    if (draft->mark[number_of(draft, scan->node[i])] & NUMBER) continue;
    *move++ = (ScanMove) {.value = t->data, .n = t->size, .at = (ptrdiff_t)size, .stride = 1,
                          .whole = SCAN_HISTORY};
    size += t->size;
    if (scan->node[i]->kind == NODE_SCAN) forget_history(scan->node[i]->scan);
  }
  scan->kept.end = move;
  for (ScanMove *m = scan->kept.first; m < move; m++) m->step = (ptrdiff_t)size;
  return size;
}

/* }====================================================== */


/* {=====================================================
** Between a step and the whole
** ====================================================== */

/* Is the part of t from dimension d on contiguous? */
static bool is_line (const Tensor *t, int d) {
  ptrdiff_t step = 1;
  for (int e = t->rank - 1; e >= d; e--) {
    if (t->shape[e] != 1 && t->stride[e] != step) return false;
    step *= t->shape[e];
  }
  return true;
}

static size_t elements_from (const Tensor *t, int d) {
  size_t size = 1;
  for (; d < t->rank; d++) size *= (size_t)t->shape[d];
  return size;
}

/* Moves that it takes for the part of t from dimension d on. */
static size_t count_lines (const Tensor *t, int d) {
  size_t size = elements_from(t, d);
  return size == 0 ? 0 : is_line(t, d) ? 1 : size / (size_t)t->shape[t->rank - 1];
}

/* Where element i of that part is, in row-major order. */
static ptrdiff_t place_of (const Tensor *t, int d, size_t i) {
  ptrdiff_t at = 0;
  for (int e = t->rank - 1; e >= d; e--) {
    at += (ptrdiff_t)(i % (size_t)t->shape[e]) * t->stride[e];
    i /= (size_t)t->shape[e];
  }
  return at;
}

/* Moves between the elements of `inner`, a tensor of the step, and the part of input `input`, t,
   from dimension d on; returns where the next ones go. */
static ScanMove *add_lines (ScanMove *move, const Tensor *inner, int input, const Tensor *t,
                            int d) {
  size_t lines = count_lines(t, d), n = inner->size / (lines > 0 ? lines : 1);
  bool line = is_line(t, d);
  for (size_t i = 0; i < lines; i++)
    *move++ = (ScanMove) {
      .node = inner->node, .value = inner->data + i * n, .slope = inner->node->gradient + i * n,
      .n = n, .at = place_of(t, d, i * n), .step = d > 0 ? t->stride[0] : 0,
      .stride = line ? 1 : t->stride[t->rank - 1], .whole = input
    };
  return move;
}

/* A move between a tensor of the step and rows of the result. What is not needed, or the same
   in all steps, gets no slopes. */
static ScanMove row_move (const Draft *draft, const Tensor *inner, size_t at) {
  const unsigned char *mark = mark_of(draft, inner->node);
  bool wanted = mark != NULL && (*mark & NEEDED);
  return (ScanMove) {
    .node = wanted ? inner->node : NULL, .value = value_of(draft, inner),
    .slope = wanted ? inner->node->gradient : NULL, .n = inner->size, .at = (ptrdiff_t)at,
    .step = (ptrdiff_t)inner->size, .stride = 1, .whole = SCAN_RESULT
  };
}

/* Moves for n inputs of the scan, from the first on: for their parts from dimension d on. */
static size_t count_moves (const Node *top, size_t first, size_t n, int d) {
  size_t moves = 0;
  for (size_t k = first; k < first + n; k++)
    moves += top->in[k].is_number ? 1 : count_lines(top->in[k].tensor, d);
  return moves;
}

static void make_moves (lua_State *L, const Draft *draft, const Node *top) {
  Scan *scan = draft->scan;
  size_t states = scan->states = (size_t)draft->states, inputs = (size_t)draft->inputs;
  size_t outputs = (size_t)draft->outputs, at = 0;
  ScanMove *begun = scan->begun.first, *taken = scan->taken.first, *given = scan->given.first;
  for (size_t k = 0; k < states; k++) {
    const Tensor *leaf = scan->leaf[k]->result;
    StackTensor number;
    const Tensor *init = top->in[k].is_number ? tensor_on_stack(&number, leaf, 0)
                                              : top->in[k].tensor;
    begun = add_lines(begun, leaf, (int)k, init, 0);
    *taken++ = row_move(draft, leaf, at);
    *given++ = row_move(draft, draft_listed(L, MADE, (int)k + 1), at + leaf->size);
    at += (draft->steps + 1) * leaf->size;
  }
  for (size_t k = states; k < states + inputs; k++)
    taken = add_lines(taken, scan->leaf[k]->result, (int)k, top->in[k].tensor, 1);
  for (size_t k = states; k < states + outputs; k++) {
    const Tensor *made = draft_listed(L, MADE, (int)k + 1);
    *given++ = row_move(draft, made, at);
    at += draft->steps * made->size;
  }
  scan->begun.end = begun;
  scan->taken.end = taken;
  scan->given.end = given;
}

/* }====================================================== */


/* {=====================================================
** What to do for each node
** ====================================================== */

/* Where the slope of an input of a single number goes: to a node of the step, to the sum over all
   steps, or, if nobody wants it, to `unwanted`. */
static double *slope_place (const Draft *draft, const Input *input, double *unwanted) {
  Scan *scan = draft->scan;
  if (!input->tracked) return unwanted;
  const Tensor *t = input->tensor;
  if (number_of(draft, t->owner->node) != NO_NUMBER)
    return t->owner->node->gradient + (t->data - t->owner->data);
  size_t i = 0;
  while (i < scan->sums && scan->sum[i].tensor != t) i++;
  if (i == scan->sums) scan->sum[scan->sums++] = (ScanSum) {.tensor = t};
  return &scan->sum[i].slope;
}

/* Does something flow back through it? */
static bool passes (const Node *node) {
  for (int k = 0; k < node->n; k++)
    if (node->in[k].tracked) return !node_is_flat(node);
  return false;
}

static ScanOp op_of (const Draft *draft, Node *node, const Kernel *const kernels[],
                     double *unwanted) {
  size_t size = step_block_size(node);
  NumberOp number = {.code = number_code(node, kernels), .n = passes(node) ? node->n : 0,
                     .slope = node->gradient, .out = value_of(draft, node->result)};
  ScanOp op = {.number = number, .is_block = scan_is_block(node), .size = size, .node = node};
  if (node->kind != NODE_ELEMENTWISE || size == SIZE_MAX) return op;
  op.number.kernel = node->kernel;
  op.number.first_alone = is_cheap_first(node);
  for (int k = 0; k < node->n; k++) {
    const Input *input = &node->in[k];
    op.number.in[k] = input->is_number ? &input->number : value_of(draft, input->tensor);
    op.number.to[k] = number_is_single(node) ? slope_place(draft, input, unwanted) : NULL;
  }
  return op;
}

static void make_ops (const Draft *draft, const Kernel *const kernels[]) {
  Scan *scan = draft->scan;
  double *unwanted = scan->slopes + scan->all_slopes;   /* draft_room gives one more */
  for (size_t i = 0; i < scan->n; i++)
    scan->op[i] = op_of(draft, scan->node[i], kernels, unwanted);
}

/* }====================================================== */


/* {=====================================================
** The program
** ====================================================== */

/* Lists the nodes by age: they were met roughly from the youngest on. */
static void order_nodes (lua_State *L, const Draft *draft) {
  size_t n = draft->scan->n;
  Node **node = draft->by_age;
  for (size_t i = 0; i < n; i++) {
    Node *next = draft_listed(L, NODES, (int)(n - i))->node;
    size_t at = i;
    for (; at > 0 && node[at - 1]->order > next->order; at--) node[at] = node[at - 1];
    node[at] = next;
  }
}

/* Steps after which a watch is asked: some thousand elements. */
static size_t steps_between_looks (const Scan *scan) {
  size_t work = 1;
  for (size_t i = scan->fixed; i < scan->n && work < LOOP_GRAIN; i++) {
    size_t extent = node_extent(scan->node[i]);
    work = extent < LOOP_GRAIN ? work + extent : LOOP_GRAIN;
  }
  return work < LOOP_GRAIN ? LOOP_GRAIN / work : 1;
}

/* All the memory that the program of the node `top` needs. */
static void make_rooms (lua_State *L, Draft *draft, const Node *top) {
  Scan *scan = draft->scan;
  size_t n = scan->n = lua_rawlen(L, NODES);
  size_t states = (size_t)draft->states, inputs = (size_t)draft->inputs;
  size_t outputs = (size_t)draft->outputs;
  draft->by_age = draft_room(L, n, sizeof(Node *));
  draft->mark = draft_room(L, n + scan->leaves, 1);
  draft->value = draft_room(L, n, sizeof(double *));
  order_nodes(L, draft);
  for (size_t i = 0; i < n; i++) scan->all_slopes += draft->by_age[i]->result->size;
  for (size_t k = 0; k < scan->leaves; k++) scan->all_slopes += scan->leaf[k]->result->size;
  scan->node = draft_room(L, n, sizeof(Node *));
  scan->slopes = draft_room(L, scan->all_slopes, sizeof(double));
  scan->begun.first = draft_room(L, count_moves(top, 0, states, 0), sizeof(ScanMove));
  scan->taken.first = draft_room(L, states + count_moves(top, states, inputs, 1), sizeof(ScanMove));
  scan->given.first = draft_room(L, states + outputs, sizeof(ScanMove));
  scan->kept.first = draft_room(L, 1 + n, sizeof(ScanMove));
  scan->numbers = draft_room(L, n, sizeof(double));
  scan->op = draft_room(L, n, sizeof(ScanOp));
  scan->sum = draft_room(L, (size_t)draft->others, sizeof(ScanSum));
}

/* Nothing is allocated while nodes have numbers. */
void draft_make_program (lua_State *L, Draft *draft, Node *top) {
  const Kernel *kernels[NUMBER_OPERATORS];
  Scan *scan = draft->scan;
  for (int k = 0; k < NUMBER_OPERATORS; k++)
    kernels[k] = host_kernel(L, number_operators[k].file, number_operators[k].name);
  make_rooms(L, draft, top);
  arrange(L, draft, top);
  size_t numbers = place_values(draft);
  scan_lend_slopes(scan);
  make_moves(L, draft, top);
  size_t kept = keep_values(draft, numbers);
  make_ops(draft, kernels);
  scan_claim(scan);
  scan->pause = steps_between_looks(scan);
  if (kept > SCAN_KEPT / draft->steps) scan->kept.end = scan->kept.first;
  else scan->history = draft_room(L, kept * draft->steps, sizeof(double));
  top->scan = scan;
}

/* }====================================================== */
