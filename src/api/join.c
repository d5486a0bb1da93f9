/*
** join.c - tensors joined along a dimension
*/
#include "api/api.h"
#include "autograd/steps.h"

/* Checks that all have the sizes of the first, but along `except`. */
static void check_fit (lua_State *L, const char *who, int n, const Tensor *const in[],
                       int except) {
  for (int k = 1; k < n; k++) {
    int fits = in[k]->rank == in[0]->rank;
    for (int d = 0; fits && d < in[0]->rank; d++)
      fits = d == except || in[k]->shape[d] == in[0]->shape[d];
    if (!fits) host_fail_shapes(L, who, "do not fit", n, in);
  }
}

/* The tensors at 2 and above, at most KERNEL_MAX_IN of them. */
static int read_parts (lua_State *L, const char *who, const Tensor *in[]) {
  int n = lua_gettop(L) - 1;
  if (n < 1 || n > KERNEL_MAX_IN) host_fail(L, who, "at most %d tensors", KERNEL_MAX_IN);
  for (int k = 0; k < n; k++) in[k] = engine_check_tensor(L, 2 + k, who);
  return n;
}

/* Pushes those at 2 and above one after the other. */
static int push_joined (lua_State *L, const char *who, int n, const Tensor *const in[], int dim) {
  ptrdiff_t shape[TENSOR_MAX_RANK];
  for (int d = 0; d < in[0]->rank; d++) shape[d] = in[0]->shape[d];
  for (int k = 1; k < n; k++) shape[dim] += in[k]->shape[dim];
  Recording r = {.state = host_state(L), .who = who, .kind = NODE_JOIN, .n = n, .base = 2,
                 .in = in, .dimensions = (unsigned)dim};
  luaL_checkstack(L, 4, who);
  Tensor *whole = engine_new_recorded(L, &r, in[0]->rank, shape, NULL);
  Pool *pool = host_pool(L, whole->size);
  step_join_value(pool, whole, n, in, dim);
  host_check_stopped(L, pool);
  return 1;
}

/* core.join(dim, t, ...): along a dimension that they have */
static int join (lua_State *L) {
  const Tensor *in[KERNEL_MAX_IN];
  int n = read_parts(L, "cat", in);
  int dim = (int)api_dimension(L, 1, "cat", in[0]->rank);
  check_fit(L, "cat", n, in, dim);
  return push_joined(L, "cat", n, in, dim);
}

/* core.stack(dim, t, ...): along a new one */
static int stack (lua_State *L) {
  const Tensor *in[KERNEL_MAX_IN];
  int n = read_parts(L, "stack", in);
  int dim = (int)api_dimension(L, 1, "stack", in[0]->rank + 1);
  check_fit(L, "stack", n, in, -1);
  luaL_checkstack(L, 4, "stack");
  for (int k = 0; k < n; k++) {
    in[k] = api_unsqueeze(L, 2 + k, "stack", in[k], dim);
    lua_replace(L, 2 + k);
  }
  return push_joined(L, "stack", n, in, dim);
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
  {"stack",  stack},
  {"slices", slices},
  {NULL, NULL}
};

void api_open_join (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
