/*
** rows.c - row kernels applied, over tensors with event dimensions
*/
#include "api/binding.h"
#include "driver/loop.h"


/* Are the last `event_rank` dimensions contiguous? */
static int event_contiguous (const Tensor *t, int event_rank) {
  ptrdiff_t step = 1;
  for (int d = t->rank - 1; d >= t->rank - event_rank && d >= 0; d--) {
    if (t->shape[d] != 1 && t->stride[d] != step) return 0;
    step *= t->shape[d];
  }
  return 1;
}

/* Operands first, first+1, ... of a signature are on top of the stack: those
   whose events are not contiguous are copied, and replaced there. */
void api_row_operands (lua_State *L, const Signature *signature, int first, int n,
                       Operands *o) {
  int base = lua_gettop(L) - n + 1;
  for (int k = 0; k < n; k++) {
    const Tensor *t = o->in[k];
    if (event_contiguous(t, signature->event_rank[first + k])) continue;
    Tensor *copy = api_new(L, binding_who(L), t->rank, t->shape, NULL);
    loop_copy(copy, t);
    lua_replace(L, base + k);
    o->in[k] = copy;
  }
}

int bound_rows (lua_State *L) {
  const Binding *b = binding_of(L);
  Operands o;
  Rows rows;
  int which;
  lua_settop(L, b->arguments);
  binding_push(L, b, o.number);
  binding_read(L, b, &o);
  api_row_operands(L, &b->signature, 0, b->operands, &o);
  const char *why = rows_plan(&rows, &b->signature, b->operands, o.in, &which);
  if (why != NULL) api_fail_shapes(L, binding_who(L), which < 0 ? why : "do not fit",
                                   b->operands, o.in);
  Tensor *out = api_new(L, binding_who(L), rows.out_rank, rows.out_shape, NULL);
  if (out->size > 0)
    rows_run(api_pool(L, out->size), b->kernel, &rows, out->data);
  return 1;
}
