/*
** arithmetic.c - does this machine compute as IEEE 754 says? Asked when the module opens
**
** Flags of compilers, hosts that changed the rounding, processors that flush small numbers to zero,
** and C libraries whose fma is not exact all give wrong digits without a word. The kernels that run
** here compute some cases of which each goes wrong in one of these ways.
*/
#include <float.h>
#include <string.h>

#include "host/host.h"

#if FLT_EVAL_METHOD != 0
#error "perilune needs arithmetic in doubles: on 32-bit x86 compile with -msse2 -mfpmath=sse"
#endif


typedef struct Case {
  const char *kernel;
  double a, b, c, result;
  const char *wrong;
} Case;

#define ROUNDS "does not round to the nearest double"
#define TINY "flushes subnormal numbers to zero"
#define FMA "has an fma that is not exact"

static const Case cases[] = {
  {"plain", 1, 0x1.8p-53, 1, 1 + DBL_EPSILON, ROUNDS},
  {"plain", 1, -0x1.8p-54, 1, 1 - DBL_EPSILON / 2, ROUNDS},
  {"plain", 1, 0x1p-53, -1, -1 + DBL_EPSILON / 2, ROUNDS},
  {"plain", 1, 0x1.8p-54, 1, 1, ROUNDS},
  {"plain", 1, 0x1.0000001p-53, 1, 1 + DBL_EPSILON, "rounds twice, in a longer type and in a double"},
  {"plain", DBL_MIN, 0.5, 0, DBL_MIN / 2, TINY},
  {"plain", 1, DBL_MIN / 2, DBL_MIN / 2, DBL_MIN, TINY},
  {"plain", 1 + DBL_EPSILON, 1 - DBL_EPSILON, -1, 0, "contracts a b + c into one operation"},
  {"fused", 1 + DBL_EPSILON, 1 - DBL_EPSILON, -1, -0x1p-104, FMA},
  {"fused", 1 + DBL_EPSILON, 1 + DBL_EPSILON, -0x1p-300, 1 + 2 * DBL_EPSILON, FMA},
  {"fused", 0x1.0000002p0, 0x1.ffffffcp-1, 0x1p-53, 1, FMA},
  {"fused", 0x1.fffffffffffffp511, 0x1.fffffffffffffp511, -0x1.ffffffffffffep1023, 0x1p918, FMA},
  {"fused", 0x1.0000000000001p-538, -0x1p-537, 0x1p-1073, 0x1p-1074, FMA},
  {"fused", 0x1.0000000000001p-538, 0x1p-537, 0x1p-1073, 0x1.8p-1073, FMA},
};


static double computed (lua_State *L, const Case *c) {
  const double *const in[] = {&c->a, &c->b, &c->c};
  double out = 0;
  host_kernel(L, "arithmetic", c->kernel)->value(1, in, &out);
  return out;
}

/* Lua's own arithmetic: interpreters for 32-bit x86 may round twice. */
static int rounds_twice (lua_State *L) {
  if (luaL_loadstring(L, "local x, y = ... return x + y") != LUA_OK) lua_error(L);
  lua_pushnumber(L, 1);
  lua_pushnumber(L, 0x1.0000001p-53);
  lua_call(L, 2, 1);
  double sum = lua_tonumber(L, -1);
  lua_pop(L, 1);
  return sum != 1 + DBL_EPSILON;
}

void host_check_arithmetic (lua_State *L) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double x = computed(L, &cases[i]);
    if (memcmp(&x, &cases[i].result, sizeof x) != 0)
      luaL_error(L, "perilune cannot compute exactly here: arithmetic %s", cases[i].wrong);
  }
  if (rounds_twice(L)) luaL_error(L, "perilune cannot compute exactly here: Lua's arithmetic rounds twice");
}
