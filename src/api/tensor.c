/*
** tensor.c - tensors as Lua values: making, recognising, reading
**
** A tensor is a userdata without finalizer. Its elements lie in the same
** block, so the collector and the host's memory limit see every byte. A view
** keeps the tensor that owns the elements alive through its user value.
*/
#include <math.h>
#include <stdint.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "api/api.h"
#include "driver/loop.h"

static const char METATABLE = 'm';   /* its address is the registry's key */

#define EXACT_INTEGERS 9007199254740992   /* 2^53 */
#define HUGE_PAGE      ((size_t)2 << 20)


Tensor *api_tensor (lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA) return NULL;
  void *block = lua_touserdata(L, index);
  return tensor_proven(block, lua_rawlen(L, index)) ? block : NULL;
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
  size_t bytes = (size_t)t->rank * sizeof(ptrdiff_t);
  if (t->rank > 0) memcpy(tensor_shape(t), shape, bytes);
  if (stride == NULL) tensor_row_major(t->rank, shape, tensor_stride(t));
  else if (t->rank > 0) memcpy(tensor_stride(t), stride, bytes);
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

/* Pushes a view of the tensor at `base`; the caller fills data, size, shape
   and strides. */
Tensor *api_new_view (lua_State *L, int base, int rank) {
  const Tensor *from = api_tensor(L, base);
  base = lua_absindex(L, base);
  void *block = lua_newuserdatauv(L, tensor_header_bytes(rank), 1);
  Tensor *view = tensor_init(block, rank, 0, from->data);
  if (lua_getiuservalue(L, base, 1) != LUA_TUSERDATA) {   /* no view itself */
    lua_pop(L, 1);
    lua_pushvalue(L, base);
  }
  lua_setiuservalue(L, -2, 1);
  set_metatable(L);
  return view;
}


/*
** Tables. The first pass reads the shape off the first elements, the second
** copies and finds whatever does not fit.
*/
static int table_shape (lua_State *L, int index, const char *who,
                        const char *name, ptrdiff_t shape[]) {
  int rank = 0;
  luaL_checkstack(L, TENSOR_MAX_RANK + 4, who);
  lua_pushvalue(L, index);
  while (lua_istable(L, -1)) {
    if (rank == TENSOR_MAX_RANK)
      api_fail(L, who, "%s is nested deeper than %d tables", name,
               TENSOR_MAX_RANK);
    shape[rank] = (ptrdiff_t)lua_rawlen(L, -1);
    if (shape[rank] == 0 && (lua_pushnil(L), lua_next(L, -2) != 0))
      api_fail(L, who, "%s must be an array of numbers, got a table with other"
                       " keys", name);
    rank++;
    lua_rawgeti(L, -1, 1);
  }
  lua_pop(L, rank + 1);
  return rank;
}

static double element (lua_State *L, const char *who, const char *name) {
  int exact = 0;
  lua_Integer n = lua_isinteger(L, -1) ? lua_tointegerx(L, -1, &exact) : 0;
  if (lua_type(L, -1) != LUA_TNUMBER) {
    lua_pushfstring(L, "%s must hold numbers: an element", name);
    api_fail_type(L, who, lua_tostring(L, -1), "a number", -2);
  }
  if (exact && (n > EXACT_INTEGERS || n < -EXACT_INTEGERS))
    api_fail(L, who, "%s holds %I, an integer beyond 2^53 that no double holds"
                     " exactly", name, n);
  return lua_tonumber(L, -1);
}

static double *copy_table (lua_State *L, const char *who, const char *name,
                           const Tensor *t, int depth, double *out) {
  ptrdiff_t length = tensor_cshape(t)[depth];
  if (!lua_istable(L, -1) || (ptrdiff_t)lua_rawlen(L, -1) != length) {
    if (!lua_istable(L, -1))
      api_fail_type(L, who, name, "rectangular: an element of a row", -1);
    api_fail(L, who, "%s is ragged: a row of %d elements beside one of %d", name,
             (int)lua_rawlen(L, -1), (int)length);
  }
  for (ptrdiff_t i = 1; i <= length; i++) {
    lua_rawgeti(L, -1, (lua_Integer)i);
    if (depth + 1 < t->rank) out = copy_table(L, who, name, t, depth + 1, out);
    else *out++ = element(L, who, name);
    lua_pop(L, 1);
  }
  return out;
}

