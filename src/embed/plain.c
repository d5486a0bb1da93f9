/*
** plain.c - distributions and generators for C programs that know nothing of Lua
**
** A session is a Lua state with perilune in it; handles are places in its registry. Every call is
** one protected call, on whole arrays: x is read where it lies, and the result is copied out. That
** costs less than a microsecond beside what the call computes (examples/embed/plain.c measures
** it), so there is no second way to the kernels.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lualib.h>

#include "driver/loop.h"
#include "embed/embed.h"

struct perilune_Session {
  lua_State *L;
  lua_Alloc allocate;
  void *data;
  int peri, kl;           /* places in the registry: the module, and its kl_divergence */
  char message[512];
};

/* One call: what it is given, and what it gives. */
typedef struct Call {
  perilune_Session *session;
  const char *name;
  int handles[2];
  const perilune_Array *arrays;
  int n;
  size_t count;           /* of draws */
  uint64_t seed;
  const perilune_Options *options;
  const char *text;
  double *out;
  char *out_text;
  size_t room;
  int result;
} Call;


static int fail_with (perilune_Session *s, int code, const char *message) {
  snprintf(s->message, sizeof s->message, "%s", message);
  return code;
}

/* Runs step(call) protected: its result, or an error code. */
static int run (Call *call, lua_CFunction step) {
  if (call->session == NULL) return PERILUNE_REFUSED;
  lua_State *L = call->session->L;
  lua_settop(L, 0);
  if (!lua_checkstack(L, LUA_MINSTACK))
    return fail_with(call->session, PERILUNE_MEMORY, "not enough memory");
  lua_pushcfunction(L, step);
  lua_pushlightuserdata(L, call);
  int status = lua_pcall(L, 1, 0, 0);
  if (status == LUA_OK) return call->result;
  int code = status == LUA_ERRMEM ? PERILUNE_MEMORY : PERILUNE_REFUSED;
  const char *message = lua_tostring(L, -1);
  return fail_with(call->session, code, message != NULL ? message : "an error without a message");
}

static Call *call_of (lua_State *L) { return lua_touserdata(L, 1); }

/* Refuses NULL for what the rule says. */
static void check_given (lua_State *L, const void *argument, const char *rule) {
  if (argument == NULL) luaL_error(L, "%s, got NULL", rule);
}

/* Refuses NULL for a result that has elements. */
static void check_room (lua_State *L, const Call *call) {
  if (call->room > 0) check_given(L, call->out, "out must be an address of doubles");
}

/* Pushes what a handle stands for. */
static void push_handle (lua_State *L, const Call *call, int handle, int type) {
  const char *wanted = type == LUA_TTABLE ? "a distribution" : "a generator";
  if (handle <= call->session->kl || lua_rawgeti(L, LUA_REGISTRYINDEX, handle) != type)
    luaL_error(L, "handle %d is not that of %s", handle, wanted);
}

/* Pushes a number, or a tensor over the memory of an array, which is only read. */
static Tensor *push_array (lua_State *L, const perilune_Array *a) {
  if (a->rank == 0 && a->data != NULL && (uintptr_t)a->data % sizeof(double) == 0) {
    lua_pushnumber(L, *a->data);
    return NULL;
  }
  perilune_wrap(L, (double *)(uintptr_t)a->data, a->rank, a->shape, 0);
  return lua_touserdata(L, -1);
}

/* Copies the result on top of the stack to where the caller wants it. */
static void take_result (lua_State *L, Call *call) {
  StackTensor block;
  if (lua_type(L, -1) == LUA_TNUMBER && call->room == 1) {
    *call->out = lua_tonumber(L, -1);
    return;
  }
  Tensor number;
  double value;
  const Tensor *from = engine_operand(L, lua_gettop(L), call->name, "the result", &number,
                                      &value);
  if (from->size != call->room) {
    lua_pushfstring(L, "%s: the result has %I elements, room is for %I", call->name,
                    (lua_Integer)from->size, (lua_Integer)call->room);
    call->result = fail_with(call->session, PERILUNE_ROOM, lua_tostring(L, -1));
    return;
  }
  Tensor *to = tensor_on_stack(&block, from, from->rank);
  to->data = call->out;
  for (int d = 0; d < to->rank; d++) to->shape[d] = from->shape[d];
  tensor_row_major(to->rank, to->shape, to->stride);
  host_copy(L, to, from);
}


