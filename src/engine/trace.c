/*
** trace.c - recording what a function does, to be replayed without entering Lua
**
** core.trace(fn) calls fn once. The nodes below the number that it returns are kept, together
** with memory for their gradients; replay.c computes them again. core.trace(fn, x) keeps those of
** one parameter only: others, such as data that change, cost nothing on the way back.
*/
#include "autograd/steps.h"
#include "autograd/target.h"
#include "engine/trace.h"

static const char METATABLE = 'T';   /* registry key */

/* On the stack while a trace is made, behind what passes have there: generators. */
enum { DRAWN_FROM = PASS_TENSORS + 1 };


/* Replaces the function at index 1 by its result. The generators that it drew from are in the
   table at DRAWN_FROM. */
static void record (lua_State *L, State *state) {
  lua_newtable(L);
  lua_replace(L, DRAWN_FROM);
  record_set_generators(L, DRAWN_FROM);
  lua_pushvalue(L, 1);
  state->tracing = 1;
  int status = lua_pcall(L, 0, 1, 0);
  state->tracing = 0;
  record_set_generators(L, 0);
  if (status != LUA_OK) lua_error(L);
  lua_replace(L, 1);
}

static TraceStep step_of (lua_State *L, Node *node) {
  TraceStep step = {.node = node, .size = node_extent(node)};
  size_t block = step_block_size(node);
  for (int k = 0; k < node->n; k++) step.goes_back |= node->in[k].tracked && !node_is_flat(node);
  if (node->result->data == NULL && node->result->size == 1) step.value_after = node_room(node);
  if (block != SIZE_MAX) step.block = block;
  step.looks = node->kind == NODE_ELEMENTWISE && node->kernel->slow;
  if (node->generator != NULL && kernel_noise(node->kernel) != NULL)
    step.noise = host_kernel(L, "noise", kernel_noise(node->kernel));
  return step;
}

/* Finalizers may have written to operands: see tape_check_nodes. */
static void check_operands (lua_State *L, const Tape *tape) {
  for (size_t i = 0; i < tape->n; i++) tape_check_operands(L, tape->node[i]);
}

/*@ Trace
 * What a function has recorded, as a program that is replayed in C: peri.trace makes one,
 * trace() gives its number.
 * > w = param(3)
 * > trace(function () return w * w end)
 * trace(1 operations, 1 parameters) */
/* Pushes a trace of the nodes on the tape, which end in the tensor at index 1. */
static Trace *push_trace (lua_State *L, const Tape *tape, const Tensor *top) {
  size_t room = tape->n * (sizeof(TraceStep) + sizeof(TraceLeaf));
  Trace *trace = lua_newuserdatauv(L, sizeof *trace + room, TRACE_DRAWN);
  check_operands(L, tape);
  *trace = (Trace) {.magic = TRACE_MAGIC, .self = trace, .top = top};
  trace->leaf = (TraceLeaf *)(void *)(trace->step + tape->n);
  for (size_t i = 0; i < tape->n; i++)
    if (tape->node[i]->kind == NODE_LEAF)
      trace->leaf[trace->leaves++] = (TraceLeaf) {.node = tape->node[i]};
    else trace->step[trace->n++] = step_of(L, tape->node[i]);
  for (size_t i = 0; i < trace->n; i++) {
    TraceStep *step = &trace->step[i];
    trace->has_value_after |= step->value_after != NULL;
    step->looks |= i % NODES_PER_LOOK == NODES_PER_LOOK - 1;
    step->may_stop = step->looks || step->block == 0;
  }
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, TRACE_TOP);
  lua_pushvalue(L, DRAWN_FROM);
  lua_setiuservalue(L, -2, TRACE_DRAWN);
  return trace;
}

/* Makes memory for the gradients of all nodes, which the trace on top keeps. */
static void make_gradients (lua_State *L, const Tape *tape, Trace *trace) {
  ptrdiff_t size = 0;
  for (size_t i = 0; i < trace->n; i++)
    size += (ptrdiff_t)arena_padded(trace->step[i].node->result->size);
  for (size_t i = 0; i < trace->leaves; i++)
    size += (ptrdiff_t)arena_padded(trace->leaf[i].node->result->size);
  trace->gradients = host_new(L, "trace", 1, &size, NULL)->data;
  lua_setiuservalue(L, -2, TRACE_GRADIENTS);
  check_operands(L, tape);
}

/* Nothing flows back to nodes that do not depend on a parameter, the one that is wanted, or do so
   by way of flat ones alone. (`empty` marks them.) What a recurrence passes on is left as it is. */
static void leave_others_out (Trace *trace, const Node *wanted) {
  for (size_t i = 0; i < trace->leaves; i++) {
    TraceLeaf *leaf = &trace->leaf[i];
    leaf->left_out = leaf->node->empty = leaf->node != wanted;
  }
  for (size_t i = trace->n; i-- > 0; ) {
    Node *node = trace->step[i].node;
    node->empty = true;
    for (int k = 0; k < node->n; k++) {
      if (!node->in[k].tracked) continue;
      if (!node_is_flat(node) && !node_below(node, k)->empty) node->empty = false;
      else if (node->kind != NODE_SCAN) node->in[k].tracked = false;
    }
    if (node->empty) trace->step[i].goes_back = false;
  }
}

