/*
** perilune.h - perilune inside a host written in C or C++
**
** One object, perilune.o (or libperilune.a), holds the core and all Lua files: nothing is read from
** disk, and of Lua's libraries only base, table, string and math are needed. `make embed` builds
** it; docs/embedding.md says how to link it, and what a host may rely on.
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

/* Runs `run(argument, i)` for i = 0 .. n-1, on any threads, and returns when all have ended. At
   least one runs on the calling thread: hooks run there only. */
typedef void (*perilune_Jobs) (void *data, int n, void (*run) (void *argument, int i),
                               void *argument);

typedef struct perilune_Options {
  int max_threads;       /* the most that peri.set_threads takes; 0: up to 256 */
  const char *eager;     /* names for peri.preload: "Normal kl_divergence"; "*": all */
  perilune_Jobs jobs;    /* the host's threads, in place of our own */
  void *jobs_data;
} perilune_Options;

/* Pushes the module, and returns 1. Options may be NULL. It sets no global: that is the host's to
   do. */
PERILUNE_API int perilune_open (lua_State *L, const perilune_Options *options);

/* Makes `require "perilune"` find it (where the state has the library "package"), at no cost until
   then. */
PERILUNE_API void perilune_preload (lua_State *L);

/* The same as perilune_open(L, NULL), as a function for luaL_requiref; and the core alone, in C. */
PERILUNE_API int luaopen_perilune (lua_State *L);
PERILUNE_API int luaopen_perilune_core (lua_State *L);

/* }====================================================== */


/* {=====================================================
** Numbers across the border, without tables. Elements are row-major; indices are those of the
** stack. What is not as it must be raises a Lua error, which names the function.
** ====================================================== */

#define PERILUNE_MAX_RANK 16

/* The rank of the tensor at `index`, and its shape if that is not NULL; -1 if there is no
   tensor. */
PERILUNE_API int perilune_shape (lua_State *L, int index, size_t shape[PERILUNE_MAX_RANK]);

/* The n elements of a contiguous tensor, to be read. They stay where they are while the tensor
   lives. */
PERILUNE_API const double *perilune_data (lua_State *L, int index, size_t *n);

/* The same to be written to: at once, before anything else is done with this state. Call it anew
   each time, so that gradients recorded before are known to be outdated. */
PERILUNE_API double *perilune_write (lua_State *L, int index, size_t *n);

/* Pushes a tensor of zeros and returns its elements, to be filled. */
PERILUNE_API double *perilune_newtensor (lua_State *L, int rank, const size_t shape[]);

/* The four above for a module in C that is loaded beside perilune and not linked with it: the
   registry has this table, as light userdata, once perilune.core is loaded. */
typedef struct perilune_Border {
  size_t size;                         /* in bytes: later versions may have more */
  int (*shape) (lua_State *L, int index, size_t shape[PERILUNE_MAX_RANK]);
  const double *(*data) (lua_State *L, int index, size_t *n);
  double *(*write) (lua_State *L, int index, size_t *n);
  double *(*newtensor) (lua_State *L, int rank, const size_t shape[]);
} perilune_Border;

#define PERILUNE_BORDER "perilune border"

/* Pushes a tensor whose elements are the host's memory. It must stay while the tensor or a view of
   it lives: for that the value at `owner` is kept alive (0: the memory outlives the state).
   Whoever changes it calls perilune_write before. */
PERILUNE_API void perilune_wrap (lua_State *L, double *data, int rank, const size_t shape[],
                                 int owner);

/* The same; release(data, argument) is called when nothing can reach the tensor or a view of it any
   more, finalizers that bring it back included; at the latest when the state closes. It must not call
   Lua. If this raises, it is never called. */
typedef void (*perilune_Release) (double *data, void *argument);
PERILUNE_API void perilune_lend (lua_State *L, double *data, int rank, const size_t shape[],
                                 perilune_Release release, void *argument);

/* }====================================================== */


/* {=====================================================
** Without Lua: distributions and generators by handles, arrays in and out, errors as codes. A
** session is used by one thread at a time; sessions share nothing. (Within, each is a Lua state.)
** ====================================================== */

typedef struct perilune_Session perilune_Session;

enum {
  PERILUNE_OK      =  0,
  PERILUNE_REFUSED = -1,   /* what was asked for makes no sense; the message says why */
  PERILUNE_MEMORY  = -2,   /* out of memory */
  PERILUNE_ROOM    = -3    /* the result is not of `room` elements; the message says of how many */
};

typedef struct perilune_Array {
  const double *data;
  int rank;                            /* 0: a single number */
  size_t shape[PERILUNE_MAX_RANK];
} perilune_Array;

/* NULL if there is not enough memory, or an option makes no sense. The allocator is one for
   lua_newstate; NULL: realloc and free. As many threads as options->max_threads are used; one for
   NULL. */
PERILUNE_API perilune_Session *perilune_begin (lua_Alloc allocate, void *data,
                                               const perilune_Options *options);
PERILUNE_API void perilune_end (perilune_Session *s);

/* What was wrong with the last call that failed; "" before. NULL, where a session, a name, an array of
   parameters or room for a result is to be, is refused like all that makes no sense. */
PERILUNE_API const char *perilune_message (const perilune_Session *s);

/* Handles, which are positive, or an error code. Parameters are copied, in the order of peri's
   constructors: Normal(loc, scale). */
PERILUNE_API int perilune_distribution (perilune_Session *s, const char *name, int n,
                                        const perilune_Array params[]);
PERILUNE_API int perilune_rng (perilune_Session *s, uint64_t seed);
PERILUNE_API int perilune_forget (perilune_Session *s, int handle);

/* A method of the distribution d by its name: "log_prob", "cdf", "icdf", ... of x; "entropy",
   "mean", ... with x = NULL. The result has `room` elements. */
PERILUNE_API int perilune_evaluate (perilune_Session *s, int d, const char *method,
                                    const perilune_Array *x, double *out, size_t room);

/* n draws, of as many numbers as an event has; from the generator rng, or the default one for
   0. */
PERILUNE_API int perilune_sample (perilune_Session *s, int d, int rng, size_t n, double *out,
                                  size_t room);

/* KL(p || q) in nats, one number for each element of the batch. */
PERILUNE_API int perilune_kl (perilune_Session *s, int p, int q, double *out, size_t room);

/* Where a generator is, as text; and back there. */
PERILUNE_API int perilune_rng_state (perilune_Session *s, int rng, char *text, size_t room);
PERILUNE_API int perilune_rng_restore (perilune_Session *s, int rng, const char *text);

/* }====================================================== */


#ifdef __cplusplus
}
#endif

#endif
