/*
** bind.c - kernels become Lua functions
*/
#include <string.h>

#include "api/binding.h"


static const char *string_at (lua_State *L, int table, int i) {
  if (lua_rawgeti(L, table, i) != LUA_TSTRING)
    host_fail(L, "bind", "names must be strings");
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
  host_fail(L, "bind", "operand %s comes from no argument", name);
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
    b->objects |= 1u << b->argument[k];
    lua_pushstring(L, dot + 1);
    lua_replace(L, -2);
  }
}

static const Kernel *kernel_argument (lua_State *L) {
  const char *file = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
  const Kernel *kernel = host_kernel(L, file, name);
  if (kernel == NULL) host_fail(L, "bind", "there is no kernel %s.%s", file, name);
  return kernel;
}

/* `drawn` operands, the first ones, are no arguments but noise. */
static int bind_as (lua_State *L, const Kernel *kernel, lua_CFunction call, int drawn) {
  luaL_checkstring(L, 3);
  luaL_checktype(L, 4, LUA_TTABLE);
  luaL_checktype(L, 5, LUA_TTABLE);
  lua_settop(L, 5);
  lua_Unsigned operands = lua_rawlen(L, 5);
  if (operands != (lua_Unsigned)(kernel->n_in - drawn))
    host_fail(L, lua_tostring(L, 3), "its kernel does not take %I operands",
              (lua_Integer)operands);
  Binding *b = lua_newuserdatauv(L, sizeof *b, 0);
  memset(b, 0, sizeof *b);
  b->kernel = kernel;
  b->state = host_state(L);
  b->is_recorded = kernel_differentiates(kernel) && !kernel->flat;
  b->arguments = (int)lua_rawlen(L, 4);
  b->operands = (int)operands;
  if (kernel_noise(kernel) != NULL) b->noise = host_kernel(L, "noise", kernel_noise(kernel));
  if (kernel->rows != NULL) rows_parse(kernel, &b->signature);
  b->who = lua_tostring(L, 3);
  lua_pushvalue(L, 3);
  bind_operands(L, b, 4, 5);
  b->in_order = b->operands == b->arguments;
  for (int k = 0; k < b->operands; k++)
    if (b->is_field[k] || b->argument[k] != k + 1) b->in_order = 0;
  lua_pushcclosure(L, call, 2 + (int)operands);
  return 1;
}

static int bind_function (lua_State *L, const Kernel *kernel) {
  int of_rows = kernel->rows != NULL && kernel->rows->run != NULL;
  if (!of_rows && kernel->value == NULL)
    host_fail(L, "bind", "kernel %s is no function of its operands", kernel->name);
  return bind_as(L, kernel, of_rows ? bound_rows : bound_apply, 0);
}

/* All operands are given: a sampler is a function of its noise. */
static int bind_value (lua_State *L) { return bind_function(L, kernel_argument(L)); }

static int bind (lua_State *L) {
  const Kernel *kernel = kernel_argument(L);
  int draws = kernel->sampler != NULL;
  if (kernel->rows != NULL)
    return bind_as(L, kernel, draws ? bound_rows_sample : bound_rows, draws);
  if (draws) return bind_as(L, kernel, bound_sample, 1);
  return bind_function(L, kernel);
}

/* The same, never recorded. */
static int bind_detached (lua_State *L) {
  bind(L);
  lua_getupvalue(L, -1, 1);
  Binding *b = lua_touserdata(L, -1);
  b->detached = 1;
  b->is_recorded = 0;
  lua_pop(L, 1);
  return 1;
}

/* The sum of all values of an elementwise kernel, which are not stored. */
static int bind_sum (lua_State *L) {
  const Kernel *kernel = kernel_argument(L);
  if (kernel->value == NULL)
    host_fail(L, "bind", "kernel %s is not elementwise", kernel->name);
  return bind_as(L, kernel, bound_sum, 0);
}

static int bind_partials (lua_State *L) {
  const Kernel *kernel = kernel_argument(L);
  if (kernel->partials == NULL) host_fail(L, "bind", "kernel %s has no partials",
                                          kernel->name);
  return bind_as(L, kernel, bound_partials, 0);
}

static int bind_adjoint (lua_State *L) {
  const Kernel *kernel = kernel_argument(L);
  if (kernel->rows == NULL || kernel->rows->adjoint == NULL)
    host_fail(L, "bind", "kernel %s has no adjoint", kernel->name);
  return bind_as(L, kernel, bound_adjoint, 0);
}

static int bind_predicate (lua_State *L) {
  return bind_as(L, kernel_argument(L), bound_predicate, 0);
}


static const luaL_Reg functions[] = {
  {"bind",           bind},
  {"bind_detached",  bind_detached},
  {"bind_value",     bind_value},
  {"bind_sum",       bind_sum},
  {"bind_partials",  bind_partials},
  {"bind_adjoint",   bind_adjoint},
  {"bind_predicate", bind_predicate},
  {NULL, NULL}
};

void api_open_bind (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