/* Where the inputs of single blocks are, now that all of them have been computed. */
static void find_inputs (Trace *trace, const Kernel *const operators[]) {
  for (size_t i = 0; i < trace->n; i++) {
    TraceStep *step = &trace->step[i];
    Node *node = step->node;
    NumberOp *number = &step->number;
    step->whole = step->block > 0 && step_block_inputs(node, step->block, number->in);
    step->direct = step->whole && node->kind == NODE_ELEMENTWISE && node->generator == NULL;
    if (!step->direct) continue;
    number->code = number_code(node, operators);
    number->n = step->goes_back ? node->n : 0;
    number->first_alone = is_cheap_first(node);
    number->kernel = node->kernel;
    number->out = step->value_after != NULL ? step->value_after : node->result->data;
  }
}

/* Marks as not empty what single numbers add to, and their own gradients. */
static void mark_cleared (const Trace *trace) {
  for (size_t i = 0; i < trace->n; i++) trace->step[i].node->empty = true;
  for (size_t i = 0; i < trace->leaves; i++) trace->leaf[i].node->empty = true;
  for (size_t i = 0; i < trace->n; i++) {
    Node *node = trace->step[i].node;
    if (trace->step[i].number.code == NUMBER_NONE) continue;
    node->empty = false;
    for (int k = 0; k < node->n; k++)
      if (node->in[k].tracked) node_below(node, k)->empty = false;
  }
}

/* Gives its part of memory to each node that is cleared before a pass, or that is not. */
static double *place_some (Trace *trace, bool cleared, double *at) {
  for (size_t i = 0; i < trace->n; i++) {
    TraceStep *step = &trace->step[i];
    if (step->node->empty == cleared) continue;
    step->cleared = cleared;
    step->gradient = step->node->gradient = at;
    at += cleared ? step->node->result->size : arena_padded(step->node->result->size);
  }
  for (size_t i = 0; i < trace->leaves; i++) {
    TraceLeaf *leaf = &trace->leaf[i];
    if (leaf->node->empty == cleared) continue;
    leaf->cleared = cleared;
    leaf->gradient = leaf->node->gradient = at;
    at += cleared ? leaf->node->result->size : arena_padded(leaf->node->result->size);
  }
  return at;
}

static void place_gradients (State *state, Trace *trace) {
  tape_save(state->tape);
  mark_cleared(trace);
  trace->cleared = (size_t)(place_some(trace, true, trace->gradients) - trace->gradients);
  place_some(trace, false, trace->gradients + arena_padded(trace->cleared));
  for (size_t i = 0; i < trace->n; i++) {
    TraceStep *step = &trace->step[i];
    const Node *node = step->node;
    step->number.slope = step->gradient;
    for (int k = 0; k < node->n && step->number.code != NUMBER_NONE; k++)
      step->number.to[k] = node->in[k].tracked ? gradient_at(node->in[k].tensor)
                                               : &trace->unwanted;
  }
}

/* Can all of it be replayed? Nodes have been numbered from `begin` on since the function was
   called; the generators of earlier draws may be gone. */
static void check_tape (lua_State *L, const Tape *tape, uint64_t begin) {
  if (tape->calls)
    host_fail(L, "trace", "functions with a gradient of their own (peri.func) run in Lua, and"
              " cannot be replayed");
  for (size_t i = 0; i < tape->n; i++)
    if (tape->node[i]->kind != NODE_LEAF && tape->node[i]->order < begin)
      host_fail(L, "trace", "the function uses what was computed from parameters before it was"
                " called; only what it does itself is replayed");
}

/* The node of the parameter at `index`, or NULL. */
static const Node *wanted_node (lua_State *L, int index) {
  if (lua_isnoneornil(L, index)) return NULL;
  const Tensor *x = engine_check_argument(L, index, "trace", "x");
  if (x->node == NULL || x->node->kind != NODE_LEAF)
    host_fail_type(L, "trace", "x", "a parameter (peri.param)", index);
  return x->node;
}

/* core.trace(fn), core.trace(fn, x) */
static int new_trace (lua_State *L) {
  State *state = lua_touserdata(L, lua_upvalueindex(PASS_STATE));
  const Kernel *operators[NUMBER_OPERATORS];
  Tape tape;
  Arena arena;
  host_arguments(L, "trace", 2);
  const Node *wanted = wanted_node(L, 2);
  for (int k = 0; k < NUMBER_OPERATORS; k++)
    operators[k] = host_kernel(L, number_operators[k].file, number_operators[k].name);
  if (state->tracing) host_fail(L, "trace", "not within another trace");
  if (state->sum == NULL) state->sum = host_kernel(L, "reduce", "sum");
  if (!lua_isfunction(L, 1) && !luaL_getmetafield(L, 1, "__call"))
    host_fail_type(L, "trace", "fn", "a function", 1);
  lua_settop(L, 1);
  lua_settop(L, DRAWN_FROM);
  uint64_t begin = state->order;
  record(L, state);
  const Tensor *top = pass_check_result(L, "trace", "what the function returns");
  arena_open(L, state, &tape, &arena);
  tape_save(tape.outer);
  tape_collect(L, state, &tape, top->owner->node);
  check_tape(L, &tape, begin);
  Trace *trace = push_trace(L, &tape, top);
  make_gradients(L, &tape, trace);
  engine_force(L, 1);
  check_operands(L, &tape);
  arena_close(L);
  replay_release(L, state, trace);   /* no node waits any more, or can lose an operand */
  if (wanted != NULL) leave_others_out(trace, wanted);
  find_inputs(trace, operators);
  place_gradients(state, trace);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &METATABLE);
  lua_setmetatable(L, -2);
  return 1;
}


/* core.trace(fn) -> a trace, whose methods are value() and backward() */
void engine_open_trace (lua_State *L) {
  replay_push_metatable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &METATABLE);
  pass_push_function(L, new_trace);
  lua_setfield(L, -2, "trace");
}
