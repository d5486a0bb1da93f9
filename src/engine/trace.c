/*
** trace.c - replaying what a function recorded, without entering Lua
**
** core.trace(fn) calls fn once. The nodes below the number that it returns are kept, together
** with memory for their gradients. A replay computes them again from the oldest on, where
** they lie, from parameters and data as they are by then, with new draws; and walks back.
** Nothing is allocated then, once parameters have their grads: what may raise comes before
** anything is written, but for hooks. If one raises, grads are as they were, and results are
** something in between, until the next replay.
**
** No gradient depends on the values of sums that waited when fn was done, or of what was made of
** them. They are computed after the backward pass, or during it.
*/
#include "autograd/adjoint.h"
#include "autograd/forward.h"
#include "autograd/scan.h"
#include "autograd/steps.h"
#include "engine/walk.h"

static const char METATABLE = 'T';   /* registry key */

#define MAGIC 0x7065726974726163u   /* "peritrac" */

typedef struct TraceStep {
  Node *node;
  double *gradient;      /* memory for it */
  size_t block;          /* elements of a node of a single block, or 0 */
  const double *in[KERNEL_MAX_IN];
  bool whole;            /* each input has so many elements, */
  bool direct;           /* and nothing but its kernel is to be called */
  bool leads;            /* has it tracked inputs? */
  bool looks;            /* hooks may run after it, */
  bool asks;             /* or have run during it */
  double *value_after;   /* where a value goes that is computed after the backward pass, or NULL */
  const Kernel *noise;   /* that feeds a draw */
  size_t size;           /* that it goes through */
} TraceStep;

typedef struct TraceLeaf {
  Node *node;
  double *gradient;      /* memory for it, where there is a grad already */
} TraceLeaf;

typedef struct Trace {
  uint64_t magic;
  const struct Trace *self;
  const Tensor *top;
  double *scratch;
  int threads;           /* for which that is enough; 0 for none */
  uint64_t released;     /* nothing has begun to wait since then */
  uint64_t walk;         /* number of the last walk back */
  bool has_value_after;
  size_t n, leaves;
  TraceLeaf *leaf;       /* behind the steps */
  TraceStep step[];      /* the youngest first */
} Trace;

/* User values of a trace. */
enum { TOP = 1, GRADIENTS, SCRATCH, DRAWN };

/* On the stack while it is made, behind what walks have there: generators. */
enum { DRAWN_FROM = WALK_TENSORS + 1 };


/* {=====================================================
** Recording
** ====================================================== */

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
  for (int k = 0; k < node->n; k++) step.leads |= node->in[k].tracked && !node_is_flat(node);
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

/* Pushes a trace of the nodes on the tape, which end in the tensor at index 1. */
static Trace *push_trace (lua_State *L, const Tape *tape, const Tensor *top) {
  size_t room = tape->n * (sizeof(TraceStep) + sizeof(TraceLeaf));
  Trace *trace = lua_newuserdatauv(L, sizeof *trace + room, DRAWN);
  check_operands(L, tape);
  *trace = (Trace) {.magic = MAGIC, .self = trace, .top = top};
  trace->leaf = (TraceLeaf *)(void *)(trace->step + tape->n);
  for (size_t i = 0; i < tape->n; i++)
    if (tape->node[i]->kind == NODE_LEAF) trace->leaf[trace->leaves++].node = tape->node[i];
    else trace->step[trace->n++] = step_of(L, tape->node[i]);
  for (size_t i = 0; i < trace->n; i++) {
    TraceStep *step = &trace->step[i];
    trace->has_value_after |= step->value_after != NULL;
    step->looks |= i % WALK_LOOK == WALK_LOOK - 1;
    step->asks = step->looks || step->block == 0;
  }
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, TOP);
  lua_pushvalue(L, DRAWN_FROM);
  lua_setiuservalue(L, -2, DRAWN);
  return trace;
}

