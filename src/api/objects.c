/*
** objects.c - the two things a script does all day with single numbers, done
** without a detour: constructing a distribution, and finding its KL
**
** Both are shortcuts. Whatever is not plain goes to the Lua function that
** knows all the rules, and gives the same result.
*/
#include <string.h>

#include "api/api.h"

#define MAX_PARAMS 6

typedef struct Layout {
  int params;
  const Kernel *rule[MAX_PARAMS];     /* of one operand, or NULL: not plain */
  double standard[MAX_PARAMS];        /* default values */
  unsigned char has_default[MAX_PARAMS];
} Layout;

/* Upvalues of a constructor: the layout, the full constructor, "init", and
   the names of the parameters. */
static const Layout *layout (lua_State *L) {
  return lua_touserdata(L, lua_upvalueindex(1));
}

/* Are the arguments numbers that satisfy their rules, or left out? */
static int plain_values (lua_State *L, const Layout *form, double value[]) {
  if (lua_gettop(L) > 1 + form->params) return 0;
  for (int i = 0; i < form->params; i++) {
    double holds = 0;
    const double *in = &value[i];
    if (lua_type(L, 2 + i) == LUA_TNUMBER) value[i] = lua_tonumber(L, 2 + i);
    else if (lua_isnoneornil(L, 2 + i) && form->has_default[i])
      value[i] = form->standard[i];
    else return 0;
    if (form->rule[i] != NULL) form->rule[i]->value(1, &in, &holds);
    if (holds == 0) return 0;
  }
  return 1;
}

static int has_init (lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(3));
  int found = lua_rawget(L, 1) == LUA_TFUNCTION;
  lua_pop(L, 1);
  return found;
}

static int construct (lua_State *L) {
  const Layout *form = layout(L);
  double value[MAX_PARAMS];
  if (!plain_values(L, form, value) || has_init(L)) {
    lua_settop(L, 9);                 /* class, values, and room to see more */
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_insert(L, 1);
    lua_call(L, 9, 1);
    return 1;
  }
  lua_settop(L, 1 + form->params);
  lua_createtable(L, 0, form->params);
  for (int i = 0; i < form->params; i++) {
    lua_pushvalue(L, lua_upvalueindex(4 + i));
    if (lua_isnil(L, 2 + i)) lua_pushnumber(L, value[i]);
    else lua_pushvalue(L, 2 + i);     /* an integer stays one */
    lua_rawset(L, -3);
  }
  lua_pushvalue(L, 1);
  lua_setmetatable(L, -2);
  return 1;
}

/* The kernel of a constraint without parameters on single numbers, or NULL. */
static const Kernel *plain_rule (lua_State *L, int param) {
  const Kernel *kernel = NULL;
  if (lua_getfield(L, param, "event") == LUA_TNIL
      && lua_rawgeti(L, param, 2) == LUA_TTABLE
      && lua_getfield(L, -1, "plain_kernel") == LUA_TSTRING)
    kernel = api_kernel(L, "constraint", lua_tostring(L, -1));
  lua_settop(L, param);
  return kernel;
}

/* core.constructor(params, full): `full` is the constructor in Lua. */
static int constructor (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  int n = (int)lua_rawlen(L, 1);
  if (n > MAX_PARAMS) return 1;      /* the full one itself */
  Layout *form = lua_newuserdatauv(L, sizeof *form, 0);
  memset(form, 0, sizeof *form);
  form->params = n;
  lua_pushvalue(L, 2);
  lua_pushliteral(L, "init");
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, 1, i + 1);
    int param = lua_gettop(L);
    luaL_checktype(L, param, LUA_TTABLE);
    form->rule[i] = plain_rule(L, param);
    if (lua_getfield(L, param, "default") == LUA_TNUMBER) {
      form->has_default[i] = 1;
      form->standard[i] = lua_tonumber(L, -1);
    }
    lua_rawgeti(L, param, 1);
    lua_replace(L, param);
    lua_settop(L, param);
  }
  lua_pushcclosure(L, construct, 3 + n);
  return 1;
}


/* Upvalue 1 is the cache, cache[P][Q] -> function; upvalue 2 the function
   that finds the answer otherwise. */
static int dispatch (lua_State *L) {
  lua_settop(L, 3);
  if (!lua_getmetatable(L, 1) || lua_rawget(L, lua_upvalueindex(1)) != LUA_TTABLE
      || !lua_getmetatable(L, 2) || lua_rawget(L, -2) != LUA_TFUNCTION)
    lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_settop(L, 4);
  lua_call(L, 3, 1);
  return 1;
}

/* core.dispatcher(cache, resolve) */
static int dispatcher (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  lua_pushcclosure(L, dispatch, 2);
  return 1;
}


static const luaL_Reg functions[] = {
  {"constructor", constructor},
  {"dispatcher",  dispatcher},
  {NULL, NULL}
};

void api_open_objects (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
