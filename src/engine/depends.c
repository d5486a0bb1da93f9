/*
** depends.c - was one tensor computed from another?
*/
#include "engine/pass.h"


/* core.depends(t, on): does t have `on` below it on the tape? What carries no gradient has nothing
   below it; a trace records all that may change in a replay, and there the answer is a proof. */
static int depends (lua_State *L) {
  State *state = lua_touserdata(L, lua_upvalueindex(PASS_STATE));
  Tape tape;
  Arena arena;
  host_arguments(L, "depends", 2);
  lua_settop(L, PASS_TENSORS);
  const Tensor *t = host_header(L, 1), *on = host_header(L, 2);
  bool found = t != NULL && on != NULL && is_tracked(t) && is_tracked(on);
  if (found) {
    arena_open(L, state, &tape, &arena);
    tape_save(tape.outer);
    tape_collect(L, state, &tape, t->owner->node);
    found = on->owner->node->pass == tape.pass;
    arena_close(L);
  }
  lua_pushboolean(L, found);
  return 1;
}


void engine_open_depends (lua_State *L) {
  pass_push_function(L, depends);
  lua_setfield(L, -2, "depends");
}
