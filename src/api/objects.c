/*
** objects.c - fast paths: constructing a distribution of numbers and tensors, and finding the KL
** of two classes
**
** Whatever is not plain goes to the function in Lua that knows all the rules. Results are the same.
*/
#include <string.h>

#include "api/binding.h"
#include "driver/elementwise.h"

#define MAX_PARAMS 6

typedef struct Layout {
  const State *state;
  int params, fields;                 /* that may be passed, and that are */
  const void *class;                  /* whose they are; NULL: nothing is plain */
  int init;                           /* has it a function that completes its objects? */
  const Kernel *rule[MAX_PARAMS];     /* of one operand, or NULL: not plain */
  unsigned char absent[MAX_PARAMS];   /* an alternative to the one that is passed */
} Layout;

/* Upvalues of a constructor: the names begin at NAMES, the defaults follow. */
enum { LAYOUT = 1, FULL, CLASS, SHAPE, INIT, NAMES };

/* The tensors among the parameters, and the shape of all together. */
typedef struct Values {
  int given;                          /* by position: of these none may be nil */
  int tensors, rank;
  const Tensor *tensor[MAX_PARAMS];
  const ptrdiff_t *shape;
  ptrdiff_t broadcast[TENSOR_MAX_RANK];
} Values;

static int number_holds (const Kernel *rule, double x) {
  const double *in = &x;
  double holds = 0;
  if (rule != NULL) rule->value(1, &in, &holds);
  return holds != 0;
}

static int tensor_holds (lua_State *L, const State *state, const Kernel *rule, const Tensor *t) {
  if (rule == NULL || state->unchecked) return rule != NULL;
  Pool *pool = host_pool(L, t->size);
  int holds = elementwise_holds(pool, rule, t);
  host_check_stopped(L, pool);
  return holds;
}

/* Is parameter i a number or a tensor that satisfies its rule, or rightly absent? */
static int plain_value (lua_State *L, const Layout *form, int i, Values *v) {
  int at = 2 + i, type = lua_type(L, at);
  if (form->absent[i]) return type == LUA_TNIL && i >= v->given;
  if (type == LUA_TNIL && i >= v->given) {
    lua_copy(L, lua_upvalueindex(NAMES + form->params + i), at);
    type = lua_type(L, at);
  }
  if (type == LUA_TNUMBER) return number_holds(form->rule[i], lua_tonumber(L, at));
  const Tensor *t = engine_tensor(L, at);
  v->tensor[v->tensors++] = t;
  return t != NULL && tensor_holds(L, form->state, form->rule[i], t);
}

static int find_shape (Values *v) {
  const Tensor *first = v->tensor[0];
  int is_same = 1;
  size_t size;
  for (int k = 1; k < v->tensors; k++) is_same &= tensor_same_shape(first, v->tensor[k]);
  v->rank = first->rank;
  v->shape = is_same ? first->shape : v->broadcast;
  return is_same
      || loop_broadcast(v->tensors, v->tensor, &v->rank, v->broadcast, &size) == NULL;
}

static int plain_values (lua_State *L, const Layout *form, Values *v) {
  v->tensors = 0;
  for (int i = 0; i < form->params; i++)
    if (!plain_value(L, form, i, v)) return 0;
  return v->tensors == 0 || find_shape(v);
}

/* Has the table at index 2 just n entries? May leave a key on the stack. */
static int has_entries (lua_State *L, int n) {
  int count = 0;
  lua_pushnil(L);
  while (count <= n && lua_next(L, 2)) {
    lua_pop(L, 1);
    count++;
  }
  return count == n;
}

/* Replaces a plain table at index 2, all of whose keys are names of parameters, by
   its values, each in its place; unless the first is a table, which would be taken
   for named parameters itself. Returns whether it was. */
static int place_named (lua_State *L, const Layout *form) {
  int found = 0;
  for (int i = 0; i < form->params; i++) {
    lua_pushvalue(L, lua_upvalueindex(NAMES + i));
    found += lua_rawget(L, 2) != LUA_TNIL;
  }
  int plain = found > 0 && !lua_istable(L, 3) && has_entries(L, found)
      && !lua_getmetatable(L, 2);
  lua_settop(L, plain ? 2 + form->params : 2);
  if (plain) lua_remove(L, 2);
  return plain;
}

/* Puts all values in their places, from index 2 on; 0 if there are too many. */
static int place_values (lua_State *L, const Layout *form, Values *v) {
  int top = lua_gettop(L), last = 1 + form->params;
  if (top == 2 && lua_istable(L, 2) && place_named(L, form)) v->given = 0;
  if (top < last) lua_settop(L, last);
  return top <= last;
}

/* object.batch_shape = the shape of all parameters together */
static void set_batch_shape (lua_State *L, const Values *v) {
  lua_pushvalue(L, lua_upvalueindex(SHAPE));
  api_push_shape_table(L, v->rank, v->shape);
  lua_rawset(L, -3);
}

