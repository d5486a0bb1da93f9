/*
** tape.c - the nodes below a result, ordered by age
*/
#include <string.h>

#include "autograd/scan.h"
#include "engine/pass.h"


/* Room for more nodes: that of the last large pass, if it is enough. */
COLD static void widen (lua_State *L, Tape *tape) {
  size_t room = 2 * tape->room;
  arena_fetch_chunks(L);
  lua_rawgeti(L, PASS_CHUNKS, 0);
  if (lua_rawequal(L, -1, PASS_TAPE) || lua_rawlen(L, -1) < room * sizeof(Node *)) {
    lua_pop(L, 1);
    lua_newuserdatauv(L, room * sizeof(Node *), 0);
  }
  Node **wider = lua_touserdata(L, -1);
  memcpy(wider, tape->node, tape->n * sizeof *wider);
  tape->node = wider;
  tape->room = lua_rawlen(L, -1) / sizeof *wider;
  lua_replace(L, PASS_TAPE);
  tape_check_undisturbed(L, lua_touserdata(L, lua_upvalueindex(PASS_STATE)), tape);
}

static inline void push_node (lua_State *L, Tape *tape, Node *node) {
  if (tape->n == tape->room) widen(L, tape);
  if (tape->n > 0 && tape->node[tape->n - 1]->order < node->order)
    tape->in_order = false;
  if (node->kind == NODE_CALL) tape->calls = true;
  node->pass = tape->pass;
  node->gradient = NULL;
  tape->node[tape->n++] = node;
}

static void check_unchanged (lua_State *L, const Tensor *t, uint32_t version) {
  if (*t->version != version)
    host_fail(L, "backward", "a tensor was changed after it was used in what is being"
              " differentiated; clone it before changing it");
}

static void check_not_freed (lua_State *L, const Node *node) {
  if (node->freed)
    host_fail(L, "backward", "this was differentiated already, and what it takes to do so"
              " again is gone; backward{retain = true} keeps it");
}

void tape_check_operands (lua_State *L, const Node *node) {
  if (node->kind != NODE_LEAF) check_unchanged(L, node->result, 0);
  for (int k = 0; k < node->n; k++)
    if (!node->in[k].is_number)
      check_unchanged(L, node->in[k].tensor, node->in[k].version);
}

/* Insertion sort of every `gap`-th node, youngest first. False: a hook disturbed the nodes. */
static bool sort_apart (lua_State *L, State *state, Tape *tape, size_t gap, bool looks) {
  Node **node = tape->node;
  size_t moves = 0;
  for (size_t i = gap; i < tape->n; i++) {
    Node *moved = node[i];
    size_t at = i;
    for (; at >= gap && node[at - gap]->order < moved->order; at -= gap)
      node[at] = node[at - gap];
    node[at] = moved;
    moves += 1 + (i - at) / gap;
    if (!looks || moves < MOVES_PER_LOOK) continue;
    moves = 0;
    host_look(L, state);
    if (state->passes != tape->checked) return false;
  }
  return true;
}

/* Shell's sort: few nodes are far from their place. */
static bool sort_by_age (lua_State *L, State *state, Tape *tape, bool looks) {
  bool whole = true;
  for (size_t gap = tape->n / 16; whole && gap > 1; gap = gap * 4 / 9)
    whole = sort_apart(L, state, tape, gap, looks);
  return whole && sort_apart(L, state, tape, 1, looks);
}

static void look (lua_State *L, State *state, Tape *tape) {
  host_look(L, state);
  tape_check_undisturbed(L, state, tape);
}

static void collect (lua_State *L, State *state, Tape *tape, Node *top) {
  push_node(L, tape, top);
  for (size_t done = 0; done < tape->n; done++) {
    Node *node = tape->node[done];
    if (done % NODES_PER_LOOK == NODES_PER_LOOK - 1) look(L, state, tape);
    check_not_freed(L, node);
    tape_check_operands(L, node);
    for (int k = 0; k < node->n; k++) {
      Node *below = node->in[k].tracked ? node_below(node, k) : NULL;
      if (below != NULL && below->pass != tape->pass) push_node(L, tape, below);
    }
  }
}

