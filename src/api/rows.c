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
    o->in[k] = api_new_copy(L, binding_who(L), base + k);
    lua_replace(L, base + k);
  }
}

/* Has each operand at least the dimensions of an event? */
static void check_ranks (lua_State *L, const Binding *b, const Operands *o) {
  int base = lua_gettop(L) - b->operands + 1;
  for (int k = 0; k < b->operands; k++) {
    int least = b->signature->event_rank[k];
    if (o->in[k]->rank >= least) continue;
    host_fail_type(L, b->who, binding_name(L, k),
                   least == 1 ? "a vector, or a batch of them" : "a matrix, or a batch of them",
                   base + k);
  }
}

static int is_empty_event (const Tensor *t, int event_rank) {
  for (int d = t->rank - event_rank; d < t->rank; d++)
    if (t->shape[d] == 0) return 1;
  return 0;
}

/* The operands fit the signature: their ranks are those of their events or more. */
void api_check_events (lua_State *L, const Binding *b, int first, const Operands *o) {
  for (int k = 0; !b->takes_empty && k < b->operands; k++) {
    if (!is_empty_event(o->in[k], b->signature->event_rank[first + k])) continue;
    host_push_shape(L, o->in[k]->rank, o->in[k]->shape);
    host_fail(L, b->who, "%s must not be empty, got a tensor of shape %s", binding_name(L, k), lua_tostring(L, -1));
  }
}

/* Reads the operands and plans the run over them. */
static void plan (lua_State *L, const Binding *b, Operands *o, RowsPlan *rows) {
  int which;
  binding_read(L, b, o);
  check_ranks(L, b, o);
  api_row_operands(L, b->signature, 0, b->operands, o);
  const char *why = rows_plan(rows, b->signature, b->operands, o->in, &which);
  if (why != NULL) host_fail_shapes(L, binding_who(L), which < 0 ? why : "do not fit",
                                    b->operands, o->in);
  api_check_events(L, b, 0, o);
}

int bound_rows (lua_State *L) {
  const Binding *b = binding_of(L);
  Operands o;
  RowsPlan rows;
  binding_arguments(L, b);
  plan(L, b, &o, &rows);
  Recording r;
  binding_recording(L, &r, b, NODE_ROWS, &o);
  Tensor *out = engine_new_recorded(L, &r, rows.out_rank, rows.out_shape, NULL);
  int result = lua_gettop(L);
  if (out->size == 0) return 1;
  double *scratch;
  Pool *pool = host_pool_scratch(L, binding_who(L), rows_work(b->kernel, b->signature, &rows),
                                 rows_scratch(&rows, b->kernel->rows->scratch), &scratch);
  rows_run(pool, b->kernel, b->signature, &rows, scratch, out->data);
  host_check_stopped(L, pool);
  lua_settop(L, result);
  return api_return(L, out, b->kernel);
}

/* Pushes a tensor for the derivative with respect to operand k: the batch of
   the result, and the operand's event. */
static double *push_slope (lua_State *L, const Binding *b, const RowsPlan *rows, int k) {
  const Signature *s = b->signature;
  ptrdiff_t shape[2 * TENSOR_MAX_RANK];
  int rank = rows->out_rank - s->event_rank[b->operands];
  for (int d = 0; d < rank; d++) shape[d] = rows->out_shape[d];
  for (int d = 0; d < s->event_rank[k]; d++)
    shape[rank++] = (ptrdiff_t)rows->dims[s->event[k][d]];
  if (rank > TENSOR_MAX_RANK) host_fail(L, binding_who(L), "too many dimensions");
  return host_new(L, binding_who(L), rank, shape, NULL)->data;
}

/* One result an operand; the argument after the others is what comes from
   above, of the shape of the value. */
int bound_adjoint (lua_State *L) {
  const Binding *b = binding_of(L);
  int above = b->arguments + 1;
  double *d[KERNEL_MAX_IN], *scratch, number;
  Tensor header;
  Operands o;
  RowsPlan rows;
  lua_settop(L, above);
  plan(L, b, &o, &rows);
  const Tensor *upstream = engine_operand(L, above, binding_who(L), "upstream", &header,
                                          &number);
  Tensor *whole = host_new(L, binding_who(L), rows.out_rank, rows.out_shape, NULL);
  Loop loop;
  const char *why = loop_plan_shaped(&loop, rows.out_rank, rows.out_shape, 1, &upstream);
  if (why != NULL) host_fail_shapes(L, binding_who(L), why, 1, &upstream);
  luaL_checkstack(L, b->operands + 4, binding_who(L));
  host_copy(L, whole, upstream);
  for (int k = 0; k < b->operands; k++) d[k] = push_slope(L, b, &rows, k);
  Pool *pool = host_pool_scratch(L, binding_who(L), rows_work(b->kernel, b->signature, &rows),
                                 rows_scratch(&rows, b->kernel->rows->adjoint_scratch), &scratch);
  if (rows.batch.size > 0)
    rows_adjoint(pool, b->kernel, b->signature, &rows, ~0u, scratch, NULL, whole->data, d);
  host_check_stopped(L, pool);
  lua_pop(L, 1);
  return b->operands;
}