/* Pushes an object of these parameters. */
static void push_object (lua_State *L, const Layout *form, const Values *v) {
  lua_createtable(L, 0, form->fields + (v->tensors > 0) + form->init);
  for (int i = 0; i < form->params; i++) {
    if (form->absent[i]) continue;
    lua_pushvalue(L, lua_upvalueindex(NAMES + i));
    lua_pushvalue(L, 2 + i);          /* an integer stays one */
    lua_rawset(L, -3);
  }
  if (v->tensors > 0) set_batch_shape(L, v);
  lua_pushvalue(L, 1);
  lua_setmetatable(L, -2);
}

/* Calls init(object, checking) of the class, which may have been given another one since. */
static void complete (lua_State *L, const Layout *form) {
  int object = lua_gettop(L);
  lua_pushvalue(L, lua_upvalueindex(INIT));
  if (lua_rawget(L, 1) != LUA_TNIL) {
    lua_pushvalue(L, object);
    lua_pushboolean(L, !form->state->unchecked);
    lua_call(L, 2, 0);
  }
  lua_settop(L, object);
}

static int construct (lua_State *L) {
  const Layout *form = lua_touserdata(L, lua_upvalueindex(LAYOUT));
  Values v;
  int top = lua_gettop(L);
  while (top > 1 + form->params && lua_isnil(L, top)) lua_settop(L, --top);
  v.given = top - 1;
  if (form->class != NULL && lua_topointer(L, 1) == form->class && place_values(L, form, &v)
      && plain_values(L, form, &v)) {
    push_object(L, form, &v);
    if (form->init) complete(L, form);
    return 1;
  }
  lua_settop(L, 1 + MAX_PARAMS);
  lua_pushvalue(L, lua_upvalueindex(FULL));
  lua_insert(L, 1);
  lua_pushinteger(L, v.given);
  lua_insert(L, 3);
  lua_call(L, 2 + MAX_PARAMS, 1);     /* class, number of values by position, values */
  return 1;
}

/* Pushes the name of the kernel for the constraint whose kernel is named `plain`, and the
   infinities that the parameter may be: none, both, or the one "above" or "below". */
static const char *rule_name (lua_State *L, int param, const char *plain) {
  switch (lua_getfield(L, param, "infinite")) {
    case LUA_TNIL:    return lua_pushfstring(L, "finite_%s", plain);
    case LUA_TSTRING: return lua_pushfstring(L, "%s_%s", plain, lua_tostring(L, -1));
    default:          return lua_pushstring(L, plain);
  }
}

/* The kernel of a constraint without parameters on single numbers, or NULL. */
static const Kernel *plain_rule (lua_State *L, int param) {
  const Kernel *kernel = NULL;
  if (lua_getfield(L, param, "event") == LUA_TNIL
      && lua_rawgeti(L, param, 2) == LUA_TTABLE
      && lua_getfield(L, -1, "plain_kernel") == LUA_TSTRING)
    kernel = host_kernel(L, "constraint", rule_name(L, param, lua_tostring(L, -1)));
  lua_settop(L, param);
  return kernel;
}

/* Alternatives are plain if the set at index 3 says which of them are absent. */
static void describe (lua_State *L, Layout *form, int i, int param) {
  int plain = lua_getfield(L, param, "gives") == LUA_TNIL;
  if (lua_istable(L, 3)) {
    lua_pushvalue(L, param);
    lua_rawget(L, 3);
    form->absent[i] = (unsigned char)lua_toboolean(L, -1);
    plain = !form->absent[i];
  }
  if (plain) form->rule[i] = plain_rule(L, param);
  lua_settop(L, param);
}

/* Describes the params at index 1, and pushes their names. */
static void push_names (lua_State *L, Layout *form) {
  for (int i = 0; i < form->params; i++) {
    lua_rawgeti(L, 1, i + 1);
    luaL_checktype(L, -1, LUA_TTABLE);
    describe(L, form, i, lua_gettop(L));
    form->fields += !form->absent[i];
    lua_rawgeti(L, -1, 1);
    lua_remove(L, -2);
  }
}

/* Pushes their defaults; nil for none, or for one that is no number. */
static void push_defaults (lua_State *L, const Layout *form) {
  for (int i = 0; i < form->params; i++) {
    lua_rawgeti(L, 1, i + 1);
    if (lua_getfield(L, -1, "default") != LUA_TNUMBER) {
      lua_pop(L, 1);
      lua_pushnil(L);
    }
    lua_remove(L, -2);
  }
}

/* core.constructor(params, full, absent, class, init): `full` is the constructor in Lua.
   The set `absent` holds the alternatives that are left out where nothing needs deriving;
   without it no alternative is plain. Without a class nothing is done. `init` says whether it
   has a function that completes objects. */
