/*
** scan.c - what a function recorded, as the step of a recurrence
**
** core.scan(step, T, init, xs, names) calls step once, with leaves that stand for the state and
** for a row of each of xs. The nodes below what it returns become the program of a single node
** (autograd/scan.h), which runs them T times. What they read besides is an input of that node, as
** init and xs are.
*/
#include <string.h>

#include "engine/draft.h"


/* Elements of the result. */
static ptrdiff_t count_result (lua_State *L, const Draft *draft) {
  size_t total = 0, part;
  bool fits = true;
  for (int k = 0; k < draft->states + draft->outputs; k++) {
    size_t rows = draft->steps + (k < draft->states);
    fits = fits && !__builtin_mul_overflow(rows, draft_listed(L, MADE, k + 1)->size, &part)
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
    const Tensor *like = draft_listed(L, MADE, k + 1);
    bool is_state = k < draft->states;
    if (is_state) {
      push_rows(L, index, like, 0, at + draft->steps * like->size);
      lua_rawseti(L, last, k + 1);
      lua_settop(L, last);
      at += like->size;
    }
    if (!is_state || draft->outputs == 0) {
      push_rows(L, index, like, draft->steps, at);
      draft_append(L, stacked);
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
  draft_copy_list(L, INIT);
  draft_copy_list(L, XS);
  for (int i = KEPT; i <= SEEN; i++) lua_newtable(L);
  if (steps < 1) host_fail(L, "scan", "there must be at least one step");
  if (lua_rawlen(L, INIT) + lua_rawlen(L, XS) > MAX_INPUTS)
    host_fail(L, "scan", "init and xs may have %d tensors", MAX_INPUTS);
  if (state->sum == NULL) state->sum = host_kernel(L, "reduce", "sum");
  draft.steps = (size_t)steps;
  draft.states = (int)lua_rawlen(L, INIT);
  draft.inputs = (int)lua_rawlen(L, XS);
  draft_record(L, &draft);
  bool tracked;
  Tensor *t = push_result(L, &draft, &tracked);
  int index = lua_gettop(L);
  draft_make_program(L, &draft, t->node);
  for (int list = LEAVES; list <= MADE; list++) {
    lua_pushvalue(L, list);
    draft_append(L, KEPT);
  }
  lua_pushvalue(L, KEPT);
  lua_setiuservalue(L, index, t->node->n + 1);
  compute(L, &draft, t->node);
  if (!tracked) forget(L, index, t);
  push_parts(L, &draft, index);
  return 2;
}


void engine_open_scan (lua_State *L) {
  lua_pushcfunction(L, scan);
  lua_setfield(L, -2, "scan");
}
