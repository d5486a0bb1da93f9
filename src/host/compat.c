/*
** compat.c - what Lua 5.4 has and older ones have not
*/
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/compat.h"

#if LUA_VERSION_NUM < 504

#if LUA_VERSION_NUM < 502 && defined(LUA_GCISRUNNING)

enum { BALLAST = 512 };   /* kilobytes that compat_add_ballast adds */

/* Kilobytes that may pile up before blocks of `size` bytes are worth a cycle: four times what it goes
   through, up to MANY. Blocks below MAPPED are given out again while they are in the cache, unless so
   many are free that the allocator returns them to the system (2 MB); larger ones are mapped one by one. */
static double worth_a_cycle (size_t size, int left) {
  enum { MAPPED = 128 << 10, MANY = 16384 };
  return size < MAPPED ? fmin(4.0 * (left - BALLAST), MANY) : MANY;
}

/* LuaJIT collects no more for a large block than for a small one, so that large ones pile up. Before
   one of `size` bytes is made, this has it do what is due for so many: once the heap has grown since
   the last cycle by what its pause says, and by what is worth one at least. */
static void collect_for (lua_State *L, size_t size) {
  static const char NEXT = 'n';   /* registry key: kilobytes where the next cycle begins */
  lua_rawgetp(L, LUA_REGISTRYINDEX, &NEXT);
  double next = lua_tonumber(L, -1);
  lua_pop(L, 1);
  if (lua_gc(L, LUA_GCCOUNT, 0) < next || !lua_gc(L, LUA_GCISRUNNING, 0)) return;
  size_t kilobytes = size >> 10, most = 1 << 20;
  if (!lua_gc(L, LUA_GCSTEP, (int)(kilobytes < most ? kilobytes : most))) return;   /* the cycle goes on */
  int left = lua_gc(L, LUA_GCCOUNT, 0), pause = lua_gc(L, LUA_GCSETPAUSE, 200);
  lua_gc(L, LUA_GCSETPAUSE, pause);
  lua_pushnumber(L, fmax(left * (pause / 100.0), left + worth_a_cycle(size, left)));
  lua_rawsetp(L, LUA_REGISTRYINDEX, &NEXT);
}

/* LuaJIT begins a cycle when the heap has doubled, and marks everything in it each time: with the
   library alone, for every 300 KB of results. A block that nobody touches is nothing to mark and takes
   no memory (its pages never come into being), but it counts: a cycle begins half a megabyte later. The
   pause that a program sets still holds. */
void compat_add_ballast (lua_State *L) {
  static const char KEY = 'b';
  lua_newuserdata(L, BALLAST << 10);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &KEY);
}

#else

/* Lua does; or, in 5.1, does not tell whether its collector was stopped. */
static void collect_for (lua_State *L, size_t size) { (void)L; (void)size; }
void compat_add_ballast (lua_State *L) { (void)L; }

#endif

void *compat_newuserdatauv (lua_State *L, size_t size, int user_values) {
  enum { LARGE = 4096 };   /* bytes */
  if (size >= LARGE) collect_for(L, size);
  void *block = lua_newuserdata(L, size);
  if (user_values > 0) {
    lua_createtable(L, user_values, 0);
    lua_setuservalue(L, -2);
  }
  return block;
}

int compat_getiuservalue (lua_State *L, int index, int n) {
  lua_getuservalue(L, index);
  if (LUA_VERSION_NUM < 502 || lua_istable(L, -1)) lua_rawgeti(L, -1, n);
  else lua_pushnil(L);
  lua_replace(L, -2);
  return lua_type(L, -1);
}

int compat_setiuservalue (lua_State *L, int index, int n) {
  lua_getuservalue(L, index);
  lua_insert(L, -2);
  lua_rawseti(L, -2, n);
  lua_pop(L, 1);
  return 1;
}

#endif


#if LUA_VERSION_NUM >= 502

int compat_parameters (lua_State *L, int index) {
  lua_Debug f;
  lua_pushvalue(L, index);
  lua_getinfo(L, ">u", &f);
  return lua_iscfunction(L, index) || f.isvararg ? -1 : f.nparams;
}

