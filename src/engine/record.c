/*
** record.c - tensors with a node
**
** A recorded tensor keeps its operands alive as its user values, and has a node that says which
** kernel was applied to them (autograd/node.h).
*/
#include <string.h>

#include "driver/elementwise.h"
#include "engine/pass.h"

static const char GENERATORS = 'G';   /* registry key: those that the function traced draws from */

int engine_is_tracked (const State *state, int n, const Tensor *const in[]) {
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
  Tensor *t = host_new_block(L, state, header + node_bytes(n) + room, rank, size, shape,
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

/* Input k of the tensor on top, whose user values are open, is `in`, at `index` on the stack. */
static void set_input (lua_State *L, Tensor *t, int k, const Tensor *in, int index) {
  Input *input = &t->node->in[k];
  if (tensor_is_number(in)) {
    *input = (Input) {.number = in->data[0], .is_number = true, .is_one = true};
    return;
  }
  *input = (Input) {.tensor = (Tensor *)in, .version = *in->version,
                    .is_one = tensor_is_one(in), .tracked = is_tracked(in)};
  compat_keep_value(L, index, k + 1);
}

/* (An elementwise loop has counted them.) */
static size_t count_elements (lua_State *L, const Recording *r, int rank,
                              const ptrdiff_t shape[]) {
  size_t size;
  if (r->loop != NULL && r->kind == NODE_ELEMENTWISE) return r->loop->size;
  if (!tensor_count(rank, shape, &size)) host_fail(L, r->who, "too many elements");
  return size;
}

/* Elements of a loop that is done by one call of the kernel, on operands as they lie, or 0: then no
   plan is needed to go back, or forward again. This is decided here, and nowhere else. Sums along a loop of their
   own may be taken by kernels' block_sums, which have other last digits than sums of values. */
static uint16_t block_of_loop (NodeKind kind, const Kernel *kernel, const Loop *loop) {
  bool is_block = elementwise_is_small(kernel, loop)
               && (kind == NODE_ELEMENTWISE || !kernel_has_block_sums(kernel));
  return is_block ? (uint16_t)loop->size : 0;
}

static uint16_t block_of (const Recording *r, int rank) {
  if (r->source != NULL) return r->source->block;
  if (r->loop != NULL) return block_of_loop(r->kind, r->kernel, r->loop);
  return r->kind == NODE_ELEMENTWISE && rank == 0;   /* of single numbers */
}

void engine_note_loop (const Tensor *t, const Loop *loop) {
  t->node->block = block_of_loop(t->node->kind, t->node->kernel, loop);
}

/* Fills the node of the tensor on top, all but the inputs before `first`, and gives it room for so
   many user values. */
static void fill_node (lua_State *L, const Recording *r, Tensor *t, int first, int user_values) {
  t->node->kernel = r->kernel;
  t->node->dimensions = (uint16_t)r->dimensions;
  t->node->block = block_of(r, t->rank);
  compat_open_values(L, user_values);
  for (int k = first; k < r->n; k++) set_input(L, t, k, r->in[k], r->base + k);
  compat_close_values(L);
}

Tensor *engine_new_recorded (lua_State *L, const Recording *r, int rank,
                             const ptrdiff_t shape[], const ptrdiff_t stride[]) {
  if (!r->always && !engine_is_tracked(r->state, r->n, r->in))
    return host_new_of(L, r->state, r->who, rank, shape, stride);
  size_t size = count_elements(L, r, rank, shape);
  Tensor *t = new_with_node(L, r->state, rank, shape, stride, size, r->kind, r->n,
                            compat_early(r->n + (r->kind >= NODE_SCAN)), tensor_room(size));
  fill_node(L, r, t, 0, r->n + (r->kind >= NODE_SCAN));
  place_elements(t);
  return t;
}

Tensor *engine_new_parameter (lua_State *L, State *state, const Tensor *like) {
  Tensor *t = new_with_node(L, state, like->rank, like->shape, NULL, like->size, NODE_LEAF, 0,
                            1, tensor_room(like->size));
  place_elements(t);
  state->parameters = 1;
  return t;
}

Tensor *record_new_waiting (lua_State *L, const Recording *r, int rank,
                            const ptrdiff_t shape[], const ptrdiff_t stride[]) {
  size_t size = count_elements(L, r, rank, shape);
  Tensor *t = new_with_node(L, r->state, rank, shape, stride, size, r->kind, r->n,
                            compat_early(r->n + 1), size == 1 ? sizeof(double) : 0);
  fill_node(L, r, t, 0, r->n + 1);
  for (int k = 0; k < r->n; k++) tensor_holder(r->in[k])->awaited = true;
  return t;
}

Tensor *engine_new_drawn (lua_State *L, const Recording *r, int rank, const ptrdiff_t shape[],
                          bool is_noise, Tensor **first) {
  size_t size = count_elements(L, r, rank, shape), room = tensor_room(size);
  size_t header = tensor_header_bytes(rank);
  if (room > PTRDIFF_MAX / 4) host_fail(L, r->who, "too many elements");
  Tensor *t = new_with_node(L, r->state, rank, shape, NULL, size, r->kind, r->n,
                            compat_early(r->n), room + header + (is_noise ? room : 0));
  fill_node(L, r, t, 1, r->n);
  place_elements(t);
  char *behind = (char *)t->data + size * sizeof(double);
  *first = tensor_init(behind, rank, size, is_noise ? NULL : t->data);
  memcpy((*first)->shape, t->shape, 2 * (size_t)rank * sizeof *shape);   /* and strides */
  t->node->in[0] = (Input) {.tensor = *first, .is_one = size == 1};
  return t;
}


/*
** For traces
*/
int engine_fail_traced (lua_State *L, const State *state, const char *who, const char *why) {
  if (state->tracing == 1) return host_fail(L, who, "not within trace: %s", why);
  return host_fail(L, who, "not within scan: f is called once, and this would stay as it is now"
                   " in every step; peri.where chooses between values, and what differs from step"
                   " to step is to come from xs");
}

void engine_check_untraced (lua_State *L, const State *state, const char *who, int n,
                            const Tensor *const in[]) {
  if (!state->tracing) return;
  for (int k = 0; k < n; k++)
    if (is_tracked(in[k]))
      engine_fail_traced(L, state, who, "this depends on parameters or draws, but would stay as"
                         " it is now in every replay");
}

void record_set_generators (lua_State *L, int index) {
  if (index == 0) lua_pushnil(L);
  else lua_pushvalue(L, index);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &GENERATORS);
}

void engine_trace_draw (lua_State *L, const Tensor *t, Philox *g, int index) {
  t->node->generator = g;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &GENERATORS);
  lua_pushvalue(L, index);
  if (lua_isnil(L, -1)) lua_pop(L, 1);      /* the state's own */
  else lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 1);
}
