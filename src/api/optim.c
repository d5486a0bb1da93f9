/*
** optim.c - one step of an optimiser, written where the parameter is
**
** core.bind_update(name) makes a function out of a kernel of kernel/optim.c:
**   update(parameter, memory, {constants})
** moves a parameter that has a gradient, and the rows of memory.
*/
#include "api/api.h"

enum { X = 1, MEMORY, CONSTANTS };   /* arguments */

/* The parameter at index X; *grad is its grad, or NULL. */
static Tensor *parameter (lua_State *L, const char *who, Tensor **grad) {
  Tensor *x = api_check_tensor(L, X, who);
  if (x->node == NULL || x->node->kind != NODE_LEAF)
    api_fail(L, who, "only a parameter has a gradient");
  *grad = x->node->has_grad ? x->node->grad : NULL;
  return x;
}

static int fits (const Kernel *kernel, const Tensor *x, const Tensor *grad,
                 const Tensor *memory) {
  return grad != NULL && grad->size == x->size && tensor_is_contiguous(grad)
      && memory->rank == 2 && tensor_is_contiguous(memory)
      && memory->shape[0] == kernel->n_in - 1 && (size_t)memory->shape[1] == x->size;
}

/* Constants that are not given are 0. */
static int read_constants (lua_State *L, double constant[KERNEL_MAX_CONSTANTS]) {
  luaL_checktype(L, CONSTANTS, LUA_TTABLE);
  lua_Unsigned given = lua_rawlen(L, CONSTANTS);
  for (int i = 0; i < KERNEL_MAX_CONSTANTS; i++) {
    lua_rawgeti(L, CONSTANTS, i + 1);
    constant[i] = lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
  return given <= KERNEL_MAX_CONSTANTS;
}

static int update (lua_State *L) {
  const char *who = "update";
  const Kernel *kernel = lua_touserdata(L, lua_upvalueindex(1));
  double constant[KERNEL_MAX_CONSTANTS], *row[KERNEL_MAX_IN];
  lua_settop(L, CONSTANTS);
  Tensor *grad, *x = parameter(L, who, &grad), *memory = api_check_tensor(L, MEMORY, who);
  if (x->size == 0) return 0;
  if (!read_constants(L, constant) || !fits(kernel, x, grad, memory))
    api_fail(L, who, "parameter, gradient, memory and constants do not fit together");
  api_before_write(L, x);
  api_before_write(L, memory);
  row[0] = x->data;
  for (int r = 1; r < kernel->n_in; r++) row[r] = memory->data + (size_t)(r - 1) * x->size;
  kernel->move(x->size, grad->data, constant, row);
  (*x->version)++;
  (*memory->version)++;
  return 0;
}

static int bind_update (lua_State *L) {
  const Kernel *kernel = api_kernel(L, "optim", luaL_checkstring(L, 1));
  if (kernel == NULL) api_fail(L, "bind_update", "there is no kernel %s", lua_tostring(L, 1));
  lua_pushlightuserdata(L, (void *)(uintptr_t)kernel);
  lua_pushcclosure(L, update, 1);
  return 1;
}

/* Is the sum of n elements finite? If not, it may also be too large. */
static int has_finite_sum (size_t n, const double *x) {
  double lane[8] = {0};
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (size_t j = 0; j < 8; j++) lane[j] += x[i + j];
  for (; i < n; i++) lane[0] += x[i];
  for (size_t j = 1; j < 8; j++) lane[0] += lane[j];
  return lane[0] - lane[0] == 0;
}

/* core.finite_grad(parameter): nil if it has no gradient, true if all elements of that
   are finite; false where one may not be */
static int finite_grad (lua_State *L) {
  Tensor *grad;
  parameter(L, "finite_grad", &grad);
  if (grad == NULL) lua_pushnil(L);
  else lua_pushboolean(L, tensor_is_contiguous(grad) && has_finite_sum(grad->size, grad->data));
  return 1;
}

void api_open_optim (lua_State *L) {
  lua_pushcfunction(L, bind_update);
  lua_setfield(L, -2, "bind_update");
  lua_pushcfunction(L, finite_grad);
  lua_setfield(L, -2, "finite_grad");
}
