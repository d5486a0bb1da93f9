/*
** replay.c - computing a trace again
**
** A replay computes the nodes of a trace in place, from the oldest on, from the current
** parameters and data, with new draws; then it runs the backward pass.
**
** It allocates nothing once parameters have their grads. What may raise comes before anything is
** written, except hooks: if one raises, grads are as they were, and results are a mixture of old
** and new ones until the next replay.
**
** No gradient depends on the values of sums that waited when the function returned, or on what was
** made of them. They are computed after the backward pass, or during it.
*/
#include <string.h>

#include "autograd/adjoint.h"
#include "autograd/forward.h"
#include "autograd/scan.h"
#include "autograd/steps.h"
#include "engine/trace.h"


static Trace *check_trace (lua_State *L, const char *who) {
  Trace *trace = lua_type(L, 1) == LUA_TUSERDATA && lua_rawlen(L, 1) >= sizeof *trace
               ? lua_touserdata(L, 1) : NULL;
  if (trace == NULL || trace->magic != TRACE_MAGIC || trace->self != trace)
    host_fail_type(L, who, "self", "a trace (peri.trace)", 1);
  return trace;
}

/* The trace to replay. */
static Trace *check_replay (lua_State *L, const State *state, const char *who) {
  if (state->tracing) host_fail(L, who, "not within another trace");
  return check_trace(L, who);
}

/* Without L the work is done by the thread that calls, and is not watched. */
static Pool *pool_for (lua_State *L, const TraceStep *step) {
  return L == NULL || step->block > 0 ? NULL : host_pool(L, step->size);
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
  lua_setiuservalue(L, 1, TRACE_SCRATCH);
  trace->threads = threads;
}

void replay_release (lua_State *L, const State *state, Trace *trace) {
  for (size_t i = 0; i < trace->n; i++) engine_before_write(L, trace->step[i].node->result);
  for (size_t i = 0; i < trace->leaves; i++) grads_prepare(L, trace->leaf[i].node);
  trace->released = state->waiting;
}

static bool is_ready (lua_State *L, const State *state, const Trace *trace) {
  return trace->released == state->waiting
      && pool_threads(host_pool(L, SIZE_MAX)) <= trace->threads;
}

/* Does all that may raise: gets memory, and computes what waits for results. Finalizers may run
   meanwhile, make other results wait, and change the number of threads: then again. */
static void prepare (lua_State *L, const State *state, Trace *trace) {
  while (!is_ready(L, state, trace)) {
    make_scratch(L, trace);
    replay_release(L, state, trace);
  }
}

/* Draws again; the generator moves on. */
static void draw (lua_State *L, const State *state, const Trace *trace, const TraceStep *step) {
  Philox *g = step->node->generator;
  uint64_t position = philox_claim(g, step->node->in[0].tensor->size);
  forward_step(step->node, state->sum, step->noise, position, pool_for(L, step),
               trace->scratch);
}

/* After a step during which hooks may run: is the replay to be given up? */
static bool is_stopped (lua_State *L, State *state, const TraceStep *step) {
  if (L == NULL) return false;
  state->running = L;
  if (step->looks) watch_look(&state->watch, watch_clock());
  return watch_stopped(&state->watch);
}

/* Computes the result of a step. Without L that was said of all steps before: replay_ready. */
static inline void compute (lua_State *L, const State *state, const Trace *trace,
                            const TraceStep *step) {
  Node *node = step->node;
  if (step->number.code != NUMBER_NONE) number_run(&step->number);
  else if (step->direct) node->kernel->value(step->block, step->number.in, node->result->data);
  else if (node->generator != NULL) draw(L, state, trace, step);
  else if (node->kind == NODE_SCAN)
    scan_forward(node, state->sum, pool_for(L, step), trace->scratch);
  else forward_step(node, state->sum, NULL, 0, pool_for(L, step), trace->scratch);
  if (L != NULL) node->result->writes++;
}

static void go_forward (lua_State *L, State *state, const Trace *trace) {
  for (size_t i = trace->n; i-- > 0; ) {
    const TraceStep *step = &trace->step[i];
    if (step->value_after == NULL) compute(L, state, trace, step);
    if (step->may_stop && is_stopped(L, state, step)) return;
  }
}

