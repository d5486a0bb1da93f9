/*
** reduce.c - reductions as methods of tensors: t:sum(), t:sum(dim, keep)
*/
#include <string.h>

#include "api/binding.h"
#include "driver/reduce.h"

static const char *who (lua_State *L) {
  return lua_tostring(L, lua_upvalueindex(2));
}

/* Which dimensions does argument `index` name? One, a table of them, or for
   nil all: as a set of bits. */
static unsigned reduced_set (lua_State *L, int index, int rank) {
  unsigned set = 0;
  if (lua_isnil(L, index)) return (1u << rank) - 1;
  if (!lua_istable(L, index))
    return 1u << api_dimension(L, index, who(L), rank);
  for (int i = 1; lua_rawgeti(L, index, i) != LUA_TNIL; i++) {
    set |= 1u << api_dimension(L, -1, who(L), rank);
    lua_pop(L, 1);
  }
  return set;
}

static void append_dimension (Tensor *to, int *at, const Tensor *t, int d) {
  to->shape[*at] = t->shape[d];
  to->stride[(*at)++] = t->stride[d];
}

/* The same elements with the dimensions of the set last. Returns how many
   elements each line has. */
static size_t line_up (StackTensor *lines, const Tensor *t, unsigned set,
                       int *inner) {
  Tensor *to = tensor_on_stack(lines, t, t->rank);
  size_t count = 1;
  int at = 0;
  for (int d = 0; d < t->rank; d++)
    if (!(set >> d & 1)) append_dimension(to, &at, t, d);
  *inner = t->rank - at;
  for (int d = 0; d < t->rank; d++) {
    if (!(set >> d & 1)) continue;
    append_dimension(to, &at, t, d);
    count *= (size_t)t->shape[d];
  }
  return count;
}

static int result_shape (const Tensor *t, unsigned set, int keep,
                         ptrdiff_t shape[]) {
  int rank = 0;
  for (int d = 0; d < t->rank; d++) {
    if (!(set >> d & 1)) shape[rank++] = t->shape[d];
    else if (keep) shape[rank++] = 1;
  }
  return rank;
}

/* Has anything changed that a recorded tensor was to be computed from? */
static int is_outdated (const Node *node) {
  for (int k = 0; k < node->n; k++)
    if (!node->in[k].is_number && *node->in[k].tensor->version != node->in[k].version)
      return 1;
  return 0;
}

/* The sum or mean of all elements of a recorded tensor at index 1 that waits, without
   computing them; or 0. */
static int sum_of_waiting (lua_State *L, NodeKind kind) {
  const Tensor *t = api_header(L, 1), *in[KERNEL_MAX_IN];
  Tensor header[KERNEL_MAX_IN];
  if (t == NULL || t->data != NULL || t->node == NULL || is_outdated(t->node)) return 0;
  const Node *node = t->node;
  luaL_checkstack(L, node->n + 8, who(L));
  Recording r = {.state = api_state(L), .who = who(L), .kind = kind,
                 .kernel = node->kernel, .n = node->n, .base = lua_gettop(L) + 1, .in = in};
  node_inputs(node, header, in);
  for (int k = 0; k < node->n; k++)
    if (node->in[k].is_number) lua_pushnumber(L, node->in[k].number);
    else lua_getiuservalue(L, 1, k + 1);
  return api_defer_sum(L, &r, t->size);
}

static int reduce_call (lua_State *L) {
  const Kernel *kernel = lua_touserdata(L, lua_upvalueindex(1));
  ptrdiff_t shape[TENSOR_MAX_RANK];
  Tensor header;
  double number;
  StackTensor lines;
  int inner;
  lua_settop(L, 3);
  NodeKind kind = (NodeKind)lua_tointeger(L, lua_upvalueindex(4));
  if (kind != NODE_REDUCTION && lua_isnil(L, 2) && !lua_toboolean(L, 3)
      && sum_of_waiting(L, kind)) return 1;
  const Tensor *t = api_operand(L, 1, who(L), "self", &header, &number);
  unsigned set = reduced_set(L, 2, t->rank);
  size_t count = line_up(&lines, t, set, &inner);
  double empty = count == 0 ? kernel->finish(0, &(double){0}) : 0;
  if (empty != empty && lua_toboolean(L, lua_upvalueindex(3)))
    api_fail(L, who(L), "there are no elements to choose from");
  int rank = result_shape(t, set, lua_toboolean(L, 3), shape);
  Recording r = {.state = api_state(L), .who = who(L), .kind = NODE_REDUCTION,
                 .kernel = kernel, .n = kernel->flat ? 0 : 1, .base = 1, .in = &t,
                 .dimensions = set};
  if (kernel->slope == NULL && api_is_tracked(r.state, r.n, &t))
    api_fail(L, who(L), "has no derivative; detach() what should have no gradient here");
  Tensor *out = api_new_recorded(L, &r, rank, shape, NULL);
  reduce(api_pool(L, t->size), kernel, &lines.tensor, inner, count, out->data);
  return 1;
}

/* core.reduction(name, who, chooses): a reduction that chooses an element
   refuses to do so among none. */
static int reduction (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  const Kernel *kernel = api_kernel(L, "reduce", name);
  luaL_checkstring(L, 2);
  lua_settop(L, 3);
  if (kernel == NULL) api_fail(L, "reduction", "there is no kernel %s", name);
  lua_pushinteger(L, strcmp(name, "sum") == 0 ? NODE_SUM
                   : strcmp(name, "mean") == 0 ? NODE_MEAN : NODE_REDUCTION);
  lua_pushlightuserdata(L, (void *)(uintptr_t)kernel);
  lua_replace(L, 1);
  lua_pushcclosure(L, reduce_call, 4);
  return 1;
}

static const luaL_Reg functions[] = {
  {"reduction", reduction},
  {NULL, NULL}
};

void api_open_reduce (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
