/*
** counted.c - methods in Lua that count their arguments
**
** Lua drops the arguments that a function does not name. A counted method refuses them, as
** functions in C do, and refuses to be called without an object.
*/
#include <string.h>

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

/* Pushes the function at index 3, counting as many arguments as the function at `like` names, for
   messages that name it by the strings at `class` and 2. A function that is none of ours, is
   written in C or takes any number is left alone. */
static void push_counted (lua_State *L, int class, int like) {
  lua_Debug f;
  lua_pushvalue(L, like);
  lua_getinfo(L, ">Su", &f);
  lua_pushvalue(L, 3);
  if (lua_iscfunction(L, 3) || f.isvararg || !host_is_ours(L, f.source)) return;
  lua_pushinteger(L, f.nparams > 1 ? f.nparams : 1);   /* the object, whether it is named or not */
  lua_pushvalue(L, class);
  lua_pushvalue(L, 2);
  lua_pushcclosure(L, call_counted, NAME);
}

/* core.counted(class, name, f, like): the method f, counting its arguments, or as many as `like`
   names */
static int counted (lua_State *L) {
  luaL_checkstring(L, 1);
  luaL_checkstring(L, 2);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  lua_settop(L, 4);
  push_counted(L, 1, lua_isnil(L, 4) ? 3 : 4);
  return 1;
}


/* Is a field a method, and none that Lua or a constructor calls? */
static int is_method (lua_State *L, const char *name) {
  return name != NULL && lua_isfunction(L, 3) && strncmp(name, "__", 2) != 0
      && strcmp(name, "init") != 0;
}

/* A new field of a class, class[key] = value: a method counts its arguments. Upvalue 1 is called
   with the class where the field decides how that is called: there is a short way to instances
   without these two. */
static int set_field (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 3);
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;
  lua_pushvalue(L, 2);
  if (is_method(L, name)) {
    lua_pushliteral(L, "__name");
    if (lua_rawget(L, 1) != LUA_TSTRING) lua_pushliteral(L, "a class without __name");
    push_counted(L, lua_gettop(L), 3);
    lua_replace(L, 5);
    lua_settop(L, 5);
  } else lua_pushvalue(L, 3);
  lua_rawset(L, 1);
  if (name == NULL || (strcmp(name, "init") != 0 && strcmp(name, "__newindex") != 0)) return 0;
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushvalue(L, 1);
  lua_call(L, 1, 0);
  return 0;
}

/* core.field_setter(decide): the __newindex of a class */
static int field_setter (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_pushcclosure(L, set_field, 1);
  return 1;
}


static const luaL_Reg functions[] = {
  {"counted", counted},
  {"field_setter", field_setter},
  {NULL, NULL}
};

void api_open_counted (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
