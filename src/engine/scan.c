/*
** scan.c - what a function recorded, as the step of a recurrence
**
** core.scan(step, T, init, xs, names) calls step once, with leaves that stand for the state and
** for a row of each of xs. The nodes below what it returns become the program of a single node
** (autograd/scan.h), which runs them T times. What they read besides is an input of that node, as
** init and xs are.
*/
#include <string.h>

#include "autograd/scan.h"
#include "autograd/steps.h"
#include "autograd/target.h"
#include "engine/pass.h"

#define MAX_INPUTS UINT8_MAX   /* of a node */

/* On the stack: arguments, what belongs to the steps (lists), and tensors met before (a set). */
enum { STEP = 1, STEPS, INIT, XS, NAMES, KEPT, LEAVES, MADE, NODES, OTHERS, SEEN };

typedef struct Draft {
  State *state;
  size_t steps;
  int states, inputs, outputs;
  int others;             /* further inputs: what f uses besides */
  uint64_t begin;         /* nodes have been numbered from here on since f was called */
  Scan *scan;
  Node **by_age;
  unsigned char *mark;    /* of nodes by age, then of leaves: VARIES, NEEDED, NUMBER */
  double **value;         /* of nodes by age: where it is */
} Draft;

/* Marks: it differs from step to step; what flows back to it is wanted; its single value is
   among the scan's numbers, or else in its tensor. */
enum { VARIES = 1, NEEDED = 2, NUMBER = 4 };

#define NO_NUMBER SIZE_MAX


static void append (lua_State *L, int list) {
  lua_rawseti(L, list, (lua_Integer)lua_rawlen(L, list) + 1);
}

/* Replaces the list at `index` by a copy that nobody else can change. */
static void copy_list (lua_State *L, int index) {
  lua_Integer n = (lua_Integer)lua_rawlen(L, index);
  lua_newtable(L);
  for (lua_Integer i = 1; i <= n; i++) {
    lua_rawgeti(L, index, i);
    lua_rawseti(L, -2, i);
  }
  lua_replace(L, index);
}

/* Memory that lives as long as the scan. */
static void *room_for (lua_State *L, size_t n, size_t size) {
  void *room = lua_newuserdatauv(L, n * size + sizeof(double), 0);
  append(L, KEPT);
  return room;
}

static const Tensor *listed (lua_State *L, int list, int i) {
  lua_rawgeti(L, list, i);
  const Tensor *t = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return t;
}


/* {=====================================================
** Recording
** ====================================================== */

/* Row 1 of the tensor t. */
static const Tensor *first_row (StackTensor *block, const Tensor *t) {
  Tensor *row = tensor_on_stack(block, t, t->rank - 1);
  memcpy(row->shape, t->shape + 1, (size_t)row->rank * sizeof *row->shape);
  memcpy(row->stride, t->stride + 1, (size_t)row->rank * sizeof *row->stride);
  row->size = t->size / (size_t)t->shape[0];
  return row;
}

/* Appends a leaf with the elements of `from`. */
static void add_leaf (lua_State *L, const Draft *draft, const Tensor *from) {
  Tensor *leaf = engine_new_parameter(L, draft->state, from);
  host_copy(L, leaf, from);
  engine_renew_grad(L, -1, "scan");
  append(L, LEAVES);
  draft->scan->leaf[draft->scan->leaves++] = leaf->node;
}

/* Element i of the list at `list`, as an operand, which is there from now on. */
static const Tensor *list_operand (lua_State *L, int list, int i, Tensor *header,
                                   double *number) {
  lua_rawgeti(L, list, i);
  const Tensor *t = engine_operand(L, lua_gettop(L), "scan", list == INIT ? "init" : "xs",
                                   header, number);
  if (t->rank == TENSOR_MAX_RANK && list == INIT)
    host_fail(L, "scan", "init has too many dimensions");
  lua_rawseti(L, list, i);
  return t;
}

