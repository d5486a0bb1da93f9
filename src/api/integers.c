/*
** integers.c - integers, shapes and dimensions as arguments
**
** Where a function takes several integers, they are arguments of it or the elements of one
** table. Tables are read raw, and hold nothing else.
*/
#include <limits.h>

#include "api/api.h"


lua_Integer api_integer (lua_State *L, int index, const char *who,
                         const char *name) {
  int ok = 0;
  lua_Integer n = 0;
  if (lua_type(L, index) == LUA_TNUMBER) n = lua_tointegerx(L, index, &ok);
  if (!ok) host_fail_type(L, who, name, "an integer", index);
  return n;
}

/* core.check_list(who, name, list): the elements 1, ..., n of a table, read raw, in a table without
   a metatable, which could answer for ever; raises if it has other keys, or not all of these */
static int check_list (lua_State *L) {
  const char *who = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  ptrdiff_t n = (ptrdiff_t)lua_rawlen(L, 3), count = host_check_keys(L, 3, who, name, n);
  if (count < n)
    host_fail(L, who, "%s must be a list without nil, got %d of %d elements", name, (int)count,
              (int)n);
  lua_createtable(L, n < INT_MAX ? (int)n : 0, 0);
  for (ptrdiff_t i = 1; i <= n; i++) {
    lua_rawgeti(L, 3, (lua_Integer)i);
    lua_rawseti(L, -2, (lua_Integer)i);
  }
  return 1;
}

/* Reads the integers, each of which messages call `name`, at `first` to `last` on the stack,
   or in a table there; returns how many there are. */
static int read_integers (lua_State *L, int first, int last, const char *who,
                          const char *list_name, const char *name,
                          lua_Integer list[TENSOR_MAX_RANK]) {
  bool listed = first <= last && lua_istable(L, first);
  lua_Unsigned n = listed ? lua_rawlen(L, first) : (lua_Unsigned)(last - first + 1);
  if (listed && host_table_kind(L, first) != TABLE_DATA)
    host_fail_type(L, who, list_name, "an integer or a table of integers", first);
  if (listed && last > first)
    host_fail_type(L, who, "what follows a table of integers", "nothing", first + 1);
  if (n > TENSOR_MAX_RANK)
    host_fail(L, who, "a shape has at most %d dimensions, got %I",
              TENSOR_MAX_RANK, (lua_Integer)n);
  for (int i = 0; i < (int)n; i++) {
    if (listed) lua_rawgeti(L, first, i + 1);
    else lua_pushvalue(L, first + i);
    list[i] = api_integer(L, -1, who, name);
    lua_pop(L, 1);
  }
  if (listed) host_check_keys(L, first, who, "a table of integers", (ptrdiff_t)n);
  return (int)n;
}


static ptrdiff_t check_extent (lua_State *L, const char *who, lua_Integer n) {
  if (n < 0) {
    lua_pushinteger(L, n);
    host_fail_type(L, who, "a dimension", "a non-negative integer", -1);
  }
  return (ptrdiff_t)n;
}

ptrdiff_t api_extent (lua_State *L, int index, const char *who) {
  return check_extent(L, who, api_integer(L, index, who, "a dimension"));
}

int api_shape (lua_State *L, int first, int last, const char *who, ptrdiff_t shape[],
               int *open) {
  lua_Integer list[TENSOR_MAX_RANK];
  int rank = read_integers(L, first, last, who, "shape", "a dimension", list);
  if (open != NULL) *open = -1;
  for (int d = 0; d < rank; d++) {
    bool is_open = open != NULL && list[d] == -1;
    if (is_open && *open >= 0) host_fail(L, who, "only one dimension may be -1");
    if (is_open) *open = d;
    shape[d] = is_open ? 1 : check_extent(L, who, list[d]);
  }
  return rank;
}

static const char SHAPES = 's';   /* registry key: the metatable of shapes, by which they print */

/* The text of a table of dimensions: "(2, 3)" */
static int shape_text (lua_State *L) {
  luaL_Buffer text;
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_Integer n = (lua_Integer)lua_rawlen(L, 1);
  luaL_buffinit(L, &text);
  luaL_addchar(&text, '(');
  for (lua_Integer d = 1; d <= n; d++) {
    if (d > 1) luaL_addstring(&text, ", ");
    lua_rawgeti(L, 1, d);
    luaL_tolstring(L, -1, NULL);
    lua_remove(L, -2);
    luaL_addvalue(&text);
  }
  luaL_addchar(&text, ')');
  luaL_pushresult(&text);
  return 1;
}

void api_push_shape_table (lua_State *L, int rank, const ptrdiff_t shape[]) {
  lua_createtable(L, rank, 0);
  for (int d = 0; d < rank; d++) {
    lua_pushinteger(L, (lua_Integer)shape[d]);
    lua_rawseti(L, -2, d + 1);
  }
  lua_rawgetp(L, LUA_REGISTRYINDEX, &SHAPES);
  lua_setmetatable(L, -2);
}

/* core.to_shape(x, who): a new table of dimensions from an integer or a table of them */
static int to_shape (lua_State *L) {
  ptrdiff_t shape[TENSOR_MAX_RANK];
  const char *who = luaL_checkstring(L, 2);
  if (!lua_istable(L, 1) && lua_type(L, 1) != LUA_TNUMBER)
    host_fail_type(L, who, "shape", "an integer or a table of integers", 1);
  api_push_shape_table(L, api_shape(L, 1, 1, who, shape, NULL), shape);
  return 1;
}


/* Users count dimensions from 1; -1 is the last. */
static ptrdiff_t check_dimension (lua_State *L, const char *who, lua_Integer d, int rank) {
  if (d == 0 || d > rank || d < -rank)
    host_fail(L, who, "dim must be between 1 and %d (or -1 and -%d), got %I",
              rank, rank, d);
  return (ptrdiff_t)(d > 0 ? d - 1 : d + rank);
}

ptrdiff_t api_dimension (lua_State *L, int index, const char *who, int rank) {
  return check_dimension(L, who, api_integer(L, index, who, "dim"), rank);
}

int api_dimensions (lua_State *L, int first, int last, const char *who, int rank,
                    int dims[], unsigned *set) {
  lua_Integer list[TENSOR_MAX_RANK];
  int n = read_integers(L, first, last, who, "dims", "dim", list);
  *set = 0;
  for (int i = 0; i < n; i++) {
    dims[i] = (int)check_dimension(L, who, list[i], rank);
    if (*set >> dims[i] & 1) host_fail(L, who, "dimension %d is named twice", dims[i] + 1);
    *set |= 1u << dims[i];
  }
  return n;
}

void api_open_integers (lua_State *L) {
  lua_newtable(L);
  lua_pushcfunction(L, shape_text);
  lua_setfield(L, -2, "__tostring");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &SHAPES);
  lua_pushcfunction(L, to_shape);
  lua_setfield(L, -2, "to_shape");
  lua_pushcfunction(L, check_list);
  lua_setfield(L, -2, "check_list");
}
