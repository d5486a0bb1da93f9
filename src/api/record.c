/*
** record.c - tensors that know how they came about
**
** A recorded tensor keeps its operands alive as its user values, and has a node that
** says what was done with them (autograd/node.h).
*/
#include <string.h>

#include "api/binding.h"
#include "driver/loop.h"

static const char STATE = 's';     /* registry key: what this state has in hand */

void api_push_state (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &STATE) != LUA_TNIL) return;
  lua_pop(L, 1);
  State *state = lua_newuserdatauv(L, sizeof *state, 1);
  *state = (State) {.order = 0};
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &STATE);
}

State *api_state (lua_State *L) {
  api_push_state(L);
  State *state = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return state;
}


int api_is_tracked (const State *state, int n, const Tensor *const in[]) {
  if (state->paused > 0 || state->parameters == 0) return 0;
  for (int k = 0; k < n; k++)
    if (is_tracked(in[k])) return 1;
  return 0;
}

/* Pushes a tensor of `size` elements with a node of n inputs, which are still to be set,
   and `room` bytes behind that; it has no data yet. */
static inline Tensor *new_with_node (lua_State *L, State *state, int rank, const ptrdiff_t shape[],
                              const ptrdiff_t stride[], size_t size, NodeKind kind, int n,
                              int user_values, size_t room) {
  size_t header = tensor_header_bytes(rank);
  Tensor *t = api_new_block(L, state, header + node_bytes(n) + room, rank, size, shape,
                            stride, user_values);
  t->node = (Node *)(void *)((char *)t + header);
  *t->node = (Node) {.kind = (uint8_t)kind, .n = (uint8_t)n, .result = t,
                     .order = state->order++};
  return t;
}

/* Puts its elements behind its node. */
static void place_elements (Tensor *t) {
  t->data = tensor_place(node_room(t->node), t->size);
}

/* Input k of the tensor on top is `in`, at `index` on the stack. */
static void set_input (lua_State *L, Tensor *t, int k, const Tensor *in, int index) {
  Input *input = &t->node->in[k];
  if (tensor_is_number(in)) {
    *input = (Input) {.number = in->data[0], .is_number = true};
    return;
  }
  *input = (Input) {.tensor = (Tensor *)in, .version = *in->version,
                    .tracked = is_tracked(in)};
  lua_pushvalue(L, index);
  lua_setiuservalue(L, -2, k + 1);
}

static size_t count_elements (lua_State *L, const Recording *r, int rank,
                              const ptrdiff_t shape[]) {
  size_t size;
  if (!tensor_count(rank, shape, &size)) api_fail(L, r->who, "too many elements");
  return size;
}

/* Fills the node of the tensor on top, all but the inputs before `first`. */
static void fill_node (lua_State *L, const Recording *r, Tensor *t, int first) {
  t->node->kernel = r->kernel;
  t->node->dimensions = (uint16_t)r->dimensions;
  t->node->block = r->block;
  for (int k = first; k < r->n; k++) set_input(L, t, k, r->in[k], r->base + k);
}

Tensor *api_new_recorded (lua_State *L, const Recording *r, int rank,
                          const ptrdiff_t shape[], const ptrdiff_t stride[]) {
  if (!r->always && !api_is_tracked(r->state, r->n, r->in))
    return api_new(L, r->who, rank, shape, stride);
  size_t size = count_elements(L, r, rank, shape);
  Tensor *t = new_with_node(L, r->state, rank, shape, stride, size, r->kind, r->n, r->n,
                            tensor_room(size));
  fill_node(L, r, t, 0);
  place_elements(t);
  return t;
}

Tensor *api_new_waiting (lua_State *L, const Recording *r, int rank,
                         const ptrdiff_t shape[], const ptrdiff_t stride[]) {
  size_t size = count_elements(L, r, rank, shape);
  Tensor *t = new_with_node(L, r->state, rank, shape, stride, size, r->kind, r->n, r->n + 1,
                            size == 1 ? sizeof(double) : 0);
  fill_node(L, r, t, 0);
  for (int k = 0; k < r->n; k++) tensor_holder(r->in[k])->awaited = true;
  return t;
}

Tensor *api_new_drawn (lua_State *L, const Recording *r, int rank, const ptrdiff_t shape[],
                       bool is_noise, Tensor **first) {
  size_t size = count_elements(L, r, rank, shape), room = tensor_room(size);
  size_t header = tensor_header_bytes(rank);
  if (room > PTRDIFF_MAX / 4) api_fail(L, r->who, "too many elements");
  Tensor *t = new_with_node(L, r->state, rank, shape, NULL, size, r->kind, r->n, r->n,
                            room + header + (is_noise ? room : 0));
  fill_node(L, r, t, 1);
  place_elements(t);
  char *behind = (char *)t->data + size * sizeof(double);
  *first = tensor_init(behind, rank, size, is_noise ? NULL : t->data);
  memcpy((*first)->shape, t->shape, 2 * (size_t)rank * sizeof *shape);   /* and strides */
  t->node->in[0] = (Input) {.tensor = *first};
  return t;
}