static void make_leaves (lua_State *L, Draft *draft) {
  StackTensor row;
  Tensor header;
  double number;
  size_t n = (size_t)(draft->states + draft->inputs);
  Scan *scan = draft->scan = room_for(L, 1, sizeof *scan);
  *scan = (Scan) {.steps = draft->steps};
  scan->leaf = room_for(L, n, sizeof *scan->leaf);
  for (int k = 1; k <= draft->states; k++)
    add_leaf(L, draft, list_operand(L, INIT, k, &header, &number));
  for (int k = 1; k <= draft->inputs; k++) {
    const Tensor *t = list_operand(L, XS, k, &header, &number);
    if (t->rank == 0 || (size_t)t->shape[0] != draft->steps)
      host_fail(L, "scan", "xs must have %I rows", (lua_Integer)draft->steps);
    add_leaf(L, draft, first_row(&row, t));
  }
}

/* Was it computed by f? */
static bool is_inner (const Draft *draft, const Node *node) {
  return node != NULL && node->kind != NODE_LEAF && node->order >= draft->begin;
}

static bool is_leaf (const Draft *draft, const Node *node) {
  const Scan *scan = draft->scan;
  size_t k = 0;
  while (k < scan->leaves && scan->leaf[k] != node) k++;
  return k < scan->leaves;
}

/* Can t, which f returned, be what a step leaves? Views, and what comes from outside and has a
   gradient, are copied. */
static bool is_own (const Draft *draft, const Tensor *t) {
  if (!tensor_is_contiguous(t)) return false;
  return !is_tracked(t) || (t->owner == t && is_inner(draft, t->node));
}

/* Replaces what f returned, on top, by a tensor that a step can leave. */
static void to_own (lua_State *L, const Draft *draft) {
  Tensor header;
  double number;
  const Tensor *t = engine_operand(L, lua_gettop(L), "scan", "what f returns", &header, &number);
  if (t->rank == TENSOR_MAX_RANK) host_fail(L, "scan", "what f returns has too many dimensions");
  if (!tensor_is_number(t) && is_own(draft, t)) return;
  Recording r = {.state = draft->state, .who = "scan", .kind = NODE_ELEMENTWISE, .n = 1,
                 .kernel = host_kernel(L, "identity", "identity"), .base = lua_gettop(L),
                 .in = &t};
  Tensor *copy = engine_new_recorded(L, &r, t->rank, t->shape, NULL);
  host_copy(L, copy, t);
  lua_replace(L, -2);
}

/* call_step(step, leaves, draft): what step(leaves) returns, a list, as tensors that a step can
   leave; protected */
static int call_step (lua_State *L) {
  const Draft *draft = lua_touserdata(L, 3);
  copy_list(L, 2);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_call(L, 1, 1);
  if (!lua_istable(L, 4)) host_fail_type(L, "scan", "what the step returns", "a table", 4);
  lua_Integer n = (lua_Integer)lua_rawlen(L, 4);
  lua_newtable(L);
  for (lua_Integer i = 1; i <= n; i++) {
    lua_rawgeti(L, 4, i);
    to_own(L, draft);
    lua_rawseti(L, 5, i);
  }
  return 1;
}

/* Puts what f returns into MADE. Everything it does is recorded, nothing waits, and what would
   be missed raises, as in a trace. */
static void record (lua_State *L, Draft *draft) {
  State *state = draft->state;
  int tracing = state->tracing, paused = state->paused, deferring = state->deferring;
  int writing = state->writing;
  if (!tracing) {
    lua_newtable(L);
    record_set_generators(L, -1);
    lua_pop(L, 1);
  }
  lua_pushcfunction(L, call_step);
  lua_pushvalue(L, STEP);
  lua_pushvalue(L, LEAVES);
  lua_pushlightuserdata(L, draft);
  state->tracing = 2;
  state->writing = 1;
  state->paused = state->deferring = 0;
  draft->begin = state->order;
  int status = lua_pcall(L, 3, 1, 0);
  state->tracing = tracing;
  state->paused = paused;
  state->deferring = deferring;
  state->writing = writing;
  if (!tracing) record_set_generators(L, 0);
  if (status != LUA_OK) lua_error(L);
  lua_replace(L, MADE);
}