#else

/* How a function of Lua 5.1 begins when it is written out: header, length of its source's name, that
   name, first line, last line, number of upvalues, of parameters, is there a `...`? */
typedef struct Written { int piece, parameters, is_vararg; } Written;

static int read_piece (lua_State *L, const void *bytes, size_t size, void *data) {
  enum { HEADER = 1, PARAMETERS = 7, IS_VARARG = 8 };
  Written *w = data;
  (void)L;
  w->piece++;
  if (w->piece == HEADER) return size < 4 || memcmp(bytes, "\033Lua", 4) != 0;   /* not that of LuaJIT */
  if (w->piece == PARAMETERS) w->parameters = *(const unsigned char *)bytes;
  if (w->piece == IS_VARARG) w->is_vararg = *(const unsigned char *)bytes;
  return w->piece == IS_VARARG;   /* that is all */
}

static int written_parameters (lua_State *L, int index) {
  Written w = {.is_vararg = 1};
  lua_pushvalue(L, index);
  lua_dump(L, read_piece, &w);
  lua_pop(L, 1);
  return w.is_vararg ? -1 : w.parameters;
}

/* Pushes jit.util, or something else where there is none. */
static void push_jit_util (lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, "_PRELOAD");
  if (lua_getfield(L, -1, "jit.util") == LUA_TFUNCTION) {
    lua_pushliteral(L, "jit.util");
    lua_call(L, 1, 1);
  }
  lua_remove(L, -2);
}

int compat_parameters (lua_State *L, int index) {
  static const char UTIL = 'u';
  int n = -1, top = lua_gettop(L);
  if (lua_iscfunction(L, index)) return -1;
  index = lua_absindex(L, index);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &UTIL) == LUA_TNIL) {
    push_jit_util(L);
    if (lua_isnil(L, -1)) lua_pushboolean(L, 0);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &UTIL);
  }
  if (lua_istable(L, -1) && lua_getfield(L, -1, "funcinfo") == LUA_TFUNCTION) {
    lua_pushvalue(L, index);
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "isvararg");
    lua_getfield(L, -2, "params");
    if (!lua_toboolean(L, -2)) n = (int)lua_tointeger(L, -1);
  }
  else if (!lua_istable(L, -1)) n = written_parameters(L, index);
  lua_settop(L, top);
  return n;
}

#endif


#if LUA_VERSION_NUM < 503

int compat_rawgetp (lua_State *L, int index, const void *key) {
  index = lua_absindex(L, index);
  lua_pushlightuserdata(L, (void *)(size_t)key);
  return compat_rawget(L, index);
}

void compat_rawsetp (lua_State *L, int index, const void *key) {
  index = lua_absindex(L, index);
  lua_pushlightuserdata(L, (void *)(size_t)key);
  lua_insert(L, -2);
  lua_rawset(L, index);
}

int compat_getmetafield (lua_State *L, int index, const char *name) {
  return (luaL_getmetafield)(L, index, name) ? lua_type(L, -1) : LUA_TNIL;
}

int compat_isinteger (lua_State *L, int index) {
  double x = lua_type(L, index) == LUA_TNUMBER ? lua_tonumber(L, index) : 0.5;
  return x == floor(x) && fabs(x) <= 0x1p53;
}

lua_Integer compat_tointegerx (lua_State *L, int index, int *is_integer) {
  double x = lua_tonumber(L, index), end = sizeof(lua_Integer) == 8 ? 0x1p63 : 0x1p31;
  int fits = x > -end && x < end && (double)(lua_Integer)x == x && (x != 0 || lua_isnumber(L, index));
  if (is_integer != NULL) *is_integer = fits;
  return fits ? (lua_Integer)x : 0;
}

lua_Integer compat_checkinteger (lua_State *L, int index) {
  int is_integer;
  luaL_checknumber(L, index);
  lua_Integer n = compat_tointegerx(L, index, &is_integer);
  if (!is_integer) luaL_argerror(L, index, "number has no integer representation");
  return n;
}

