/*
** border.c - elements of tensors for C that is not of the core
**
** A host that links perilune.o calls these by their names (embed/border.c). A module that is loaded
** beside ours from a file of its own cannot, since ours shows no names: it finds the table of them
** in the registry.
*/
#include <string.h>

#include "api/api.h"


void api_check_shape (lua_State *L, const char *who, int rank, const size_t shape[],
                      ptrdiff_t extents[]) {
  if (rank < 0 || rank > TENSOR_MAX_RANK)
    host_fail(L, who, "rank must be from 0 to %d, got %d", TENSOR_MAX_RANK, rank);
  for (int d = 0; d < rank; d++) {
    extents[d] = (ptrdiff_t)shape[d];
    if (extents[d] < 0) host_fail(L, who, "dimension %d has too many elements", d + 1);
  }
}

static Tensor *check_contiguous (lua_State *L, int index, const char *who, size_t *n) {
  Tensor *t = engine_tensor(L, index);
  if (t == NULL) host_fail_type(L, who, "the value", "a tensor", index);
  if (!tensor_is_contiguous(t))
    host_fail(L, who, "elements must lie one after the other; t:contiguous() is a copy that does");
  if (n != NULL) *n = t->size;
  return t;
}

static int shape_of (lua_State *L, int index, size_t shape[PERILUNE_MAX_RANK]) {
  const Tensor *t = host_header(L, index);
  for (int d = 0; t != NULL && shape != NULL && d < t->rank; d++) shape[d] = (size_t)t->shape[d];
  return t == NULL ? -1 : t->rank;
}

static const double *data_of (lua_State *L, int index, size_t *n) {
  const Tensor *t = check_contiguous(L, index, "perilune_data", n);
  engine_check_untraced(L, host_state(L), "perilune_data", 1, &t);
  return t->data;
}

static double *write_to (lua_State *L, int index, size_t *n) {
  Tensor *t = check_contiguous(L, index, "perilune_write", n);
  api_check_writable(L, "perilune_write", t);
  api_begin_write(L, t);
  return t->data;
}

static double *new_tensor (lua_State *L, int rank, const size_t shape[]) {
  ptrdiff_t extents[TENSOR_MAX_RANK];
  api_check_shape(L, "perilune_newtensor", rank, shape, extents);
  Tensor *t = host_new(L, "perilune_newtensor", rank, extents, NULL);
  memset(t->data, 0, t->size * sizeof(double));
  return t->data;
}

const perilune_Border api_border = {sizeof api_border, shape_of, data_of, write_to, new_tensor};

void api_open_border (lua_State *L) {
  lua_pushlightuserdata(L, (void *)&api_border);
  lua_setfield(L, LUA_REGISTRYINDEX, PERILUNE_BORDER);
}
