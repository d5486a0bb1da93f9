/*
** grads.c - the grads of parameters
**
** A parameter always has memory for a grad, as its user value, whether it has a grad or not: a
** backward pass knows parameters by address only, and could not give them any. Memory that Lua
** holds no reference to is used again.
*/
#include <string.h>

#include "driver/loop.h"
#include "engine/pass.h"


void engine_renew_grad (lua_State *L, int index, const char *who) {
  index = lua_absindex(L, index);
  const Tensor *parameter = lua_touserdata(L, index);
  parameter->node->grad = host_new(L, who, parameter->rank, parameter->shape, NULL);
  parameter->node->finite = 0;
  lua_setiuservalue(L, index, 1);
}

void grads_prepare (lua_State *L, const Node *node) {
  if (node->has_grad && node->grad_is_public) engine_before_write(L, node->grad);
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


void engine_forget_grad (lua_State *L, int index, const char *who) {
  Node *node = ((const Tensor *)lua_touserdata(L, index))->node;
  if (node->grad_is_public) engine_renew_grad(L, index, who);
  node->has_grad = node->grad_is_public = false;
}

void engine_replace_grad (lua_State *L, int index, const char *who, const Tensor *value) {
  Node *node = ((const Tensor *)lua_touserdata(L, index))->node;
  engine_forget_grad(L, index, who);
  loop_copy(NULL, node->grad, value);
  node->grad->writes++;
  node->has_grad = true;
  node->pass = 0;             /* a pass may be writing there: it will notice */
  host_state(L)->passes++;
}
