/*
** engine.h - recording, waiting, backward passes, traces
**
** What src/api asks of this room: recorded results, results that wait to be computed, writes to
** tensors, gradients, traces. Its files, from the bottom up:
**
**   record.c    tensors with a node: the kernel, and the operands it was given
**   pending.c   results that wait until they are read
**   operand.c   Lua values as operands, computed if they waited
**   writes.c    before elements are written to: computes what waits for them
**   grads.c     the grads of parameters
**   arena.c     memory of a backward pass
**   tape.c      the nodes below a result, ordered by age
**   backward.c  the backward pass
**   depends.c   was one tensor computed from another?
**   replay.c    computes again what a trace holds
**   trace.c     records what a function does, to be replayed
** What they share is in pass.h.
**   scan.c      what a function recorded, as the step of a recurrence
*/
#ifndef PERILUNE_ENGINE_H
#define PERILUNE_ENGINE_H

#include "autograd/node.h"
#include "driver/loop.h"
#include "host/host.h"
#include "random/philox.h"

/* A call of a kernel: operands in[k] at base + k on the stack. */
typedef struct Recording {
  State *state;
  const char *who;
  NodeKind kind;
  const Kernel *kernel;
  int n, base;
  const Tensor *const *in;
  unsigned dimensions;
  const Loop *loop;     /* over the operands, or NULL for single numbers */
  const Node *source;   /* of a sum: the node whose values are summed, or NULL */
  bool always;          /* recorded even if no operand is tracked: a draw, for a trace */
} Recording;


/* {=====================================================
** Recording (record.c)
** ====================================================== */

int engine_is_tracked (const State *state, int n, const Tensor *const in[]);

/* host_new, for a result that is recorded if an operand is tracked. (A NODE_CALL has one more
   user value, its function, and a NODE_SCAN its program.) */
Tensor *engine_new_recorded (lua_State *L, const Recording *recording, int rank,
                             const ptrdiff_t shape[], const ptrdiff_t stride[]);

/* The same for a draw, which has its first operand within: noise, or a tensor that is the
   draw itself. Some operand is tracked, and the result is row-major. */
Tensor *engine_new_drawn (lua_State *L, const Recording *recording, int rank,
                          const ptrdiff_t shape[], bool is_noise, Tensor **first);

/* The recorded tensor t was computed along this loop; where Recording could not say so. */
void engine_note_loop (const Tensor *t, const Loop *loop);

/* A parameter of the shape of `like`, its elements not yet set; engine_renew_grad comes next. */
Tensor *engine_new_parameter (lua_State *L, State *state, const Tensor *like);

/* A replay will draw the recorded tensor t again, from g, which is at `index` or the state's
   own. */
void engine_trace_draw (lua_State *L, const Tensor *t, Philox *g, int index);

/* Raises that `who` cannot be part of what is being recorded: `why` in a trace. */
COLD int engine_fail_traced (lua_State *L, const State *state, const char *who,
                             const char *why);

/* Raises if a trace is being recorded, and the result, which is not, would depend on
   parameters or draws. */
void engine_check_untraced (lua_State *L, const State *state, const char *who, int n,
                            const Tensor *const in[]);

/* }====================================================== */


/* {=====================================================
** Waiting (pending.c, writes.c)
** ====================================================== */

/* Computes the tensor at `index` if it waits. */
COLD void engine_force (lua_State *L, int index);

/* While results are deferred: pushes one that waits instead of being computed; or returns 0,
   where there is no need to wait, or an operand is NULL. */
int engine_defer (lua_State *L, const Recording *call);

/* Pushes a recorded result of its loop that waits; or returns 0, where there is nothing to
   record or to gain. */
int engine_defer_recorded (lua_State *L, const Recording *recording);

/* The same for a NODE_SUM or NODE_MEAN of so many values. */
int engine_defer_sum (lua_State *L, const Recording *recording, size_t size);

/* The same for a kernel whose partials do not read an operand that is a sum and waits. */
int engine_defer_linear (lua_State *L, const Recording *recording);

/* Sees to all that waits for the elements of t. Nothing must be allocated between this and
   writing them, except by calls of this for others. */
void engine_before_write (lua_State *L, const Tensor *t);

/* }====================================================== */


/* {=====================================================
** Operands (operand.c)
** ====================================================== */

Tensor *engine_tensor (lua_State *L, int index);     /* or NULL */
Tensor *engine_check_tensor (lua_State *L, int index, const char *who);   /* self, in messages, */
Tensor *engine_check_argument (lua_State *L, int index, const char *who, const char *name);   /* or this */

/* A number, table or tensor at `index` as a tensor; a table is replaced on
   the stack by the tensor made from it. */
const Tensor *engine_operand (lua_State *L, int index, const char *who,
                              const char *name, Tensor *header, double *number);

/* }====================================================== */


/* grads.c: for the parameter at `index`: no grad; other memory for it; a grad of its shape */
void engine_forget_grad (lua_State *L, int index, const char *who);
void engine_renew_grad (lua_State *L, int index, const char *who);
void engine_replace_grad (lua_State *L, int index, const char *who, const Tensor *value);

/* Each adds its functions to the table on top of the stack: backward, depends, trace, ... */
void engine_open_pending (lua_State *L);
void engine_open_backward (lua_State *L);
void engine_open_depends (lua_State *L);
void engine_open_trace (lua_State *L);
void engine_open_chains (lua_State *L);
void engine_open_scan (lua_State *L);

#endif
