/*
** tables.c - tensors made of tables of numbers
**
** The first pass reads the shape off the first elements, the second copies and finds whatever
** does not fit.
*/
#include "driver/loop.h"
#include "host/host.h"

#define EXACT_INTEGERS 9007199254740992   /* 2^53 */


static int table_shape (lua_State *L, int index, const char *who,
                        const char *name, ptrdiff_t shape[]) {
  int rank = 0;
  luaL_checkstack(L, TENSOR_MAX_RANK + 4, who);
  lua_pushvalue(L, index);
  while (lua_istable(L, -1)) {
    if (rank == TENSOR_MAX_RANK)
      host_fail(L, who, "%s is nested deeper than %d tables", name,
                TENSOR_MAX_RANK);
    shape[rank] = (ptrdiff_t)lua_rawlen(L, -1);
    if (shape[rank] == 0 && (lua_pushnil(L), lua_next(L, -2) != 0))
      host_fail(L, who, "%s must be an array of numbers, got a table with other"
                       " keys", name);
    rank++;
    lua_rawgeti(L, -1, 1);
  }
  lua_pop(L, rank + 1);
  return rank;
}

void host_check_exact (lua_State *L, int index, const char *who,
                         const char *name) {
  lua_Integer n = lua_isinteger(L, index) ? lua_tointeger(L, index) : 0;
  if (n > EXACT_INTEGERS || n < -EXACT_INTEGERS)
    host_fail(L, who, "%s holds %I, an integer beyond 2^53 that no double holds"
                     " exactly", name, n);
}

static double element (lua_State *L, const char *who, const char *name) {
  if (lua_type(L, -1) != LUA_TNUMBER) {
    lua_pushfstring(L, "%s must hold numbers: an element", name);
    host_fail_type(L, who, lua_tostring(L, -1), "a number", -2);
  }
  double x = lua_tonumber(L, -1);
  if (fabs(x) >= EXACT_INTEGERS) host_check_exact(L, -1, who, name);
  return x;
}

ptrdiff_t host_check_keys (lua_State *L, int index, const char *who, const char *name,
                           ptrdiff_t n) {
  ptrdiff_t count = 0;
  index = lua_absindex(L, index);
  lua_pushnil(L);
  for (; lua_next(L, index); count++) {
    lua_pop(L, 1);
    lua_Integer key = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;
    if (key < 1 || key > n) host_fail_type(L, who, name, "a list without other keys", -1);
  }
  return count;
}

/* Copies a list of numbers, whose keys Lua gives in the order 1, 2, ...: one loop finds other keys
   too. Returns NULL if there are any, or if the order is another, as where a list was not filled
   from its beginning. */
static double *copy_numbers (lua_State *L, const char *who, const char *name,
                             const Tensor *t, double *out) {
  ptrdiff_t length = t->shape[t->rank - 1], i = 0;
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    if (i == length || lua_tonumber(L, -2) != (double)(i + 1)) return lua_pop(L, 2), NULL;
    out[i++] = element(L, who, name);
    if (i % LOOP_BLOCK == 0) host_look(L, host_state(L));
  }
  return i == length ? out + length : NULL;
}

static double *copy_table (lua_State *L, const char *who, const char *name,
                           const Tensor *t, int depth, double *out) {
  ptrdiff_t length = t->shape[depth];
  if (!lua_istable(L, -1) || (ptrdiff_t)lua_rawlen(L, -1) != length) {
    if (!lua_istable(L, -1))
      host_fail_type(L, who, name, "rectangular: an element of a row", -1);
    host_fail(L, who, "%s is ragged: a row of %d elements beside one of %d", name,
              (int)lua_rawlen(L, -1), (int)length);
  }
  int is_row = depth + 1 == t->rank;
  double *end = is_row ? copy_numbers(L, who, name, t, out) : NULL;
  if (end != NULL) return end;
  host_check_keys(L, -1, who, name, length);
  for (ptrdiff_t i = 1; i <= length; i++) {
    lua_rawgeti(L, -1, (lua_Integer)i);
    if (is_row) *out++ = element(L, who, name);
    else out = copy_table(L, who, name, t, depth + 1, out);
    lua_pop(L, 1);
    if (i % LOOP_BLOCK == 0 || (out - t->data) % LOOP_BLOCK == 0) host_look(L, host_state(L));
  }
  return out;
}

Tensor *host_from_table (lua_State *L, int index, const char *who,
                         const char *name) {
  ptrdiff_t shape[TENSOR_MAX_RANK];
  index = lua_absindex(L, index);
  int rank = table_shape(L, index, who, name, shape);
  Tensor *t = host_new(L, who, rank, shape, NULL);
  lua_pushvalue(L, index);
  copy_table(L, who, name, t, 0, t->data);
  lua_pop(L, 1);
  return t;
}