/* tape_check_nodes needs nodes before those below them, which half-sorted ones are not. So if a
   hook ran a pass or wrote meanwhile, all begins anew, and no more hooks run while nodes are sorted. */
void tape_collect (lua_State *L, State *state, Tape *tape, Node *top) {
  collect(L, state, tape, top);
  if (tape->in_order || sort_by_age(L, state, tape, true)) return;
  tape->n = 0;
  tape->pass = tape->checked = ++state->passes;
  collect(L, state, tape, top);
  sort_by_age(L, state, tape, false);
}

/* Pushes the tensor at `index`, or the one that it is a view of: who has its gradient. */
static void push_owner (lua_State *L, int index) {
  const Tensor *t = lua_touserdata(L, index);
  if (t->owner == t) lua_pushvalue(L, index);
  else lua_getiuservalue(L, index, 1);
}

/* Each tensor has its operands as user values, and none is younger than its result. */
COLD void tape_keep (lua_State *L, const State *state, Tape *tape) {
  lua_createtable(L, 0, (int)tape->n);
  lua_replace(L, PASS_TENSORS);
  tape_check_undisturbed(L, state, tape);
  push_owner(L, 1);
  lua_rawsetp(L, PASS_TENSORS, tape->node[0]);
  for (size_t i = 0; i < tape->n; i++) {
    const Node *node = tape->node[i];
    lua_rawgetp(L, PASS_TENSORS, node);
    for (int k = 0; k < node->n; k++) {
      if (!node->in[k].tracked) continue;
      lua_getiuservalue(L, -1, k + 1);
      push_owner(L, -1);
      lua_rawsetp(L, PASS_TENSORS, node_below(node, k));
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  tape->kept = true;
}

/* A result whose operand was written to may have lost it, with all the nodes below: these are
   further down the tape, and are not looked at any more. */
COLD void tape_check_nodes (lua_State *L, const State *state, Tape *tape) {
  for (size_t i = 0; i < tape->n; i++) {
    if (tape->node[i]->pass != tape->pass || !scan_is_ours(tape->node[i]))
      host_fail(L, "backward", "gradients of the same tensors were changed meanwhile, by a"
                " finalizer or hook");
    if (!tape->kept) tape_check_operands(L, tape->node[i]);
  }
  tape->checked = state->passes;
}

void tape_save (Tape *outer) {
  for (; outer != NULL && !outer->is_saved; outer = outer->outer) {
    for (size_t i = 0; i < outer->n; i++)
      outer->saved[i] = (SavedGradient) {outer->node[i]->gradient, outer->node[i]->empty};
    outer->is_saved = true;
  }
}

void tape_restore (Tape *tape) {
  for (size_t i = 0; tape->is_saved && i < tape->n; i++) {
    tape->node[i]->pass = tape->pass;
    tape->node[i]->gradient = tape->saved[i].gradient;
    tape->node[i]->empty = tape->saved[i].empty;
  }
  tape->is_saved = false;
}


Tensor *pass_check_result (lua_State *L, const char *who, const char *name) {
  Tensor *t = host_header(L, 1);   /* its value is of no importance */
  if (t == NULL && lua_type(L, 1) != LUA_TNUMBER) host_fail_type(L, who, name, "a tensor", 1);
  if (t != NULL && t->size != 1) {
    host_push_shape(L, t->rank, t->shape);
    host_fail(L, who, "only a single number can be differentiated, this has shape %s; sum it"
              " first", lua_tostring(L, -1));
  }
  if (t == NULL || !is_tracked(t))
    host_fail(L, who, "this does not depend on any parameter (see peri.param)");
  return t;
}