/* Gives each node its part of memory for gradients, which the trace on top keeps. */
static void place_gradients (lua_State *L, const Tape *tape, Trace *trace) {
  ptrdiff_t size = 0;
  for (size_t i = 0; i < trace->n; i++)
    size += (ptrdiff_t)arena_padded(trace->step[i].node->result->size);
  for (size_t i = 0; i < trace->leaves; i++)
    size += (ptrdiff_t)arena_padded(trace->leaf[i].node->result->size);
  double *at = host_new(L, "trace", 1, &size, NULL)->data;
  lua_setiuservalue(L, -2, GRADIENTS);
  check_operands(L, tape);
  for (size_t i = 0; i < trace->n; i++) {
    trace->step[i].gradient = at;
    at += arena_padded(trace->step[i].node->result->size);
  }
  for (size_t i = 0; i < trace->leaves; i++) {
    trace->leaf[i].gradient = at;
    at += arena_padded(trace->leaf[i].node->result->size);
  }
}

/* What waits for results, and for grads, is to be computed before they change. */
static void release (lua_State *L, const State *state, Trace *trace) {
  for (size_t i = 0; i < trace->n; i++) engine_before_write(L, trace->step[i].node->result);
  for (size_t i = 0; i < trace->leaves; i++) grads_prepare(L, trace->leaf[i].node);
  trace->released = state->waiting;
}

