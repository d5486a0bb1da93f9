/*
** api.h - Lua's door: what the files of this folder share
**
** Nothing below api/ raises, and any lua_* call may leave by longjmp: so each
** function checks its arguments, then allocates (always as userdata), then
** computes, then pushes.
**
** Messages have one form: "who: argument must be rule, got value".
*/
#ifndef PERILUNE_API_H
#define PERILUNE_API_H

#include <lua.h>
#include <lauxlib.h>

#include "autograd/node.h"
#include "driver/threads.h"
#include "kernel/kernel.h"
#include "random/philox.h"
#include "tensor/tensor.h"

#define COLD __attribute__((cold))   /* compilers put what leads there out of the way */

/* errors.c: these do not return. A message begins with the line of the library's caller. */
COLD int api_fail (lua_State *L, const char *who, const char *format, ...);
COLD int api_fail_type (lua_State *L, const char *who, const char *name,
                        const char *rule, int index);

/* Raises if more than `most` of n arguments are not nil; of a method ("Tensor:sum") self is one. */
COLD void api_more_arguments (lua_State *L, const char *who, int most, int n);

static inline void api_arguments (lua_State *L, const char *who, int most) {
  if (lua_gettop(L) > most) api_more_arguments(L, who, most, lua_gettop(L));
}

/* Is a function with this source one of lua/perilune? All without names are, if ours have none. */
int api_is_ours (lua_State *L, const char *source);

void api_push_shape (lua_State *L, int rank, const ptrdiff_t shape[]);
void api_push_shapes (lua_State *L, int n, const Tensor *const in[]);
COLD int api_fail_shapes (lua_State *L, const char *who, const char *why, int n,
                          const Tensor *const in[]);

/* tensor.c: recognising and allocating tensors */
Tensor *api_tensor (lua_State *L, int index);     /* or NULL */
Tensor *api_header (lua_State *L, int index);     /* its data may still wait */
Tensor *api_check_tensor (lua_State *L, int index, const char *who);
Tensor *api_new (lua_State *L, const char *who, int rank,
                 const ptrdiff_t shape[], const ptrdiff_t stride[]);
Tensor *api_new_view (lua_State *L, int base, const Tensor *from, int rank);

/* One number is a Lua number: what a function returns that leaves its result, the tensor t, on
   top of the stack. A number replaces it if it has rank 0 and carries no gradient, an integer
   if the kernel (or NULL) counts. */
int api_return (lua_State *L, const Tensor *t, const Kernel *kernel);

typedef struct State State;

Tensor *api_new_block (lua_State *L, const State *state, size_t bytes, int rank, size_t size,
                       const ptrdiff_t shape[], const ptrdiff_t stride[],
                       int user_values);

/* deferred.c: computes a tensor that waits; pushes a table with weak keys: those that may */
COLD void api_force (lua_State *L, int index);
void api_push_waiting (lua_State *L);

/* writes.c: sees to all that waits for the elements of t. Nothing must be allocated between
   this and writing them, except by calls of this for others. */
void api_before_write (lua_State *L, const Tensor *t);

/* A walk back, a step of which is under way: hooks must leave its nodes alone. */
typedef struct Walking {
  uint64_t number;
  void (*check) (lua_State *L, const State *state, void *walk);   /* raises if one did not */
  void *walk;
} Walking;

/* record.c: what a state is doing */
struct State {
  Watch watch;          /* asked during long work (the first field: see watch.c), */
  lua_State *running;   /* which this thread began */
  const Walking *walking;   /* to which it belongs, or NULL */
  Pool *pool, *alone;   /* the state's threads, and none but the caller's */
  int metatable;        /* of tensors: its place in the registry */
  int deferring;        /* calls of fused that are running */
  int paused;           /* and of no_grad */
  int writing;          /* something is about to be: nothing begins to wait */
  int parameters;       /* has there ever been one? */
  int unchecked;        /* parameters of distributions are not looked at */
  int tracing;          /* operations are recorded to be replayed */
  uint64_t order;       /* of nodes */
  uint64_t waiting;     /* results that have ever waited for others to be read */
  uint64_t walk;        /* numbers walks, and changes that one which is under way must see */
  struct Tape *tape;    /* the walk during which a function runs, or NULL */
  const Kernel *sum;    /* a reduction that walks need; NULL before the first */
  int valued;           /* walks to come that compute sums in passing, since one was read
                           after a walk had left it as it was */
};

State *api_state (lua_State *L);         /* lives as long as L */
void api_push_state (lua_State *L);
int api_is_tracked (const State *state, int n, const Tensor *const in[]);

/* What is recorded of a result: operands in[k] at base + k on the stack. */
typedef struct Recording {
  State *state;
  const char *who;
  NodeKind kind;
  const Kernel *kernel;
  int n, base;
  const Tensor *const *in;
  unsigned dimensions;
  bool block;           /* computed as a single block */
  bool always;          /* even if no operand is tracked: a draw, for a trace */
} Recording;

/* grads.c: t.grad = value (t, the name and the value are on the stack); none for the
   parameter at `index`; other memory for it */
int api_set_grad (lua_State *L);
void api_forget_grad (lua_State *L, int index, const char *who);
void api_renew_grad (lua_State *L, int index, const char *who);

/* trace.c: a replay will draw the recorded tensor t again, from g, which is at `index` or the
   state's own */
void api_trace_draw (lua_State *L, const Tensor *t, Philox *g, int index);

/* Raises if a trace is being recorded, and the result, which is not, would depend on
   parameters or draws. */