/* Values that were left for later, but for sums that got theirs during the backward pass. */
static void compute_after (lua_State *L, const State *state, const Trace *trace, bool after_pass) {
  for (size_t i = trace->n; trace->has_value_after && i-- > 0; ) {
    const TraceStep *step = &trace->step[i];
    Tensor *result = step->node->result;
    if (step->value_after == NULL) continue;
    if (after_pass && step->block == 0 && result->data != NULL) result->writes++;
    else {
      result->data = step->value_after;
      compute(L, state, trace, step);
    }
  }
}

/* Gives nodes memory for their gradients. Those of parameters that have no grad go where that
   will be. */
static void start_back (Trace *trace, uint64_t pass) {
  memset(trace->gradients, 0, trace->cleared * sizeof(double));
  for (size_t i = 0; i < trace->leaves; i++) {
    Node *node = trace->leaf[i].node;
    bool own = trace->leaf[i].cleared || node->has_grad;
    node->gradient = own ? trace->leaf[i].gradient : node->grad->data;
    node->empty = !trace->leaf[i].cleared;
    node->pass = pass;
  }
  for (size_t i = 0; i < trace->n; i++) {
    const TraceStep *step = &trace->step[i];
    step->node->gradient = step->gradient;
    step->node->empty = !step->cleared;
    step->node->pass = pass;
    if (step->value_after != NULL && step->block == 0) step->node->result->data = NULL;
  }
  const Tensor *top = trace->top, *owner = top->owner;
  node_fill_gradient(NULL, owner->node);
  owner->node->gradient[top == owner ? 0 : top->data - owner->data] = 1;
}

/* From the gradient of a step's result to those of its operands. */
static inline void pass_back (lua_State *L, const State *state, const Trace *trace,
                              const TraceStep *step) {
  Node *node = step->node;
  if (step->number.code != NUMBER_NONE) number_back(&step->number);
  else if (step->block > 0) {
    node_fill_gradient(NULL, node);
    if (step->whole) step_block_whole(node, state->sum, step->block, step->number.in);
    else step_block(node, state->sum, step->block);
  } else if (node->kind == NODE_SCAN)
    scan_back(node, state->sum, pool_for(L, step), trace->scratch);
  else adjoint_step(node, state->sum, true, pool_for(L, step), trace->scratch);
}

static void go_back (lua_State *L, State *state, const Trace *trace) {
  for (size_t i = 0; i < trace->n; i++) {
    const TraceStep *step = &trace->step[i];
    if (!step->goes_back) continue;
    pass_back(L, state, trace, step);
    if (step->may_stop && is_stopped(L, state, step)) return;
  }
}

/* From here on nothing raises, and nothing that a hook computes waits for results or grads. */
static int begin_writing (lua_State *L, State *state, Trace *trace) {
  int before = state->writing;
  if (trace->is_replayed) host_fail(L, "trace", "a hook replays what is being replayed");
  prepare(L, state, trace);
  state->writing = 1;
  trace->is_replayed = true;
  return before;
}

/* Raises if the replay was given up. Values left for later are there, whatever they are. */
static void end_writing (lua_State *L, State *state, Trace *trace, int before) {
  state->writing = before;
  trace->is_replayed = false;
  if (!watch_stopped(&state->watch)) return;
  for (size_t i = 0; i < trace->n; i++)
    if (trace->step[i].value_after != NULL)
      trace->step[i].node->result->data = trace->step[i].value_after;
  host_stop(L);
}

/* Has no other pass met the same nodes? The trace was the last one to do so when it began. */
static void check_pass (lua_State *L, const State *state, void *data) {
  const Trace *trace = data;
  bool met = false;
  (void)state;
  for (size_t i = 0; i < trace->leaves; i++) met |= trace->leaf[i].node->pass != trace->pass;
  for (size_t i = 0; i < trace->n; i++)
    met |= trace->step[i].node->pass != trace->pass || !scan_is_ours(trace->step[i].node);
  if (met)
    host_fail(L, "trace:backward", "gradients of the same tensors were changed meanwhile, by a"
              " hook");
}

