/*
** rows.c - row kernels as Lua functions, over tensors with event dimensions
*/
#include "api/api.h"
#include "driver/loop.h"
#include "driver/rows.h"

static const char *who (lua_State *L) {
  return lua_tostring(L, lua_upvalueindex(3));
}

/* Are the last `event_rank` dimensions contiguous? */
static int event_contiguous (const Tensor *t, int event_rank) {
  ptrdiff_t step = 1;
  for (int d = t->rank - 1; d >= t->rank - event_rank && d >= 0; d--) {
    if (t->shape[d] != 1 && t->stride[d] != step) return 0;
    step *= t->shape[d];
  }
  return 1;
}

/* The operand at `index` with a contiguous event; a copy replaces it on the
   stack where it was not. */
static const Tensor *row_operand (lua_State *L, int index, int event_rank,
                                  Tensor *header, double *number) {
  lua_pushfstring(L, "argument %d", index);
  lua_insert(L, 1);                       /* anchors the name */
  const Tensor *t = api_operand(L, index + 1, who(L), lua_tostring(L, 1), header,
                                number);
  lua_remove(L, 1);
  if (event_contiguous(t, event_rank)) return t;
  Tensor *copy = api_new(L, who(L), t->rank, t->shape, NULL);
  loop_copy(copy, t);
  lua_replace(L, index);
  return copy;
}

static int rows_call (lua_State *L) {
  const Kernel *kernel = lua_touserdata(L, lua_upvalueindex(1));
  const Signature *signature = lua_touserdata(L, lua_upvalueindex(2));
  Tensor header[KERNEL_MAX_IN];
  double number[KERNEL_MAX_IN];
  const Tensor *in[KERNEL_MAX_IN];
  Rows rows;
  int which;
  lua_settop(L, kernel->n_in);
  for (int k = 0; k < kernel->n_in; k++)
    in[k] = row_operand(L, 1 + k, signature->event_rank[k], &header[k], &number[k]);
  const char *why = rows_plan(&rows, signature, kernel->n_in, in, &which);
  if (why != NULL) api_fail_shapes(L, who(L), which < 0 ? why : "do not fit",
                                   kernel->n_in, in);
  Tensor *out = api_new(L, who(L), rows.out_rank, rows.out_shape, NULL);
  if (out->size > 0)
    rows_run(api_pool(L, out->size), kernel, &rows, out->data);
  return 1;
}

/* core.bind_rows(file, name, who) */
static int bind_rows (lua_State *L) {
  const char *file = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
  const Kernel *kernel = api_kernel(L, file, name);
  luaL_checkstring(L, 3);
  lua_settop(L, 3);
  if (kernel == NULL || kernel->rows == NULL)
    api_fail(L, "bind_rows", "there is no row kernel %s.%s", file, name);
  lua_pushlightuserdata(L, (void *)(uintptr_t)kernel);
  rows_parse(kernel, lua_newuserdatauv(L, sizeof(Signature), 0));
  lua_pushvalue(L, 3);
  lua_pushcclosure(L, rows_call, 3);
  return 1;
}

static const luaL_Reg functions[] = {
  {"bind_rows", bind_rows},
  {NULL, NULL}
};

void api_open_rows (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