/* Now that all of them have been computed. */
static void find_inputs (Trace *trace) {
  for (size_t i = 0; i < trace->n; i++) {
    TraceStep *step = &trace->step[i];
    step->whole = step->block > 0 && step_block_inputs(step->node, step->block, step->in);
    step->direct = step->whole && step->node->kind == NODE_ELEMENTWISE
                && step->node->generator == NULL;
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

/* core.trace(fn) */
static int new_trace (lua_State *L) {
  State *state = lua_touserdata(L, lua_upvalueindex(WALK_STATE));
  Tape tape;
  Arena arena;
  host_arguments(L, "trace", 1);
  if (state->tracing) host_fail(L, "trace", "not within another trace");
  if (state->sum == NULL) state->sum = host_kernel(L, "reduce", "sum");
  if (!lua_isfunction(L, 1) && !luaL_getmetafield(L, 1, "__call"))
    host_fail_type(L, "trace", "fn", "a function", 1);
  lua_settop(L, 1);
  lua_settop(L, DRAWN_FROM);
  uint64_t begin = state->order;
  record(L, state);
  const Tensor *top = walk_check_result(L, "trace", "what the function returns");
  arena_open(L, state, &tape, &arena);
  tape_note(tape.outer);
  tape_collect(L, state, &tape, top->owner->node);
  check_tape(L, &tape, begin);
  Trace *trace = push_trace(L, &tape, top);
  place_gradients(L, &tape, trace);
  engine_force(L, 1);
  check_operands(L, &tape);
  arena_close(L);
  release(L, state, trace);       /* none of the nodes waits any more, or can lose an operand */
  find_inputs(trace);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &METATABLE);
  lua_setmetatable(L, -2);
  return 1;
}

/* }====================================================== */


/* {=====================================================
** Replaying
** ====================================================== */

static Trace *check_trace (lua_State *L, const char *who) {
  Trace *trace = lua_type(L, 1) == LUA_TUSERDATA && lua_rawlen(L, 1) >= sizeof *trace
               ? lua_touserdata(L, 1) : NULL;
  if (trace == NULL || trace->magic != MAGIC || trace->self != trace)
    host_fail_type(L, who, "self", "a trace (peri.trace)", 1);
  return trace;
}

/* The trace to replay. */
static Trace *check_replay (lua_State *L, const State *state, const char *who) {
  if (state->tracing) host_fail(L, who, "not within another trace");
  return check_trace(L, who);
}

static Pool *pool_for (lua_State *L, const TraceStep *step) {
  return step->block > 0 ? NULL : host_pool(L, step->size);
}

/* Doubles of scratch that some step needs. */
static size_t scratch_need (lua_State *L, const Trace *trace) {
  size_t most = 0;
  for (size_t i = 0; i < trace->n; i++) {
    const TraceStep *step = &trace->step[i];
    if (step->block > 0) continue;
    bool scans = step->node->kind == NODE_SCAN;
    size_t ahead = scans ? scan_scratch(step->node, pool_for(L, step))
                         : forward_scratch(step->node, pool_for(L, step));
    size_t back = scans ? 0 : adjoint_scratch(step->node, pool_for(L, step));
    size_t need = ahead > back ? ahead : back;
    if (need > most) most = need;
  }
  return most;
}

/* Memory for as many threads as there are. */
static void make_scratch (lua_State *L, Trace *trace) {
  int threads = pool_threads(host_pool(L, SIZE_MAX));
  if (threads <= trace->threads) return;
  ptrdiff_t need = (ptrdiff_t)scratch_need(L, trace);
  trace->scratch = host_new(L, "trace", 1, &need, NULL)->data;
  lua_setiuservalue(L, 1, SCRATCH);
  trace->threads = threads;
}

static bool is_ready (lua_State *L, const State *state, const Trace *trace) {
  return trace->released == state->waiting
      && pool_threads(host_pool(L, SIZE_MAX)) <= trace->threads;
}

/* Whatever may raise: memory, and those who look at what is going to change. Finalizers may
   begin to look, and change the number of threads, meanwhile. */
static void prepare (lua_State *L, const State *state, Trace *trace) {
  while (!is_ready(L, state, trace)) {
    make_scratch(L, trace);
    release(L, state, trace);
  }
}

/* Draws again; the generator moves on. */
static void draw (lua_State *L, const State *state, const Trace *trace, const TraceStep *step) {
  Philox *g = step->node->generator;
  uint64_t position = philox_claim(g, step->node->in[0].tensor->size);
  forward_step(step->node, state->sum, step->noise, position, pool_for(L, step),
               trace->scratch);
}

/* After a step that asks: is the replay to be given up? */
static bool is_stopped (lua_State *L, State *state, const TraceStep *step) {
  state->running = L;
  if (step->looks) watch_look(&state->watch, watch_clock());
  return watch_stopped(&state->watch);
}

/* Computes the result of a step. */
static inline void compute (lua_State *L, const State *state, const Trace *trace,
                            const TraceStep *step) {
  Node *node = step->node;
  if (step->direct) node->kernel->value(step->block, step->in, node->result->data);
  else if (node->generator != NULL) draw(L, state, trace, step);
  else if (node->kind == NODE_SCAN)
    scan_forward(node, state->sum, pool_for(L, step), trace->scratch);
  else forward_step(node, state->sum, NULL, 0, pool_for(L, step), trace->scratch);
  node->result->writes++;
}

static void go_forward (lua_State *L, State *state, const Trace *trace) {
  for (size_t i = trace->n; i-- > 0; ) {
    const TraceStep *step = &trace->step[i];
    if (step->value_after == NULL) compute(L, state, trace, step);
    if (step->asks && is_stopped(L, state, step)) return;
  }
}

/* Values that were left for later, but for sums that got theirs during the backward pass. */
static void compute_after (lua_State *L, const State *state, const Trace *trace, bool walked) {
  for (size_t i = trace->n; trace->has_value_after && i-- > 0; ) {
    const TraceStep *step = &trace->step[i];
    Tensor *result = step->node->result;
    if (step->value_after == NULL) continue;
    if (walked && step->block == 0 && result->data != NULL) result->writes++;
    else {
      result->data = step->value_after;
      compute(L, state, trace, step);
    }
  }
}

/* Gives nodes memory for their gradients. Those of parameters that have no grad go where that
   will be. */
static void start_back (Trace *trace, uint64_t walk) {
  for (size_t i = 0; i < trace->leaves; i++) {
    Node *node = trace->leaf[i].node;
    node->gradient = node->has_grad ? trace->leaf[i].gradient : node->grad->data;
    node->empty = true;
    node->walk = walk;
  }
  for (size_t i = 0; i < trace->n; i++) {
    const TraceStep *step = &trace->step[i];
    step->node->gradient = step->gradient;
    step->node->empty = true;
    step->node->walk = walk;
    if (step->value_after != NULL && step->block == 0) step->node->result->data = NULL;
  }
  const Tensor *top = trace->top, *owner = top->owner;
  node_fill_gradient(NULL, owner->node);
  owner->node->gradient[top == owner ? 0 : top->data - owner->data] = 1;
}

static void go_back (lua_State *L, State *state, const Trace *trace) {
  for (size_t i = 0; i < trace->n; i++) {
    const TraceStep *step = &trace->step[i];
    if (!step->leads) continue;
    if (step->block > 0) node_fill_gradient(NULL, step->node);
    if (step->whole) step_block_whole(step->node, state->sum, step->block, step->in);
    else if (step->block > 0) step_block(step->node, state->sum, step->block);
    else if (step->node->kind == NODE_SCAN)
      scan_back(step->node, state->sum, pool_for(L, step), trace->scratch);
    else adjoint_step(step->node, state->sum, true, pool_for(L, step), trace->scratch);
    if (step->asks && is_stopped(L, state, step)) return;
  }
}

/* From here on nothing raises, and nothing that a hook computes waits for results or grads. */
static int begin_writing (lua_State *L, State *state, Trace *trace) {
  int before = state->writing;
  prepare(L, state, trace);
  state->writing = 1;
  return before;
}

/* Raises if the replay was given up. Values left for later are there, whatever they are. */
static void end_writing (lua_State *L, State *state, const Trace *trace, int before) {
  state->writing = before;
  if (!watch_stopped(&state->watch)) return;
  for (size_t i = 0; i < trace->n; i++)
    if (trace->step[i].value_after != NULL) trace->step[i].node->result->data = trace->step[i].value_after;
  host_stop(L);
}

/* Has no other walk met the same nodes? The trace was the last one to do so when it began. */
static void check_walk (lua_State *L, const State *state, void *data) {
  const Trace *trace = data;
  bool met = false;
  (void)state;
  for (size_t i = 0; i < trace->leaves; i++) met |= trace->leaf[i].node->walk != trace->walk;
  for (size_t i = 0; i < trace->n; i++)
    met |= trace->step[i].node->walk != trace->walk || !scan_is_ours(trace->step[i].node);
  if (met)
    host_fail(L, "trace:backward", "gradients of the same tensors were changed meanwhile, by a"
              " hook");
}

/* From a result to the gradients of what it was computed from. */
static void walk_back (lua_State *L, State *state, Trace *trace) {
  tape_note(state->tape);
  start_back(trace, trace->walk = ++state->walk);
  const Walking walking = {state->walk, check_walk, trace}, *before = state->walking;
  state->walking = &walking;
  go_back(L, state, trace);
  if (!watch_stopped(&state->watch)) compute_after(L, state, trace, true);
  state->walking = before;
}

/* trace:backward(): the number, computed again; adds its gradients to those of parameters */
static int replay_back (lua_State *L) {
  State *state = lua_touserdata(L, lua_upvalueindex(WALK_STATE));
  Trace *trace = check_replay(L, state, "trace:backward");
  int writing = begin_writing(L, state, trace);
  go_forward(L, state, trace);
  if (!watch_stopped(&state->watch)) walk_back(L, state, trace);
  end_writing(L, state, trace, writing);
  for (size_t i = 0; i < trace->leaves; i++) {
    node_fill_gradient(NULL, trace->leaf[i].node);
    grads_deliver(trace->leaf[i].node);
  }
  lua_pushnumber(L, trace->top->data[0]);
  return 1;
}

/* trace:value(), trace(): the number alone */
static int replay (lua_State *L) {
  State *state = lua_touserdata(L, lua_upvalueindex(WALK_STATE));
  Trace *trace = check_replay(L, state, "trace:value");
  int writing = begin_writing(L, state, trace);
  state->walk++;
  go_forward(L, state, trace);
  if (!watch_stopped(&state->watch)) compute_after(L, state, trace, false);
  end_writing(L, state, trace, writing);
  lua_pushnumber(L, trace->top->data[0]);
  return 1;
}

static int describe (lua_State *L) {
  const Trace *trace = check_trace(L, "trace");
  lua_pushfstring(L, "trace(%d operations, %d parameters)", (int)trace->n, (int)trace->leaves);
  return 1;
}

/* }====================================================== */


static void push_metatable (lua_State *L) {
  lua_newtable(L);
  lua_pushliteral(L, "perilune.trace");
  lua_setfield(L, -2, "__name");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pushcfunction(L, describe);
  lua_setfield(L, -2, "__tostring");
  walk_push_function(L, replay);
  lua_setfield(L, -2, "__call");
  lua_newtable(L);
  walk_push_function(L, replay);
  lua_setfield(L, -2, "value");
  walk_push_function(L, replay_back);
  lua_setfield(L, -2, "backward");
  lua_setfield(L, -2, "__index");
}

/* core.trace(fn) -> a trace, whose methods are value() and backward() */
void engine_open_trace (lua_State *L) {
  push_metatable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &METATABLE);
  walk_push_function(L, new_trace);
  lua_setfield(L, -2, "trace");
}
