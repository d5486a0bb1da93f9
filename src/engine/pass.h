/*
** pass.h - what the files of this room share: a backward pass, and results that wait
**
** A backward pass has a tape of nodes (tape.c), memory for gradients (arena.c), and writes the
** grads of parameters (grads.c). The functions of Lua that run one (backward.c, trace.c) have the
** upvalues PASS_STATE, ... and keep what is theirs at the places PASS_FIRST_CHUNK, ... of the
** stack. Whatever allocates may run finalizers, and these may run passes of their own over the
** same nodes: tape_check_undisturbed raises then.
*/
#ifndef PERILUNE_PASS_H
#define PERILUNE_PASS_H

#include "driver/sizes.h"
#include "engine/engine.h"


/* Upvalues: the state, a metatable for weak values, the first chunk. */
enum { PASS_STATE = 1, PASS_WEAK, PASS_KEPT_CHUNK };

/* On the stack, behind two arguments: the first chunk, a larger tape, the table of chunks, saved
   gradients, tensors by the addresses of their nodes. */
enum { PASS_FIRST_CHUNK = 3, PASS_TAPE, PASS_CHUNKS, PASS_SAVED, PASS_TENSORS };

/* The gradient that a node had when a pass within this one began. */
typedef struct SavedGradient {
  double *gradient;
  bool empty;
} SavedGradient;

/* The nodes that a pass goes over, the youngest first. */
typedef struct Tape {
  Node **node;
  size_t n, room;
  SavedGradient *saved; /* one for each node, if there are functions to call */
  uint64_t pass;        /* number of this pass, */
  uint64_t checked;     /* and the state's count of passes when nodes were last checked */
  struct Tape *outer;   /* the pass during which this one began, or NULL */
  bool in_order;        /* nodes were found from the youngest on: no need to sort */
  bool calls;           /* there are functions to call, which may change anything */
  bool kept;            /* all tensors are in PASS_TENSORS, and cannot be collected */
  bool is_saved;        /* an inner pass has begun: gradients are in `saved` */
} Tape;

/* Memory for gradients: the first chunk, then chunks that are userdata in a table. Blocks that
   are given back are used again by the same pass, chunks by the next one. */
typedef struct Arena {
  int chunks;
  double *at;               /* in the last chunk */
  size_t left;
  double *free[ARENA_MAX_FREE];
  size_t free_size[ARENA_MAX_FREE];
  int frees;
} Arena;


/* Doubles of a block that ends where a cache line does. */
static inline size_t arena_padded (size_t size) { return (size + 7) & ~(size_t)7; }

void tape_check_nodes (lua_State *L, const State *state, Tape *tape);   /* tape.c */

/* To be called after memory was allocated and before a node is read again. Finalizers may have
   run: their passes over the same nodes, grads that they set, and writes to operands raise. */
static inline void tape_check_undisturbed (lua_State *L, const State *state, Tape *tape) {
  if (state->passes != tape->checked) tape_check_nodes(L, state, tape);
}

/* arena.c: begin a pass and end it */
void arena_open (lua_State *L, State *state, Tape *tape, Arena *arena);
void arena_close (lua_State *L);

double *arena_take (lua_State *L, Arena *arena, size_t size);
void arena_give_back (Arena *arena, double *block, size_t size);

/* Puts the table of chunks that the last large pass left on the stack, or a new one. */
void arena_fetch_chunks (lua_State *L);

/* tape.c: takes all nodes below `top`, the youngest first */
void tape_collect (lua_State *L, State *state, Tape *tape, Node *top);
void tape_check_operands (lua_State *L, const Node *node);   /* unchanged since then? */
/* Puts the tensors of all nodes, which end in the tensor at index 1, into PASS_TENSORS. */
void tape_keep (lua_State *L, const State *state, Tape *tape);

/* A pass within others may meet their nodes: it saves the gradients of those, which are restored
   when it is over. */
void tape_save (Tape *outer);
void tape_restore (Tape *tape);

/* grads.c: does what may fail before a parameter's grad is written; adds the gradient that
   arrived there to the grad */
void grads_prepare (lua_State *L, const Node *node);
void grads_deliver (Node *node);

/* record.c: a result without data; it has one more user value, for what will hold that */
Tensor *record_new_waiting (lua_State *L, const Recording *recording, int rank,
                            const ptrdiff_t shape[], const ptrdiff_t stride[]);

/* How a tensor that waits is to be computed. One of a formula has no gradient, and hence no
   `node` that others see: its node is behind its header all the same. */
static inline Node *record_node (const Tensor *t) {
  return t->node != NULL ? t->node : (Node *)(void *)((char *)t + tensor_header_bytes(t->rank));
}

/* Draws of the function that is being traced note their generators in the table at `index`; 0:
   in none. */
void record_set_generators (lua_State *L, int index);

/* pending.c: pushes a table with weak keys: the tensors that may wait */
void pending_push_table (lua_State *L);

/* arena.c: pushes a function of Lua that runs passes. */
void pass_push_function (lua_State *L, lua_CFunction f);

/* tape.c: the tensor at index 1, one number that can be differentiated; messages call it `name`. */
Tensor *pass_check_result (lua_State *L, const char *who, const char *name);

#endif