/* Pushes what one % stands for, its letter being `kind`. */
static void push_formatted (lua_State *L, char kind, va_list *arguments) {
  char text[64];
  const char *s;
  switch (kind) {
    case 's':
      s = va_arg(*arguments, const char *);
      lua_pushstring(L, s != NULL ? s : "(null)");
      return;
    case 'd': snprintf(text, sizeof text, "%d", va_arg(*arguments, int)); break;
    case 'I': snprintf(text, sizeof text, "%lld", (long long)va_arg(*arguments, lua_Integer)); break;
    case 'f': snprintf(text, sizeof text, LUA_NUMBER_FMT, va_arg(*arguments, double)); break;
    case 'c': snprintf(text, sizeof text, "%c", va_arg(*arguments, int)); break;
    case 'p': snprintf(text, sizeof text, "%p", va_arg(*arguments, void *)); break;
    default:  snprintf(text, sizeof text, "%c", kind);
  }
  lua_pushstring(L, text);
}

static const char *push_all (lua_State *L, const char *format, va_list *arguments) {
  lua_pushliteral(L, "");
  for (const char *at; (at = strchr(format, '%')) != NULL; format = at + 2) {
    luaL_checkstack(L, 3, NULL);
    lua_pushlstring(L, format, (size_t)(at - format));
    push_formatted(L, at[1], arguments);
    lua_concat(L, 3);
  }
  lua_pushstring(L, format);
  lua_concat(L, 2);
  return lua_tostring(L, -1);
}

const char *compat_pushvfstring (lua_State *L, const char *format, va_list arguments) {
  va_list copy;
  va_copy(copy, arguments);
  const char *text = push_all(L, format, &copy);
  va_end(copy);
  return text;
}

const char *compat_pushfstring (lua_State *L, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *text = push_all(L, format, &arguments);
  va_end(arguments);
  return text;
}

#endif


#if LUA_VERSION_NUM < 502

int compat_absindex (lua_State *L, int index) {
  return index > 0 || index <= LUA_REGISTRYINDEX ? index : lua_gettop(L) + index + 1;
}

void compat_copy (lua_State *L, int from, int to) {
  to = lua_absindex(L, to);
  lua_pushvalue(L, from);
  lua_replace(L, to);
}

int compat_getsubtable (lua_State *L, int index, const char *name) {
  index = lua_absindex(L, index);
  if (lua_getfield(L, index, name) == LUA_TTABLE) return 1;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, index, name);
  return 0;
}

void compat_setfuncs (lua_State *L, const luaL_Reg *functions, int upvalues) {
  luaL_checkstack(L, upvalues + 1, NULL);
  for (; functions->name != NULL; functions++) {
    for (int i = 0; i < upvalues; i++) lua_pushvalue(L, -upvalues);
    lua_pushcclosure(L, functions->func, upvalues);
    lua_setfield(L, -upvalues - 2, functions->name);
  }
  lua_pop(L, upvalues);
}

const char *compat_tolstring (lua_State *L, int index, size_t *length) {
  index = lua_absindex(L, index);
  if (!luaL_callmeta(L, index, "__tostring")) {
    int type = lua_type(L, index);
    if (type == LUA_TNUMBER || type == LUA_TSTRING) {
      lua_pushvalue(L, index);
      lua_tostring(L, -1);
    }
    else if (type == LUA_TBOOLEAN) lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false");
    else if (type == LUA_TNIL) lua_pushliteral(L, "nil");
    else lua_pushfstring(L, "%s: %p", luaL_typename(L, index), lua_topointer(L, index));
  }
  return lua_tolstring(L, -1, length);
}

const char *compat_pushstring (lua_State *L, const char *text) {
  (lua_pushstring)(L, text);
  return lua_tostring(L, -1);
}

void compat_buffinit (lua_State *L, luaL_Buffer *buffer) {
  luaL_checkstack(L, LUA_MINSTACK, NULL);
  (luaL_buffinit)(L, buffer);
}

#endif
