/*
** tensor.c - tensors as Lua values: what they are, and their elements read
*/
#include "api/api.h"
#include "driver/loop.h"


/* core.operand(x, who, name): a number or a tensor as it is, a table as the tensor made of it;
   who refuses anything else under this name */
static int operand (lua_State *L) {
  Tensor header;
  double number;
  const char *who = luaL_checkstring(L, 2), *name = luaL_checkstring(L, 3);
  engine_operand(L, 1, who, name, &header, &number);
  lua_settop(L, 1);
  return 1;
}


/* Pushes the elements from `at` on, of dimensions `depth` and further. `pushed` counts. */
static void push_table (lua_State *L, const Tensor *t, int depth, const double *at,
                        size_t *pushed) {
  if (++*pushed % LOOP_BLOCK == 0) host_look(L, host_state(L));
  if (depth == t->rank) {
    host_push_number(L, *at);
    return;
  }
  ptrdiff_t n = t->shape[depth];
  luaL_checkstack(L, 3, "totable");
  lua_createtable(L, n < INT32_MAX ? (int)n : 0, 0);
  for (ptrdiff_t i = 0; i < n; i++) {
    push_table(L, t, depth + 1, at + i * t->stride[depth], pushed);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/*@ Tensor:totable() -> table or number
 * The elements as a (nested) table of Lua numbers; of rank 0, a number.
 * > #tensor({ { 1, 2 }, { 3, 4 } }):totable()
 * 2 */
static int totable (lua_State *L) {
  const Tensor *t = engine_check_tensor(L, 1, "Tensor:totable");
  host_arguments(L, "Tensor:totable", 1);
  engine_check_untraced(L, host_state(L), "Tensor:totable", 1, &t);
  push_table(L, t, 0, t->data, &(size_t) {0});
  return 1;
}

/*@ peri.item(x) -> number
 * The number of a tensor of one element; a number as it is. Raises for more elements.
 *   x  number, or tensor of one element
 * > item(param(3)), item(3)
 * 3.0  3 */
/* item(x): the number of a tensor of one element; a number is one already. More arguments are
   allowed: item(d:expectation(f)) has the error as well. */
static int item (lua_State *L) {
  if (lua_type(L, 1) == LUA_TNUMBER) return lua_settop(L, 1), 1;
  const Tensor *t = engine_check_tensor(L, 1, "Tensor:item");
  if (t->size != 1) {
    host_push_shape(L, t->rank, t->shape);
    host_fail(L, "Tensor:item", "only a tensor of one element has an item,"
              " this one has shape %s", lua_tostring(L, -1));
  }
  if (is_tracked(t)) engine_check_untraced(L, host_state(L), "Tensor:item", 1, &t);
  host_push_number(L, t->data[0]);
  return 1;
}

/* A number, or a tensor of which nobody asks for an element. */
static const Tensor *check_header (lua_State *L, const char *who) {
  static const Tensor number = {.size = 1};
  if (lua_type(L, 1) == LUA_TNUMBER) return &number;
  const Tensor *t = host_header(L, 1);
  host_arguments(L, who, 1);
  return t != NULL ? t : engine_check_tensor(L, 1, who);
}

/*@ Tensor.shape -> table
 * The sizes of the dimensions, a new list of integers; empty of rank 0.
 * > table.unpack(zeros(2, 3).shape)
 * 2  3 */
static int shape (lua_State *L) {
  const Tensor *t = check_header(L, "Tensor.shape");
  api_push_shape_table(L, t->rank, t->shape);
  return 1;
}

/*@ Tensor:numel() -> integer
 * The number of elements.
 * > zeros(2, 3):numel()
 * 6 */
static int numel (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)check_header(L, "Tensor:numel")->size);
  return 1;
}

static int rank (lua_State *L) {
  lua_pushinteger(L, check_header(L, "Tensor:rank")->rank);
  return 1;
}

/*@ peri.is_tensor(x) -> boolean
 * Is it a tensor?
 *   x  anything
 * > is_tensor(zeros(2)), is_tensor({ 1, 2 })
 * true  false */
static int is_tensor (lua_State *L) {
  host_arguments(L, "is_tensor", 1);
  lua_pushboolean(L, host_header(L, 1) != NULL);
  return 1;
}

/* core.table_kind(x): "data", "named", "object", or nil for what is no table */
static int table_kind (lua_State *L) {
  static const char *const names[] = {NULL, "data", "named", "object"};
  lua_pushstring(L, names[host_table_kind(L, 1)]);
  return 1;
}

static const luaL_Reg methods[] = {
  {"totable", totable},
  {"item",    item},
  {"numel",   numel},
  {NULL, NULL}
};

static const luaL_Reg fields[] = {
  {"shape", shape},
  {NULL, NULL}
};

static const luaL_Reg public_functions[] = {
  {"item",      item},
  {"is_tensor", is_tensor},
  {NULL, NULL}
};

static const luaL_Reg functions[] = {
  {"operand",    operand},
  {"rank",       rank},
  {"table_kind", table_kind},
  {NULL, NULL}
};

void api_open_tensor (lua_State *L) {
  host_list(L, "methods", methods);
  host_list(L, "fields", fields);
  host_list(L, "public", public_functions);
  luaL_setfuncs(L, functions, 0);
}
