/*
** apply.c - kernels as Lua functions
**
** core.bind(file, name, who, arguments, operands) makes a function out of a
** kernel. `arguments` names the arguments of the call, `operands` says where
** each operand comes from: an argument, or a field of one. The density of
** Normal is bound with {"self", "x"} and {"x", "self.loc", "self.scale"}.
** When all operands are numbers the result is a number, and nothing is
** allocated.
*/
#include <string.h>

#include "api/api.h"
#include "driver/elementwise.h"

typedef struct Binding {
  const Kernel *kernel;
  const Kernel *noise;
  int arguments;                        /* of the call */
  int operands;
  unsigned char argument[KERNEL_MAX_IN];
  unsigned char is_field[KERNEL_MAX_IN];
} Binding;

/* Upvalues of a bound function: the binding, who it is, and for each operand
   its field or its name. */
static const Binding *binding (lua_State *L) {
  return lua_touserdata(L, lua_upvalueindex(1));
}

static const char *who (lua_State *L) {
  return lua_tostring(L, lua_upvalueindex(2));
}

static int name_upvalue (int k) { return lua_upvalueindex(3 + k); }


static void check_objects (lua_State *L, const Binding *b) {
  for (int k = 0; k < b->operands; k++) {
    int argument = b->argument[k];
    if (!b->is_field[k] || lua_istable(L, argument)) continue;
    lua_pushfstring(L, "argument %d", argument);
    api_fail_type(L, who(L), lua_tostring(L, -1), "a distribution", argument);
  }
}

/* Pushes operand k; returns its type. */
static int push_operand (lua_State *L, const Binding *b, int k) {
  if (!b->is_field[k]) {
    lua_pushvalue(L, b->argument[k]);
    return lua_type(L, -1);
  }
  lua_pushvalue(L, name_upvalue(k));
  return lua_gettable(L, b->argument[k]);
}

/* Pushes the operands. Returns whether all of them are numbers, and those. */
static int push_operands (lua_State *L, const Binding *b, double number[]) {
  int numbers = 1;
  if (!lua_istable(L, 1)) check_objects(L, b);
  if (b->arguments > 1 && !lua_istable(L, 2)) check_objects(L, b);
  for (int k = 0; k < b->operands; k++) {
    if (push_operand(L, b, k) == LUA_TNUMBER) number[k] = lua_tonumber(L, -1);
    else numbers = 0;
  }
  return numbers;
}

/* The operands on top of the stack as tensors. */
static void read_operands (lua_State *L, const Binding *b, double number[],
                           Tensor header[], const Tensor *in[]) {
  int base = lua_gettop(L) - b->operands + 1;
  for (int k = 0; k < b->operands; k++)
    in[k] = api_operand(L, base + k, who(L), lua_tostring(L, name_upvalue(k)),
                        &header[k], &number[k]);
}

static void plan (lua_State *L, Loop *loop, int n, const Tensor *const in[]) {
  const char *why = loop_plan(loop, n, in);
  if (why != NULL) api_fail_shapes(L, who(L), why, n, in);
}

static void point_at (const Binding *b, const double number[], const double *in[]) {
  for (int k = 0; k < b->operands; k++) in[k] = &number[k];
}


/* The value of an elementwise kernel. */
static int apply (lua_State *L) {
  const Binding *b = binding(L);
  double number[KERNEL_MAX_IN];
  lua_settop(L, b->arguments);
  if (push_operands(L, b, number)) {
    const double *in[KERNEL_MAX_IN];
    double out;
    point_at(b, number, in);
    b->kernel->value(1, in, &out);
    lua_pushnumber(L, out);
    return 1;
  }
  Tensor header[KERNEL_MAX_IN];
  const Tensor *in[KERNEL_MAX_IN];
  Loop loop;
  read_operands(L, b, number, header, in);
  plan(L, &loop, b->operands, in);
  Tensor *out = api_new(L, who(L), loop.out_rank, loop.out_shape, loop.out_stride);
  elementwise_value(api_pool(L, loop.size), b->kernel, &loop, out->data);
  return 1;
}

