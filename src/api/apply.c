/*
** apply.c - elementwise kernels applied: values, partials, predicates
**
** When all operands are numbers the result is a number, and nothing is
** allocated.
*/
#include "api/binding.h"
#include "driver/elementwise.h"
#include "driver/reduce.h"


static void plan (lua_State *L, Loop *loop, const Binding *b, const Operands *o) {
  const char *why = loop_plan(loop, b->operands, o->in);
  if (why != NULL) host_fail_shapes(L, binding_who(L), why, b->operands, o->in);
}

static double apply_to_numbers (const Binding *b, const double number[]) {
  const double *in[KERNEL_MAX_IN];
  double out;
  for (int k = 0; k < b->operands; k++) in[k] = &number[k];
  b->kernel->value(1, in, &out);
  return out;
}


/* Pushes the value for operands that all have rank 0. */
static int apply_to_singles (lua_State *L, const Binding *b, const Operands *o) {
  const double *in[KERNEL_MAX_IN];
  for (int k = 0; k < b->operands; k++) in[k] = o->in[k]->data;
  Recording r;
  binding_recording(L, &r, b, NODE_ELEMENTWISE, o);
  if (!engine_is_tracked(r.state, r.n, r.in)) {
    double out;
    b->kernel->value(1, in, &out);
    host_push_number(L, out);
    return 1;
  }
  Tensor *out = engine_new_recorded(L, &r, 0, NULL, NULL);
  b->kernel->value(1, in, out->data);
  return 1;
}


/* Pushes the value of t * d where d is an object with an operator of its own, such as a
   distribution; returns 0 if it has none. (Strings have operators too, for what looks like a
   number.) */
static int apply_other_operator (lua_State *L, const Binding *b) {
  if (lua_type(L, 2) == LUA_TSTRING) return 0;
  lua_pushfstring(L, "__%s", b->who);
  if (luaL_getmetafield(L, 2, lua_tostring(L, -1)) == LUA_TNIL) return lua_pop(L, 1), 0;
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_call(L, 2, 1);
  return 1;
}


int bound_apply (lua_State *L) {
  const Binding *b = binding_of(L);
  Operands o;
  Loop loop;
  binding_arguments(L, b);
  Look look = binding_push(L, b, &o);
  if (look == LOOK_NUMBERS) {
    host_push_number(L, apply_to_numbers(b, o.number));
    return 1;
  }
  if (look == LOOK_OTHER && b->is_operator && o.in[1] == NULL
      && apply_other_operator(L, b)) return 1;
  if (b->state->deferring > 0 || look == LOOK_OTHER) {
    Recording call;
    binding_call(&call, b, NODE_ELEMENTWISE, &o);
    if (b->state->deferring > 0 && engine_defer(L, &call)) return 1;
    if (kernel_partials_read(b->kernel) != READ_ALL && b->is_recorded
        && engine_defer_linear(L, &call)) return 1;
  }
  if (look == LOOK_OTHER) {
    binding_complete(L, b, &o);
    for (int k = 0; k < b->operands; k++) if (o.in[k]->rank > o.rank) o.rank = o.in[k]->rank;
  }
  if (o.rank == 0) return apply_to_singles(L, b, &o);
  plan(L, &loop, b, &o);
  Recording r;
  binding_recording(L, &r, b, NODE_ELEMENTWISE, &o);
  r.loop = &loop;
  if (engine_defer_recorded(L, &r)) return 1;
  Tensor *out = engine_new_recorded(L, &r, loop.out_rank, loop.out_shape, loop.out_stride);
  Pool *pool = host_pool(L, elementwise_work(b->kernel, loop.size));
  elementwise_value(pool, b->kernel, &loop, out->data);
  host_check_stopped(L, pool);
  return 1;
}

/* The sum of all values. */
int bound_sum (lua_State *L) {
  const Binding *b = binding_of(L);
  Operands o;
  Loop loop;
  if (b->state->sum == NULL) b->state->sum = host_kernel(L, "reduce", "sum");
  binding_arguments(L, b);
  if (binding_read(L, b, &o)) {
    host_push_number(L, apply_to_numbers(b, o.number));
    return 1;
  }
  plan(L, &loop, b, &o);
  loop_plan_shaped(&loop, loop.out_rank, loop.out_shape, b->operands, o.in);
  Recording r;
  binding_recording(L, &r, b, NODE_SUM, &o);
  r.loop = &loop;
  if (engine_defer_sum(L, &r, loop.size)) return 1;
  Tensor *out = engine_new_recorded(L, &r, 0, NULL, NULL);
  Pool *pool = host_pool(L, loop.size);
  out->data[0] = reduce_mapped(pool, b->state->sum, b->kernel, &loop);
  host_check_stopped(L, pool);
  return api_return(L, out, NULL);
}

/* One result an operand. */
int bound_partials (lua_State *L) {
  const Binding *b = binding_of(L);
  double *d[KERNEL_MAX_IN];
  Operands o;
  Loop loop;
  binding_arguments(L, b);
  binding_read(L, b, &o);
  plan(L, &loop, b, &o);
  luaL_checkstack(L, 2 * b->operands + 4, binding_who(L));
  for (int k = 0; k < b->operands; k++)
    d[k] = host_new(L, binding_who(L), loop.out_rank, loop.out_shape,
                    loop.out_stride)->data;
  Pool *pool = host_pool(L, elementwise_work(b->kernel, loop.size));
  elementwise_partials(pool, b->kernel, &loop, d);
  host_check_stopped(L, pool);
  if (loop.out_rank == 0)
    for (int k = 0; k < b->operands; k++) host_push_number(L, d[k][0]);
  return b->operands;
}


/* Pushes element `at` of operand 0, and its indices. */
static int push_element (lua_State *L, const Loop *loop, size_t at) {
  Blocks blocks;
  loop_start(loop, &blocks);
  loop_block(loop, at, 1, &blocks);
  luaL_checkstack(L, loop->out_rank + 1, binding_who(L));
  host_push_number(L, blocks.in[0][0]);
  for (int d = 0; d < loop->out_rank; d++) {
    size_t below = 1;
    for (int e = d + 1; e < loop->out_rank; e++)
      below *= (size_t)loop->out_shape[e];
    size_t index = at / below % (size_t)loop->out_shape[d];
    lua_pushinteger(L, (lua_Integer)index + 1);
  }
  return 1 + loop->out_rank;
}

/* Nothing when the predicate holds for all elements, else the first offending
   value of operand 0 and its indices. */
int bound_predicate (lua_State *L) {
  const Binding *b = binding_of(L);
  Operands o;
  Loop loop;
  binding_arguments(L, b);
  if (binding_read(L, b, &o)) {
    if (apply_to_numbers(b, o.number) != 0) return 0;
    host_push_number(L, o.number[0]);
    return 1;
  }
  plan(L, &loop, b, &o);
  loop_plan_shaped(&loop, loop.out_rank, loop.out_shape, b->operands, o.in);
  Pool *pool = host_pool(L, loop.size);
  size_t first = elementwise_first_false(pool, b->kernel, &loop);
  host_check_stopped(L, pool);
  return first == loop.size ? 0 : push_element(L, &loop, first);
}
