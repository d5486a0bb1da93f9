/*
** index.c - single elements and rows, read and written
*/
#include <string.h>

#include "api/api.h"
#include "driver/loop.h"


/*@ Tensor:at(...) -> number or Tensor
 * One element; with fewer indices than dimensions, the view that is left: t:at(i) is t[i].
 *   ...  integers, from 1, or from -1 backwards
 * > tensor({ { 1, 2 }, { 3, 4 } }):at(2, -1)
 * 4.0 */
/* t:at(i, j, ...): one element, or the view left by fewer indices */
static int at (lua_State *L) {
  const char *who = "Tensor:at";
  const Tensor *t = engine_check_tensor(L, 1, who);
  int n = lua_gettop(L) - 1;
  if (n > t->rank)
    host_fail(L, who, "%d indices for %d dimensions", n, t->rank);
  const double *data = t->data;
  for (int d = 0; d < n; d++)
    data += api_position(L, 2 + d, who, t, d) * t->stride[d];
  if (n == t->rank && !is_tracked(t)) {
    host_push_number(L, *data);
    return 1;
  }
  Tensor *view = host_new_view(L, 1, t, t->rank - n);
  view->data = (double *)data;
  for (int d = n; d < t->rank; d++) {
    view->shape[d - n] = t->shape[d];
    view->stride[d - n] = t->stride[d];
  }
  tensor_count(view->rank, view->shape, &view->size);
  return 1;
}

/* t[i]: a number from a tensor of rank 1, else a row; t[index]: several of them. Upvalue 1
   holds the methods, upvalue 2 the functions that make fields: t.shape, t.grad; upvalue 3 is
   the function for several. */
static int get_index (lua_State *L) {
  const char *who = "Tensor[i]";
  int type = lua_type(L, 2);
  if (type == LUA_TTABLE || type == LUA_TUSERDATA) {
    lua_pushvalue(L, lua_upvalueindex(3));
    lua_insert(L, 1);
    lua_call(L, 2, 1);
    return 1;
  }
  if (type != LUA_TNUMBER) {
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL || type != LUA_TSTRING) return 1;
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TFUNCTION) return 1;
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return 1;
  }
  const Tensor *t = engine_check_tensor(L, 1, who);
  if (t->rank == 0) host_fail(L, who, "a tensor of rank 0 has no rows; use item()");
  if (lua_isinteger(L, 2) && lua_tointeger(L, 2) == t->shape[0] + 1)
    return lua_pushnil(L), 1;              /* so that ipairs ends */
  ptrdiff_t i = api_position(L, 2, who, t, 0);
  if (t->rank > 1 || is_tracked(t)) api_select(L, 1, t, 0, i);
  else host_push_number(L, t->data[i * t->stride[0]]);
  return 1;
}

static int repeats (const Tensor *t) {
  for (int d = 0; d < t->rank; d++)
    if (t->stride[d] == 0 && t->shape[d] > 1) return 1;
  return 0;
}

static void check_own_elements (lua_State *L, const char *who, const Tensor *t) {
  if (repeats(t)) host_fail(L, who, "an expanded tensor cannot be written to; clone it first");
}

void api_check_writable (lua_State *L, const char *who, const Tensor *to) {
  check_own_elements(L, who, to);
  if (is_tracked(to) && to->owner->node->kind != NODE_LEAF)
    host_fail(L, who, "the result of a recorded computation cannot be changed; clone its"
              " detach() first");
}

void api_begin_write (lua_State *L, Tensor *to) {
  engine_before_write(L, to);
  (*to->version)++;
  host_state(L)->passes++;
}

/* Writes the value at `value` into the view or tensor `to` at the top. */
static void assign (lua_State *L, const char *who, Tensor *to, int value) {
  Tensor header;
  double number;
  const Tensor *from = engine_operand(L, value, who, "the value", &header, &number);
  Loop loop;
  api_check_writable(L, who, to);
  if (engine_is_tracked(host_state(L), 1, &from))
    host_fail(L, who, "a value written into a tensor loses its gradient; detach() it, or use"
              " stack and cat");
  if (loop_plan_shaped(&loop, to->rank, to->shape, 1, &from) != NULL) {
    const Tensor *both[2] = {from, to};
    host_fail_shapes(L, who, "do not fit one into the other", 2, both);
  }
  if (from->size > 1) {          /* a copy first: the two may overlap */
    Tensor *copy = host_new(L, who, from->rank, from->shape, NULL);
    host_copy(L, copy, from);
    from = copy;
  }
  api_begin_write(L, to);
  loop_copy(NULL, to, from);     /* all of it: nobody wants half a value */
}

/* t[i] = a number, table or tensor that broadcasts to the row */
static int set_index (lua_State *L) {
  const char *who = "Tensor[i] = value";
  const Tensor *t = engine_check_tensor(L, 1, who);
  if (lua_type(L, 2) == LUA_TSTRING && strcmp(lua_tostring(L, 2), "grad") == 0)
    return api_set_grad(L);
  if (t->rank == 0)
    host_fail(L, who, "a tensor of rank 0 has no rows; use copy()");
  ptrdiff_t i = api_position(L, 2, who, t, 0);
  check_own_elements(L, who, t);           /* a row may be that of others, too */
  assign(L, who, api_select(L, 1, t, 0, i), 3);
  return 0;
}

/*@ Tensor:copy(value) -> Tensor
 * Writes a value over all elements, and returns the tensor: how a trace gets new data, and how
 * a view is written to.
 *   value  number, table or tensor that broadcasts to the shape
 * > zeros(2, 2):copy { 1, 2 }
 * Tensor(2, 2)
 *   1  2
 *   1  2 */
/* t:copy(value): writes over all elements; returns t */
static int copy (lua_State *L) {
  Tensor *t = engine_check_tensor(L, 1, "Tensor:copy");
  host_arguments(L, "Tensor:copy", 2);
  assign(L, "Tensor:copy", t, 2);
  lua_settop(L, 1);
  return 1;
}

static int length (lua_State *L) {
  const Tensor *t = engine_check_tensor(L, 1, "#Tensor");
  if (t->rank == 0) host_fail(L, "#Tensor", "a tensor of rank 0 has no length");
  lua_pushinteger(L, (lua_Integer)t->shape[0]);
  return 1;
}

/* core.indexer(methods, fields, gather): the __index of tensors */
static int indexer (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TTABLE);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  lua_settop(L, 3);
  lua_pushcclosure(L, get_index, 3);
  return 1;
}


static const luaL_Reg methods[] = {
  {"at",   at},
  {"copy", copy},
  {NULL, NULL}
};

static const luaL_Reg functions[] = {
  {"length",   length},
  {"newindex", set_index},
  {"indexer",  indexer},
  {NULL, NULL}
};

void api_open_index (lua_State *L) {
  host_list(L, "methods", methods);
  luaL_setfuncs(L, functions, 0);
}
