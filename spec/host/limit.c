/*
** limit.c - a host that gives its scripts 20 MiB and not a byte more
**
** Every byte of a tensor is counted, and what is garbage is found when it is
** needed: emergency collections run no finalizers, and tensors have none.
*/
#include <stdio.h>
#include <string.h>

#include "host.h"

#define MIB ((size_t)1 << 20)

/* Each makes its results of 1 MiB a thousand times. */
static const char *const loops[] = {
  "for i = 1, 1000 do x = peri.zeros(131072) end",
  "for i = 1, 1000 do x = x + 1 end",
  "for i = 1, 1000 do x = normal:log_prob(x) end",
  "for i = 1, 1000 do x = normal:sample(131072, rng) end",
  "for i = 1, 1000 do x = peri.kl_divergence(peri.Normal(x / 4, 1), normal) end",
  "for i = 1, 1000 do x = x:reshape(256, 512):transpose():contiguous() end",
  "for i = 1, 250 do x = x:reshape(256, 512):softmax(1) end",
  "for i = 1, 250 do x = peri.cat { x:reshape(-1):narrow(1, 1, 65536), x:reshape(-1):narrow(1, 65537, 65536) } end",
};

/* Requests that do not fit, each refused and forgotten. */
static const char *const refused[] = {
  "peri.zeros(4 * 1024 * 1024)",
  "x:reshape(131072, 1) + x:reshape(1, 131072)",
  "normal:sample(4 * 1024 * 1024, rng)",
  "normal:log_prob(peri.zeros(1):expand(4 * 1024 * 1024))",
  "peri.stack { x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x }",
  "peri.zeros(1):expand(4 * 1024 * 1024):totable()",
  "rng:normal(4 * 1024 * 1024)",
  "rng:split(1048576)",
  "peri.eye(2048)",
  "x:reshape(131072, 1):matmul(x:reshape(1, 131072))",
};

#define COUNT(list) ((int)(sizeof list / sizeof list[0]))

static void refuse (lua_State *L, const char *request) {
  char code[256];
  snprintf(code, sizeof code, "local y = %s", request);
  int status = luaL_loadstring(L, code);
  if (status == LUA_OK) status = lua_pcall(L, 0, 0, 0);
  check(status == LUA_ERRMEM, "%s: status %d: %s", request, status,
        status == LUA_OK ? "it fitted" : lua_tostring(L, -1));
  check(strcmp(lua_tostring(L, -1), "not enough memory") == 0, "%s: %s", request,
        lua_tostring(L, -1));
  lua_settop(L, 0);
}

static void use (lua_State *L) {
  const char *sum = host_run(L, "return ('%.17g'):format((peri.ones(131072) * 2):sum())");
  check(strcmp(sum, "262144") == 0, "the sum of 131072 twos is %s", sum);
  lua_settop(L, 0);
}

int main (void) {
  Memory memory;
  lua_State *L = host_open(&memory);
  host_run(L, "peri = require 'perilune' normal = peri.Normal(0, 1) rng = peri.rng(1)"
              " x = peri.zeros(131072) return ''");
  memory.limit = 20 * MIB;
  for (int i = 0; i < COUNT(loops); i++) {
    int status = luaL_dostring(L, loops[i]);
    check(status == LUA_OK, "%s: %s", loops[i], lua_tostring(L, -1));
    use(L);
  }
  host_run(L, "x = peri.zeros(131072) return ''");
  for (int i = 0; i < COUNT(refused); i++) {
    refuse(L, refused[i]);
    use(L);
  }
  lua_gc(L, LUA_GCCOLLECT);
  check(memory.used < 3 * MIB, "%zu bytes are still in use", memory.used);
  host_close(L, &memory);
  printf("limit: %d loops of temporaries live on 20 MiB, %d requests beyond are refused\n",
         COUNT(loops), COUNT(refused));
  return 0;
}
