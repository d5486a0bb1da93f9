/*
** collect.h - included before each file of Lua: while the collector's pause is 0, whatever a C
** function allocates has all garbage collected first, and finalizers run
**
** (HARDMEMTESTS of Lua 5.4 does a step of the collector before that, and may then use a stack
** that a finalizer has moved.) A large heap is left alone: a cycle would take too long.
*/
#define LUA_CORE
#include "lprefix.h"
#include "lgc.h"

#define SMALL_HEAP (4 << 20)

#undef luaC_condGC
#define luaC_condGC(L, pre, pos) \
  { if (G(L)->gcpause == 0 && gcrunning(G(L)) && !isLua((L)->ci) \
        && gettotalbytes(G(L)) < SMALL_HEAP) { pre; luaC_fullgc(L, 0); pos; } \
    else if (G(L)->GCdebt > 0) { pre; luaC_step(L); pos; } }