/* From a result to the gradients of what it was computed from. */
static void run_backward (lua_State *L, State *state, Trace *trace) {
  tape_save(state->tape);
  start_back(trace, trace->pass = ++state->passes);
  const ActivePass pass = {state->passes, check_pass, trace}, *before = state->active_pass;
  state->active_pass = &pass;
  go_back(L, state, trace);
  if (!watch_stopped(&state->watch)) compute_after(L, state, trace, true);
  state->active_pass = before;
}

/* Goes back from what was computed last, and pushes the number. */
static int back_and_deliver (lua_State *L, State *state, Trace *trace, int writing) {
  if (!watch_stopped(&state->watch)) run_backward(L, state, trace);
  end_writing(L, state, trace, writing);
  for (size_t i = 0; i < trace->leaves; i++) {
    if (trace->leaf[i].left_out) continue;
    node_fill_gradient(NULL, trace->leaf[i].node);
    grads_deliver(trace->leaf[i].node);
  }
  host_push_number(L, trace->top->data[0]);
  return 1;
}

/*@ Trace:backward() -> number
 * Computes the number again and adds its gradients to those of parameters: what f() and
 * backward would do.
 * > w = param(3)
 * > loss = trace(function () return w * w end)
 * > loss:backward(), item(w.grad)
 * 9.0  6.0 */
/* trace:backward(): the number, computed again; adds its gradients to those of parameters */
static int replay_back (lua_State *L) {
  State *state = lua_touserdata(L, lua_upvalueindex(PASS_STATE));
  Trace *trace = check_replay(L, state, "trace:backward");
  host_arguments(L, "trace:backward", 1);
  int writing = begin_writing(L, state, trace);
  go_forward(L, state, trace);
  return back_and_deliver(L, state, trace, writing);
}

/*@ Trace:pass_back() -> number
 * The second half of backward, for what value() has computed: adds the gradients of the number to
 * those of parameters, which must be as they were. No draw is made again.
 * > w = param(3)
 * > loss = trace(function () return w * w end)
 * > loss:value(), loss:pass_back(), item(w.grad)
 * 9.0  9.0  6.0 */
/* trace:pass_back(): the backward pass alone. Slopes are those at the present elements of operands:
   what the function is linear in may be written to between value() and this. */
static int replay_back_alone (lua_State *L) {
  State *state = lua_touserdata(L, lua_upvalueindex(PASS_STATE));
  Trace *trace = check_replay(L, state, "trace:pass_back");
  host_arguments(L, "trace:pass_back", 1);
  return back_and_deliver(L, state, trace, begin_writing(L, state, trace));
}

/*@ Trace:value() -> number
 * The number, computed again with the present parameters; trace() is the same.
 * > w = param(3)
 * > trace(function () return w * w end):value()
 * 9.0 */
/* trace:value(), trace(): the number alone */
static int replay (lua_State *L) {
  State *state = lua_touserdata(L, lua_upvalueindex(PASS_STATE));
  Trace *trace = check_replay(L, state, "trace:value");
  host_arguments(L, "trace:value", 1);
  int writing = begin_writing(L, state, trace);
  state->passes++;
  go_forward(L, state, trace);
  if (!watch_stopped(&state->watch)) compute_after(L, state, trace, false);
  end_writing(L, state, trace, writing);
  host_push_number(L, trace->top->data[0]);
  return 1;
}

/* What rows of values are for, and what becomes of each. */
typedef struct TraceRows {
  const Tensor *x;                /* the parameter */
  const Tensor *from;             /* (S, D): its values */
  Tensor *values, *gradients;     /* (S), (S, D); the second may be NULL */
  const Tensor *seen;             /* a tensor of K elements that is computed on the way, or NULL, */
  Tensor *results;                /* (S, K), and where it goes */
} TraceRows;

enum { ROWS_TRACE = 1, ROWS_X, ROWS_FROM, ROWS_VALUES, ROWS_GRADIENTS, ROWS_SEEN, ROWS_RESULTS };

