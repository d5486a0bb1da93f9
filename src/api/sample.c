/*
** sample.c - samplers: distribution, sample shape and generator in, draws out
**
** The shape of the result is the sample shape, then the batch shape. The generator moves on by the
** number of elements drawn before the first one is: a hook that interrupts the call and draws
** itself gets other numbers. If the hook raises, these draws are lost.
*/
#include <string.h>

#include "api/binding.h"
#include "driver/elementwise.h"


/* Reads the sample shape at `index`: nothing, an integer or a table. */
static int sample_shape (lua_State *L, int index, ptrdiff_t shape[]) {
  if (lua_isnil(L, index)) return 0;
  if (lua_type(L, index) != LUA_TNUMBER && lua_type(L, index) != LUA_TTABLE)
    host_fail_type(L, binding_who(L), "shape", "an integer or a table of integers",
                   index);
  return api_shape(L, index, index, binding_who(L), shape, NULL);
}

/* Appends `more` dimensions to a shape of `rank`; returns the new rank. */
static int append_shape (lua_State *L, ptrdiff_t shape[], int rank, int more,
                         const ptrdiff_t dims[]) {
  if (rank + more > TENSOR_MAX_RANK)
    host_fail(L, binding_who(L), "a sample has at most %d dimensions",
              TENSOR_MAX_RANK);
  memcpy(shape + rank, dims, (size_t)more * sizeof *shape);
  return rank + more;
}

/* A single draw, from parameters that are numbers. */
static double draw_number (const Binding *b, const Philox *g,
                           const double number[]) {
  const double *in[1 + KERNEL_MAX_IN];
  double noise, out;
  in[0] = &noise;
  for (int k = 0; k < b->operands; k++) in[1 + k] = &number[k];
  if (b->noise == NULL) b->kernel->sampler->draw(g, g->position, 1, in + 1, &out);
  else {
    b->noise->sampler->draw(g, g->position, 1, NULL, &noise);
    b->kernel->value(1, in, &out);
  }
  return out;
}

/*
** Recorded draws. What the kernel calls operand 0 is the noise, or the draw itself.
*/
/* Is it recorded? A trace records all draws, and raises where it cannot draw again. */
static int records (lua_State *L, const Binding *b, const Operands *o) {
  int recorded = !b->detached && kernel_differentiates(b->kernel)
              && (b->state->tracing || engine_is_tracked(b->state, b->operands, o->in));
  if (b->state->tracing && !recorded)
    engine_fail_traced(L, b->state, b->who, "a replay would not draw it again, as it does what"
                       " comes from rsample");
  return recorded;
}

static int recorded_sample (lua_State *L, const Binding *b, const Operands *o, Philox *g,
                            int rank, const ptrdiff_t shape[]) {
  const Tensor *in[1 + KERNEL_MAX_IN];
  Tensor *first;
  Loop loop;
  Recording r = {.state = b->state, .who = b->who, .kind = NODE_ELEMENTWISE, .in = in,
                 .kernel = b->kernel, .n = 1 + b->operands,
                 .base = lua_gettop(L) - b->operands};
  for (int k = 0; k < b->operands; k++) in[1 + k] = o->in[k];
  Tensor *out = engine_new_drawn(L, &r, rank, shape, b->noise != NULL, &first);
  Pool *pool = host_pool(L, elementwise_work(b->kernel, out->size));
  uint64_t position = philox_claim(g, first->size);
  in[0] = first;
  if (b->noise != NULL) {
    elementwise_noise(pool, b->noise, g, position, first->size, first->data);
    if (loop_plan(&loop, 1 + b->operands, in) != NULL || !loop_runs_along(&loop, out))
      loop_plan_shaped(&loop, rank, shape, 1 + b->operands, in);
    engine_note_loop(out, &loop);
    elementwise_value(pool, b->kernel, &loop, out->data);
  } else {
    loop_plan_shaped(&loop, rank, shape, b->operands, o->in);
    elementwise_sample(pool, b->kernel, NULL, g, position, &loop, out->data);
  }
  host_check_stopped(L, pool);
  if (b->state->tracing) engine_trace_draw(L, out, g, 3);
  return 1;
}

int bound_sample (lua_State *L) {
  const Binding *b = binding_of(L);
  ptrdiff_t shape[TENSOR_MAX_RANK];
  Operands o;
  Loop loop;
  binding_arguments(L, b);
  int rank = sample_shape(L, 2, shape);
  Philox *g = api_generator(L, 3, binding_who(L));
  if (binding_read(L, b, &o) && lua_isnil(L, 2) && !b->state->tracing) {
    double draw = draw_number(b, g, o.number);
    Tensor header;
    g->position++;
    return api_return(L, tensor_scalar(&header, &draw), b->kernel);
  }
  const char *why = loop_plan(&loop, b->operands, o.in);
  if (why != NULL) host_fail_shapes(L, binding_who(L), why, b->operands, o.in);
  rank = append_shape(L, shape, rank, loop.out_rank, loop.out_shape);
  if (records(L, b, &o)) return recorded_sample(L, b, &o, g, rank, shape);
  Tensor *out = host_new(L, binding_who(L), rank, shape, NULL);
  loop_plan_shaped(&loop, rank, shape, b->operands, o.in);
  Pool *pool = host_pool(L, elementwise_work(b->kernel, loop.size));
  elementwise_sample(pool, b->kernel, b->noise, g, philox_claim(g, loop.size), &loop, out->data);
  host_check_stopped(L, pool);
  return api_return(L, out, b->kernel);
}


