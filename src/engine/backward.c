/*
** backward.c - the backward pass, from a number to the gradients of all parameters below it
**
** The nodes below a result are collected and ordered by age. Each adds to the gradients of its
** inputs, and what arrives at parameters is added to their `grad`. Gradients in between live in
** memory that is kept for the next pass (arena.c).
*/
#include "engine/pass.h"
#include "autograd/adjoint.h"
#include "autograd/scan.h"
#include "autograd/steps.h"
#include "driver/loop.h"

/* The gradient of a parameter that has none yet is written where it will stay, unless a
   function might see it there. */
static void ensure_gradient (lua_State *L, const State *state, Tape *tape, Arena *arena,
                             Node *node) {
  if (node->gradient != NULL) return;
  bool stays = node->kind == NODE_LEAF && !node->has_grad && !tape->calls;
  double *taken = stays ? node->grad->data : arena_take(L, arena, node->result->size);
  tape_check_undisturbed(L, state, tape);
  node->gradient = taken;
  node->empty = true;
}

static void check_pass (lua_State *L, const State *state, void *tape) {
  tape_check_undisturbed(L, state, tape);
}

static ActivePass active_pass (Tape *tape) {
  return (ActivePass) {.number = tape->pass, .check = check_pass, .data = tape};
}

/* Pushes the gradient of a node as a tensor of its own. */
static void push_gradient (lua_State *L, State *state, Tape *tape, const Node *node) {
  const Tensor *t = node->result;
  Tensor *gradient = host_new(L, "backward", t->rank, t->shape, t->stride);
  Pool *pool = host_pool(L, t->size);
  tape_check_undisturbed(L, state, tape);
  const ActivePass pass = active_pass(tape), *before = state->active_pass;
  state->active_pass = &pass;
  loop_move(pool, gradient->data, node->gradient, t->size);
  state->active_pass = before;
  host_check_stopped(L, pool);
}

/* Adds result k of a recorded function's backward, at `index`, to its input. */
static void add_returned (lua_State *L, State *state, Tape *tape, const Node *node,
                          int k, int index) {
  const Tensor *t = node->in[k].tensor;
  Tensor header;
  double number;
  Loop loop;
  if (!node->in[k].tracked || lua_isnil(L, index)) return;
  const Tensor *from = engine_operand(L, index, "backward", "a gradient", &header, &number);
  if (loop_plan_shaped(&loop, t->rank, t->shape, 1, &from) != NULL) {
    const Tensor *both[2] = {from, t};
    host_fail_shapes(L, "backward: gradient and input", "do not fit", 2, both);
  }
  Pool *pool = host_pool(L, t->size);
  tape_check_undisturbed(L, state, tape);
  const ActivePass pass = active_pass(tape), *before = state->active_pass;
  state->active_pass = &pass;
  step_add(pool, t, from);
  state->active_pass = before;
  host_check_stopped(L, pool);
}

/* Calls what backward() was given for a node, within the pass over `tape`. */
COLD static void step_call (lua_State *L, Node *node, State *state, Tape *tape) {
  int base = lua_gettop(L);
  node_fill_gradient(NULL, node);
  luaL_checkstack(L, node->n + 8, "backward");
  lua_rawgetp(L, PASS_TENSORS, node);
  lua_getiuservalue(L, -1, node->n + 1);
  push_gradient(L, state, tape, node);
  state->tape = tape;
  int status = lua_pcall(L, 1, node->n, 0);
  state->tape = tape->outer;
  if (status != LUA_OK) lua_error(L);
  tape->checked = state->passes;
  tape_restore(tape);
  for (int k = 0; k < node->n; k++) add_returned(L, state, tape, node, k, base + 2 + k);
  lua_settop(L, base);
}

static Pool *pool_for (lua_State *L, const Node *node) {
  return node->block ? NULL : host_pool(L, node_extent(node));
}

COLD static void look (lua_State *L, State *state, Tape *tape) {
  host_look(L, state);
  tape_check_undisturbed(L, state, tape);
}

static size_t scratch_for (const Node *node, const Pool *pool) {
  return node->kind == NODE_SCAN ? scan_scratch(node, pool) : adjoint_scratch(node, pool);
}

static void step_node (lua_State *L, State *state, Tape *tape, Node *node, Arena *arena) {
  size_t n = step_block_size(node);
  if (n != SIZE_MAX && !node_is_flat(node)) {       /* what adjoint_step would do */
    node_fill_gradient(NULL, node);
    step_block(node, state->sum, n);
    return;
  }
  size_t need, room = 0;
  double *scratch = NULL;
  Pool *pool;
  while (need = scratch_for(node, pool = pool_for(L, node)), need > room) {
    scratch = arena_take(L, arena, room = need);
    tape_check_undisturbed(L, state, tape);
  }
  const ActivePass pass = active_pass(tape), *before = state->active_pass;
  state->active_pass = &pass;
  if (node->kind == NODE_SCAN) scan_back(node, state->sum, pool, scratch);
  else adjoint_step(node, state->sum, state->with_sums > 0, pool, scratch);
  state->active_pass = before;
  host_check_stopped(L, pool);
  if (scratch != NULL) arena_give_back(arena, scratch, room);
}