void api_check_untraced (lua_State *L, const State *state, const char *who, int n,
                         const Tensor *const in[]);

/* Pushes a row-major copy of the tensor at `index`, recorded if it is tracked. */
Tensor *api_new_copy (lua_State *L, const char *who, int index);

/* api_new, for a result that is recorded if an operand is tracked. */
Tensor *api_new_recorded (lua_State *L, const Recording *recording, int rank,
                          const ptrdiff_t shape[], const ptrdiff_t stride[]);

/* The same without data; it has one more user value, for what will hold that. */
Tensor *api_new_waiting (lua_State *L, const Recording *recording, int rank,
                         const ptrdiff_t shape[], const ptrdiff_t stride[]);

/* The same for a draw, which has its first operand within: noise, or a tensor that is the
   draw itself. Some operand is tracked, and the result is row-major. */
Tensor *api_new_drawn (lua_State *L, const Recording *recording, int rank,
                       const ptrdiff_t shape[], bool is_noise, Tensor **first);

/* construct.c: pushes the tensor made from the table at `index` */
Tensor *api_from_table (lua_State *L, int index, const char *who,
                        const char *name);

/* What a table holds. A metatable without __index, as readers of JSON set, does not count. */
typedef enum TableKind {
  TABLE_NONE,      /* no table */
  TABLE_DATA,      /* a list, or nothing */
  TABLE_NAMED,     /* other keys: named parameters, options */
  TABLE_OBJECT     /* an object without list, such as a distribution; or a class */
} TableKind;

TableKind api_table_kind (lua_State *L, int index);

/* A number, table or tensor at `index` as a tensor; a table is replaced on
   the stack by the tensor made from it. */
const Tensor *api_operand (lua_State *L, int index, const char *who,
                           const char *name, Tensor *header, double *number);

/* integers.c: a number with an integer value; a non-negative one; a dimension, from 0 on */
lua_Integer api_integer (lua_State *L, int index, const char *who,
                         const char *name);
ptrdiff_t api_extent (lua_State *L, int index, const char *who);
void api_push_shape_table (lua_State *L, int rank, const ptrdiff_t shape[]);
/* Raises if the table at `index` has keys other than 1, ..., n; how many of these it has. */
ptrdiff_t api_check_keys (lua_State *L, int index, const char *who, const char *name, ptrdiff_t n);
ptrdiff_t api_dimension (lua_State *L, int index, const char *who, int rank);

/* Reads a shape: integers at `first` to `last` on the stack, or one table of them. Unless
   `open` is NULL one may be -1: that is its place (-1 for none), and it counts as 1. */
int api_shape (lua_State *L, int first, int last, const char *who, ptrdiff_t shape[],
               int *open);

/* The same for dimensions, each named at most once: in order, and as a set of bits. */
int api_dimensions (lua_State *L, int first, int last, const char *who, int rank,
                    int dims[], unsigned *set);

/* views.c: a position in a dimension, and the view that it selects */
ptrdiff_t api_position (lua_State *L, int index, const char *who,
                        const Tensor *t, int dim);
Tensor *api_select (lua_State *L, int base, const Tensor *from, int dim, ptrdiff_t at);

/* kernels.c */
const Kernel *api_kernel (lua_State *L, const char *file, const char *name);
int api_draws (const Kernel *kernel);   /* is it a sampler? */

/* random.c: the generator at `index`, or the state's own for nil */
Philox *api_generator (lua_State *L, int index, const char *who);

/* The next n elements of the stream are given to nobody else; returns the first one's position. */
static inline uint64_t api_claim (Philox *g, size_t n) {
  g->position += n;
  return g->position - n;
}

/* watch.c: raises what a hook has raised during the work that was given up */
COLD int api_stop (lua_State *L);
static inline void api_check_stopped (lua_State *L, const Pool *pool) {
  if (pool != NULL && pool_stopped(pool)) api_stop(L);
}

/* Runs hooks, if it is time to: for long loops in this folder. */
void api_look (lua_State *L, State *state);

/* loop_copy, interrupted by hooks that raise. */
void api_copy (lua_State *L, Tensor *to, const Tensor *from);

/* threads.c: for work on so many elements; NULL if they are few. It may be gone once anything was
   allocated. Where there is one, the work may be stopped: api_check_stopped comes next. */
Pool *api_pool (lua_State *L, size_t size);

/* The same for so much work, after memory for `size` doubles a thread was pushed. */
Pool *api_pool_scratch (lua_State *L, const char *who, size_t work, size_t size,
                        double **scratch);

/* Each file adds its functions to the table on top of the stack. */
void api_open_errors  (lua_State *L);
void api_open_names   (lua_State *L);
void api_open_counted (lua_State *L);
void api_open_tensor  (lua_State *L);
void api_open_integers (lua_State *L);
void api_open_construct (lua_State *L);
void api_open_views   (lua_State *L);
void api_open_index   (lua_State *L);
void api_open_kernels (lua_State *L);
void api_open_binding (lua_State *L);
void api_open_objects (lua_State *L);
void api_open_record (lua_State *L);
void api_open_backward (lua_State *L);
void api_open_grads (lua_State *L);
void api_open_trace (lua_State *L);
void api_open_join (lua_State *L);
void api_open_reduce  (lua_State *L);
void api_open_optim   (lua_State *L);
void api_open_deferred (lua_State *L);
void api_open_random  (lua_State *L);
void api_open_threads (lua_State *L);
void api_open_watch   (lua_State *L);

#endif