/*
** Rows. A kernel either does its own drawing, or its operand 0 is noise: one
** event of it for each result. That tensor is drawn first, in the sample and
** batch shape; the kernel does the rest.
*/
static Tensor *push_noise (lua_State *L, const Binding *b, const RowsPlan *rows) {
  const Signature *s = b->signature;
  ptrdiff_t shape[TENSOR_MAX_RANK];
  int rank = rows->out_rank - s->event_rank[1 + b->operands];
  memcpy(shape, rows->out_shape, (size_t)rank * sizeof *shape);
  for (int d = 0; d < s->event_rank[0]; d++) {
    ptrdiff_t size = (ptrdiff_t)rows->dims[s->event[0][d]];
    rank = append_shape(L, shape, rank, 1, &size);
  }
  return host_new(L, binding_who(L), rank, shape, NULL);
}

/* Plans again with the noise as operand 0, draws it, and runs. */
static void run_on_noise (lua_State *L, const Binding *b, const Tensor *const in[],
                          Tensor *noise, Philox *g, RowsPlan *rows, double *out) {
  int which;
  const char *why = rows_plan(rows, b->signature, 1 + b->operands, in, &which);
  if (why != NULL) host_fail_shapes(L, binding_who(L), why, b->operands, in + 1);
  double *scratch;
  Pool *pool = host_pool_scratch(L, binding_who(L), rows_work(b->kernel, b->signature, rows),
                                 rows_scratch(rows, b->kernel->rows->scratch), &scratch);
  elementwise_noise(pool, b->noise, g, philox_claim(g, noise->size), noise->size, noise->data);
  rows_run(pool, b->kernel, b->signature, rows, scratch, out);
  host_check_stopped(L, pool);
}

static void run_drawing (lua_State *L, const Binding *b, Philox *g, const RowsPlan *rows,
                         Tensor *out) {
  double *scratch;
  Pool *pool = host_pool_scratch(L, binding_who(L), rows_work(b->kernel, b->signature, rows),
                                 rows_scratch(rows, b->kernel->rows->scratch), &scratch);
  rows_draw(pool, b->kernel, b->signature, rows, scratch, g, philox_claim(g, out->size),
            out->data);
  host_check_stopped(L, pool);
}

/* Pushes a copy of the operands, which are from `base` on, behind `first` on top of the
   stack; then the result. */
static Tensor *push_recorded (lua_State *L, const Binding *b, const Tensor *in[],
                              const Tensor *first, const Operands *o, int base,
                              const RowsPlan *rows) {
  Recording r = {.state = b->state, .who = b->who, .kind = NODE_ROWS, .in = in,
                 .kernel = b->kernel, .n = 1 + b->operands, .base = lua_gettop(L),
                 .always = true};
  luaL_checkstack(L, b->operands + 8, b->who);
  in[0] = first;
  for (int k = 0; k < b->operands; k++) {
    in[1 + k] = o->in[k];
    lua_pushvalue(L, base + k);
  }
  return engine_new_recorded(L, &r, rows->out_rank, rows->out_shape, NULL);
}

/* Pushes the result. */
static Tensor *recorded_rows_sample (lua_State *L, const Binding *b, const Operands *o,
                                     Philox *g, RowsPlan *rows) {
  const Tensor *in[1 + KERNEL_MAX_IN];
  int base = lua_gettop(L) - b->operands + 1;
  Tensor *first = b->noise != NULL
                ? push_noise(L, b, rows)
                : host_new(L, binding_who(L), rows->out_rank, rows->out_shape, NULL);
  Tensor *out = push_recorded(L, b, in, first, o, base, rows);
  int result = lua_gettop(L);
  if (out->size > 0 && b->noise != NULL)
    run_on_noise(L, b, in, first, g, rows, out->data);
  else if (out->size > 0) {
    run_drawing(L, b, g, rows, first);
    host_copy(L, out, first);
  }
  lua_settop(L, result);
  if (b->state->tracing) engine_trace_draw(L, out, g, 3);
  return out;
}

/* Pushes the result. */
static Tensor *plain_rows_sample (lua_State *L, const Binding *b, const Operands *o,
                                  Philox *g, RowsPlan *rows) {
  const Tensor *in[1 + KERNEL_MAX_IN];
  Tensor *out = host_new(L, binding_who(L), rows->out_rank, rows->out_shape, NULL);
  int result = lua_gettop(L);
  if (out->size > 0 && b->noise != NULL) {
    Tensor *noise = push_noise(L, b, rows);
    in[0] = noise;
    for (int k = 0; k < b->operands; k++) in[1 + k] = o->in[k];
    run_on_noise(L, b, in, noise, g, rows, out->data);
  } else if (out->size > 0) run_drawing(L, b, g, rows, out);
  lua_settop(L, result);
  return out;
}

int bound_rows_sample (lua_State *L) {
  const Binding *b = binding_of(L);
  ptrdiff_t shape[TENSOR_MAX_RANK];
  Operands o;
  RowsPlan rows;
  int which;
  binding_arguments(L, b);
  int rank = sample_shape(L, 2, shape);
  Philox *g = api_generator(L, 3, binding_who(L));
  binding_read(L, b, &o);
  api_row_operands(L, b->signature, 1, b->operands, &o);
  const char *why = rows_plan_sample(&rows, b->signature, b->operands, o.in, rank,
                                     shape, &which);
  if (why != NULL) host_fail_shapes(L, binding_who(L), which < 0 ? why : "do not fit",
                                    b->operands, o.in);
  api_check_events(L, b, 1, &o);
  Tensor *out = records(L, b, &o) ? recorded_rows_sample(L, b, &o, g, &rows)
                                  : plain_rows_sample(L, b, &o, g, &rows);
  return api_return(L, out, b->kernel);
}
