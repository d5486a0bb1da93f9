/*
** scan_record.c - the step of a scan: f is called once, with leaves for the state and for rows
*/
#include <string.h>

#include "engine/draft.h"


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
  draft_append(L, LEAVES);
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
  Scan *scan = draft->scan = draft_room(L, 1, sizeof *scan);
  *scan = (Scan) {.steps = draft->steps};
  scan->leaf = draft_room(L, n, sizeof *scan->leaf);
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
  draft_copy_list(L, 2);
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
    const Tensor *before = draft_listed(L, LEAVES, k), *after = draft_listed(L, MADE, k);
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
  else if (!inner) draft_append(L, OTHERS);
  else {
    if (t->owner != t) {
      lua_getiuservalue(L, -1, 1);
      lua_replace(L, -2);
    }
    draft_append(L, NODES);
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

/* }====================================================== */


void draft_record (lua_State *L, Draft *draft) {
  make_leaves(L, draft);
  record(L, draft);
  check_made(L, draft);
  collect(L, draft);
}
