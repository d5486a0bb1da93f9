/*
** sample.c - samplers: distribution, sample shape and generator in, draws out
**
** The result has the sample shape before the batch shape. The generator moves
** on by the number of elements drawn, once nothing can fail any more.
*/
#include <string.h>

#include "api/binding.h"
#include "driver/elementwise.h"


/* Reads the sample shape at `index`: nothing, an integer or a table. */
static int sample_shape (lua_State *L, int index, ptrdiff_t shape[]) {
  if (lua_isnil(L, index)) return 0;
  if (lua_type(L, index) != LUA_TNUMBER && lua_type(L, index) != LUA_TTABLE)
    api_fail_type(L, binding_who(L), "shape", "an integer or a table of integers",
                  index);
  lua_pushvalue(L, index);
  int rank = api_shape(L, lua_gettop(L), binding_who(L), shape);
  lua_pop(L, 1);
  return rank;
}

/* Appends `more` dimensions to a shape of `rank`; returns the new rank. */
static int append_shape (lua_State *L, ptrdiff_t shape[], int rank, int more,
                         const ptrdiff_t dims[]) {
  if (rank + more > TENSOR_MAX_RANK)
    api_fail(L, binding_who(L), "a sample has at most %d dimensions",
             TENSOR_MAX_RANK);
  memcpy(shape + rank, dims, (size_t)more * sizeof *shape);
  return rank + more;
}

static void push_single (lua_State *L, const Kernel *kernel, double draw) {
  if (kernel->integer && draw > -0x1p53 && draw < 0x1p53)
    lua_pushinteger(L, (lua_Integer)draw);
  else lua_pushnumber(L, draw);
}

/* A single draw, from parameters that are numbers. */
static double draw_number (const Binding *b, const Philox *g,
                           const double number[]) {
  const double *in[1 + KERNEL_MAX_IN];
  double noise, out;
  in[0] = &noise;
  for (int k = 0; k < b->operands; k++) in[1 + k] = &number[k];
  if (b->noise == NULL) b->kernel->draw(g, g->position, 1, in + 1, &out);
  else {
    b->noise->draw(g, g->position, 1, NULL, &noise);
    b->kernel->value(1, in, &out);
  }
  return out;
}

int bound_sample (lua_State *L) {
  const Binding *b = binding_of(L);
  ptrdiff_t shape[TENSOR_MAX_RANK];
  Operands o;
  Loop loop;
  lua_settop(L, 3);
  int rank = sample_shape(L, 2, shape);
  Philox *g = api_generator(L, 3, binding_who(L));
  if (binding_push(L, b, o.number) && lua_isnil(L, 2)) {
    push_single(L, b->kernel, draw_number(b, g, o.number));
    g->position++;
    return 1;
  }
  binding_read(L, b, &o);
  const char *why = loop_plan(&loop, b->operands, o.in);
  if (why != NULL) api_fail_shapes(L, binding_who(L), why, b->operands, o.in);
  rank = append_shape(L, shape, rank, loop.out_rank, loop.out_shape);
  Tensor *out = api_new(L, binding_who(L), rank, shape, NULL);
  loop_plan_shaped(&loop, rank, shape, b->operands, o.in);
  elementwise_sample(api_pool(L, loop.size), b->kernel, b->noise, g, g->position,
                     &loop, out->data);
  g->position += loop.size;
  return 1;
}


/*
** Rows. Operand 0 of the kernel is noise: one event of it for each result. Its
** tensor is drawn first, in the sample and batch shape; the kernel does the rest.
*/
static Tensor *push_noise (lua_State *L, const Binding *b, const Operands *o,
                           ptrdiff_t shape[], int rank) {
  Rows rows;
  int which;
  const char *why = rows_plan_sample(&rows, &b->signature, b->operands, o->in, &which);
  if (why != NULL) api_fail_shapes(L, binding_who(L), which < 0 ? why : "do not fit",
                                   b->operands, o->in);
  rank = append_shape(L, shape, rank, rows.out_rank, rows.out_shape);
  for (int d = 0; d < b->signature.event_rank[0]; d++) {
    ptrdiff_t size = (ptrdiff_t)rows.dims[b->signature.event[0][d]];
    rank = append_shape(L, shape, rank, 1, &size);
  }
  return api_new(L, binding_who(L), rank, shape, NULL);
}

int bound_rows_sample (lua_State *L) {
  const Binding *b = binding_of(L);
  ptrdiff_t shape[TENSOR_MAX_RANK];
  Operands o, all;
  Rows rows;
  int which;
  lua_settop(L, 3);
  int rank = sample_shape(L, 2, shape);
  Philox *g = api_generator(L, 3, binding_who(L));
  binding_push(L, b, o.number);
  binding_read(L, b, &o);
  api_row_operands(L, &b->signature, 1, b->operands, &o);
  Tensor *noise = push_noise(L, b, &o, shape, rank);
  all.in[0] = noise;
  for (int k = 0; k < b->operands; k++) all.in[1 + k] = o.in[k];
  const char *why = rows_plan(&rows, &b->signature, 1 + b->operands, all.in, &which);
  if (why != NULL) api_fail_shapes(L, binding_who(L), why, b->operands, o.in);
  Tensor *out = api_new(L, binding_who(L), rows.out_rank, rows.out_shape, NULL);
  b->noise->draw(g, g->position, noise->size, NULL, noise->data);
  g->position += noise->size;
  if (out->size > 0) rows_run(api_pool(L, out->size), b->kernel, &rows, out->data);
  if (out->rank > 0 || !b->kernel->integer) return 1;
  push_single(L, b->kernel, out->data[0]);
  return 1;
}
