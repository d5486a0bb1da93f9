/*
** grads.c - the grads of parameters
**
** A parameter always has memory for a grad, as its user value, whether it has one or not:
** walks know it by its address alone, and could not give it any. What nobody has in hand is
** used again.
*/
#include <string.h>

#include "api/walk.h"
#include "driver/loop.h"


void api_renew_grad (lua_State *L, int index, const char *who) {
  index = lua_absindex(L, index);
  const Tensor *parameter = lua_touserdata(L, index);
  parameter->node->grad = api_new(L, who, parameter->rank, parameter->shape, NULL);
  lua_setiuservalue(L, index, 1);
}

void grads_prepare (lua_State *L, const Node *node) {
  if (node->has_grad && node->shown) api_before_write(L, node->grad);
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

void api_forget_grad (lua_State *L, int index, const char *who) {
  Node *node = ((const Tensor *)lua_touserdata(L, index))->node;
  if (node->shown) api_renew_grad(L, index, who);
  node->has_grad = node->shown = false;
}

int api_set_grad (lua_State *L) {
  const char *who = "Tensor.grad = value";
  const Tensor *t = api_check_tensor(L, 1, who);
  if (t->node == NULL || t->node->kind != NODE_LEAF)
    api_fail(L, who, "only a parameter has a gradient");
  if (lua_isnoneornil(L, 3)) return api_forget_grad(L, 1, who), 0;
  Tensor header;
  double number;
  const Tensor *grad = api_operand(L, 3, who, "value", &header, &number);
  if (!tensor_same_shape(t, grad)) {
    api_push_shape(L, t->rank, t->shape);
    api_push_shape(L, grad->rank, grad->shape);
    api_fail(L, who, "shapes %s and %s of parameter and gradient differ", lua_tostring(L, -2),
             lua_tostring(L, -1));
  }
  api_forget_grad(L, 1, who);
  loop_copy(NULL, t->node->grad, grad);
  t->node->has_grad = true;
  t->node->walk = 0;             /* a walk may be writing there: it will notice */
  api_state(L)->walk++;
  return 0;
}


void api_open_grads (lua_State *L) {
  lua_pushcfunction(L, get_grad);
  lua_setfield(L, -2, "grad");
}