static int open_session (lua_State *L) {
  static const luaL_Reg libraries[] = {
    {"_G", luaopen_base}, {LUA_COLIBNAME, luaopen_coroutine}, {LUA_TABLIBNAME, luaopen_table},
    {LUA_STRLIBNAME, luaopen_string}, {LUA_MATHLIBNAME, luaopen_math}
  };
  Call *call = call_of(L);
  for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
    luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
    lua_pop(L, 1);
  }
  perilune_open(L, call->options);
  if (call->options != NULL && call->options->max_threads > 1) {
    lua_getfield(L, -1, "set_threads");
    lua_pushinteger(L, call->options->max_threads);
    lua_call(L, 1, 0);
  }
  lua_getfield(L, -1, "kl_divergence");
  lua_insert(L, -2);
  call->session->peri = luaL_ref(L, LUA_REGISTRYINDEX);
  call->session->kl = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

static void *plain_allocate (void *data, void *block, size_t old, size_t size) {
  (void)data; (void)old;
  if (size > 0) return realloc(block, size);
  free(block);
  return NULL;
}

perilune_Session *perilune_begin (lua_Alloc allocate, void *data,
                                  const perilune_Options *options) {
  if (allocate == NULL) allocate = plain_allocate;
  perilune_Session *s = allocate(data, NULL, 0, sizeof *s);
  if (s == NULL) return NULL;
  *s = (perilune_Session) {.allocate = allocate, .data = data};
  s->L = lua_newstate(allocate, data);
  Call call = {.session = s, .name = "perilune_begin", .options = options};
  if (s->L != NULL && run(&call, open_session) == PERILUNE_OK) return s;
  perilune_end(s);
  return NULL;
}

void perilune_end (perilune_Session *s) {
  if (s == NULL) return;
  if (s->L != NULL) lua_close(s->L);
  s->allocate(s->data, s, sizeof *s, 0);
}

const char *perilune_message (const perilune_Session *s) {
  return s == NULL ? "there is no session" : s->message;
}


