/*
** optim.c - one step of an optimiser, written where its parameters are
**
** core.memory(parameters) is the state of an optimiser: for each parameter, how many steps it has
** made, and rows of numbers, a tensor (rows, elements). core.recall(memory, i) gives the rows of
** parameter i, or nil, and the count; core.remember(memory, i, rows, count) sets them.
**
** A kernel of kernel/optim.c, whose rows are the parameter and those of its memory, makes two
** functions, core.bind_ready(name) and core.bind_update(name):
**
**   ready(memory)    the largest count of a parameter that has a gradient; nil if none has
**     one; false if a gradient is not finite, or a parameter has other rows than the kernel's
**   update(memory, count, constants...)    moves the parameters that have a gradient and
**     this count, and counts that; returns the next lower count, or nil
*/
#include "api/api.h"

#define PROOF 0x7065726d656d6f72u   /* "permemor": what a block is, mixed with its address */

typedef struct Slot {
  Tensor *x, *rows;      /* a parameter, and contiguous rows of its size or NULL */
  lua_Integer count;
} Slot;

/* User value 1 keeps the tensors alive: parameter i at i, its rows at n + i. */
typedef struct Memory {
  uint64_t proof;
  lua_Integer n;
  Slot slot[];
} Memory;

static Memory *check_memory (lua_State *L, int index, const char *who) {
  Memory *memory = lua_touserdata(L, index);
  if (memory == NULL || lua_rawlen(L, index) < sizeof(Memory)
      || memory->proof != (PROOF ^ (uintptr_t)memory))
    host_fail_type(L, who, "memory", "the memory of an optimiser", index);
  return memory;
}

/* The memory at 1 and the place in it at 2, from 1 on. */
static Memory *check_place (lua_State *L, const char *who, lua_Integer *i) {
  Memory *memory = check_memory(L, 1, who);
  *i = luaL_checkinteger(L, 2);
  if (*i < 1 || *i > memory->n) host_fail(L, who, "there is no parameter %I", *i);
  return memory;
}

static Tensor *check_parameter (lua_State *L, int index, const char *who) {
  Tensor *x = engine_check_tensor(L, index, who);
  if (x->node == NULL || x->node->kind != NODE_LEAF)
    host_fail(L, who, "only a parameter has a gradient");
  return x;
}

static int is_plain (const Tensor *t) { return t->size == 0 || tensor_is_contiguous(t); }

static int new_memory (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  size_t n = (size_t)lua_rawlen(L, 1);
  Memory *memory = lua_newuserdatauv(L, sizeof *memory + n * sizeof(Slot), 1);
  *memory = (Memory) {.n = (lua_Integer)n};
  lua_createtable(L, (int)(2 * n), 0);
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, 1, (lua_Integer)i + 1);
    memory->slot[i] = (Slot) {.x = check_parameter(L, -1, "memory")};
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setiuservalue(L, -2, 1);
  memory->proof = PROOF ^ (uintptr_t)memory;
  return 1;
}

static int remember (lua_State *L) {
  const char *who = "remember";
  lua_Integer i, count = luaL_checkinteger(L, 4);
  Memory *memory = check_place(L, who, &i);
  Tensor *x = memory->slot[i - 1].x;
  Tensor *rows = lua_isnil(L, 3) ? NULL : engine_check_tensor(L, 3, who);
  if (rows != NULL && (rows->rank != 2 || (size_t)rows->shape[1] != x->size || !is_plain(rows)))
    host_fail(L, who, "the rows do not fit the parameter");
  lua_getiuservalue(L, 1, 1);
  lua_pushvalue(L, 3);
  lua_rawseti(L, -2, memory->n + i);
  memory->slot[i - 1] = (Slot) {x, rows, count};
  return 0;
}

static int recall (lua_State *L) {
  lua_Integer i;
  const Memory *memory = check_place(L, "recall", &i);
  lua_getiuservalue(L, 1, 1);
  lua_rawgeti(L, -1, memory->n + i);
  lua_pushinteger(L, memory->slot[i - 1].count);
  return 2;
}


/* The sum of a block is as quick as reading it; only if that is not finite, or too large, does
   each element count. */