Tensor *api_new_copy (lua_State *L, const char *who, int index) {
  const Tensor *from = api_tensor(L, index);
  Recording r = {.state = api_state(L), .who = who, .kind = NODE_ELEMENTWISE, .n = 1,
                 .kernel = api_kernel(L, "identity", "identity"),
                 .base = lua_absindex(L, index), .in = &from};
  Tensor *copy = api_new_recorded(L, &r, from->rank, from->shape, NULL);
  api_copy(L, copy, from);
  return copy;
}

/* A parameter: a copy of `value` that has a gradient. */
static int param (lua_State *L) {
  api_arguments(L, "param", 1);
  Tensor header;
  double number;
  State *state = api_state(L);
  const Tensor *from = api_operand(L, 1, "param", "value", &header, &number);
  Tensor *t = new_with_node(L, state, from->rank, from->shape, NULL, from->size,
                            NODE_LEAF, 0, 1, tensor_room(from->size));
  place_elements(t);
  api_copy(L, t, from);
  api_renew_grad(L, -1, "param");
  state->parameters = 1;
  return 1;
}

/* core.bare(t): the same elements, without a past */
static int bare (lua_State *L) {
  const Tensor *t = api_check_tensor(L, 1, "Tensor:detach");
  Tensor *view = api_new_view(L, 1, t, t->rank);
  view->data = t->data;
  view->size = t->size;
  for (int d = 0; d < t->rank; d++) {
    view->shape[d] = t->shape[d];
    view->stride[d] = t->stride[d];
  }
  view->owner = view;
  return 1;
}

/* t:detach(): the same, unless a trace would miss it */
static int detach (lua_State *L) {
  const Tensor *t = api_check_tensor(L, 1, "Tensor:detach");
  api_arguments(L, "Tensor:detach", 1);
  api_check_untraced(L, api_state(L), "Tensor:detach", 1, &t);
  bare(L);
  return api_return(L, api_header(L, -1), NULL);
}

/* core.tracked(x): does it have a gradient, and is it a parameter itself? */
static int tracked (lua_State *L) {
  const Tensor *t = api_header(L, 1);
  lua_pushboolean(L, t != NULL && is_tracked(t));
  lua_pushboolean(L, t != NULL && t->node != NULL && t->node->kind == NODE_LEAF);
  return 2;
}

/* What fn(...) returns, with recording paused or not. */
static int call_paused (lua_State *L, int paused) {
  State *state = api_state(L);
  int before = state->paused;
  luaL_checkany(L, 1);
  if (paused && state->tracing)
    api_fail(L, "no_grad", "not within trace: what is computed there would not be replayed");
  state->paused = paused;
  int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  state->paused = before;
  return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* core.no_grad(fn, ...): nothing is recorded */
static int no_grad (lua_State *L) {
  if (lua_type(L, 1) != LUA_TFUNCTION) api_fail_type(L, "no_grad", "fn", "a function", 1);
  return call_paused(L, 1);
}

/* core.with_grad(fn, ...): recorded, even within no_grad */
static int with_grad (lua_State *L) { return call_paused(L, 0); }

/* core.record(result, backward, inputs...): a copy of `result` whose inputs get
   their gradients from backward(gradient of the result) -> one for each input; or
   `result` itself, where nothing is recorded */
static int record (lua_State *L) {
  State *state = api_state(L);
  int n = lua_gettop(L) - 2;
  const Tensor *from = api_check_tensor(L, 1, "func"), *in[KERNEL_MAX_IN];
  if (n > KERNEL_MAX_IN) api_fail(L, "func", "at most %d inputs", KERNEL_MAX_IN);
  for (int k = 0; k < n; k++) in[k] = api_check_tensor(L, 3 + k, "func");
  if (!api_is_tracked(state, n, in)) return lua_settop(L, 1), 1;
  Tensor *t = new_with_node(L, state, from->rank, from->shape, NULL, from->size,
                            NODE_CALL, n, n + 1, tensor_room(from->size));
  place_elements(t);
  api_copy(L, t, from);
  for (int k = 0; k < n; k++) set_input(L, t, k, in[k], 3 + k);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, -2, n + 1);
  return 1;
}


static const luaL_Reg functions[] = {
  {"param",     param},
  {"bare",      bare},
  {"detach",    detach},
  {"tracked",   tracked},
  {"no_grad",   no_grad},
  {"with_grad", with_grad},
  {"record",    record},
  {NULL, NULL}
};

void api_open_record (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