static void go_back (lua_State *L, State *state, Tape *tape, Arena *arena) {
  for (size_t i = 0; i < tape->n; i++) {
    Node *node = tape->node[i];
    if (i % NODES_PER_LOOK == NODES_PER_LOOK - 1) look(L, state, tape);
    if (node->kind == NODE_LEAF || node->gradient == NULL) continue;
    if (tape->kept) tape_check_operands(L, node);
    for (int k = 0; k < node->n; k++)
      if (node->in[k].tracked) ensure_gradient(L, state, tape, arena, node_below(node, k));
    if (node->kind == NODE_CALL) step_call(L, node, state, tape);
    else step_node(L, state, tape, node, arena);
    arena_give_back(arena, node->gradient, node->result->size);
  }
}


static bool is_to_deliver (const Node *node) {
  return node->kind == NODE_LEAF && node->gradient != NULL;
}

/* What arrived at parameters becomes their grads, all of them or none; what it takes to do all
   this again is gone then, unless it is retained. */
static void deliver (lua_State *L, State *state, Tape *tape, bool retain) {
  for (size_t i = 0; i < tape->n; i++) {
    if (i % NODES_PER_LOOK == NODES_PER_LOOK - 1) look(L, state, tape);
    if (is_to_deliver(tape->node[i])) grads_prepare(L, tape->node[i]);
    tape_check_undisturbed(L, state, tape);
  }
  for (size_t i = 0; i < tape->n; i++) {
    Node *node = tape->node[i];
    if (node->kind != NODE_LEAF) node->freed |= !retain;
    if (!is_to_deliver(node)) continue;
    node_fill_gradient(NULL, node);
    grads_deliver(node);
  }
}

/* The option `retain` of the table at `index`, or of nil; there is no other. */
static int retain_option (lua_State *L, int index, const char *who) {
  int retain = 0;
  if (lua_isnil(L, index)) return 0;
  if (!lua_istable(L, index)) host_fail_type(L, who, "options", "a table", index);
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING || strcmp(lua_tostring(L, -2), "retain") != 0)
      host_fail(L, who, "there is no option %s; there is retain", luaL_tolstring(L, -2, NULL));
    retain = lua_toboolean(L, -1);
  }
  return retain;
}

/* Before functions of nodes are called: room to save gradients, and every tensor kept alive. */
COLD static void prepare_calls (lua_State *L, const State *state, Tape *tape) {
  tape->saved = lua_newuserdatauv(L, tape->n * sizeof(SavedGradient), 0);
  lua_replace(L, PASS_SAVED);
  tape_keep(L, state, tape);
}

/*@ Tensor:backward(options) -> nothing
 * Adds dt/dw to w.grad for every parameter w that t, a single number, was computed from. What
 * was recorded is released.
 *   options  retain = true keeps it for another backward (false)
 * > w = param(3)
 * > loss = w ^ 2
 * > loss:backward()
 * > item(w.grad)
 * 6.0 */
/* t:backward{retain =}: adds dt/dw to w.grad for every parameter w below t */
static int backward (lua_State *L) {
  State *state = lua_touserdata(L, lua_upvalueindex(PASS_STATE));
  Tape tape;
  Arena arena;
  host_arguments(L, "Tensor:backward", 2);
  lua_settop(L, PASS_TENSORS);
  const Tensor *t = pass_check_result(L, "Tensor:backward", "self");
  int retain = retain_option(L, 2, "Tensor:backward");
  if (state->sum == NULL) state->sum = host_kernel(L, "reduce", "sum");
  arena_open(L, state, &tape, &arena);
  Node *top = t->owner->node;
  tape_save(tape.outer);
  tape_collect(L, state, &tape, top);
  if (tape.calls) prepare_calls(L, state, &tape);
  ensure_gradient(L, state, &tape, &arena, top);
  node_fill_gradient(NULL, top);
  top->gradient[t == t->owner ? 0 : t->data - t->owner->data] = 1;
  go_back(L, state, &tape, &arena);
  deliver(L, state, &tape, retain);
  if (state->with_sums > 0) state->with_sums--;
  arena_close(L);
  return 0;
}


void engine_open_backward (lua_State *L) {
  pass_push_function(L, backward);
  lua_setfield(L, -2, "backward");
  host_list_field(L, "methods", "backward");
}
