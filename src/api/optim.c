/*
** optim.c - one step of an optimiser, written where the parameter is
**
** core.bind_update(name) makes a function out of a kernel of kernel/optim.c:
**   update(x, gradient, last, next, constants)
** runs the kernel into `next`, which takes turns with `last` from step to step, and copies its
** first row, the new parameter, to x.
*/
#include <string.h>

#include "api/api.h"

enum { X, GRADIENT, LAST, NEXT, CONSTANTS, ARGUMENTS };

static int fits (Tensor *const t[]) {
  size_t n = t[X]->size;
  for (int k = 0; k < ARGUMENTS; k++)
    if (!tensor_is_contiguous(t[k])) return 0;
  return t[GRADIENT]->size == n && t[LAST]->rank == 2 && (size_t)t[LAST]->shape[1] == n
      && tensor_same_shape(t[LAST], t[NEXT]) && t[LAST]->data != t[NEXT]->data;
}

static int update (lua_State *L) {
  const char *who = "update";
  const Kernel *kernel = lua_touserdata(L, lua_upvalueindex(1));
  Tensor *t[ARGUMENTS];
  for (int k = 0; k < ARGUMENTS; k++) t[k] = api_check_tensor(L, k + 1, who);
  api_before_write(L, t[X]);
  api_before_write(L, t[NEXT]);
  if (t[X]->size == 0) return 0;
  if (!fits(t)) api_fail(L, who, "x, gradient, last and next do not fit together");
  size_t n = t[X]->size, dims[3] = {n, (size_t)t[LAST]->shape[0], t[CONSTANTS]->size};
  const double *in[4] = {t[X]->data, t[GRADIENT]->data, t[LAST]->data, t[CONSTANTS]->data};
  const ptrdiff_t step[4] = {0, 0, 0, 0};
  Batch batch = {.n = 1, .dims = dims, .in = in, .step = step};
  kernel->rows(&batch, t[NEXT]->data);
  memcpy(t[X]->data, t[NEXT]->data, n * sizeof(double));
  (*t[X]->version)++;
  (*t[NEXT]->version)++;
  return 0;
}

static int bind_update (lua_State *L) {
  const Kernel *kernel = api_kernel(L, "optim", luaL_checkstring(L, 1));
  if (kernel == NULL) api_fail(L, "bind_update", "there is no kernel %s", lua_tostring(L, 1));
  lua_pushlightuserdata(L, (void *)(uintptr_t)kernel);
  lua_pushcclosure(L, update, 1);
  return 1;
}

void api_open_optim (lua_State *L) {
  lua_pushcfunction(L, bind_update);
  lua_setfield(L, -2, "bind_update");
}
