/*
** walk.h - what a backward pass needs: a tape of nodes, memory, and parameters' grads
**
** The functions of Lua that go over nodes (backward.c, trace.c) have the upvalues WALK_STATE, ...
** and keep what is theirs at the places WALK_FIRST_CHUNK, ... of the stack. Whatever allocates
** may run finalizers, and these may go over nodes as well: the tape notices that
** (tape_check_undisturbed).
*/
#ifndef PERILUNE_WALK_H
#define PERILUNE_WALK_H

#include "driver/sizes.h"
#include "engine/engine.h"


/* Upvalues: the state, a metatable for weak values, the first chunk. */
enum { WALK_STATE = 1, WALK_WEAK, WALK_KEPT_CHUNK };

/* On the stack, behind two arguments: the first chunk, a larger tape, the table of chunks, notes,
   tensors by the addresses of their nodes. */
enum { WALK_FIRST_CHUNK = 3, WALK_TAPE, WALK_CHUNKS, WALK_NOTES, WALK_TENSORS };

/* The gradient that a node had when a walk within this one began. */
typedef struct Note {
  double *gradient;
  bool empty;
} Note;

/* The nodes to walk over. */
typedef struct Tape {
  Node **node;
  size_t n, room;
  Note *note;           /* one for each, if there are functions to call */
  uint64_t walk;        /* its number, */
  uint64_t last;        /* and the state's when nodes were last looked at */
  struct Tape *outer;   /* during whose walk this one began */
  bool in_order;        /* the nodes were met from the youngest on */
  bool calls;           /* there are functions to call, which may change anything */
  bool kept;            /* they have been found in WALK_TENSORS, and cannot go away */
  bool noted;           /* an inner walk, which may meet the same nodes, has begun */
} Tape;

/* Memory for gradients: the first chunk, then chunks that are userdata in a table. What is
   done with is used again within a walk, chunks are by the next walk. */
typedef struct Arena {
  int chunks;
  double *at;               /* in the last chunk */
  size_t left;
  double *free[WALK_FREE];
  size_t free_size[WALK_FREE];
  int frees;
} Arena;


/* Doubles of a block that ends where a cache line does. */
static inline size_t arena_padded (size_t size) { return (size + 7) & ~(size_t)7; }

void tape_check_nodes (lua_State *L, const State *state, Tape *tape);   /* tape.c */

/* To be called when memory was allocated, which may have run finalizers, before any node is
   looked at again: they may have walked over the same nodes, have set a grad that is being
   written, or have written to operands. */
static inline void tape_check_undisturbed (lua_State *L, const State *state, Tape *tape) {
  if (state->walk != tape->last) tape_check_nodes(L, state, tape);
}

/* arena.c: begins a walk and ends it */
void arena_open (lua_State *L, State *state, Tape *tape, Arena *arena);
void arena_close (lua_State *L);

double *arena_take (lua_State *L, Arena *arena, size_t size);
void arena_give_back (Arena *arena, double *block, size_t size);

/* Puts the table of chunks that the last large walk left on the stack, or a new one. */
void arena_fetch_chunks (lua_State *L);

/* tape.c: takes all nodes below `top`, the youngest first */
void tape_collect (lua_State *L, State *state, Tape *tape, Node *top);
void tape_check_operands (lua_State *L, const Node *node);   /* unchanged since then? */
/* Puts the tensors of all nodes, which end in the tensor at index 1, into WALK_TENSORS. */
void tape_keep (lua_State *L, const State *state, Tape *tape);

/* A walk within others, which may meet their nodes, notes the gradients of those; they are
   restored when it is over. */
void tape_note (Tape *outer);
void tape_restore (Tape *tape);

/* grads.c: whatever may fail before a parameter's grad is written; adds the gradient that
   arrived there */
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

/* arena.c: pushes a function that walks. */
void walk_push_function (lua_State *L, lua_CFunction f);

/* The tensor at index 1, one number that can be differentiated; `name` is what a message calls
   it. */
Tensor *walk_check_result (lua_State *L, const char *who, const char *name);

#endif