/* A contiguous tensor of so many elements that somebody may write to, or NULL for nil. */
static Tensor *rows_argument (lua_State *L, int index, const char *name, size_t size) {
  if (lua_isnoneornil(L, index)) return NULL;
  Tensor *t = engine_check_argument(L, index, "trace:rows", name);
  if (t->size != size)
    host_fail(L, "trace:rows", "%s must have %I elements, got %I", name, (LUAI_UACINT)size, (LUAI_UACINT)t->size);
  if (!tensor_is_contiguous(t))
    host_fail(L, "trace:rows", "elements of %s must lie one after the other, as those of %s:contiguous() do", name,
              name);
  return t;
}

/* Refuses rows that are not of shape (S, D); returns S. */
static size_t check_row_length (lua_State *L, const Tensor *rows, size_t d) {
  if (rows->rank != 2 || (size_t)rows->shape[1] != d) {
    host_push_shape(L, rows->rank, rows->shape);
    host_fail(L, "trace:rows", "rows must have shape (S, %I), got %s", (LUAI_UACINT)d, lua_tostring(L, -1));
  }
  return (size_t)rows->shape[0];
}

static TraceRows check_rows (lua_State *L) {
  TraceRows rows = {.x = engine_check_argument(L, ROWS_X, "trace:rows", "x")};
  if (rows.x->node == NULL || rows.x->node->kind != NODE_LEAF)
    host_fail_type(L, "trace:rows", "x", "a parameter (peri.param)", ROWS_X);
  rows.from = engine_check_argument(L, ROWS_FROM, "trace:rows", "rows");
  size_t n = check_row_length(L, rows.from, rows.x->size);
  rows.from = rows_argument(L, ROWS_FROM, "rows", n * rows.x->size);
  rows.values = rows_argument(L, ROWS_VALUES, "values", n);
  rows.gradients = rows_argument(L, ROWS_GRADIENTS, "gradients", n * rows.x->size);
  if (rows.values == NULL) host_fail_type(L, "trace:rows", "values", "a tensor", ROWS_VALUES);
  if (lua_isnoneornil(L, ROWS_SEEN)) return rows;
  const Tensor *seen = engine_check_argument(L, ROWS_SEEN, "trace:rows", "seen");
  rows.seen = rows_argument(L, ROWS_SEEN, "seen", seen->size);
  rows.results = rows_argument(L, ROWS_RESULTS, "results", n * seen->size);
  if (rows.results == NULL) host_fail_type(L, "trace:rows", "results", "a tensor", ROWS_RESULTS);
  return rows;
}

static void copy_doubles (double *to, const double *from, size_t n) {
  memcpy(to, from, n * sizeof *to);
}

/* One replay: the parameter's value from row i, the results to row i. */
static void replay_row (lua_State *L, State *state, Trace *trace, const TraceRows *rows, size_t i) {
  size_t d = rows->x->size;
  copy_doubles(rows->x->data, rows->from->data + i * d, d);
  go_forward(L, state, trace);
  if (watch_stopped(&state->watch)) return;
  if (rows->gradients == NULL) compute_after(L, state, trace, false);
  else run_backward(L, state, trace);
  rows->values->data[i] = trace->top->data[0];
  if (rows->seen != NULL)
    copy_doubles(rows->results->data + i * rows->seen->size, rows->seen->data, rows->seen->size);
  if (rows->gradients == NULL) return;
  node_fill_gradient(NULL, rows->x->node);
  copy_doubles(rows->gradients->data + i * d, rows->x->node->gradient, d);
}

/*@ Trace:rows(x, rows, values, gradients, seen, results) -> nothing
 * Replays once for each row of values of a parameter, and writes what it finds into tensors.
 * No grad is added to.
 *   x          parameter of the trace, D elements
 *   rows       tensor of shape (S, D): its values
 *   values     tensor of S elements, for the trace's numbers
 *   gradients  tensor of shape (S, D), for their gradients; none unless told
 *   seen       tensor of K elements that is computed on the way; none unless told
 *   results    tensor of shape (S, K), for what it holds then; none unless told
 * > w, values = param { 0 }, zeros(2)
 * > trace(function () return (w * w):sum() end):rows(w, tensor { { 2 }, { 3 } }, values)
 * > values
 * Tensor(2)
 *   4  9 */
/* trace:rows(x, rows, values [, gradients [, seen, results]]): replays once for each row of
   values of the parameter x. The trace's number goes to `values`, its gradient to `gradients`,
   and what the tensor `seen` holds by then to `results`. No grad is added to. */
