/*
** writes.c - before the elements of a tensor are written to
**
** A result that waits (pending.c) must be computed from its operands as they were. So before a
** tensor is written to, results that wait in a formula are computed. A recorded result gets copies
** of the operands that share elements with the tensor, or is computed where that is less work.
**
** That allocates, and may run finalizers. Meanwhile nothing begins to wait (state->writing): the
** table of what waits gets no new entries while it is traversed, and afterwards nothing waits for
** the tensor, unless the caller allocates before it writes.
*/
#include "engine/pass.h"
#include "driver/loop.h"


static bool shares (const Input *input, const Tensor *written) {
  return !input->is_number && input->tensor->version == written->version;
}

/* Elements of the operands that are parameters, if `written` is among the operands: where
   one is written to the others soon will be. */
static size_t elements_at_stake (const Node *node, const Tensor *written) {
  size_t size = 0;
  bool found = false;
  for (int k = 0; k < node->n; k++) {
    found |= shares(&node->in[k], written);
    if (node->in[k].tracked && node_below(node, k)->kind == NODE_LEAF)
      size += node->in[k].tensor->size;
  }
  return found ? size : 0;
}

/* Gives the recorded tensor at `index` copies of those operands that share their
   elements with `written`. It cannot be differentiated any more. */
static void keep_operands (lua_State *L, int index, Node *node, const Tensor *written) {
  const ActivePass *pass = host_state(L)->active_pass;
  if (pass != NULL && node->pass == pass->number)
    host_fail(L, "tensor", "a hook must not change what is being differentiated");
  for (int k = 0; k < node->n; k++) {
    Input *input = &node->in[k];
    if (!shares(input, written)) continue;
    Tensor *copy = host_new(L, "tensor", input->tensor->rank, input->tensor->shape, NULL);
    host_copy(L, copy, input->tensor);
    copy->writes = input->version + 1;
    input->tensor = copy;
    input->tracked = false;
    lua_setiuservalue(L, index, k + 1);
  }
}

static bool is_to_keep (const Tensor *t, const Tensor *written) {
  return t->data == NULL && t->node != NULL
      && elements_at_stake(t->node, written) <= t->size;
}

/* settle(address of the tensor that will be written to) */
static int settle (lua_State *L) {
  const Tensor *written = lua_touserdata(L, 1);
  pending_push_table(L);
  lua_pushnil(L);
  while (lua_next(L, 2)) {
    const Tensor *t = lua_touserdata(L, 3);
    lua_settop(L, 3);
    if (is_to_keep(t, written)) {
      keep_operands(L, 3, t->node, written);
      continue;
    }
    engine_force(L, 3);
    lua_pushvalue(L, 3);
    lua_pushnil(L);
    lua_rawset(L, 2);      /* a field may be cleared during a traversal */
  }
  return 0;
}

void engine_before_write (lua_State *L, const Tensor *written) {
  if (!tensor_holder(written)->awaited) return;
  State *state = host_state(L);
  int before = state->writing;
  luaL_checkstack(L, 4, "tensor");
  lua_pushcfunction(L, settle);
  lua_pushlightuserdata(L, (void *)(uintptr_t)written);
  state->writing = 1;
  int status = lua_pcall(L, 1, 0, 0);
  state->writing = before;
  if (status != LUA_OK) lua_error(L);
  tensor_holder(written)->awaited = false;
}
