/*
** errors.c - messages that name the function, the argument, rule and value
*/
#include <stdarg.h>

#include "api/api.h"


/* Pushes the place of the call: the nearest function that is written in Lua. */
static void push_where (lua_State *L) {
  for (int level = 1; ; level++) {
    luaL_where(L, level);
    if (lua_rawlen(L, -1) > 0 || level == 4) return;
    lua_pop(L, 1);
  }
}

int api_fail (lua_State *L, const char *who, const char *format, ...) {
  va_list arguments;
  push_where(L);
  lua_pushfstring(L, "%s: ", who);
  va_start(arguments, format);
  lua_pushvfstring(L, format, arguments);
  va_end(arguments);
  lua_concat(L, 3);
  return lua_error(L);
}


/* Pushes a short text for the value at `index`, as messages show it. */
static void push_value (lua_State *L, int index) {
  switch (lua_type(L, index)) {
    case LUA_TNUMBER:               /* with a point in every locale */
      luaL_gsub(L, luaL_tolstring(L, index, NULL), ",", ".");
      lua_remove(L, -2);
      break;
    case LUA_TNIL: case LUA_TBOOLEAN:
      luaL_tolstring(L, index, NULL);
      break;
    case LUA_TSTRING:
      lua_pushfstring(L, "the string \"%s\"", lua_tostring(L, index));
      break;
    case LUA_TNONE:
      lua_pushliteral(L, "nothing");
      break;
    default: {
      const Tensor *t = api_tensor(L, index);
      if (t == NULL) lua_pushfstring(L, "a %s", luaL_typename(L, index));
      else {
        lua_pushliteral(L, "a tensor of shape ");
        api_push_shape(L, t->rank, t->shape);
        lua_concat(L, 2);
      }
    }
  }
}

int api_fail_type (lua_State *L, const char *who, const char *name,
                   const char *rule, int index) {
  push_value(L, index);
  return api_fail(L, who, "%s must be %s, got %s", name, rule,
                  lua_tostring(L, -1));
}


void api_push_shape (lua_State *L, int rank, const ptrdiff_t shape[]) {
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
void api_push_shapes (lua_State *L, int n, const Tensor *const in[]) {
  luaL_Buffer buffer;
  int shown = 0;
  luaL_buffinit(L, &buffer);
  luaL_addstring(&buffer, "shapes ");
  for (int k = 0; k < n; k++) {
    if (in[k]->rank == 0) continue;
    if (shown++ > 0) luaL_addstring(&buffer, " and ");
    api_push_shape(L, in[k]->rank, in[k]->shape);
    luaL_addvalue(&buffer);
  }
  luaL_pushresult(&buffer);
}

int api_fail_shapes (lua_State *L, const char *who, const char *why, int n,
                     const Tensor *const in[]) {
  api_push_shapes(L, n, in);
  return api_fail(L, who, "%s %s", lua_tostring(L, -1), why);
}