static int all_finite (const Kernel *sum, size_t n, const double *x) {
  double total = 0;
  sum->reduction->fold(n, x, &total);
  for (size_t i = 0; total - total != 0 && i < n; i++)
    if (x[i] - x[i] != 0) return 0;
  return 1;
}

/* Is the grad of a parameter finite? One that has not been written to since is not read again. */
static int is_finite (const Kernel *sum, Node *node) {
  const Tensor *grad = node->grad;
  if (node->finite != 0 && node->finite == *grad->version) return 1;
  if (!is_plain(grad) || !all_finite(sum, grad->size, grad->data)) return 0;
  node->finite = *grad->version;
  return 1;
}

static const Tensor *grad_of (const Tensor *parameter) {
  return parameter->node->has_grad ? parameter->node->grad : NULL;
}


static const Kernel *bound_kernel (lua_State *L, int i) {
  return lua_touserdata(L, lua_upvalueindex(i));
}

static int has_rows (const Slot *slot, const Kernel *kernel) {
  return slot->rows != NULL && slot->rows->shape[0] == kernel->n_in - 1;
}

/* The largest of some counts. */
typedef struct Largest {
  int found;
  lua_Integer count;
} Largest;

static void include (Largest *largest, lua_Integer count) {
  if (!largest->found || count > largest->count) *largest = (Largest) {1, count};
}

static int push_largest (lua_State *L, const Largest *largest) {
  if (largest->found) lua_pushinteger(L, largest->count);
  else lua_pushnil(L);
  return 1;
}

static int ready (lua_State *L) {
  const Kernel *kernel = bound_kernel(L, 1);
  const Kernel *sum = bound_kernel(L, 2);
  const Memory *memory = check_memory(L, 1, "ready");
  Largest largest = {0};
  for (lua_Integer i = 0; i < memory->n; i++) {
    const Slot *slot = &memory->slot[i];
    if (grad_of(slot->x) == NULL) continue;
    if (!has_rows(slot, kernel) || !is_finite(sum, slot->x->node))
      return lua_pushboolean(L, 0), 1;
    include(&largest, slot->count);
  }
  return push_largest(L, &largest);
}

/* What may run finalizers, which may do anything, comes first. */
static void move (lua_State *L, const Kernel *kernel, const Slot *slot,
                  const double *constant) {
  double *row[KERNEL_MAX_IN];
  engine_before_write(L, slot->x);
  if (slot->rows != NULL) engine_before_write(L, slot->rows);
  const Tensor *grad = grad_of(slot->x);
  Tensor *x = slot->x, *rows = slot->rows;
  if (grad == NULL || !has_rows(slot, kernel) || !is_plain(grad))
    host_fail(L, "update", "parameter, gradient and memory do not fit together");
  row[0] = x->data;
  for (int r = 1; r < kernel->n_in; r++) row[r] = rows->data + (size_t)(r - 1) * x->size;
  kernel->update(x->size, grad->data, constant, row);
  (*x->version)++;
  (*rows->version)++;
  host_state(L)->passes++;
}

/* Those from argument 3 on; constants that are not given are 0. */
static void read_constants (lua_State *L, double constant[KERNEL_MAX_CONSTANTS]) {
  int given = lua_gettop(L) - 2;
  if (given > KERNEL_MAX_CONSTANTS)
    host_fail(L, "update", "at most %d constants", KERNEL_MAX_CONSTANTS);
  for (int i = 0; i < KERNEL_MAX_CONSTANTS; i++)
    constant[i] = i < given ? lua_tonumber(L, 3 + i) : 0;
}

static int update (lua_State *L) {
  const Kernel *kernel = bound_kernel(L, 1);
  Memory *memory = check_memory(L, 1, "update");
  lua_Integer count = luaL_checkinteger(L, 2);
  double constant[KERNEL_MAX_CONSTANTS];
  Largest below = {0};
  read_constants(L, constant);
  for (lua_Integer i = 0; i < memory->n; i++) {
    Slot *slot = &memory->slot[i];
    if (grad_of(slot->x) == NULL) continue;
    if (slot->count < count) include(&below, slot->count);
    if (slot->count != count) continue;
    move(L, kernel, slot, constant);
    slot->count = (lua_Integer)((lua_Unsigned)count + 1);
  }
  return push_largest(L, &below);
}