/* The partials of an elementwise kernel, one result an operand. */
static int apply_partials (lua_State *L) {
  const Binding *b = binding(L);
  double number[KERNEL_MAX_IN], *d[KERNEL_MAX_IN];
  Tensor header[KERNEL_MAX_IN];
  const Tensor *in[KERNEL_MAX_IN];
  Loop loop;
  lua_settop(L, b->arguments);
  int numbers = push_operands(L, b, number);
  read_operands(L, b, number, header, in);
  plan(L, &loop, b->operands, in);
  luaL_checkstack(L, 2 * b->operands + 4, who(L));
  for (int k = 0; k < b->operands; k++)
    d[k] = api_new(L, who(L), loop.out_rank, loop.out_shape, loop.out_stride)->data;
  elementwise_partials(api_pool(L, loop.size), b->kernel, &loop, d);
  if (numbers)
    for (int k = 0; k < b->operands; k++) lua_pushnumber(L, d[k][0]);
  return b->operands;
}

/* A predicate kernel: nothing when it holds for all elements, else the first
   offending value of operand 0 and its indices. */
static int find_false (lua_State *L) {
  const Binding *b = binding(L);
  double number[KERNEL_MAX_IN], out;
  lua_settop(L, b->arguments);
  if (push_operands(L, b, number)) {
    const double *in[KERNEL_MAX_IN];
    point_at(b, number, in);
    b->kernel->value(1, in, &out);
    if (out != 0) return 0;
    lua_pushnumber(L, number[0]);
    return 1;
  }
  Tensor header[KERNEL_MAX_IN];
  const Tensor *in[KERNEL_MAX_IN];
  Loop loop;
  read_operands(L, b, number, header, in);
  plan(L, &loop, b->operands, in);
  loop_plan_shaped(&loop, loop.out_rank, loop.out_shape, b->operands, in);
  size_t first = elementwise_first_false(b->kernel, &loop);
  if (first == loop.size) return 0;
  Blocks blocks;
  loop_start(&loop, &blocks);
  loop_block(&loop, first, 1, &blocks);
  luaL_checkstack(L, loop.out_rank + 1, who(L));
  lua_pushnumber(L, blocks.in[0][0]);
  for (int d = 0; d < loop.out_rank; d++) {
    size_t below = 1;
    for (int e = d + 1; e < loop.out_rank; e++) below *= (size_t)loop.out_shape[e];
    lua_pushinteger(L, (lua_Integer)(first / below % (size_t)loop.out_shape[d]) + 1);
  }
  return 1 + loop.out_rank;
}


/*
** Sampling. Arguments are the distribution, the sample shape and the
** generator; the result has the sample shape before the batch shape.
*/
static int sample_shape (lua_State *L, int index, ptrdiff_t shape[]) {
  if (lua_isnil(L, index)) return 0;
  if (lua_type(L, index) != LUA_TNUMBER && lua_type(L, index) != LUA_TTABLE)
    api_fail_type(L, who(L), "shape", "an integer or a table of integers", index);
  lua_pushvalue(L, index);
  int rank = api_shape(L, lua_gettop(L), who(L), shape);
  lua_pop(L, 1);
  return rank;
}

/* A single draw. */
static void push_draw (lua_State *L, const Binding *b, Philox *g,
                       const double number[]) {
  const double *in[1 + KERNEL_MAX_IN];
  double noise, out;
  point_at(b, number, in + 1);
  in[0] = &noise;
  if (b->noise == NULL) b->kernel->draw(g, g->position, 1, in + 1, &out);
  else {
    b->noise->draw(g, g->position, 1, NULL, &noise);
    b->kernel->value(1, in, &out);
  }
  g->position++;
  if (b->kernel->integer && out > -0x1p53 && out < 0x1p53)
    lua_pushinteger(L, (lua_Integer)out);
  else lua_pushnumber(L, out);
}

static int sample (lua_State *L) {
  const Binding *b = binding(L);
  double number[KERNEL_MAX_IN];
  ptrdiff_t shape[2 * TENSOR_MAX_RANK];
  Tensor header[KERNEL_MAX_IN];
  const Tensor *in[KERNEL_MAX_IN];
  Loop loop;
  lua_settop(L, 3);
  int rank = sample_shape(L, 2, shape);
  Philox *g = api_generator(L, 3, who(L));
  int numbers = push_operands(L, b, number);
  if (numbers && lua_isnil(L, 2)) {
    push_draw(L, b, g, number);
    return 1;
  }
  read_operands(L, b, number, header, in);
  plan(L, &loop, b->operands, in);
  if (rank + loop.out_rank > TENSOR_MAX_RANK)
    api_fail(L, who(L), "a sample has at most %d dimensions", TENSOR_MAX_RANK);
  memcpy(shape + rank, loop.out_shape, (size_t)loop.out_rank * sizeof *shape);
  rank += loop.out_rank;
  Tensor *out = api_new(L, who(L), rank, shape, NULL);
  loop_plan_shaped(&loop, rank, shape, b->operands, in);
  elementwise_sample(api_pool(L, loop.size), b->kernel, b->noise, g, g->position,
                     &loop, out->data);
  g->position += loop.size;
  return 1;
}


