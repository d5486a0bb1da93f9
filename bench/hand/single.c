/*
** single.c - one KL(Normal || Normal) of numbers, as a library for this alone would do it: laws
** are tables whose metatable is their class, as users are promised, and a closure in Lua is what
** is called. (With userdata of two numbers in their place, constructing takes half the time.)
*/
#include <lauxlib.h>
#include <lua.h>

#include "hand.h"
#include "special/vmath.h"

/* Upvalues of both functions. */
enum { LOC = 1, SCALE, LAW };

static void set_number (lua_State *L, int name, double x) {
  lua_pushvalue(L, lua_upvalueindex(name));
  lua_pushnumber(L, x);
  lua_rawset(L, -3);
}

/* Law(loc, scale) */
static int new_law (lua_State *L) {
  double loc = luaL_checknumber(L, 2), scale = luaL_checknumber(L, 3);
  luaL_argcheck(L, scale > 0, 3, "must be positive");
  lua_createtable(L, 0, 2);
  set_number(L, LOC, loc);
  set_number(L, SCALE, scale);
  lua_pushvalue(L, 1);
  lua_setmetatable(L, -2);
  return 1;
}

static void check_law (lua_State *L, int law) {
  luaL_argcheck(L, lua_istable(L, law) && lua_getmetatable(L, law)
                   && lua_rawequal(L, -1, lua_upvalueindex(LAW)), law, "must be a Law");
}

static double get_number (lua_State *L, int law, int name) {
  lua_pushvalue(L, lua_upvalueindex(name));
  lua_rawget(L, law);
  return lua_tonumber(L, -1);
}

static int kl (lua_State *L) {
  check_law(L, 1);
  check_law(L, 2);
  double inverse = 1 / get_number(L, 2, SCALE), r = get_number(L, 1, SCALE) * inverse;
  double d = (get_number(L, 1, LOC) - get_number(L, 2, LOC)) * inverse;
  lua_pushnumber(L, 0.5 * (fma(r, r, d * d) - 1) - vlog(r));
  return 1;
}

/* Pushes a function that has the class at index 1. */
static void push_function (lua_State *L, lua_CFunction f) {
  lua_pushliteral(L, "loc");
  lua_pushliteral(L, "scale");
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, f, LAW);
}

/* A state whose second value is the closure that the chunk makes of the class and kl. */
static lua_State *closure (const char *chunk) {
  lua_State *L = luaL_newstate();
  lua_createtable(L, 0, 0);
  lua_createtable(L, 0, 1);
  push_function(L, new_law);
  lua_setfield(L, -2, "__call");
  lua_setmetatable(L, 1);
  luaL_loadstring(L, chunk);
  lua_pushvalue(L, 1);
  push_function(L, kl);
  lua_call(L, 2, 1);
  return L;
}

static void call (lua_State *L, double *out) {
  lua_pushvalue(L, 2);
  lua_call(L, 0, 1);
  out[0] = lua_tonumber(L, -1);
  lua_pop(L, 1);
}

static void kl_alone (size_t n, int threads, double *const in[], double *out) {
  static lua_State *L = NULL;
  (void)n; (void)threads; (void)in;
  if (L == NULL)
    L = closure("local Law, kl = ...  local p, q = Law(0.1, 1.1), Law(0.3, 1.2)\n"
                "return function () return kl(p, q) end");
  call(L, out);
}

static void construct_and_kl (size_t n, int threads, double *const in[], double *out) {
  static lua_State *L = NULL;
  (void)n; (void)threads; (void)in;
  if (L == NULL)
    L = closure("local Law, kl = ...\n"
                "return function () return kl(Law(0.1, 1.1), Law(0.3, 1.2)) end");
  call(L, out);
}

const Workload workloads[] = {
  {"kl",                    1, kl_alone,         {{1, SPREAD}}},
  {"construct p, q and kl", 1, construct_and_kl, {{1, SPREAD}}},
  {NULL, 0, NULL}
};