/* Has each state the shape that it had? */
static void check_made (lua_State *L, Draft *draft) {
  int n = (int)lua_rawlen(L, MADE);
  if (n < draft->states) host_fail(L, "scan", "f must return the new state");
  draft->outputs = n - draft->states;
  for (int k = 1; k <= draft->states; k++) {
    const Tensor *before = listed(L, LEAVES, k), *after = listed(L, MADE, k);
    if (tensor_same_shape(before, after)) continue;
    lua_rawgeti(L, NAMES, k);
    const char *name = luaL_tolstring(L, -1, NULL);
    host_push_shape(L, before->rank, before->shape);
    host_push_shape(L, after->rank, after->shape);
    host_fail(L, "scan", "%s must keep its shape %s, f returned %s", name,
              lua_tostring(L, -2), lua_tostring(L, -1));
  }
}

/* }====================================================== */


/* {=====================================================
** The nodes of a step
** ====================================================== */

/* Is this the first time that the address is met? */
static bool is_new (lua_State *L, const void *address) {
  bool found = lua_rawgetp(L, SEEN, address) != LUA_TNIL;
  lua_pop(L, 1);
  if (found) return false;
  lua_pushboolean(L, 1);
  lua_rawsetp(L, SEEN, address);
  return true;
}

/* Puts the tensor on top, which is popped, where it belongs: that of a node of the step into
   NODES, what comes from outside into OTHERS. */
static void sort_tensor (lua_State *L, const Draft *draft) {
  const Tensor *t = lua_touserdata(L, -1);
  const Node *node = t->owner->node;
  bool inner = is_inner(draft, node);
  if (!is_new(L, node != NULL && (inner || is_leaf(draft, node)) ? (const void *)node : t))
    lua_pop(L, 1);
  else if (!inner) append(L, OTHERS);
  else {
    if (t->owner != t) {
      lua_getiuservalue(L, -1, 1);
      lua_replace(L, -2);
    }
    append(L, NODES);
  }
}

static void check_node (lua_State *L, const Node *node) {
  if (node->generator != NULL)
    host_fail(L, "scan", "f must not draw, because it is called once; draw the noise of all steps"
              " before, and pass it as one of xs");
  if (node->kind == NODE_CALL)
    host_fail(L, "scan", "functions with a gradient of their own (peri.func) run in Lua, and"
              " cannot be part of a step");
}

/* Finds the nodes below what f returned. */
static void collect (lua_State *L, Draft *draft) {
  for (size_t k = 0; k < draft->scan->leaves; k++) is_new(L, draft->scan->leaf[k]);
  for (int k = 1; k <= draft->states + draft->outputs; k++) {
    lua_rawgeti(L, MADE, k);
    sort_tensor(L, draft);
  }
  for (lua_Unsigned i = 1; i <= lua_rawlen(L, NODES); i++) {
    if (i % NODES_PER_LOOK == 0) host_look(L, draft->state);
    lua_rawgeti(L, NODES, (lua_Integer)i);
    const Node *node = ((const Tensor *)lua_touserdata(L, -1))->node;
    check_node(L, node);
    for (int k = 0; k < node->n; k++) {
      if (node->in[k].is_number) continue;
      lua_getiuservalue(L, -1, k + 1);
      sort_tensor(L, draft);
    }
    lua_pop(L, 1);
  }
  draft->others = (int)lua_rawlen(L, OTHERS);
  if (draft->others > MAX_INPUTS - draft->states - draft->inputs)
    host_fail(L, "scan", "f, init and xs have %d tensors, and there may be %d", draft->others
              + draft->states + draft->inputs, MAX_INPUTS);
}

/* Lists the nodes by age: they were met roughly from the youngest on. */
static void order_nodes (lua_State *L, const Draft *draft) {
  size_t n = draft->scan->n;
  Node **node = draft->by_age;
  for (size_t i = 0; i < n; i++) {
    Node *next = listed(L, NODES, (int)(n - i))->node;
    size_t at = i;
    for (; at > 0 && node[at - 1]->order > next->order; at--) node[at] = node[at - 1];
    node[at] = next;
  }
}

