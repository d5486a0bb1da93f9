/*
** errors.c - messages that name the function, the argument, rule and value
*/
#include <stdarg.h>
#include <string.h>

#include "host/host.h"


static const char LIBRARY = 'l';   /* its address is the registry's key */

static int begins_with (const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

/* Pushes "file:line: " of the nearest function outside the library whose lines are known, or
   "": whoever called, however deep within the library an error was found. */
static void push_where (lua_State *L) {
  lua_Debug at;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &LIBRARY);
  const char *ours = lua_tostring(L, -1);   /* how the sources of lua/perilune begin, or NULL */
  lua_pushliteral(L, "");
  for (int level = 1; lua_getstack(L, level, &at); level++) {
    lua_getinfo(L, "Sl", &at);
    if (at.currentline <= 0 || (ours != NULL && begins_with(at.source, ours))) continue;
    lua_pop(L, 1);
    lua_pushfstring(L, "%s:%d: ", at.short_src, at.currentline);
    break;
  }
  lua_remove(L, -2);
}

int host_is_ours (lua_State *L, const char *source) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &LIBRARY);
  const char *ours = lua_tostring(L, -1);
  int is_ours = begins_with(source, ours != NULL ? ours : "=?");
  lua_pop(L, 1);
  return is_ours;
}

/* core.library(name): the chunk that calls this is the module of that name, and what precedes
   the name in its source begins the sources of all our chunks ("@lua/perilune/"). Said once:
   it stays. */
static int library (lua_State *L) {
  const char *name = luaL_checkstring(L, 1), *end = NULL;
  lua_Debug at;
  if (*name == '\0' || lua_rawgetp(L, LUA_REGISTRYINDEX, &LIBRARY) != LUA_TNIL) return 0;
  if (!lua_getstack(L, 1, &at)) return 0;
  lua_getinfo(L, "S", &at);
  if (*at.source != '@' && *at.source != '=') return 0;   /* not a name, but the text */
  for (const char *s = strstr(at.source, name); s != NULL; s = strstr(s + 1, name)) end = s;
  if (end == NULL) return 0;
  lua_pushlstring(L, at.source, (size_t)(end - at.source));
  lua_rawsetp(L, LUA_REGISTRYINDEX, &LIBRARY);
  return 0;
}

/* core.raise(message): an error at the line of the library's caller */
static int raise (lua_State *L) {
  luaL_checkstring(L, 1);
  lua_settop(L, 1);
  push_where(L);
  lua_insert(L, 1);
  lua_concat(L, 2);
  return lua_error(L);
}

/* Calls the function in C at upvalue 1. It knows no line of its caller's: its message gets one,
   unless it is a function of ours, which has found the same. */
static int call_located (lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  if (status == LUA_OK) return lua_gettop(L);
  if (status != LUA_ERRRUN || lua_type(L, -1) != LUA_TSTRING) return lua_error(L);
  push_where(L);
  if (begins_with(lua_tostring(L, -2), lua_tostring(L, -1))) lua_pop(L, 1);
  else {
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

/* core.located(f): a user's function that is called from within the library, such that its errors
   have lines: f itself, unless it is written in C (math.sin) */
static int located (lua_State *L) {
  lua_settop(L, 1);
  if (lua_iscfunction(L, 1)) lua_pushcclosure(L, call_located, 1);
  return 1;
}


int host_fail (lua_State *L, const char *who, const char *format, ...) {
  va_list arguments;
  push_where(L);
  lua_pushfstring(L, "%s: ", who);
  va_start(arguments, format);
  lua_pushvfstring(L, format, arguments);
  va_end(arguments);
  lua_concat(L, 3);
  return lua_error(L);
}


/* core.describe(x) */
static int describe (lua_State *L) {
  lua_settop(L, 1);
  host_push_value(L, 1);
  return 1;
}

int host_fail_type (lua_State *L, const char *who, const char *name,
                    const char *rule, int index) {
  if (lua_isnone(L, index)) return host_fail(L, who, "%s is missing", name);
  host_push_value(L, index);
  return host_fail(L, who, "%s must be %s, got %s", name, rule, lua_tostring(L, -1));
}

void host_more_arguments (lua_State *L, const char *who, int most, int n) {
  int self = strchr(who, ':') != NULL;
  const char *plural = most - self == 1 ? "" : "s";
  while (n > most && lua_isnil(L, n)) n--;
  if (n > most)
    host_fail(L, who, "takes at most %d argument%s, got %d", most - self, plural, n - self);
}


/* core.check_arguments(who, names, ...): refuses more arguments than names, and nil for one */
static int check_arguments (lua_State *L) {
  const char *who = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  int n = lua_gettop(L) - 2, most = (int)lua_rawlen(L, 2);
  while (n > most && lua_isnil(L, 2 + n)) n--;
  if (n > most) host_fail(L, who, "takes %d argument%s, got %d", most, most == 1 ? "" : "s", n);
  for (int i = 1; i <= n; i++) {
    if (!lua_isnil(L, 2 + i)) continue;
    lua_rawgeti(L, 2, i);
    host_fail(L, who, "%s is nil (argument %d)", lua_tostring(L, -1), i);
  }
  return 0;
}

int host_fail_shapes (lua_State *L, const char *who, const char *why, int n,
                      const Tensor *const in[]) {
  host_push_shapes(L, n, in);
  return host_fail(L, who, "%s %s", lua_tostring(L, -1), why);
}


static const luaL_Reg functions[] = {
  {"library",  library},
  {"raise",    raise},
  {"located",  located},
  {"describe", describe},
  {"check_arguments", check_arguments},
  {NULL, NULL}
};

void host_open_errors (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