/* Keeps the value on top of the stack under a handle. */
static int keep (lua_State *L, Call *call) {
  call->result = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

static int make_distribution (lua_State *L) {
  Call *call = call_of(L);
  check_given(L, call->name, "the name of a distribution must be a string");
  if (call->n < 0) luaL_error(L, "%s: n must not be negative, got %d", call->name, call->n);
  if (call->n > 0) check_given(L, call->arrays, "params must be an array");
  lua_rawgeti(L, LUA_REGISTRYINDEX, call->session->peri);
  lua_getfield(L, -1, call->name);
  if (!host_is_module("distributions", call->name)) luaL_error(L, "%s is no distribution", call->name);
  luaL_checkstack(L, call->n, call->name);
  for (int i = 0; i < call->n; i++)
    if (push_array(L, &call->arrays[i]) != NULL) {
      api_new_copy(L, call->name, -1);
      lua_remove(L, -2);
    }
  lua_call(L, call->n, 1);
  return keep(L, call);
}

int perilune_distribution (perilune_Session *s, const char *name, int n,
                           const perilune_Array params[]) {
  return run(&(Call) {.session = s, .name = name, .n = n, .arrays = params}, make_distribution);
}

static int make_rng (lua_State *L) {
  Call *call = call_of(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, call->session->peri);
  lua_getfield(L, -1, "rng");
  lua_pushinteger(L, (lua_Integer)call->seed);
  lua_call(L, 1, 1);
  return keep(L, call);
}

int perilune_rng (perilune_Session *s, uint64_t seed) {
  return run(&(Call) {.session = s, .seed = seed}, make_rng);
}

int perilune_forget (perilune_Session *s, int handle) {
  if (s == NULL) return PERILUNE_REFUSED;
  lua_settop(s->L, 0);
  int type = handle > s->kl ? lua_rawgeti(s->L, LUA_REGISTRYINDEX, handle) : LUA_TNIL;
  if (type != LUA_TTABLE && type != LUA_TUSERDATA)
    return fail_with(s, PERILUNE_REFUSED, "there is no such handle");
  luaL_unref(s->L, LUA_REGISTRYINDEX, handle);
  return PERILUNE_OK;
}


static int evaluate (lua_State *L) {
  Call *call = call_of(L);
  check_given(L, call->name, "the name of a method must be a string");
  check_room(L, call);
  push_handle(L, call, call->handles[0], LUA_TTABLE);
  if (lua_getfield(L, -1, call->name) != LUA_TFUNCTION)
    luaL_error(L, "there is no method %s", call->name);
  lua_insert(L, -2);
  if (call->arrays != NULL) push_array(L, call->arrays);
  lua_call(L, call->arrays != NULL ? 2 : 1, 1);
  take_result(L, call);
  return 0;
}

int perilune_evaluate (perilune_Session *s, int d, const char *method, const perilune_Array *x,
                       double *out, size_t room) {
  return run(&(Call) {.session = s, .name = method, .handles = {d}, .arrays = x, .out = out,
                      .room = room}, evaluate);
}

static int sample (lua_State *L) {
  Call *call = call_of(L);
  check_room(L, call);
  push_handle(L, call, call->handles[0], LUA_TTABLE);
  lua_getfield(L, -1, "sample");
  lua_insert(L, -2);
  lua_pushinteger(L, (lua_Integer)call->count);
  if (call->handles[1] == 0) lua_pushnil(L);
  else push_handle(L, call, call->handles[1], LUA_TUSERDATA);
  lua_call(L, 3, 1);
  take_result(L, call);
  return 0;
}

int perilune_sample (perilune_Session *s, int d, int rng, size_t n, double *out, size_t room) {
  return run(&(Call) {.session = s, .name = "sample", .handles = {d, rng}, .count = n, .out = out,
                      .room = room}, sample);
}

static int divergence (lua_State *L) {
  Call *call = call_of(L);
  check_room(L, call);
  lua_rawgeti(L, LUA_REGISTRYINDEX, call->session->kl);
  push_handle(L, call, call->handles[0], LUA_TTABLE);
  push_handle(L, call, call->handles[1], LUA_TTABLE);
  lua_call(L, 2, 1);
  take_result(L, call);
  return 0;
}

int perilune_kl (perilune_Session *s, int p, int q, double *out, size_t room) {
  return run(&(Call) {.session = s, .name = "kl_divergence", .handles = {p, q}, .out = out,
                      .room = room}, divergence);
}


static int rng_state (lua_State *L) {
  Call *call = call_of(L);
  size_t length;
  if (call->room > 0) check_given(L, call->out_text, "text must be room for a string");
  push_handle(L, call, call->handles[0], LUA_TUSERDATA);
  lua_getfield(L, -1, "state");
  lua_insert(L, -2);
  lua_call(L, 1, 1);
  const char *text = lua_tolstring(L, -1, &length);
  if (length < call->room) memcpy(call->out_text, text, length + 1);
  else call->result = fail_with(call->session, PERILUNE_ROOM,
                                "the state of a generator is longer than the room");
  return 0;
}

int perilune_rng_state (perilune_Session *s, int rng, char *text, size_t room) {
  return run(&(Call) {.session = s, .handles = {rng}, .out_text = text, .room = room},
             rng_state);
}

static int rng_restore (lua_State *L) {
  Call *call = call_of(L);
  check_given(L, call->text, "text must be a string");
  push_handle(L, call, call->handles[0], LUA_TUSERDATA);
  lua_getfield(L, -1, "restore");
  lua_insert(L, -2);
  lua_pushstring(L, call->text);
  lua_call(L, 2, 2);
  if (lua_isnil(L, -2)) return lua_error(L);
  return 0;
}

int perilune_rng_restore (perilune_Session *s, int rng, const char *text) {
  return run(&(Call) {.session = s, .handles = {rng}, .text = text}, rng_restore);
}
