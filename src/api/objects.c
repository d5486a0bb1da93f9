/*
** objects.c - the two things a script does all day, done without a detour:
** constructing a distribution of numbers and tensors, and finding its KL
**
** Both are shortcuts. Whatever is not plain goes to the Lua function that
** knows all the rules, and gives the same result.
*/
#include <string.h>

#include "api/api.h"
#include "driver/elementwise.h"

#define MAX_PARAMS 6

typedef struct Layout {
  int params;
  const Kernel *rule[MAX_PARAMS];     /* of one operand, or NULL: not plain */
  double standard[MAX_PARAMS];        /* default values */
  unsigned char has_default[MAX_PARAMS];
} Layout;

/* Upvalues of a constructor: the layout, the full constructor, "init", and
   the names of the parameters. */
static const Layout *layout (lua_State *L) {
  return lua_touserdata(L, lua_upvalueindex(1));
}

/* Parameters as they were read: numbers, and how many tensors of which shape. */
typedef struct Values {
  double number[MAX_PARAMS];
  const Tensor *tensor[MAX_PARAMS];
  ptrdiff_t shape[TENSOR_MAX_RANK];
  int tensors, rank;
} Values;

static int number_holds (const Kernel *rule, double x) {
  const double *in = &x;
  double holds = 0;
  if (rule != NULL) rule->value(1, &in, &holds);
  return holds != 0;
}

static int tensor_holds (const State *state, const Kernel *rule, const Tensor *t) {
  Loop loop;
  return rule != NULL && (state->unchecked || (loop_plan(&loop, 1, &t) == NULL
      && elementwise_first_false(rule, &loop) == loop.size));
}

/* Is parameter i a number or a tensor that satisfies its rule, or left out? */
static int plain_value (lua_State *L, const Layout *form, int i, Values *v) {
  const Tensor *t = api_tensor(L, 2 + i);
  if (t != NULL) {
    v->tensor[v->tensors++] = t;
    return tensor_holds(api_state(L), form->rule[i], t);
  }
  if (lua_type(L, 2 + i) == LUA_TNUMBER) v->number[i] = lua_tonumber(L, 2 + i);
  else if (lua_isnoneornil(L, 2 + i) && form->has_default[i])
    v->number[i] = form->standard[i];
  else return 0;
  return number_holds(form->rule[i], v->number[i]);
}

static int plain_values (lua_State *L, const Layout *form, Values *v) {
  size_t size;
  if (lua_gettop(L) > 1 + form->params) return 0;
  v->tensors = 0;
  for (int i = 0; i < form->params; i++)
    if (!plain_value(L, form, i, v)) return 0;
  return v->tensors == 0
      || loop_broadcast(v->tensors, v->tensor, &v->rank, v->shape, &size) == NULL;
}

/* object.batch_shape = the shape of all parameters together */
static void set_batch_shape (lua_State *L, const Values *v) {
  lua_pushliteral(L, "batch_shape");
  lua_createtable(L, v->rank, 0);
  for (int d = 0; d < v->rank; d++) {
    lua_pushinteger(L, (lua_Integer)v->shape[d]);
    lua_rawseti(L, -2, d + 1);
  }
  lua_rawset(L, -3);
}

static int has_init (lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(3));
  int found = lua_rawget(L, 1) == LUA_TFUNCTION;
  lua_pop(L, 1);
  return found;
}

static int construct (lua_State *L) {
  const Layout *form = layout(L);
  Values v;
  if (!plain_values(L, form, &v) || has_init(L)) {
    lua_settop(L, 9);                 /* class, values, and room to see more */
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_insert(L, 1);
    lua_call(L, 9, 1);
    return 1;
  }
  lua_settop(L, 1 + form->params);
  lua_createtable(L, 0, form->params + (v.tensors > 0));
  for (int i = 0; i < form->params; i++) {
    lua_pushvalue(L, lua_upvalueindex(4 + i));
    if (lua_isnil(L, 2 + i)) lua_pushnumber(L, v.number[i]);
    else lua_pushvalue(L, 2 + i);     /* an integer stays one */
    lua_rawset(L, -3);
  }
  if (v.tensors > 0) set_batch_shape(L, &v);
  lua_pushvalue(L, 1);
  lua_setmetatable(L, -2);
  return 1;
}

/* The kernel of a constraint without parameters on single numbers, or NULL. */
static const Kernel *plain_rule (lua_State *L, int param) {
  const Kernel *kernel = NULL;
  if (lua_getfield(L, param, "event") == LUA_TNIL
      && lua_rawgeti(L, param, 2) == LUA_TTABLE
      && lua_getfield(L, -1, "plain_kernel") == LUA_TSTRING)
    kernel = api_kernel(L, "constraint", lua_tostring(L, -1));
  lua_settop(L, param);
  return kernel;
}

/* core.constructor(params, full): `full` is the constructor in Lua. */
static int constructor (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  int n = (int)lua_rawlen(L, 1);
  if (n > MAX_PARAMS) return 1;      /* the full one itself */
  Layout *form = lua_newuserdatauv(L, sizeof *form, 0);
  memset(form, 0, sizeof *form);
  form->params = n;
  lua_pushvalue(L, 2);
  lua_pushliteral(L, "init");
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, 1, i + 1);
    int param = lua_gettop(L);
    luaL_checktype(L, param, LUA_TTABLE);
    form->rule[i] = plain_rule(L, param);
    if (lua_getfield(L, param, "default") == LUA_TNUMBER) {
      form->has_default[i] = 1;
      form->standard[i] = lua_tonumber(L, -1);
    }
    lua_rawgeti(L, param, 1);
    lua_replace(L, param);
    lua_settop(L, param);
  }
  lua_pushcclosure(L, construct, 3 + n);
  return 1;
}


/* Upvalue 1 is the cache, cache[P][Q] -> function; upvalue 2 the function
   that finds the answer otherwise. */
static int dispatch (lua_State *L) {
  lua_settop(L, 3);
  if (!lua_getmetatable(L, 1) || lua_rawget(L, lua_upvalueindex(1)) != LUA_TTABLE
      || !lua_getmetatable(L, 2) || lua_rawget(L, -2) != LUA_TFUNCTION)
    lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_settop(L, 4);
  lua_call(L, 3, 1);
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


/* core.validate(on): whether construct looks at the elements of tensors */
static int validate (lua_State *L) {
  api_state(L)->unchecked = !lua_toboolean(L, 1);
  return 0;
}


static const luaL_Reg functions[] = {
  {"constructor", constructor},
  {"dispatcher",  dispatcher},
  {"validate",    validate},
  {NULL, NULL}
};

void api_open_objects (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
