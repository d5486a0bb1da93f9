/*
** host.h - what perilune needs of the Lua state that it runs in
**
** Errors, texts for values, tensors as userdata, hooks that run during long work, threads, and
** the table of kernels. Any lua_* call may leave by longjmp: so each function of this room and
** those above checks its arguments, then allocates (always as userdata), then computes, then
** pushes. Nothing below raises.
*/
#ifndef PERILUNE_HOST_H
#define PERILUNE_HOST_H

#include <math.h>

#include "driver/threads.h"
#include "host/compat.h"
#include "kernel/kernel.h"
#include "tensor/tensor.h"

#define COLD __attribute__((cold))   /* compilers put what leads there out of the way */


/* {=====================================================
** The state (state.c)
** ====================================================== */

typedef struct State State;

/* A backward pass of which a step is running: hooks must leave its nodes alone. */
typedef struct ActivePass {
  uint64_t number;
  void (*check) (lua_State *L, const State *state, void *data);   /* raises if a hook did not */
  void *data;
} ActivePass;

struct State {
  Watch watch;          /* asked during long work (the first field: see watch.c), */
  lua_State *running;   /* which this thread began */
  const ActivePass *active_pass;   /* the pass that the work belongs to, or NULL */
  Pool *pool, *alone;   /* the state's threads, and none but the caller's */
  Jobs jobs;            /* the host's threads, if it lends them */
  int max_threads;      /* that set_threads takes; 0 for THREADS_MAX */
  int metatable;        /* of tensors: its place in the registry */
  int deferring;        /* calls of fused that are running */
  int paused;           /* and of no_grad */
  int writing;          /* a tensor is about to be written to: nothing begins to wait */
  int parameters;       /* has there ever been one? */
  int unchecked;        /* parameters of distributions are not looked at */
  int tracing;          /* operations are recorded to be replayed: 1 by a trace, 2 in a scan */
  uint64_t order;       /* of nodes */
  uint64_t waiting;     /* results that have ever waited for others to be read */
  uint64_t passes;      /* numbers backward passes, and changes that one under way must see */
  struct Tape *tape;    /* the pass during which a function runs, or NULL */
  const Kernel *sum;    /* a reduction that passes need; NULL before the first */
  int with_sums;        /* backward passes to come that also compute sums, because one was read
                           after a pass had left it uncomputed */
};

State *host_state (lua_State *L);         /* lives as long as L */
void host_push_state (lua_State *L);

/* }====================================================== */


/* {=====================================================
** Errors (errors.c). Messages have one form: "who: argument must be rule, got value", and begin
** with the line of the library's caller.
** ====================================================== */

/* These do not return. */
COLD int host_fail (lua_State *L, const char *who, const char *format, ...);
COLD int host_fail_type (lua_State *L, const char *who, const char *name,
                         const char *rule, int index);
COLD int host_fail_shapes (lua_State *L, const char *who, const char *why, int n,
                           const Tensor *const in[]);

/* Raises if more than `most` of n arguments are not nil; of a method ("Tensor:sum") self is
   one. */
COLD void host_more_arguments (lua_State *L, const char *who, int most, int n);

static inline void host_arguments (lua_State *L, const char *who, int most) {
  if (lua_gettop(L) > most) host_more_arguments(L, who, most, lua_gettop(L));
}

/* Is a function with this source one of lua/perilune? All without names are, if ours have none. */
int host_is_ours (lua_State *L, const char *source);

/* }====================================================== */


/* {=====================================================
** Values (values.c)
** ====================================================== */

Tensor *host_header (lua_State *L, int index);     /* or NULL; its data may still wait */

/* What a table holds. A metatable without __index, as readers of JSON set, does not count. */
typedef enum TableKind {
  TABLE_NONE,      /* no table */
  TABLE_DATA,      /* a list, or nothing */
  TABLE_NAMED,     /* other keys: named parameters, options */
  TABLE_OBJECT     /* an object without list, such as a distribution; or a class */
} TableKind;

TableKind host_table_kind (lua_State *L, int index);

/* Pushes an element. Which sign a NaN has is an accident of the processor's, and printf shows it:
   for Lua it has none. */
static inline void host_push_number (lua_State *L, double x) {
  lua_pushnumber(L, x == x ? x : NAN);
}

