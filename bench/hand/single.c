/*
** single.c - one KL(Normal || Normal) of numbers, as a library for this alone would do it: laws
** are userdata of two numbers, and a closure in Lua is what is called
*/
#include <lauxlib.h>
#include <lua.h>

#include "hand.h"
#include "special/vmath.h"

typedef struct Law { double loc, scale; } Law;

static int new_law (lua_State *L) {
  double loc = luaL_checknumber(L, 1), scale = luaL_checknumber(L, 2);
  luaL_argcheck(L, scale > 0, 2, "must be positive");
  Law *law = lua_newuserdatauv(L, sizeof *law, 0);
  *law = (Law) {loc, scale};
  luaL_setmetatable(L, "Law");
  return 1;
}

static int kl (lua_State *L) {
  Law *p = luaL_checkudata(L, 1, "Law"), *q = luaL_checkudata(L, 2, "Law");
  double inverse = 1 / q->scale, r = p->scale * inverse, d = (p->loc - q->loc) * inverse;
  lua_pushnumber(L, 0.5 * (fma(r, r, d * d) - 1) - vlog(r));
  return 1;
}

/* A state whose only value is the closure that the chunk makes of new_law and kl. */
static lua_State *closure (const char *chunk) {
  lua_State *L = luaL_newstate();
  luaL_newmetatable(L, "Law");
  lua_pop(L, 1);
  luaL_loadstring(L, chunk);
  lua_pushcfunction(L, new_law);
  lua_pushcfunction(L, kl);
  lua_call(L, 2, 1);
  return L;
}

static void call (lua_State *L, double *out) {
  lua_pushvalue(L, 1);
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
