/*
** counted.c - methods in Lua that count their arguments
**
** Lua drops the arguments that a function does not name. A counted method refuses them, as
** functions in C do, and refuses to be called without an object.
*/
#include "api/api.h"

/* Upvalues of a counted method */
enum { METHOD = 1, MOST, CLASS, NAME };

/* Refuses one of n arguments, for the class of the object, or that of the method. */
static COLD void check (lua_State *L, int most, int n) {
  int is_object = lua_istable(L, 1);
  if (!is_object || luaL_getmetafield(L, 1, "__name") != LUA_TSTRING)
    lua_pushvalue(L, lua_upvalueindex(CLASS));
  const char *class = lua_tostring(L, -1), *name = lua_tostring(L, lua_upvalueindex(NAME));
  const char *who = lua_pushfstring(L, "%s:%s", class, name);
  if (n == 0) host_fail(L, who, "self is missing");
  if (!is_object) host_fail_type(L, who, "self", "an object (call it as object:method)", 1);
  host_more_arguments(L, who, most, n);
}

static int finish (lua_State *L, int status, lua_KContext context) {
  (void)status, (void)context;
  return lua_gettop(L);
}

static int call_counted (lua_State *L) {
  int n = lua_gettop(L), most = (int)lua_tointeger(L, lua_upvalueindex(MOST));
  if (n > most || !lua_istable(L, 1)) {
    check(L, most, n);
    lua_settop(L, n);
  }
  lua_pushvalue(L, lua_upvalueindex(METHOD));
  lua_insert(L, 1);
  lua_callk(L, n, LUA_MULTRET, 0, finish);
  return lua_gettop(L);
}

/* core.counted(class, name, f, like): the method f, counting its arguments, or as many as `like`
   names. A function that is none of ours, is written in C or takes any number is left alone. */
static int counted (lua_State *L) {
  lua_Debug f;
  luaL_checkstring(L, 1);
  luaL_checkstring(L, 2);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  lua_settop(L, 4);
  int like = lua_isnil(L, 4) ? 3 : 4, most = compat_parameters(L, like);
  lua_pushvalue(L, like);
  lua_getinfo(L, ">S", &f);
  lua_settop(L, 3);
  if (lua_iscfunction(L, 3) || most < 0 || !host_is_ours(L, f.source)) return 1;
  lua_pushinteger(L, most > 1 ? most : 1);   /* the object, whether it is named or not */
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_pushcclosure(L, call_counted, NAME);
  return 1;
}


static const luaL_Reg functions[] = {
  {"counted", counted},
  {NULL, NULL}
};

void api_open_counted (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
