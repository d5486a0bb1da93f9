/*
** gradient.c - parameters, their grads, and how operations are recorded
*/
#include "api/api.h"


/*@ peri.param(value) -> Tensor
 * A parameter: a copy of a number, table or tensor that has a gradient. What is computed of it
 * is recorded; result:backward() adds to its field grad.
 *   value  number, table or tensor
 * > w = param { 1, 2 }
 * > loss = (w * w):sum()
 * > loss:backward()
 * > w.grad
 * Tensor(2)
 *   2  4 */
/* A parameter: a copy of `value` that has a gradient. */
static int param (lua_State *L) {
  host_arguments(L, "param", 1);
  Tensor header;
  double number;
  const Tensor *from = engine_operand(L, 1, "param", "value", &header, &number);
  Tensor *t = engine_new_parameter(L, host_state(L), from);
  host_copy(L, t, from);
  engine_renew_grad(L, -1, "param");
  return 1;
}

/* Pushes a view of the elements of the tensor t, at `index`, that has neither node nor gradient. */
static void push_bare (lua_State *L, int index, const Tensor *t) {
  Tensor *view = host_new_view(L, index, t, t->rank);
  view->data = t->data;
  view->size = t->size;
  for (int d = 0; d < t->rank; d++) {
    view->shape[d] = t->shape[d];
    view->stride[d] = t->stride[d];
  }
  view->owner = view;
}

/* core.bare(x): the elements of a tensor, without node or gradient; what is no tensor as it is */
static int bare (lua_State *L) {
  const Tensor *t = engine_tensor(L, 1);
  if (t == NULL) return lua_settop(L, 1), 1;
  push_bare(L, 1, t);
  return 1;
}

/*@ Tensor:detach() -> Tensor
 * The same elements, as a view without a past: no gradient flows through it.
 * > param({ 1, 2 }):detach():sum()
 * 3.0 */
/* t:detach(): the same, but raises where a replay would not see changes */
static int detach (lua_State *L) {
  const Tensor *t = engine_check_tensor(L, 1, "Tensor:detach");
  host_arguments(L, "Tensor:detach", 1);
  engine_check_untraced(L, host_state(L), "Tensor:detach", 1, &t);
  push_bare(L, 1, t);
  return api_return(L, host_header(L, -1), NULL);
}

/* core.tracked(x): does it have a gradient, and is it a parameter itself? */
static int tracked (lua_State *L) {
  const Tensor *t = host_header(L, 1);
  lua_pushboolean(L, t != NULL && is_tracked(t));
  lua_pushboolean(L, t != NULL && t->node != NULL && t->node->kind == NODE_LEAF);
  return 2;
}

/* core.writes(t): how often the elements of t were written to */
static int writes (lua_State *L) {
  const Tensor *t = engine_check_tensor(L, 1, "writes");
  lua_pushinteger(L, (lua_Integer)*t->version);
  return 1;
}

/* What fn(...) returns, with recording paused or not. */
static int call_paused (lua_State *L, int paused) {
  State *state = host_state(L);
  int before = state->paused;
  luaL_checkany(L, 1);
  if (paused && state->tracing)
    engine_fail_traced(L, state, "no_grad", "what is computed there would not be replayed");
  state->paused = paused;
  int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  state->paused = before;
  return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/*@ peri.no_grad(fn, ...) -> any
 * What fn(...) returns, nothing recorded on the way.
 *   fn   function
 *   ...  its arguments
 * > no_grad(function (w) return (2 * w):sum() end, param { 1, 2 })
 * 6.0 */
/* core.no_grad(fn, ...): nothing is recorded */
static int no_grad (lua_State *L) {
  if (lua_type(L, 1) != LUA_TFUNCTION) host_fail_type(L, "no_grad", "fn", "a function", 1);
  return call_paused(L, 1);
}

/* core.with_grad(fn, ...): recorded, even within no_grad */
static int with_grad (lua_State *L) { return call_paused(L, 0); }

/* core.record(result, backward, inputs...): a copy of `result` whose inputs get
   their gradients from backward(gradient of the result) -> one for each input; or
   `result` itself, where nothing is recorded */
static int record (lua_State *L) {
  State *state = host_state(L);
  int n = lua_gettop(L) - 2;
  const Tensor *from = engine_check_tensor(L, 1, "func"), *in[KERNEL_MAX_IN];
  if (n > KERNEL_MAX_IN) host_fail(L, "func", "at most %d inputs", KERNEL_MAX_IN);
  for (int k = 0; k < n; k++) in[k] = engine_check_tensor(L, 3 + k, "func");
  if (!engine_is_tracked(state, n, in)) return lua_settop(L, 1), 1;
  Recording r = {.state = state, .who = "func", .kind = NODE_CALL, .n = n, .base = 3, .in = in};
  Tensor *t = engine_new_recorded(L, &r, from->rank, from->shape, NULL);
  host_copy(L, t, from);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, -2, n + 1);
  return 1;
}


/* core.fused(fn, ...): what fn returns */
static int fused (lua_State *L) {
  State *state = host_state(L);
  luaL_checkany(L, 1);
  state->deferring++;
  int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  state->deferring--;
  if (status != LUA_OK) return lua_error(L);
  int n = lua_gettop(L);
  for (int i = 1; i <= n; i++) engine_tensor(L, i);
  return n;
}


/*@ Tensor.grad -> Tensor or nil
 * Of a parameter: the sum of the gradients that have arrived since it was last set to nil; nil
 * where there are none.
 * > w = param(2)
 * > loss = w * w
 * > loss:backward()
 * > item(w.grad)
 * 4.0 */
/* core.grad(t): of a parameter */
static int get_grad (lua_State *L) {
  const Tensor *t = engine_check_tensor(L, 1, "Tensor.grad");
  if (t->node == NULL || t->node->kind != NODE_LEAF || !t->node->has_grad)
    return lua_pushnil(L), 1;
  if (t->rank > 0) t->node->grad_is_public = true;
  lua_getiuservalue(L, 1, 1);
  return api_return(L, t->node->grad, NULL);
}

int api_set_grad (lua_State *L) {
  const char *who = "Tensor.grad = value";
  const Tensor *t = engine_check_tensor(L, 1, who);
  if (t->node == NULL || t->node->kind != NODE_LEAF)
    host_fail(L, who, "only a parameter has a gradient");
  if (lua_isnoneornil(L, 3)) return engine_forget_grad(L, 1, who), 0;
  Tensor header;
  double number;
  const Tensor *grad = engine_operand(L, 3, who, "value", &header, &number);
  if (!tensor_same_shape(t, grad)) {
    host_push_shape(L, t->rank, t->shape);
    host_push_shape(L, grad->rank, grad->shape);
    host_fail(L, who, "shapes %s and %s of parameter and gradient differ", lua_tostring(L, -2),
              lua_tostring(L, -1));
  }
  engine_replace_grad(L, 1, who, grad);
  return 0;
}


static const luaL_Reg methods[] = {
  {"detach", detach},
  {NULL, NULL}
};

static const luaL_Reg fields[] = {
  {"grad", get_grad},
  {NULL, NULL}
};

static const luaL_Reg functions[] = {
  {"param",     param},
  {"bare",      bare},
  {"tracked",   tracked},
  {"writes",    writes},
  {"no_grad",   no_grad},
  {"with_grad", with_grad},
  {"record",    record},
  {"fused",     fused},
  {NULL, NULL}
};

void api_open_gradient (lua_State *L) {
  host_list(L, "methods", methods);
  host_list(L, "fields", fields);
  luaL_setfuncs(L, functions, 0);
}
