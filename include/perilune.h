/*
** perilune.h - perilune inside a host written in C or C++
**
** One object, perilune.o (or libperilune.a), holds the core and all Lua files: nothing is read from
** disk, and of Lua's libraries only base, table, string and math are needed. `make embed` builds it;
** docs/embedding.md says how to link it, and what a host may rely on.
*/
#ifndef PERILUNE_H
#define PERILUNE_H

#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#define PERILUNE_VERSION     "0.2.0"
#define PERILUNE_VERSION_NUM 200   /* 10000 major + 100 minor + patch */

#ifndef PERILUNE_API
#if defined(__GNUC__)
#define PERILUNE_API __attribute__((visibility("default")))
#else
#define PERILUNE_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif


/* {=====================================================
** Opening. These raise Lua errors (out of memory, a name in `eager` that is not there): call them
** from a protected call, as everything that allocates in a state.
** ====================================================== */

/* Runs `run(argument, i)` for i = 0 .. n-1, on any threads, and returns when all have ended. At least one runs
   on the calling thread: hooks run there only. */
typedef void (*perilune_Jobs) (void *data, int n, void (*run) (void *argument, int i), void *argument);

typedef struct perilune_Options {
  int max_threads;       /* the most that peri.set_threads takes; 0: as many as it likes, up to 256 */
  const char *eager;     /* names to load now, as peri.preload does: "Normal kl_divergence"; "*": all */
  perilune_Jobs jobs;    /* the host's threads, in place of our own */
  void *jobs_data;
} perilune_Options;

/* Pushes the module, and returns 1. Options may be NULL. It sets no global: that is the host's to do. */
PERILUNE_API int perilune_open (lua_State *L, const perilune_Options *options);

/* Makes `require "perilune"` find it (where the state has the library "package"), at no cost until then. */
PERILUNE_API void perilune_preload (lua_State *L);

/* The same as perilune_open(L, NULL), as a function for luaL_requiref; and the core alone, in C. */
PERILUNE_API int luaopen_perilune (lua_State *L);
PERILUNE_API int luaopen_perilune_core (lua_State *L);

/* }====================================================== */


#ifdef __cplusplus
}
#endif

#endif