/*
** Binding
*/
static const char *string_at (lua_State *L, int table, int i) {
  if (lua_rawgeti(L, table, i) != LUA_TSTRING)
    api_fail(L, "bind", "names must be strings");
  return lua_tostring(L, -1);
}

/* Which argument has this name (of the given length)? */
static unsigned char argument_index (lua_State *L, int arguments,
                                     const char *name, size_t length) {
  for (int i = 1; i <= (int)lua_rawlen(L, arguments); i++) {
    const char *argument = string_at(L, arguments, i);
    int found = strlen(argument) == length && memcmp(argument, name, length) == 0;
    lua_pop(L, 1);
    if (found) return (unsigned char)i;
  }
  api_fail(L, "bind", "operand %s comes from no argument", name);
  return 0;
}

/* Reads the operands, and leaves the field or name of each on the stack. */
static void bind_operands (lua_State *L, Binding *b, int arguments, int operands) {
  for (int k = 0; k < b->operands; k++) {
    const char *name = string_at(L, operands, k + 1);
    const char *dot = strchr(name, '.');
    size_t length = dot == NULL ? strlen(name) : (size_t)(dot - name);
    b->argument[k] = argument_index(L, arguments, name, length);
    b->is_field[k] = dot != NULL;
    if (dot == NULL) continue;
    lua_pushstring(L, dot + 1);
    lua_replace(L, -2);
  }
}

static const Kernel *kernel_argument (lua_State *L) {
  const char *file = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
  const Kernel *kernel = api_kernel(L, file, name);
  if (kernel == NULL) api_fail(L, "bind", "there is no kernel %s.%s", file, name);
  return kernel;
}

static int bind_as (lua_State *L, lua_CFunction call, int drawn) {
  const Kernel *kernel = kernel_argument(L);
  luaL_checkstring(L, 3);
  luaL_checktype(L, 4, LUA_TTABLE);
  luaL_checktype(L, 5, LUA_TTABLE);
  lua_settop(L, 5);
  lua_Unsigned operands = lua_rawlen(L, 5);
  if (operands != (lua_Unsigned)(kernel->n_in - drawn))
    api_fail(L, lua_tostring(L, 3), "its kernel does not take %I operands",
             (lua_Integer)operands);
  Binding *b = lua_newuserdatauv(L, sizeof *b, 0);
  memset(b, 0, sizeof *b);
  b->kernel = kernel;
  b->arguments = (int)lua_rawlen(L, 4);
  b->operands = (int)operands;
  if (kernel->noise != NULL) b->noise = api_kernel(L, "noise", kernel->noise);
  lua_pushvalue(L, 3);
  bind_operands(L, b, 4, 5);
  lua_pushcclosure(L, call, 2 + (int)operands);
  return 1;
}

/* A sampler's first operand is not an argument but drawn. */
static int bind (lua_State *L) {
  const Kernel *kernel = kernel_argument(L);
  if (kernel->noise != NULL || kernel->draw != NULL) return bind_as(L, sample, 1);
  if (kernel->value == NULL) api_fail(L, "bind", "kernel %s has no value",
                                      kernel->name);
  return bind_as(L, apply, 0);
}

/* The same with all operands given: a sampler as a function of its noise. */
static int bind_value (lua_State *L) { return bind_as(L, apply, 0); }

static int bind_partials (lua_State *L) {
  const Kernel *kernel = kernel_argument(L);
  if (kernel->partials == NULL) api_fail(L, "bind", "kernel %s has no partials",
                                         kernel->name);
  return bind_as(L, apply_partials, 0);
}

static int bind_predicate (lua_State *L) { return bind_as(L, find_false, 0); }


static const luaL_Reg functions[] = {
  {"bind",           bind},
  {"bind_value",     bind_value},
  {"bind_partials",  bind_partials},
  {"bind_predicate", bind_predicate},
  {NULL, NULL}
};

void api_open_apply (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