/* }====================================================== */


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
    const unsigned char *made = mark_of(draft, listed(L, MADE, k + 1)->node);
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
    *given++ = row_move(draft, listed(L, MADE, (int)k + 1), at + leaf->size);
    at += (draft->steps + 1) * leaf->size;
  }
  for (size_t k = states; k < states + inputs; k++)
    taken = add_lines(taken, scan->leaf[k]->result, (int)k, top->in[k].tensor, 1);
  for (size_t k = states; k < states + outputs; k++) {
    const Tensor *made = listed(L, MADE, (int)k + 1);
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
  double *unwanted = scan->slopes + scan->all_slopes;   /* room_for gives one more */
  for (size_t i = 0; i < scan->n; i++)
    scan->op[i] = op_of(draft, scan->node[i], kernels, unwanted);
}

/* }====================================================== */


/* {=====================================================
** The whole
** ====================================================== */

/* Elements of the result. */
static ptrdiff_t count_result (lua_State *L, const Draft *draft) {
  size_t total = 0, part;
  bool fits = true;
  for (int k = 0; k < draft->states + draft->outputs; k++) {
    size_t rows = draft->steps + (k < draft->states);
    fits = fits && !__builtin_mul_overflow(rows, listed(L, MADE, k + 1)->size, &part)
        && !__builtin_add_overflow(total, part, &total) && total <= PTRDIFF_MAX;
  }
  if (!fits) host_fail(L, "scan", "too many elements");
  return (ptrdiff_t)total;
}

/* Pushes the result, recorded in any case, without its program. */
static Tensor *push_result (lua_State *L, const Draft *draft, bool *tracked) {
  Tensor header[MAX_INPUTS];
  double number[MAX_INPUTS];
  const Tensor *in[MAX_INPUTS];
  const int lists[] = {INIT, XS, OTHERS}, sizes[] = {draft->states, draft->inputs, draft->others};
  ptrdiff_t size = count_result(L, draft);
  int n = 0, base = lua_gettop(L) + 1;
  luaL_checkstack(L, MAX_INPUTS + 16, "scan");
  for (int list = 0; list < 3; list++)
    for (int i = 1; i <= sizes[list]; i++, n++) {
      lua_rawgeti(L, lists[list], i);
      in[n] = engine_operand(L, base + n, "scan", "init", &header[n], &number[n]);
    }
  Recording r = {.state = draft->state, .who = "scan", .kind = NODE_SCAN, .n = n, .base = base,
                 .in = in, .always = true};
  *tracked = engine_is_tracked(draft->state, n, in);
  Tensor *t = engine_new_recorded(L, &r, 1, &size, NULL);
  lua_replace(L, base);
  lua_settop(L, base);
  return t;
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
  draft->by_age = room_for(L, n, sizeof(Node *));
  draft->mark = room_for(L, n + scan->leaves, 1);
  draft->value = room_for(L, n, sizeof(double *));
  order_nodes(L, draft);
  for (size_t i = 0; i < n; i++) scan->all_slopes += draft->by_age[i]->result->size;
  for (size_t k = 0; k < scan->leaves; k++) scan->all_slopes += scan->leaf[k]->result->size;
  scan->node = room_for(L, n, sizeof(Node *));
  scan->slopes = room_for(L, scan->all_slopes, sizeof(double));
  scan->begun.first = room_for(L, count_moves(top, 0, states, 0), sizeof(ScanMove));
  scan->taken.first = room_for(L, states + count_moves(top, states, inputs, 1), sizeof(ScanMove));
  scan->given.first = room_for(L, states + outputs, sizeof(ScanMove));
  scan->kept.first = room_for(L, 1 + n, sizeof(ScanMove));
  scan->numbers = room_for(L, n, sizeof(double));
  scan->op = room_for(L, n, sizeof(ScanOp));
  scan->sum = room_for(L, (size_t)draft->others, sizeof(ScanSum));
}

/* Makes the program of the node `top`. Nothing is allocated while nodes have numbers. */
static void make_program (lua_State *L, Draft *draft, Node *top) {
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
  else scan->history = room_for(L, kept * draft->steps, sizeof(double));
  top->scan = scan;
}

/* Computes the result on top of the stack. */
static void compute (lua_State *L, const Draft *draft, const Node *top) {
  double *scratch = NULL;
  size_t need, room = 0;
  Pool *pool;
  while (need = scan_scratch(top, pool = host_pool(L, SIZE_MAX)), need > room) {
    scratch = lua_newuserdatauv(L, need * sizeof *scratch, 0);
    room = need;
  }
  scan_forward(top, draft->state->sum, pool, scratch);
  host_check_stopped(L, pool);
}

