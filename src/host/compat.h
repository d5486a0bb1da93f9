/*
** compat.h - Lua's API as Lua 5.4 has it, for LuaJIT and Lua 5.1 to 5.3 as well
**
** User values lie in a table, which is the environment of a userdata in 5.1 and its one user value
** later. Before 5.3 an integer is a number that has no fraction.
*/
#ifndef PERILUNE_COMPAT_H
#define PERILUNE_COMPAT_H

#include <stdarg.h>

#include <lua.h>
#include <lauxlib.h>

/* Parameters that the function in Lua at `index` names; -1 if it takes any number or is written in
   C. */
int compat_parameters (lua_State *L, int index);

#if LUA_VERSION_NUM < 504

#if LUA_VERSION_NUM < 502
#define lua_getuservalue lua_getfenv
#define lua_setuservalue lua_setfenv
#endif

/* Has the collector of LuaJIT run less often while the heap is small. */
void compat_add_ballast (lua_State *L);

void *compat_newuserdatauv (lua_State *L, size_t size, int user_values);
int compat_getiuservalue (lua_State *L, int index, int n);
int compat_setiuservalue (lua_State *L, int index, int n);

#define lua_newuserdatauv compat_newuserdatauv
#define lua_getiuservalue compat_getiuservalue
#define lua_setiuservalue compat_setiuservalue

/* To make a userdata and set several of its n user values at once: make it with compat_early(n) of them,
   and while it is on top open all n, keep the values at some places of the stack, close. */
static inline int compat_early (int n) { (void)n; return 0; }
static inline void compat_open_values (lua_State *L, int n) { lua_createtable(L, n, 0); }
static inline void compat_keep_value (lua_State *L, int index, int n) {
  lua_pushvalue(L, index);
  lua_rawseti(L, -2, n);
}
static inline void compat_close_values (lua_State *L) { lua_setuservalue(L, -2); }

#else

static inline void compat_add_ballast (lua_State *L) { (void)L; }

static inline int compat_early (int n) { return n; }
static inline void compat_open_values (lua_State *L, int n) { (void)L; (void)n; }
static inline void compat_keep_value (lua_State *L, int index, int n) {
  lua_pushvalue(L, index);
  lua_setiuservalue(L, -2, n);
}
static inline void compat_close_values (lua_State *L) { (void)L; }

#endif

#if LUA_VERSION_NUM < 503

#define LUAI_UACINT lua_Integer
typedef int lua_KContext;

/* These return the type of what they push; where nobody wants it, it is not asked for. */
LUA_API int lua_type (lua_State *L, int index) __attribute__((pure));
static inline int compat_getfield (lua_State *L, int index, const char *name) {
  lua_getfield(L, index, name);
  return lua_type(L, -1);
}
static inline int compat_gettable (lua_State *L, int index) {
  lua_gettable(L, index);
  return lua_type(L, -1);
}
static inline int compat_rawget (lua_State *L, int index) {
  lua_rawget(L, index);
  return lua_type(L, -1);
}
static inline int compat_rawgeti (lua_State *L, int index, lua_Integer n) {
  lua_rawgeti(L, index, (int)n);
  return lua_type(L, -1);
}
int compat_rawgetp  (lua_State *L, int index, const void *key);
int compat_getmetafield (lua_State *L, int index, const char *name);
void compat_rawsetp (lua_State *L, int index, const void *key);

int compat_isinteger (lua_State *L, int index);
lua_Integer compat_tointegerx (lua_State *L, int index, int *is_integer);
lua_Integer compat_checkinteger (lua_State *L, int index);

/* With %I */
const char *compat_pushfstring (lua_State *L, const char *format, ...);
const char *compat_pushvfstring (lua_State *L, const char *format, va_list arguments);

#define lua_getfield(L, index, name) compat_getfield(L, index, name)
#define lua_gettable(L, index)       compat_gettable(L, index)
#define lua_rawget(L, index)         compat_rawget(L, index)
#define lua_rawgeti(L, index, n)     compat_rawgeti(L, index, n)
#define lua_rawgetp  compat_rawgetp
#define lua_rawsetp  compat_rawsetp
#define luaL_getmetafield(L, index, name) compat_getmetafield(L, index, name)
#define lua_isinteger   compat_isinteger
#define lua_tointegerx  compat_tointegerx
#undef lua_tointeger
#define lua_tointeger(L, index) compat_tointegerx(L, index, NULL)   /* 0 where there is a fraction */
#define luaL_checkinteger compat_checkinteger
#define lua_pushfstring  compat_pushfstring
#define lua_pushvfstring compat_pushvfstring

/* No yields across calls from C: 5.2 passes on other arguments than 5.3. */
#if LUA_VERSION_NUM == 502
#define lua_callk(L, n, results, context, after) ((void)(after), (lua_callk)(L, n, results, 0, NULL))
#else
#define lua_callk(L, n, results, context, after) ((void)(after), lua_call(L, n, results))
#endif

#endif

#if LUA_VERSION_NUM < 502

#ifndef LUA_OK
#define LUA_OK 0
#endif
typedef size_t lua_Unsigned;

int compat_absindex (lua_State *L, int index);
void compat_copy (lua_State *L, int from, int to);
int compat_getsubtable (lua_State *L, int index, const char *name);
void compat_setfuncs (lua_State *L, const luaL_Reg *functions, int upvalues);
const char *compat_tolstring (lua_State *L, int index, size_t *length);
const char *compat_pushstring (lua_State *L, const char *text);
void compat_buffinit (lua_State *L, luaL_Buffer *buffer);   /* makes room for its pieces */

#define lua_absindex compat_absindex
#define lua_copy compat_copy
#define lua_rawlen lua_objlen
#define luaL_getsubtable compat_getsubtable
#define luaL_setfuncs compat_setfuncs
#define luaL_tolstring compat_tolstring
#define lua_pushstring(L, text) compat_pushstring(L, text)
#define luaL_buffinit(L, buffer) compat_buffinit(L, buffer)
#define luaL_prepbuffsize(buffer, size) ((void)(size), luaL_prepbuffer(buffer))
#define luaL_checkversion(L) ((void)(L))
#undef luaL_newlib
#define luaL_newlib(L, functions) (lua_newtable(L), luaL_setfuncs(L, functions, 0))

#endif

#endif
