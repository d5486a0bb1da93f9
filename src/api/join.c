/*
** join.c - tensors joined along a dimension
*/
#include "api/api.h"
#include "autograd/steps.h"

/* The shape of all together. */
static int joined_shape (lua_State *L, int n, const Tensor *const in[], int dim,
                         ptrdiff_t shape[]) {
  int rank = in[0]->rank;
  for (int d = 0; d < rank; d++) shape[d] = in[0]->shape[d];
  for (int k = 1; k < n; k++) {
    int fits = in[k]->rank == rank;
    for (int d = 0; fits && d < rank; d++)
      fits = d == dim || in[k]->shape[d] == shape[d];
    if (!fits) host_fail_shapes(L, "cat", "do not fit", n, in);
    shape[dim] += in[k]->shape[dim];
  }
  return rank;
}

/* core.join(dim, t, ...): at most KERNEL_MAX_IN of them, one after the other */
static int join (lua_State *L) {
  const Tensor *in[KERNEL_MAX_IN];
  ptrdiff_t shape[TENSOR_MAX_RANK];
  int n = lua_gettop(L) - 1;
  if (n < 1 || n > KERNEL_MAX_IN) host_fail(L, "cat", "at most %d tensors", KERNEL_MAX_IN);
  for (int k = 0; k < n; k++) in[k] = engine_check_tensor(L, 2 + k, "cat");
  int dim = (int)api_dimension(L, 1, "cat", in[0]->rank);
  int rank = joined_shape(L, n, in, dim, shape);
  Recording r = {.state = host_state(L), .who = "cat", .kind = NODE_JOIN, .n = n, .base = 2,
                 .in = in, .dimensions = (unsigned)dim};
  luaL_checkstack(L, 4, "cat");
  Tensor *whole = engine_new_recorded(L, &r, rank, shape, NULL);
  Pool *pool = host_pool(L, whole->size);
  step_join_value(pool, whole, n, in, dim);
  host_check_stopped(L, pool);
  return 1;
}

/* Is t what joining slices of one element along a dimension gave, and are they as they were? */
static int is_stack (const Tensor *t, int dim) {
  const Node *node = t->node;
  if (node == NULL || node->kind != NODE_JOIN || node->dimensions != dim || node->freed) return 0;
  for (int k = 0; k < node->n; k++) {
    const Tensor *part = node->in[k].tensor;
    if (part->shape[dim] != 1 || *part->version != node->in[k].version) return 0;
  }
  return 1;
}

/* core.slices(t, dim): the views t:select(dim, i), few of them; or those of what was stacked to
   make t, so that nobody need read or differentiate the stack */
static int slices (lua_State *L) {
  const Tensor *t = engine_check_tensor(L, 1, "slices");
  int dim = (int)api_dimension(L, 2, "slices", t->rank), stacked = is_stack(t, dim);
  if (t->shape[dim] > KERNEL_MAX_IN) host_fail(L, "slices", "at most %d", KERNEL_MAX_IN);
  int n = (int)t->shape[dim];
  luaL_checkstack(L, n + 4, "slices");
  for (int i = 0; i < n; i++) {
    if (stacked) lua_getiuservalue(L, 1, i + 1);
    int base = stacked ? lua_gettop(L) : 1;
    const Tensor *from = stacked ? engine_check_tensor(L, base, "slices") : t;
    api_select(L, base, from, dim, stacked ? 0 : i);
    if (stacked) lua_remove(L, base);
  }
  return n;
}

static const luaL_Reg functions[] = {
  {"join",   join},
  {"slices", slices},
  {NULL, NULL}
};

void api_open_join (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
