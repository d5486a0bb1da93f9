/*
** tensor.c - tensors as Lua values: recognising, allocating, reading
**
** A tensor is a userdata without finalizer. Its elements lie in the same
** block, so the collector and the host's memory limit see every byte. A view
** keeps the tensor that owns the elements alive through its user value.
*/
#include <stdint.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "api/api.h"
#include "driver/loop.h"

static const char METATABLE = 'm';   /* its address is the registry's key */

#define HUGE_PAGE ((size_t)2 << 20)


Tensor *api_header (lua_State *L, int index) {
  void *block = lua_touserdata(L, index);
  return block != NULL && tensor_proven(block, lua_rawlen(L, index)) ? block : NULL;
}

Tensor *api_tensor (lua_State *L, int index) {
  Tensor *t = api_header(L, index);
  if (t != NULL && t->data == NULL) api_force(L, index);
  return t;
}

Tensor *api_check_tensor (lua_State *L, int index, const char *who) {
  Tensor *t = api_tensor(L, index);
  if (t == NULL) api_fail_type(L, who, "self", "a tensor", index);
  return t;
}


/* Fresh pages cost more than the arithmetic done on them: ask for huge ones
   where a block holds several. */
static void advise_huge_pages (double *data, size_t bytes) {
#ifdef MADV_HUGEPAGE
  if (bytes < 2 * HUGE_PAGE) return;
  uintptr_t first = ((uintptr_t)data + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
  uintptr_t last = ((uintptr_t)data + bytes) & ~(HUGE_PAGE - 1);
  madvise((void *)first, last - first, MADV_HUGEPAGE);
#else
  (void)data; (void)bytes;
#endif
}

static void set_metatable (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &METATABLE);
  lua_setmetatable(L, -2);
}

static void set_dims (Tensor *t, const ptrdiff_t shape[], const ptrdiff_t stride[]) {
  for (int d = 0; d < t->rank; d++) t->shape[d] = shape[d];
  if (stride == NULL) tensor_row_major(t->rank, shape, t->stride);
  else for (int d = 0; d < t->rank; d++) t->stride[d] = stride[d];
}

/* Pushes a tensor with elements of its own, not yet set; row-major when
   stride is NULL. */
Tensor *api_new (lua_State *L, const char *who, int rank,
                 const ptrdiff_t shape[], const ptrdiff_t stride[]) {
  size_t size;
  if (!tensor_count(rank, shape, &size)) {
    api_push_shape(L, rank, shape);
    api_fail(L, who, "shape %s has too many elements", lua_tostring(L, -1));
  }
  void *block = lua_newuserdatauv(L, tensor_bytes(rank, size), 0);
  Tensor *t = tensor_init(block, rank, size, NULL);
  set_dims(t, shape, stride);
  advise_huge_pages(t->data, size * sizeof(double));
  set_metatable(L);
  return t;
}

/* Pushes a tensor in a block of so many bytes, without data. */
Tensor *api_new_block (lua_State *L, const State *state, size_t bytes, int rank, size_t size,
                       const ptrdiff_t shape[], const ptrdiff_t stride[],
                       int user_values) {
  void *block = lua_newuserdatauv(L, bytes, user_values);
  Tensor *t = tensor_init(block, rank, size, block);
  t->data = NULL;
  set_dims(t, shape, stride);
  lua_rawgeti(L, LUA_REGISTRYINDEX, state->metatable);
  lua_setmetatable(L, -2);
  return t;
}

/* Pushes a view of the tensor `from` at `base`, whose elements are there; the caller fills
   data, size, shape and strides. */
Tensor *api_new_view (lua_State *L, int base, const Tensor *from, int rank) {
  base = lua_absindex(L, base);
  void *block = lua_newuserdatauv(L, tensor_header_bytes(rank), 1);
  Tensor *view = tensor_init(block, rank, 0, from->data);
  view->is_view = true;
  view->version = from->version;
  if (is_tracked(from)) view->owner = from->owner;
  if (from->is_view) lua_getiuservalue(L, base, 1);
  else lua_pushvalue(L, base);
  lua_setiuservalue(L, -2, 1);
  set_metatable(L);
  return view;
}

int api_return (lua_State *L, const Tensor *t, const Kernel *kernel) {
  if (t->rank > 0 || is_tracked(t)) return 1;
  double value = t->data[0];
  if (kernel != NULL && kernel->integer && value > -0x1p53 && value < 0x1p53)
    lua_pushinteger(L, (lua_Integer)value);
  else lua_pushnumber(L, value);
  return 1;
}


static int has_index (lua_State *L, int table) {
  lua_pushliteral(L, "__index");
  int found = lua_rawget(L, table < 0 ? table - 1 : table) != LUA_TNIL;
  lua_pop(L, 1);
  return found;
}

TableKind api_table_kind (lua_State *L, int index) {
  int empty = 0, object = 0;
  if (!lua_istable(L, index)) return TABLE_NONE;
  if (lua_rawlen(L, index) > 0) return TABLE_DATA;
  lua_pushvalue(L, index);
  if (lua_getmetatable(L, -1)) {
    object = has_index(L, -1);
    lua_pop(L, 1);
  }
  object |= has_index(L, -1);
  lua_pushnil(L);
  empty = lua_next(L, -2) == 0;
  lua_pop(L, empty ? 1 : 3);
  return object ? TABLE_OBJECT : empty ? TABLE_DATA : TABLE_NAMED;
}