static void push_kernel (lua_State *L, const char *file, const char *name) {
  lua_pushlightuserdata(L, (void *)(uintptr_t)host_kernel(L, file, name));
}

/* A function of the kernel that argument 1 names and of the one that sums. */
static int bind (lua_State *L, const char *who, lua_CFunction function) {
  push_kernel(L, "optim", luaL_checkstring(L, 1));
  if (lua_touserdata(L, -1) == NULL)
    host_fail(L, who, "there is no kernel %s", lua_tostring(L, 1));
  push_kernel(L, "reduce", "sum");
  lua_pushcclosure(L, function, 2);
  return 1;
}

static int bind_ready (lua_State *L) { return bind(L, "bind_ready", ready); }
static int bind_update (lua_State *L) { return bind(L, "bind_update", update); }


/* core.finite_grad(parameter): nil if it has no gradient; are all elements of that finite? */
static int finite_grad (lua_State *L) {
  const Tensor *x = check_parameter(L, 1, "finite_grad");
  if (grad_of(x) == NULL) lua_pushnil(L);
  else lua_pushboolean(L, is_finite(bound_kernel(L, 1), x->node));
  return 1;
}

/* core.cut_grad(parameter, square, most, kept): the kernel `cut` of kernel/variational.c on the
   gradient of a parameter, which has one that is finite, and a tensor of its size */
static int cut_grad (lua_State *L) {
  const char *who = "cut_grad";
  const double constant[KERNEL_MAX_CONSTANTS] = {luaL_checknumber(L, 3), luaL_checknumber(L, 4)};
  const Tensor *x = check_parameter(L, 1, who);
  Tensor *square = engine_check_tensor(L, 2, who);
  engine_before_write(L, square);
  engine_before_write(L, x->node->grad);
  Tensor *grad = x->node->grad;
  if (grad_of(x) == NULL || !is_plain(grad) || !is_plain(square) || square->size != grad->size)
    host_fail(L, who, "parameter, gradient and squares do not fit together");
  double *row[] = {grad->data, square->data};
  bound_kernel(L, 1)->update(grad->size, grad->data, constant, row);
  (*square->version)++;
  x->node->finite = ++*grad->version;
  host_state(L)->passes++;
  return 0;
}

/* core.zero_grad(optimiser): forgets the gradients of its `params`, a list */
static int zero_grad (lua_State *L) {
  host_arguments(L, "optimiser:zero_grad", 1);
  if (!lua_istable(L, 1)) host_fail_type(L, "zero_grad", "self", "an optimiser", 1);
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  if (lua_gettable(L, 1) != LUA_TTABLE)
    host_fail_type(L, "zero_grad", "params", "a table of parameters", 2);
  lua_Integer n = (lua_Integer)lua_rawlen(L, 2);
  for (lua_Integer i = 1; i <= n; i++) {
    lua_rawgeti(L, 2, i);
    check_parameter(L, -1, "zero_grad");
    engine_forget_grad(L, -1, "zero_grad");
    lua_pop(L, 1);
  }
  return 0;
}


static const luaL_Reg functions[] = {
  {"memory",      new_memory},
  {"remember",    remember},
  {"recall",      recall},
  {"bind_ready",  bind_ready},
  {"bind_update", bind_update},
  {NULL, NULL}
};

/* Sets a function of a kernel. */
static void set_function (lua_State *L, const char *name, lua_CFunction function, const char *file,
                          const char *kernel) {
  push_kernel(L, file, kernel);
  lua_pushcclosure(L, function, 1);
  lua_setfield(L, -2, name);
}

void api_open_optim (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
  set_function(L, "finite_grad", finite_grad, "reduce", "sum");
  set_function(L, "cut_grad", cut_grad, "variational", "cut");
  lua_pushliteral(L, "params");
  lua_pushcclosure(L, zero_grad, 1);
  lua_setfield(L, -2, "zero_grad");
}