/* Push texts: "(2, 3)"; "shapes (2) and (3)" of all that are not single numbers; a short one
   for any value. */
void host_push_shape (lua_State *L, int rank, const ptrdiff_t shape[]);
void host_push_shapes (lua_State *L, int n, const Tensor *const in[]);
void host_push_value (lua_State *L, int index);

/* }====================================================== */


/* {=====================================================
** Tensors (tensors.c, tables.c)
** ====================================================== */

/* Pushes a tensor with elements of its own, not yet set; row-major when stride is NULL. */
Tensor *host_new (lua_State *L, const char *who, int rank,
                  const ptrdiff_t shape[], const ptrdiff_t stride[]);

/* The same, a little faster, where the state is at hand. */
Tensor *host_new_of (lua_State *L, const State *state, const char *who, int rank,
                     const ptrdiff_t shape[], const ptrdiff_t stride[]);

/* Pushes a row-major one over elements elsewhere, which live as long as the value on top of the
   stack; that is popped. */
Tensor *host_new_over (lua_State *L, const char *who, double *data, int rank,
                       const ptrdiff_t shape[]);

/* Pushes one in a block of so many bytes, without data. */
Tensor *host_new_block (lua_State *L, const State *state, size_t bytes, int rank, size_t size,
                        const ptrdiff_t shape[], const ptrdiff_t stride[], int user_values);

/* Pushes a view of the tensor `from` at `base`, whose elements are there; the caller fills
   data, size, shape and strides. */
Tensor *host_new_view (lua_State *L, int base, const Tensor *from, int rank);

/* loop_copy, interrupted by hooks that raise. */
void host_copy (lua_State *L, Tensor *to, const Tensor *from);

/* Pushes the tensor made from the table at `index`, which messages call `name`. */
Tensor *host_from_table (lua_State *L, int index, const char *who, const char *name);

/* Raises if the table at `index` has keys other than 1, ..., n; how many of these it has. */
ptrdiff_t host_check_keys (lua_State *L, int index, const char *who, const char *name,
                           ptrdiff_t n);

/* Refuses an integer that would lose its last digits as a double. */
void host_check_exact (lua_State *L, int index, const char *who, const char *name);

/* }====================================================== */


/* {=====================================================
** Long work (watch.c, threads.c)
** ====================================================== */

/* Raises what a hook has raised during the work that was given up. */
COLD int host_stop (lua_State *L);
static inline void host_check_stopped (lua_State *L, const Pool *pool) {
  if (pool != NULL && pool_stopped(pool)) host_stop(L);
}

/* How the host wants threads, before there are any: the most, and its own ones (or NULL). */
void host_configure_threads (lua_State *L, int most, const Jobs *jobs);

/* Runs hooks, if it is time to: for long loops above the drivers. */
void host_look (lua_State *L, State *state);

/* For work on so many elements; NULL if they are few. It may be gone once anything was
   allocated. Where there is one, the work may be stopped: host_check_stopped comes next. */
Pool *host_pool (lua_State *L, size_t size);

/* The same for so much work, after memory for `size` doubles a thread was pushed. */
Pool *host_pool_scratch (lua_State *L, const char *who, size_t work, size_t size,
                         double **scratch);

/* }====================================================== */


/* kernels.c: the kernels of a file, the last of which has no name, and one of them; or NULL */
const Kernel *host_kernels (lua_State *L, const char *file);
const Kernel *host_kernel (lua_State *L, const char *file, const char *name);

/* Is there a file of this name in a folder of lua/perilune? (kernels.c) */
int host_is_module (const char *folder, const char *name);

/* What the field `name` of the table on top of the stack is for Lua is said by a list in another
   field: "methods" of tensors, "fields" of tensors (functions of one), and what is "public". */
void host_list_field (lua_State *L, const char *list, const char *name);

/* Adds functions to the table on top of the stack, and to a list. */
void host_list (lua_State *L, const char *list, const luaL_Reg *functions);

/* arithmetic.c: raises if it does not compute as IEEE 754 says; the kernels are open */
void host_check_arithmetic (lua_State *L);

/* Each adds its functions to the table on top of the stack. */
void host_open_errors  (lua_State *L);
void host_open_tensors (lua_State *L);
void host_open_kernels (lua_State *L);
void host_open_threads (lua_State *L);
void host_open_watch   (lua_State *L);

#endif
