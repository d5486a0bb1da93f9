/*
** draft.h - what the files of a scan share: a step that is on its way to become a program
**
** scan_record.c has f called and finds the nodes of its step, scan_program.c makes of them what a
** node runs (autograd/scan.h), scan.c is the function of Lua around both.
*/
#ifndef PERILUNE_DRAFT_H
#define PERILUNE_DRAFT_H

#include "autograd/scan.h"
#include "engine/pass.h"

#define MAX_INPUTS UINT8_MAX   /* of a node */

/* On the stack: arguments, what belongs to the steps (lists), and tensors met before (a set). */
enum { STEP = 1, STEPS, INIT, XS, NAMES, KEPT, LEAVES, MADE, NODES, OTHERS, SEEN };

typedef struct Draft {
  State *state;
  size_t steps;
  int states, inputs, outputs;
  int others;             /* further inputs: what f uses besides */
  uint64_t begin;         /* nodes have been numbered from here on since f was called */
  Scan *scan;
  Node **by_age;
  unsigned char *mark;    /* of nodes by age, then of leaves: VARIES, NEEDED, NUMBER */
  double **value;         /* of nodes by age: where it is */
} Draft;


static inline void draft_append (lua_State *L, int list) {
  lua_rawseti(L, list, (lua_Integer)lua_rawlen(L, list) + 1);
}

/* Replaces the list at `index` by a copy that nobody else can change. */
static inline void draft_copy_list (lua_State *L, int index) {
  lua_Integer n = (lua_Integer)lua_rawlen(L, index);
  lua_newtable(L);
  for (lua_Integer i = 1; i <= n; i++) {
    lua_rawgeti(L, index, i);
    lua_rawseti(L, -2, i);
  }
  lua_replace(L, index);
}

/* Memory that lives as long as the scan. */
static inline void *draft_room (lua_State *L, size_t n, size_t size) {
  void *room = lua_newuserdatauv(L, n * size + sizeof(double), 0);
  draft_append(L, KEPT);
  return room;
}

static inline const Tensor *draft_listed (lua_State *L, int list, int i) {
  lua_rawgeti(L, list, i);
  const Tensor *t = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return t;
}


/* Has f called with leaves, and finds all that it returned is made of. */
void draft_record (lua_State *L, Draft *draft);   /* scan_record.c */

/* Makes the program of the node `top`, whose inputs are init, xs and what f uses besides. */
void draft_make_program (lua_State *L, Draft *draft, Node *top);   /* scan_program.c */

#endif
