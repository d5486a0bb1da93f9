/*
** reduce.c - reductions as methods of tensors: t:sum(), t:sum(dim, keep)
*/
#include <string.h>

#include "api/binding.h"
#include "driver/reduce.h"
#include "driver/sizes.h"


typedef struct BoundReduction {
  const Kernel *kernel;
  State *state;
  const char *who;       /* for messages; upvalue 2 keeps it alive */
  bool chooses;          /* an element, so there must be one */
  NodeKind kind;         /* of the result for all elements of an elementwise kernel */
} BoundReduction;

/* Which dimensions does argument `index` name? One, a table of them, or for
   nil all: as a set of bits. */
static unsigned reduced_set (lua_State *L, const char *who, int index, int rank) {
  int dims[TENSOR_MAX_RANK];
  unsigned set = (1u << rank) - 1;
  if (!lua_isnil(L, index)) api_dimensions(L, index, index, who, rank, dims, &set);
  return set;
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

/* Is t worth looking behind: computed by an elementwise kernel, and waiting or small? A
   draw keeps its noise to itself. */
static int is_transparent (const Tensor *t) {
  const Node *node = t == NULL ? NULL : t->node;
  return node != NULL && node->kind == NODE_ELEMENTWISE && !node->freed
      && node->kernel->sampler == NULL && !node->kernel->slow
      && (t->data == NULL || t->size <= SUM_SEES_THROUGH_MAX) && !is_outdated(node);
}

/* Pushes the sum or mean of all elements of a recorded tensor at index 1, as one of what
   those were computed from; returns 0 if it is none of that, or if a finalizer has just
   changed what they were computed from. */
static int sum_behind (lua_State *L, const BoundReduction *reduction) {
  const Tensor *t = host_header(L, 1), *in[KERNEL_MAX_IN];
  Tensor header[KERNEL_MAX_IN];
  if (!is_transparent(t)) return 0;
  const Node *node = t->node;                /* its inputs fit the stack as it is */
  Recording r = {.state = reduction->state, .who = reduction->who, .kind = reduction->kind,
                 .kernel = node->kernel, .n = node->n, .base = lua_gettop(L) + 1, .in = in,
                 .source = node};
  node_inputs(node, header, in);
  for (int k = 0; k < node->n; k++)
    if (node->in[k].is_number) lua_pushnil(L);
    else lua_getiuservalue(L, 1, k + 1);
  if (t->data == NULL) return engine_defer_sum(L, &r, t->size) && !is_outdated(node);
  Tensor *out = engine_new_recorded(L, &r, 0, NULL, NULL);
  reduce(NULL, reduction->kernel, t, t->rank, t->size, out->data);
  return !is_outdated(node) && api_return(L, out, NULL);
}

static int reduce_call (lua_State *L) {
  const BoundReduction *reduction = lua_touserdata(L, lua_upvalueindex(1));
  const Kernel *kernel = reduction->kernel;
  const char *who = reduction->who;
  ptrdiff_t shape[TENSOR_MAX_RANK];
  Tensor header;
  double number;
  StackTensor lines;
  int inner;
  host_arguments(L, who, 3);
  lua_settop(L, 3);
  if (reduction->kind != NODE_REDUCTION && lua_isnil(L, 2) && !lua_toboolean(L, 3)
      && sum_behind(L, reduction)) return 1;
  lua_settop(L, 3);
  const Tensor *t = engine_operand(L, 1, who, "self", &header, &number);
  unsigned set = reduced_set(L, who, 2, t->rank);
  size_t count = reduce_line_up(&lines, t, set, &inner);
  double empty = count == 0 ? kernel->reduction->finish(0, &(double){0}) : 0;
  if (empty != empty && reduction->chooses)
    host_fail(L, who, "there are no elements to choose from");
  int rank = result_shape(t, set, lua_toboolean(L, 3), shape);
  int recorded = !kernel->flat || reduction->state->tracing;
  Recording r = {.state = reduction->state, .who = who, .kind = NODE_REDUCTION,
                 .kernel = kernel, .n = recorded ? 1 : 0, .base = 1, .in = &t,
                 .dimensions = set};
  if (kernel->reduction->slope == NULL && !kernel->flat && engine_is_tracked(r.state, r.n, &t))
    host_fail(L, who, "has no derivative; detach() what should have no gradient here");
  Tensor *out = engine_new_recorded(L, &r, rank, shape, NULL);
  Pool *pool = host_pool(L, t->size);
  reduce(pool, kernel, &lines.tensor, inner, count, out->data);
  host_check_stopped(L, pool);
  return api_return(L, out, kernel);
}

/* core.reduction(name, who): a reduction that gives an element, or the place of one, refuses to
   choose it among none. */
static int reduction (lua_State *L) {
  const char *name = luaL_checkstring(L, 1), *who = luaL_checkstring(L, 2);
  const Kernel *kernel = host_kernel(L, "reduce", name);
  lua_settop(L, 2);
  if (kernel == NULL) host_fail(L, "reduction", "there is no kernel %s", name);
  BoundReduction *bound = lua_newuserdatauv(L, sizeof *bound, 0);
  *bound = (BoundReduction) {
    .kernel = kernel, .state = host_state(L), .who = who,
    .chooses = kernel->reduction->unnormalised || kernel->integer,
    .kind = strcmp(name, "sum") == 0 ? NODE_SUM
          : strcmp(name, "mean") == 0 ? NODE_MEAN : NODE_REDUCTION
  };
  lua_pushvalue(L, 2);
  lua_pushcclosure(L, reduce_call, 2);
  return 1;
}

static const luaL_Reg functions[] = {
  {"reduction", reduction},
  {NULL, NULL}
};

void api_open_reduce (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
