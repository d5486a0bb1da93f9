/*
** values.c - Lua values: what they are, and how messages show them
*/
#include <stdio.h>
#include <string.h>

#include "host/host.h"


Tensor *host_header (lua_State *L, int index) {
  void *block = lua_touserdata(L, index);
  return block != NULL && tensor_proven(block, lua_rawlen(L, index)) ? block : NULL;
}

static int has_index (lua_State *L, int table) {
  lua_pushliteral(L, "__index");
  int found = lua_rawget(L, table < 0 ? table - 1 : table) != LUA_TNIL;
  lua_pop(L, 1);
  return found;
}

TableKind host_table_kind (lua_State *L, int index) {
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


void host_push_shape (lua_State *L, int rank, const ptrdiff_t shape[]) {
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  luaL_addchar(&buffer, '(');
  for (int d = 0; d < rank; d++) {
    if (d > 0) luaL_addstring(&buffer, ", ");
    lua_pushinteger(L, (lua_Integer)shape[d]);
    luaL_addvalue(&buffer);
  }
  luaL_addchar(&buffer, ')');
  luaL_pushresult(&buffer);
}

/* "shapes (2) and (3)" of all that are not single numbers */
void host_push_shapes (lua_State *L, int n, const Tensor *const in[]) {
  luaL_Buffer buffer;
  int shown = 0;
  luaL_buffinit(L, &buffer);
  luaL_addstring(&buffer, "shapes ");
  for (int k = 0; k < n; k++) {
    if (in[k]->rank == 0) continue;
    if (shown++ > 0) luaL_addstring(&buffer, " and ");
    host_push_shape(L, in[k]->rank, in[k]->shape);
    luaL_addvalue(&buffer);
  }
  luaL_pushresult(&buffer);
}

/*
** Values as messages show them
*/
static void push_number (lua_State *L, int index) {
  char text[64];
  double x = lua_tonumber(L, index);
  if (lua_isinteger(L, index)) lua_pushfstring(L, "%I", lua_tointeger(L, index));
  else if (x != x) lua_pushliteral(L, "nan");      /* some would show a sign */
  else {
    snprintf(text, sizeof text, "%.14g", x);
    luaL_gsub(L, text, ",", ".");                  /* with a point in every locale */
  }
}

/* Pushes "a Normal", "an Exponential". */
static void push_with_article (lua_State *L, const char *name) {
  int vowel = *name != '\0' && strchr("AEIOUaeiou", *name) != NULL;
  lua_pushfstring(L, "%s %s", vowel ? "an" : "a", name);
}

/* Pushes the field `name` of the table at `index`, or of its metatable; is it a string? */
static int push_string_field (lua_State *L, int index, const char *name, int of_meta) {
  if (!of_meta) lua_pushvalue(L, index);
  else if (!lua_getmetatable(L, index)) return 0;
  if (lua_istable(L, -1) && (lua_pushstring(L, name), lua_rawget(L, -2) == LUA_TSTRING)) return 1;
  return 0;
}

/* Which kind of table? A class, an object of one, a list, or one with other keys. */
static void push_table_kind (lua_State *L, int index) {
  if (push_string_field(L, index, "__name", 0))
    lua_pushfstring(L, "the class %s", lua_tostring(L, -1));
  else if (push_string_field(L, index, "__name", 1))
    push_with_article(L, lua_tostring(L, -1));
  else if (host_table_kind(L, index) == TABLE_OBJECT)
    lua_pushliteral(L, "an object");
  else if (lua_rawlen(L, index) > 0)
    lua_pushfstring(L, "a table of %I element%s", (lua_Integer)lua_rawlen(L, index),
                    lua_rawlen(L, index) == 1 ? "" : "s");
  else if (lua_pushnil(L), lua_next(L, index) == 0)
    lua_pushliteral(L, "an empty table");
  else if (lua_type(L, -2) == LUA_TSTRING)
    lua_pushfstring(L, "a table with the key %s", lua_tostring(L, -2));
  else lua_pushliteral(L, "a table that is no list");
}

void host_push_value (lua_State *L, int index) {
  int top = lua_gettop(L);
  const Tensor *t;
  index = lua_absindex(L, index);
  switch (lua_type(L, index)) {
    case LUA_TNUMBER: push_number(L, index); break;
    case LUA_TNIL: case LUA_TBOOLEAN: luaL_tolstring(L, index, NULL); break;
    case LUA_TSTRING: lua_pushfstring(L, "the string \"%s\"", lua_tostring(L, index)); break;
    case LUA_TTABLE: push_table_kind(L, index); break;
    case LUA_TUSERDATA:
      if ((t = host_header(L, index)) != NULL) {
        lua_pushliteral(L, "a tensor of shape ");
        host_push_shape(L, t->rank, t->shape);
        lua_concat(L, 2);
        break;
      }   /* fall through */
    default: lua_pushfstring(L, "a %s", luaL_typename(L, index));
  }
  lua_insert(L, top + 1);
  lua_settop(L, top + 1);
}