const Tensor *api_operand (lua_State *L, int index, const char *who,
                           const char *name, Tensor *header, double *number) {
  switch (lua_type(L, index)) {
    case LUA_TNUMBER:
      *number = lua_tonumber(L, index);
      return tensor_scalar(header, number);
    case LUA_TTABLE:
      if (api_table_kind(L, index) == TABLE_OBJECT) break;
      api_from_table(L, index, who, name);
      lua_replace(L, index);
      return api_tensor(L, index);
    default: {
      const Tensor *t = api_tensor(L, index);
      if (t != NULL) return t;
    }
  }
  api_fail_type(L, who, name, "a number, a table of numbers or a tensor", index);
  return NULL;
}


/* core.operand(x, who, name): a number or a tensor as it is, a table as the tensor made of it;
   who refuses anything else under this name */
static int operand (lua_State *L) {
  Tensor header;
  double number;
  const char *who = luaL_checkstring(L, 2), *name = luaL_checkstring(L, 3);
  api_operand(L, 1, who, name, &header, &number);
  lua_settop(L, 1);
  return 1;
}


/*
** Reading
*/
/* Pushes the elements from `at` on, of dimensions `depth` and further. `pushed` counts. */
static void push_table (lua_State *L, const Tensor *t, int depth, const double *at,
                        size_t *pushed) {
  if (++*pushed % LOOP_BLOCK == 0) api_look(L, api_state(L));
  if (depth == t->rank) {
    lua_pushnumber(L, *at);
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

static int totable (lua_State *L) {
  const Tensor *t = api_check_tensor(L, 1, "Tensor:totable");
  api_arguments(L, "Tensor:totable", 1);
  api_check_untraced(L, api_state(L), "Tensor:totable", 1, &t);
  push_table(L, t, 0, t->data, &(size_t) {0});
  return 1;
}

/* item(x): the number of a tensor of one element; a number is one already. More arguments are
   allowed: item(d:expectation(f)) has the error as well. */
static int item (lua_State *L) {
  if (lua_type(L, 1) == LUA_TNUMBER) return lua_settop(L, 1), 1;
  const Tensor *t = api_check_tensor(L, 1, "Tensor:item");
  if (t->size != 1) {
    api_push_shape(L, t->rank, t->shape);
    api_fail(L, "Tensor:item", "only a tensor of one element has an item,"
             " this one has shape %s", lua_tostring(L, -1));
  }
  if (is_tracked(t)) api_check_untraced(L, api_state(L), "Tensor:item", 1, &t);
  lua_pushnumber(L, t->data[0]);
  return 1;
}

/* A number, or a tensor of which nobody asks for an element. */
static const Tensor *check_header (lua_State *L, const char *who) {
  static const Tensor number = {.size = 1};
  if (lua_type(L, 1) == LUA_TNUMBER) return &number;
  const Tensor *t = api_header(L, 1);
  api_arguments(L, who, 1);
  return t != NULL ? t : api_check_tensor(L, 1, who);
}

static int shape (lua_State *L) {
  const Tensor *t = check_header(L, "Tensor.shape");
  api_push_shape_table(L, t->rank, t->shape);
  return 1;
}

static int numel (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)check_header(L, "Tensor:numel")->size);
  return 1;
}

static int rank (lua_State *L) {
  lua_pushinteger(L, check_header(L, "Tensor:rank")->rank);
  return 1;
}

static int is_tensor (lua_State *L) {
  api_arguments(L, "is_tensor", 1);
  lua_pushboolean(L, api_header(L, 1) != NULL);
  return 1;
}

/* core.table_kind(x): "data", "named", "object", or nil for what is no table */
static int table_kind (lua_State *L) {
  static const char *const names[] = {NULL, "data", "named", "object"};
  lua_pushstring(L, names[api_table_kind(L, 1)]);
  return 1;
}

static int metatable (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &METATABLE);
  return 1;
}


static const luaL_Reg functions[] = {
  {"operand",   operand},
  {"totable",   totable},
  {"item",      item},
  {"shape",     shape},
  {"numel",     numel},
  {"rank",      rank},
  {"is_tensor", is_tensor},
  {"table_kind", table_kind},
  {"tensor_metatable", metatable},
  {NULL, NULL}
};

void api_open_tensor (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &METATABLE) == LUA_TNIL) {
    lua_newtable(L);
    lua_pushliteral(L, "perilune.Tensor");
    lua_setfield(L, -2, "__name");
    lua_pushliteral(L, "perilune.Tensor");   /* getmetatable gives this */
    lua_setfield(L, -2, "__metatable");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &METATABLE);
  }
  lua_pop(L, 1);
  State *state = api_state(L);
  if (state->metatable == 0) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &METATABLE);
    state->metatable = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  luaL_setfuncs(L, functions, 0);
}