Tensor *api_from_table (lua_State *L, int index, const char *who,
                        const char *name) {
  ptrdiff_t shape[TENSOR_MAX_RANK];
  index = lua_absindex(L, index);
  int rank = table_shape(L, index, who, name, shape);
  Tensor *t = api_new(L, who, rank, shape, NULL);
  lua_pushvalue(L, index);
  copy_table(L, who, name, t, 0, t->data);
  lua_pop(L, 1);
  return t;
}

const Tensor *api_operand (lua_State *L, int index, const char *who,
                           const char *name, Tensor *header, double *number) {
  switch (lua_type(L, index)) {
    case LUA_TNUMBER:
      *number = lua_tonumber(L, index);
      return tensor_scalar(header, number);
    case LUA_TTABLE:
      if (lua_getmetatable(L, index)) break;
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


/*
** Shapes and dimensions as arguments. Users count from 1; -1 is the last.
*/
static ptrdiff_t extent (lua_State *L, int index, const char *who) {
  int ok;
  lua_Integer n = lua_tointegerx(L, index, &ok);
  if (!ok || lua_type(L, index) != LUA_TNUMBER || n < 0)
    api_fail_type(L, who, "a dimension", "a non-negative integer", index);
  return (ptrdiff_t)n;
}

int api_shape (lua_State *L, int index, const char *who, ptrdiff_t shape[]) {
  int listed = lua_istable(L, index);
  lua_Unsigned rank = listed ? lua_rawlen(L, index)
                             : (lua_Unsigned)(lua_gettop(L) - index + 1);
  if (rank > TENSOR_MAX_RANK)
    api_fail(L, who, "a shape has at most %d dimensions, got %I",
             TENSOR_MAX_RANK, (lua_Integer)rank);
  for (int d = 0; d < (int)rank; d++) {
    if (listed) lua_rawgeti(L, index, d + 1);
    else lua_pushvalue(L, index + d);
    shape[d] = extent(L, -1, who);
    lua_pop(L, 1);
  }
  return (int)rank;
}

ptrdiff_t api_dimension (lua_State *L, int index, const char *who, int rank) {
  int ok;
  lua_Integer d = lua_tointegerx(L, index, &ok);
  if (!ok || lua_type(L, index) != LUA_TNUMBER)
    api_fail_type(L, who, "dim", "an integer", index);
  if (d == 0 || d > rank || d < -rank)
    api_fail(L, who, "dim must be between 1 and %d (or -1 and -%d), got %I",
             rank, rank, d);
  return (ptrdiff_t)(d > 0 ? d - 1 : d + rank);
}


/*
** Constructors
*/
static int new_tensor (lua_State *L) {
  Tensor header;
  double number;
  lua_settop(L, 1);
  int fresh = lua_istable(L, 1);
  const Tensor *from = api_operand(L, 1, "tensor", "data", &header, &number);
  if (fresh) return 1;
  Tensor *t = api_new(L, "tensor", from->rank, tensor_cshape(from), NULL);
  loop_copy(t, from);
  return 1;
}

static Tensor *new_filled (lua_State *L, const char *who, double value) {
  ptrdiff_t shape[TENSOR_MAX_RANK];
  int rank = api_shape(L, 1, who, shape);
  Tensor *t = api_new(L, who, rank, shape, NULL);
  for (size_t i = 0; i < t->size; i++) t->data[i] = value;
  return t;
}

static int new_zeros (lua_State *L) { return new_filled(L, "zeros", 0), 1; }
static int new_ones (lua_State *L) { return new_filled(L, "ones", 1), 1; }

static double number_argument (lua_State *L, int index, const char *who,
                               const char *name) {
  if (lua_type(L, index) != LUA_TNUMBER)
    api_fail_type(L, who, name, "a number", index);
  return lua_tonumber(L, index);
}

static int new_full (lua_State *L) {
  double value = number_argument(L, -1, "full", "the value");
  lua_pop(L, 1);
  return new_filled(L, "full", value), 1;
}

/* first, first + by, ...: n values, none computed from another. */
static int push_progression (lua_State *L, const char *who, double first,
                             double by, double n) {
  if (!(n < (double)PTRDIFF_MAX)) api_fail(L, who, "too many elements");
  ptrdiff_t shape[1] = {n > 0 ? (ptrdiff_t)n : 0};
  Tensor *t = api_new(L, who, 1, shape, NULL);
  for (size_t i = 0; i < t->size; i++) t->data[i] = first + (double)i * by;
  return 1;
}

static int new_arange (lua_State *L) {
  int bounded = lua_gettop(L) >= 2;
  double first = bounded ? number_argument(L, 1, "arange", "start") : 0;
  double last = number_argument(L, bounded ? 2 : 1, "arange", "stop");
  double by = lua_isnoneornil(L, 3) ? 1 : number_argument(L, 3, "arange", "step");
  if (by == 0 || by != by) api_fail(L, "arange", "step must not be 0, got %f", by);
  return push_progression(L, "arange", first, by, ceil((last - first) / by));
}

static int new_linspace (lua_State *L) {
  double first = number_argument(L, 1, "linspace", "start");
  double last = number_argument(L, 2, "linspace", "stop");
  ptrdiff_t n = extent(L, 3, "linspace");
  push_progression(L, "linspace", first,
                   n > 1 ? (last - first) / (double)(n - 1) : 0, (double)n);
  if (n > 1) api_tensor(L, -1)->data[n - 1] = last;
  return 1;
}

static int new_eye (lua_State *L) {
  ptrdiff_t rows = extent(L, 1, "eye");
  ptrdiff_t shape[2] = {rows, lua_isnoneornil(L, 2) ? rows : extent(L, 2, "eye")};
  Tensor *t = api_new(L, "eye", 2, shape, NULL);
  memset(t->data, 0, t->size * sizeof(double));
  for (ptrdiff_t i = 0; i < shape[0] && i < shape[1]; i++)
    t->data[i * shape[1] + i] = 1;
  return 1;
}


/*
** Reading
*/
static const double *push_table (lua_State *L, const Tensor *t, int depth,
                                 const double *at) {
  if (depth == t->rank) {
    lua_pushnumber(L, *at);
    return at;
  }
  ptrdiff_t n = tensor_cshape(t)[depth];
  luaL_checkstack(L, 3, "totable");
  lua_createtable(L, n < INT32_MAX ? (int)n : 0, 0);
  for (ptrdiff_t i = 0; i < n; i++) {
    push_table(L, t, depth + 1, at + i * tensor_cstride(t)[depth]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return at;
}

static int totable (lua_State *L) {
  const Tensor *t = api_check_tensor(L, 1, "Tensor:totable");
  push_table(L, t, 0, t->data);
  return 1;
}

static int item (lua_State *L) {
  const Tensor *t = api_check_tensor(L, 1, "Tensor:item");
  if (t->size != 1) {
    api_push_shape(L, t->rank, tensor_cshape(t));
    api_fail(L, "Tensor:item", "only a tensor of one element has an item,"
             " this one has shape %s", lua_tostring(L, -1));
  }
  lua_pushnumber(L, t->data[0]);
  return 1;
}

static int shape (lua_State *L) {
  const Tensor *t = api_check_tensor(L, 1, "Tensor.shape");
  lua_createtable(L, t->rank, 0);
  for (int d = 0; d < t->rank; d++) {
    lua_pushinteger(L, (lua_Integer)tensor_cshape(t)[d]);
    lua_rawseti(L, -2, d + 1);
  }
  return 1;
}

static int numel (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)api_check_tensor(L, 1, "Tensor:numel")->size);
  return 1;
}

static int is_tensor (lua_State *L) {
  lua_pushboolean(L, api_tensor(L, 1) != NULL);
  return 1;
}

static int metatable (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &METATABLE);
  return 1;
}


static const luaL_Reg functions[] = {
  {"tensor",    new_tensor},
  {"zeros",     new_zeros},
  {"ones",      new_ones},
  {"full",      new_full},
  {"arange",    new_arange},
  {"linspace",  new_linspace},
  {"eye",       new_eye},
  {"totable",   totable},
  {"item",      item},
  {"shape",     shape},
  {"numel",     numel},
  {"is_tensor", is_tensor},
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
  luaL_setfuncs(L, functions, 0);
}
