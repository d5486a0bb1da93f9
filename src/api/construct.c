/*
** construct.c - new tensors: from tables, filled, in progression
*/
#include <math.h>
#include <string.h>

#include "api/api.h"
#include "driver/loop.h"

#define EXACT_INTEGERS 9007199254740992   /* 2^53 */


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

/* Refuses an integer that would lose its last digits. */
static void check_exact (lua_State *L, int index, const char *who,
                         const char *name) {
  lua_Integer n = lua_isinteger(L, index) ? lua_tointeger(L, index) : 0;
  if (n > EXACT_INTEGERS || n < -EXACT_INTEGERS)
    api_fail(L, who, "%s holds %I, an integer beyond 2^53 that no double holds"
                     " exactly", name, n);
}

static double element (lua_State *L, const char *who, const char *name) {
  if (lua_type(L, -1) != LUA_TNUMBER) {
    lua_pushfstring(L, "%s must hold numbers: an element", name);
    api_fail_type(L, who, lua_tostring(L, -1), "a number", -2);
  }
  check_exact(L, -1, who, name);
  return lua_tonumber(L, -1);
}

/* Copies a list of numbers, whose keys Lua gives in the order 1, 2, ...: one walk finds other keys
   too. Returns NULL if there are any, or if the order is another, as where a list was not filled
   from its beginning. */
static double *copy_numbers (lua_State *L, const char *who, const char *name,
                             const Tensor *t, double *out) {
  ptrdiff_t length = t->shape[t->rank - 1], i = 0;
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    if (i == length || lua_tointeger(L, -2) != i + 1) return lua_pop(L, 2), NULL;
    out[i++] = element(L, who, name);
    if (i % LOOP_BLOCK == 0) api_look(L, api_state(L));
  }
  return i == length ? out + length : NULL;
}

static double *copy_table (lua_State *L, const char *who, const char *name,
                           const Tensor *t, int depth, double *out) {
  ptrdiff_t length = t->shape[depth];
  if (!lua_istable(L, -1) || (ptrdiff_t)lua_rawlen(L, -1) != length) {
    if (!lua_istable(L, -1))
      api_fail_type(L, who, name, "rectangular: an element of a row", -1);
    api_fail(L, who, "%s is ragged: a row of %d elements beside one of %d", name,
             (int)lua_rawlen(L, -1), (int)length);
  }
  int is_row = depth + 1 == t->rank;
  double *end = is_row ? copy_numbers(L, who, name, t, out) : NULL;
  if (end != NULL) return end;
  api_check_keys(L, -1, who, name, length);
  for (ptrdiff_t i = 1; i <= length; i++) {
    lua_rawgeti(L, -1, (lua_Integer)i);
    if (is_row) *out++ = element(L, who, name);
    else out = copy_table(L, who, name, t, depth + 1, out);
    lua_pop(L, 1);
    if (i % LOOP_BLOCK == 0 || (out - t->data) % LOOP_BLOCK == 0) api_look(L, api_state(L));
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

/*
** Constructors
*/
static int new_tensor (lua_State *L) {
  Tensor header;
  double number;
  api_arguments(L, "tensor", 1);
  check_exact(L, 1, "tensor", "data");
  int fresh = lua_istable(L, 1);
  const Tensor *from = api_operand(L, 1, "tensor", "data", &header, &number);
  if (fresh) return 1;
  Tensor *t = api_new(L, "tensor", from->rank, from->shape, NULL);
  api_copy(L, t, from);
  return 1;
}

static Tensor *new_filled (lua_State *L, const char *who, double value) {
  ptrdiff_t shape[TENSOR_MAX_RANK];
  int rank = api_shape(L, 1, lua_gettop(L), who, shape, NULL);
  Tensor *t = api_new(L, who, rank, shape, NULL);
  Tensor header;
  api_copy(L, t, tensor_scalar(&header, &value));
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
  int last = lua_gettop(L) > 0 ? lua_gettop(L) : 1;
  double value = number_argument(L, last, "full", "the value");
  lua_pop(L, 1);
  return new_filled(L, "full", value), 1;
}

/* first, first + by, ...: n values, none computed from another. */
static int push_progression (lua_State *L, const char *who, double first,
                             double by, double n) {
  if (!(n < (double)PTRDIFF_MAX)) {
    lua_pushnumber(L, n);
    api_fail_type(L, who, "the number of elements", "finite", -1);
  }
  ptrdiff_t shape[1] = {n > 0 ? (ptrdiff_t)n : 0};
  Tensor *t = api_new(L, who, 1, shape, NULL);
  State *state = t->size < LOOP_GRAIN ? NULL : api_state(L);
  for (size_t i = 0; i < t->size; i++) {
    t->data[i] = first + (double)i * by;
    if (i % LOOP_GRAIN == LOOP_GRAIN - 1) api_look(L, state);
  }
  return 1;
}

static int new_arange (lua_State *L) {
  int bounded = lua_gettop(L) >= 2;
  api_arguments(L, "arange", 3);
  double first = bounded ? number_argument(L, 1, "arange", "start") : 0;
  double last = number_argument(L, bounded ? 2 : 1, "arange", "stop");
  double by = lua_isnoneornil(L, 3) ? 1 : number_argument(L, 3, "arange", "step");
  if (by == 0 || by != by)
    api_fail_type(L, "arange", "step", "a number other than 0", 3);
  return push_progression(L, "arange", first, by, ceil((last - first) / by));
}

static int new_linspace (lua_State *L) {
  double first = number_argument(L, 1, "linspace", "start");
  double last = number_argument(L, 2, "linspace", "stop");
  lua_Integer n = api_integer(L, 3, "linspace", "count");
  if (n < 0) api_fail_type(L, "linspace", "count", "a non-negative integer", 3);
  api_arguments(L, "linspace", 3);
  push_progression(L, "linspace", first,
                   n > 1 ? (last - first) / (double)(n - 1) : 0, (double)n);
  if (n > 1) api_tensor(L, -1)->data[n - 1] = last;
  return 1;
}

static int new_eye (lua_State *L) {
  api_arguments(L, "eye", 2);
  ptrdiff_t rows = api_extent(L, 1, "eye");
  ptrdiff_t shape[2] = {rows, lua_isnoneornil(L, 2) ? rows : api_extent(L, 2, "eye")};
  Tensor *t = api_new(L, "eye", 2, shape, NULL);
  Pool *pool = api_pool(L, t->size);
  loop_clear(pool, t->data, t->size);
  api_check_stopped(L, pool);
  for (ptrdiff_t i = 0; i < shape[0] && i < shape[1]; i++)
    t->data[i * shape[1] + i] = 1;
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
  {NULL, NULL}
};

void api_open_construct (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