static int constructor (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 5);
  int n = (int)lua_rawlen(L, 1);
  if (n > MAX_PARAMS) {               /* the full one itself */
    lua_settop(L, 2);
    return 1;
  }
  luaL_checkstack(L, NAMES + 2 * MAX_PARAMS + 4, NULL);
  Layout *form = lua_newuserdatauv(L, sizeof *form, 0);
  memset(form, 0, sizeof *form);
  form->state = host_state(L);
  form->params = n;
  form->class = lua_topointer(L, 4);
  form->init = lua_toboolean(L, 5);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 4);
  lua_pushliteral(L, "batch_shape");
  lua_pushliteral(L, "init");
  push_names(L, form);
  push_defaults(L, form);
  lua_pushcclosure(L, construct, NAMES - 1 + 2 * n);
  return 1;
}


/* Pushes what the function at `fn` gives for p and q, if it is a kernel and all its operands
   are fields that are numbers: its upvalues (binding.c) say which. Else returns 0, and may
   leave more on the stack. */
static int push_of_numbers (lua_State *L, int fn) {
  const double *in[KERNEL_MAX_IN];
  double number[KERNEL_MAX_IN], out;
  if (lua_tocfunction(L, fn) != bound_apply || !lua_istable(L, 1) || !lua_istable(L, 2))
    return 0;
  lua_getupvalue(L, fn, 1);
  const Binding *b = lua_touserdata(L, -1);
  for (int k = 0; k < b->operands; k++) {
    lua_getupvalue(L, fn, 3 + k);
    if (!b->is_field[k] || lua_rawget(L, b->argument[k]) != LUA_TNUMBER) return 0;
    number[k] = lua_tonumber(L, -1);
    in[k] = &number[k];
  }
  b->kernel->value(1, in, &out);
  host_push_number(L, out);
  return 1;
}

/* Calls the function at `fn` with the first n values of the stack. */
static void call_with (lua_State *L, int n, int fn) {
  lua_settop(L, fn);
  for (int i = 1; i <= n; i++) lua_pushvalue(L, i);
  lua_call(L, n, 1);
}

/* Pushes cache[P][Q], the function for the classes of p and q, if there is one; else returns 0,
   and may leave more on the stack. */
static int push_cached (lua_State *L) {
  return lua_getmetatable(L, 1) && lua_rawget(L, lua_upvalueindex(1)) == LUA_TTABLE
      && lua_getmetatable(L, 2) && lua_rawget(L, -2) == LUA_TFUNCTION;
}

/* Upvalue 1 is the cache; upvalue 2 the function that finds the answer otherwise, and looks at
   options. */
static int dispatch (lua_State *L) {
  int arguments = lua_gettop(L);
  if (arguments != 2) {
    host_arguments(L, "kl_divergence", 3);
    lua_settop(L, arguments = 3);
  }
  int fn = arguments + 2;   /* where push_cached leaves it */
  if ((arguments == 3 && !lua_isnil(L, 3)) || !push_cached(L)) {
    lua_pushvalue(L, lua_upvalueindex(2));
    fn = lua_gettop(L);
  }
  if (!push_of_numbers(L, fn)) call_with(L, arguments, fn);
  return 1;
}

/* core.dispatcher(cache, resolve) */
static int dispatcher (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  lua_pushcclosure(L, dispatch, 2);
  return 1;
}


/* core.validate(on): whether parameters are checked */
static int validate (lua_State *L) {
  host_state(L)->unchecked = !lua_toboolean(L, 1);
  return 0;
}

/* core.validates() */
static int validates (lua_State *L) {
  lua_pushboolean(L, !host_state(L)->unchecked);
  return 1;
}

/* core.unchecked(fn, ...): what fn(...) returns, a single value, with parameters unchecked
   meanwhile. No hook runs between its end and what it puts right. */
static int unchecked (lua_State *L) {
  State *state = host_state(L);
  int before = state->unchecked;
  luaL_checkany(L, 1);
  state->unchecked = 1;
  int status = lua_pcall(L, lua_gettop(L) - 1, 1, 0);
  state->unchecked = before;
  return status == LUA_OK ? 1 : lua_error(L);
}

/* core.during(t, key, fn, ...): what fn(...) returns, a single value; t[key] is true meanwhile, and
   nil afterwards, whatever ended it */
static int during (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checkany(L, 3);
  luaL_checkstack(L, 4, "too many arguments");
  lua_pushvalue(L, 2);
  lua_pushboolean(L, 1);
  lua_rawset(L, 1);
  int status = lua_pcall(L, lua_gettop(L) - 3, 1, 0);
  lua_pushvalue(L, 2);
  lua_pushnil(L);
  lua_rawset(L, 1);                    /* the key is there: nothing is allocated */
  return status == LUA_OK ? 1 : lua_error(L);
}


static const luaL_Reg functions[] = {
  {"constructor", constructor},
  {"dispatcher",  dispatcher},
  {"validate",    validate},
  {"validates",   validates},
  {"unchecked",   unchecked},
  {"during",      during},
  {NULL, NULL}
};

void api_open_objects (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
