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

/* Are the kernels of this file functions of tensors, not of a law's parameters? */
static int is_of_tensors (const char *file) { return strncmp(file, "row/", 4) == 0; }

static const Kernel *kernel_argument (lua_State *L) {
  const char *file = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
  const Kernel *kernel = host_kernel(L, file, name);
  if (kernel == NULL) host_fail(L, "bind", "there is no kernel %s.%s", file, name);
  return kernel;
}

/* Pushes the first two upvalues of a function: a binding, and the text at `who` on the stack. `drawn`
   operands, the first ones, are no arguments but noise. The kernel is in the file at `file`. */
static Binding *begin (lua_State *L, const Kernel *kernel, int file, int who, int arguments,
                       lua_Unsigned operands, int drawn) {
  if (operands != (lua_Unsigned)(kernel->n_in - drawn))
    host_fail(L, lua_tostring(L, who), "its kernel does not take %I operands",
              (lua_Integer)operands);
  size_t size = sizeof(Binding) + (kernel->rows != NULL ? sizeof(Signature) : 0);
  Binding *b = memset(lua_newuserdatauv(L, size, 0), 0, size);
  b->kernel = kernel;
  b->state = host_state(L);
  b->is_recorded = kernel_differentiates(kernel) && !kernel->flat;
  b->takes_empty = is_of_tensors(lua_tostring(L, file));
  b->arguments = arguments;
  b->operands = (int)operands;
  if (kernel_noise(kernel) != NULL) b->noise = host_kernel(L, "noise", kernel_noise(kernel));
  if (kernel->rows != NULL) rows_parse(kernel, b->signature);
  b->who = lua_tostring(L, who);
  lua_pushvalue(L, who);
  return b;
}

/* Makes a function of what has been pushed: two upvalues, and a name for each operand. */
static int end (lua_State *L, Binding *b, lua_CFunction call) {
  b->in_order = b->operands == b->arguments;
  for (int k = 0; k < b->operands; k++)
    if (b->is_field[k] || b->argument[k] != k + 1) b->in_order = 0;
  lua_pushcclosure(L, call, 2 + b->operands);
  return 1;
}

static int bind_as (lua_State *L, const Kernel *kernel, lua_CFunction call, int drawn) {
  luaL_checkstring(L, 3);
  luaL_checktype(L, 4, LUA_TTABLE);
  luaL_checktype(L, 5, LUA_TTABLE);
  lua_settop(L, 5);
  Binding *b = begin(L, kernel, 1, 3, (int)lua_rawlen(L, 4), lua_rawlen(L, 5), drawn);
  bind_operands(L, b, 4, 5);
  return end(L, b, call);
}

/* What calls a kernel that is a function of its operands. */
static lua_CFunction function_call (lua_State *L, const Kernel *kernel) {
  int of_rows = kernel->rows != NULL && kernel->rows->run != NULL;
  if (!of_rows && kernel->value == NULL)
    host_fail(L, "bind", "kernel %s is no function of its operands", kernel->name);
  return of_rows ? bound_rows : bound_apply;
}

/* What calls any: a sampler draws its noise. */
static lua_CFunction call_of (lua_State *L, const Kernel *kernel) {
  int draws = kernel->sampler != NULL;
  if (kernel->rows != NULL) return draws ? bound_rows_sample : bound_rows;
  return draws ? bound_sample : function_call(L, kernel);
}

/* All operands are given: a sampler is a function of its noise. */
static int bind_value (lua_State *L) {
  const Kernel *kernel = kernel_argument(L);
  return bind_as(L, kernel, function_call(L, kernel), 0);
}

static int bind (lua_State *L) {
  const Kernel *kernel = kernel_argument(L);
  return bind_as(L, kernel, call_of(L, kernel), kernel->sampler != NULL);
}

static void detach (Binding *b) {
  b->detached = 1;
  b->is_recorded = 0;
}

/* The same for an operator of two operands, `who` being its name in Lua, such as "mul". */
static int bind_operator (lua_State *L) {
  bind(L);
  lua_getupvalue(L, -1, 1);
  ((Binding *)lua_touserdata(L, -1))->is_operator = 1;
  lua_pop(L, 1);
  return 1;
}

/* Arguments of bind_methods */
enum { CLASS = 1, FILE_NAME, CLASS_NAME, OPERANDS };

/* Gives the class a method `name`. Of self it takes the operands of the class, preceded by x where
   the kernel has one more; a sampler is called with a shape and a generator. */
static void bind_method (lua_State *L, const Kernel *kernel, const char *name, int detached) {
  int draws = kernel->sampler != NULL, fields = (int)lua_rawlen(L, OPERANDS);
  int has_x = !draws && kernel->n_in == fields + 1;
  lua_pushfstring(L, "%s:%s", lua_tostring(L, CLASS_NAME), name);
  Binding *b = begin(L, kernel, FILE_NAME, lua_gettop(L), draws ? 3 : 1 + has_x, fields + has_x, draws);
  if (has_x) {
    b->argument[0] = 2;
    lua_pushliteral(L, "x");
  }
  for (int k = 0; k < fields; k++) {
    string_at(L, OPERANDS, k + 1);
    b->argument[k + has_x] = 1;
    b->is_field[k + has_x] = 1;
    b->objects = 1u << 1;
  }
  if (detached) detach(b);
  end(L, b, call_of(L, kernel));
  lua_pushstring(L, name);
  lua_insert(L, -2);
  lua_rawset(L, CLASS);
  lua_settop(L, OPERANDS);
}

/* core.bind_methods(class, file, name, operands): every kernel of a file becomes a method of the
   class of that name; false if there is no such file. What can be differentiated can be drawn. */
static int bind_methods (lua_State *L) {
  luaL_checktype(L, CLASS, LUA_TTABLE);
  const Kernel *kernel = host_kernels(L, luaL_checkstring(L, FILE_NAME));
  luaL_checkstring(L, CLASS_NAME);
  luaL_checktype(L, OPERANDS, LUA_TTABLE);
  lua_settop(L, OPERANDS);
  if (kernel == NULL) return lua_pushboolean(L, 0), 1;
  for (; kernel->name != NULL; kernel++) {
    bind_method(L, kernel, kernel->name, 0);
    if (strcmp(kernel->name, "rsample") != 0) continue;
    bind_method(L, kernel, "sample", 1);
    lua_pushboolean(L, 1);
    lua_setfield(L, CLASS, "has_rsample");
  }
  return lua_pushboolean(L, 1), 1;
}

/* core.bind_functions(functions, file): every kernel of a file becomes a function of that name,
   whose operands are named x, y, z, ... */
static int bind_functions (lua_State *L) {
  static const char names[KERNEL_MAX_IN + 1] = "xyzwuvst";
  luaL_checktype(L, 1, LUA_TTABLE);
  const Kernel *kernel = host_kernels(L, luaL_checkstring(L, 2));
  if (kernel == NULL) host_fail(L, "bind", "there is no file %s", lua_tostring(L, 2));
  lua_settop(L, 2);
  for (; kernel->name != NULL; kernel++) {
    lua_pushstring(L, kernel->name);
    Binding *b = begin(L, kernel, 2, 3, kernel->n_in, kernel->n_in, 0);
    for (int k = 0; k < kernel->n_in; k++) {
      b->argument[k] = (unsigned char)(k + 1);
      lua_pushlstring(L, names + k, 1);
    }
    end(L, b, function_call(L, kernel));
    lua_rawset(L, 1);
  }
  return 0;
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
  {"bind_methods",   bind_methods},
  {"bind_functions", bind_functions},
  {"bind_operator",  bind_operator},
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