static int replay_rows (lua_State *L) {
  State *state = lua_touserdata(L, lua_upvalueindex(PASS_STATE));
  Trace *trace = check_replay(L, state, "trace:rows");
  host_arguments(L, "trace:rows", ROWS_RESULTS);
  lua_settop(L, ROWS_RESULTS);
  TraceRows rows = check_rows(L);
  bool is_leaf = false;
  for (size_t i = 0; i < trace->leaves; i++) is_leaf |= trace->leaf[i].node == rows.x->node;
  if (!is_leaf) host_fail(L, "trace:rows", "x must be a parameter of the trace");
  uint64_t waiting;
  do {                            /* finalizers may begin to look at them, or at the trace's */
    waiting = state->waiting;
    for (int index = ROWS_X; index <= ROWS_RESULTS; index++)
      if (!lua_isnil(L, index)) engine_before_write(L, lua_touserdata(L, index));
    prepare(L, state, trace);
  } while (waiting != state->waiting);
  int writing = begin_writing(L, state, trace);
  if (rows.gradients == NULL) state->passes++;
  for (size_t i = 0; i < rows.values->size && !watch_stopped(&state->watch); i++) {
    replay_row(L, state, trace, &rows, i);
    if (i % ROWS_PER_LOOK == ROWS_PER_LOOK - 1) {
      state->running = L;
      watch_look(&state->watch, watch_clock());
    }
  }
  for (int index = ROWS_X; index <= ROWS_RESULTS; index++)
    if (!lua_isnil(L, index)) tensor_holder(lua_touserdata(L, index))->writes++;
  end_writing(L, state, trace, writing);
  return 0;
}

Trace *replay_check (lua_State *L, int index, const char *who) {
  lua_pushvalue(L, index);
  lua_insert(L, 1);
  Trace *trace = check_replay(L, host_state(L), who);
  lua_remove(L, 1);
  for (size_t i = 0; i < trace->n; i++)
    if (trace->step[i].node->generator != NULL)
      host_fail(L, who, "the trace must not draw random numbers");
  return trace;
}

void replay_ready (lua_State *L, int index, State *state, Trace *trace, const Tensor *x) {
  uint64_t waiting;
  lua_pushvalue(L, index);
  lua_insert(L, 1);               /* where prepare keeps memory */
  do {
    waiting = state->waiting;
    engine_before_write(L, x);
    prepare(L, state, trace);
  } while (waiting != state->waiting);
  lua_remove(L, 1);
  tape_save(state->tape);
  trace->pass = ++state->passes;
  for (size_t i = 0; i < trace->n; i++) trace->step[i].node->result->writes++;
}

double replay_gradient (State *state, Trace *trace, const Tensor *x, const double *u,
                        double *gradient) {
  copy_doubles(x->data, u, x->size);
  go_forward(NULL, state, trace);
  start_back(trace, trace->pass);
  go_back(NULL, state, trace);
  compute_after(NULL, state, trace, true);
  node_fill_gradient(NULL, x->node);
  copy_doubles(gradient, x->node->gradient, x->size);
  return trace->top->data[0];
}

static int describe (lua_State *L) {
  const Trace *trace = check_trace(L, "trace");
  lua_pushfstring(L, "trace(%d operations, %d parameters)", (int)trace->n, (int)trace->leaves);
  return 1;
}


void replay_push_metatable (lua_State *L) {
  lua_newtable(L);
  lua_pushliteral(L, "perilune.trace");
  lua_setfield(L, -2, "__name");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pushcfunction(L, describe);
  lua_setfield(L, -2, "__tostring");
  pass_push_function(L, replay);
  lua_setfield(L, -2, "__call");
  lua_newtable(L);
  pass_push_function(L, replay);
  lua_setfield(L, -2, "value");
  pass_push_function(L, replay_back);
  lua_setfield(L, -2, "backward");
  pass_push_function(L, replay_back_alone);
  lua_setfield(L, -2, "pass_back");
  pass_push_function(L, replay_rows);
  lua_setfield(L, -2, "rows");
  lua_setfield(L, -2, "__index");
}