/* A result without gradient needs no program. */
static void forget (lua_State *L, int index, Tensor *t) {
  int n = t->node->n;
  t->node = NULL;
  for (int k = 1; k <= n + 1; k++) {
    lua_pushnil(L);
    lua_setiuservalue(L, index, k);
  }
}

/* Pushes `rows` rows, or one without a dimension for them (rows == 0), of the shape of `like`,
   from element `at` of the result at `index` on. */
static void push_rows (lua_State *L, int index, const Tensor *like, size_t rows, size_t at) {
  const Tensor *whole = lua_touserdata(L, index);
  int front = rows > 0;
  Tensor *view = host_new_view(L, index, whole, like->rank + front);
  view->data = whole->data + at;
  view->size = like->size * (rows > 0 ? rows : 1);
  if (front) view->shape[0] = (ptrdiff_t)rows;
  memcpy(view->shape + front, like->shape, (size_t)like->rank * sizeof *like->shape);
  tensor_row_major(view->rank, view->shape, view->stride);
  if (view->rank == 0 && !is_tracked(view)) host_push_number(L, view->data[0]);
}

/* Pushes a list of what was stacked, and one of the last states. */
static void push_parts (lua_State *L, const Draft *draft, int index) {
  size_t at = 0;
  lua_newtable(L);
  lua_newtable(L);
  int stacked = lua_gettop(L) - 1, last = stacked + 1;
  for (int k = 0; k < draft->states + draft->outputs; k++) {
    const Tensor *like = listed(L, MADE, k + 1);
    bool is_state = k < draft->states;
    if (is_state) {
      push_rows(L, index, like, 0, at + draft->steps * like->size);
      lua_rawseti(L, last, k + 1);
      lua_settop(L, last);
      at += like->size;
    }
    if (!is_state || draft->outputs == 0) {
      push_rows(L, index, like, draft->steps, at);
      append(L, stacked);
    }
    at += draft->steps * like->size;
  }
}

/* core.scan(step, T, init, xs, names): a list of what the steps leave, T rows each, and one of the
   last states. step(leaves) is given a list of states, then rows; and returns one of states, then
   outputs, if it has any. The names of the states are for messages. */
static int scan (lua_State *L) {
  State *state = host_state(L);
  Draft draft = {.state = state};
  luaL_checktype(L, STEP, LUA_TFUNCTION);
  lua_Integer steps = luaL_checkinteger(L, STEPS);
  for (int i = INIT; i <= NAMES; i++) luaL_checktype(L, i, LUA_TTABLE);
  lua_settop(L, NAMES);
  copy_list(L, INIT);
  copy_list(L, XS);
  for (int i = KEPT; i <= SEEN; i++) lua_newtable(L);
  if (steps < 1) host_fail(L, "scan", "there must be at least one step");
  if (lua_rawlen(L, INIT) + lua_rawlen(L, XS) > MAX_INPUTS)
    host_fail(L, "scan", "init and xs may have %d tensors", MAX_INPUTS);
  if (state->sum == NULL) state->sum = host_kernel(L, "reduce", "sum");
  draft.steps = (size_t)steps;
  draft.states = (int)lua_rawlen(L, INIT);
  draft.inputs = (int)lua_rawlen(L, XS);
  make_leaves(L, &draft);
  record(L, &draft);
  check_made(L, &draft);
  collect(L, &draft);
  bool tracked;
  Tensor *t = push_result(L, &draft, &tracked);
  int index = lua_gettop(L);
  make_program(L, &draft, t->node);
  for (int list = LEAVES; list <= MADE; list++) {
    lua_pushvalue(L, list);
    append(L, KEPT);
  }
  lua_pushvalue(L, KEPT);
  lua_setiuservalue(L, index, t->node->n + 1);
  compute(L, &draft, t->node);
  if (!tracked) forget(L, index, t);
  push_parts(L, &draft, index);
  return 2;
}

/* }====================================================== */


void engine_open_scan (lua_State *L) {
  lua_pushcfunction(L, scan);
  lua_setfield(L, -2, "scan");
}
