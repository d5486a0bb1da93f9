/*
** grads.c - the grads of parameters
**
** A parameter keeps the memory of its grad as a user value, also while it has none: what
** nobody has in hand is used again.
*/
#include <string.h>

#include "api/walk.h"
#include "driver/loop.h"


/* (A finalizer may have been first.) */
void grads_ensure (lua_State *L, Node *node) {
  const Tensor *parameter = node->result;
  if (node->grad != NULL) return;
  walk_push_handle(L, parameter);
  Tensor *grad = api_new(L, "backward", parameter->rank, parameter->shape, NULL);
  if (node->grad == NULL) {
    node->grad = grad;
    lua_setiuservalue(L, -2, 1);
  } else lua_pop(L, 1);
  lua_pop(L, 1);
}

void grads_prepare (lua_State *L, Node *node) {
  grads_ensure(L, node);
  if (node->has_grad && node->shown) api_before_write(L, node->grad);
}

void grads_check (lua_State *L, const Node *node) {
  if (node->grad == NULL)
    api_fail(L, "backward", "a finalizer changed gradients of the same tensors meanwhile");
}

void grads_deliver (Node *node) {
  double *to = node->grad->data;
  size_t size = node->grad->size;
  if (node->has_grad)
    for (size_t j = 0; j < size; j++) to[j] += node->gradient[j];
  else if (to != node->gradient) memcpy(to, node->gradient, size * sizeof *to);
  node->has_grad = true;
  node->grad->writes++;
}


/* core.grad(t): of a parameter */
static int get_grad (lua_State *L) {
  const Tensor *t = api_check_tensor(L, 1, "Tensor.grad");
  if (t->node == NULL || t->node->kind != NODE_LEAF || !t->node->has_grad)
    return lua_pushnil(L), 1;
  if (t->rank > 0) t->node->shown = true;
  lua_getiuservalue(L, 1, 1);
  return api_return(L, t->node->grad, NULL);
}

/* The memory of a grad that nobody has in hand stays for the next one. */
void api_forget_grad (lua_State *L, int index, Node *node) {
  if (node->shown) {
    index = lua_absindex(L, index);
    lua_pushnil(L);
    lua_setiuservalue(L, index, 1);
    node->grad = NULL;
  }
  node->has_grad = node->shown = false;
}

/* Memory that nobody has in hand may be where a walk is writing: it is not let go, and the
   walk will notice. */
static Tensor *memory_for_grad (lua_State *L, const char *who, const Tensor *t) {
  Node *node = t->node;
  if (node->shown || node->grad == NULL) {
    Tensor *fresh = api_new(L, who, t->rank, t->shape, NULL);
    if (node->shown || node->grad == NULL) {
      lua_setiuservalue(L, 1, 1);
      node->grad = fresh;
    }
  }
  node->walk = 0;
  api_state(L)->walk++;
  return node->grad;
}

int api_set_grad (lua_State *L) {
  const char *who = "Tensor.grad = value";
  const Tensor *t = api_check_tensor(L, 1, who);
  if (t->node == NULL || t->node->kind != NODE_LEAF)
    api_fail(L, who, "only a parameter has a gradient");
  if (lua_isnoneornil(L, 3)) return api_forget_grad(L, 1, t->node), 0;
  Tensor header;
  double number;
  const Tensor *grad = api_operand(L, 3, who, "value", &header, &number);
  if (!tensor_same_shape(t, grad)) {
    api_push_shape(L, t->rank, t->shape);
    api_push_shape(L, grad->rank, grad->shape);
    api_fail(L, who, "shapes %s and %s of parameter and gradient differ", lua_tostring(L, -2),
             lua_tostring(L, -1));
  }
  loop_copy(memory_for_grad(L, who, t), grad);
  t->node->has_grad = true;
  t->node->shown = false;
  return 0;
}


void api_open_grads (lua_State *L) {
  lua_pushcfunction(L, get_grad);
  lua_setfield(L, -2, "grad");
}
