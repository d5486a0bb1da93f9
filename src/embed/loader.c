/*
** loader.c - the Lua files inside the object, and how they find each other
**
** Our chunks see an environment of their own: the standard names as they were when perilune was
** opened, and a `require` that knows our modules alone. So neither the library "package" nor a
** script that changes globals matters to them. What is loaded is in the table that Lua's own
** `require` looks at first.
*/
#include <stdlib.h>
#include <string.h>

#include "embed/embed.h"

static const char ENVIRONMENT = 'e';   /* its address is the registry's key */

/* What chunks of ours may use of Lua. */
static const char *const standard[] = {
  "_G", "_VERSION", "assert", "collectgarbage", "coroutine", "debug", "error", "getmetatable",
  "io", "ipairs", "load", "math", "next", "os", "pairs", "pcall", "print", "rawequal", "rawget",
  "rawlen", "rawset", "select", "setmetatable", "string", "table", "tonumber", "tostring", "type",
  "utf8", "warn", "xpcall", NULL
};


static int by_name (const void *name, const void *file) {
  return strcmp(name, ((const EmbeddedFile *)file)->name);
}

static const EmbeddedFile *find_file (const char *name) {
  return bsearch(name, perilune_files, perilune_file_count, sizeof *perilune_files, by_name);
}

static int require_ours (lua_State *L);

static void push_environment (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &ENVIRONMENT) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushglobaltable(L);
  for (const char *const *name = standard; *name != NULL; name++) {
    lua_pushstring(L, *name);
    lua_rawget(L, -2);
    lua_setfield(L, -3, *name);
  }
  lua_pop(L, 1);
  lua_pushcfunction(L, require_ours);
  lua_setfield(L, -2, "require");
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &ENVIRONMENT);
}

/* Pushes what a module is: the chunk's result, or true. */
static void run_file (lua_State *L, const EmbeddedFile *file) {
  lua_pushfstring(L, "@%s", file->name);
  if (luaL_loadbufferx(L, file->chunk, file->size, lua_tostring(L, -1), NULL) != LUA_OK)
    lua_error(L);
  lua_remove(L, -2);
  push_environment(L);
  lua_setupvalue(L, -2, 1);
  lua_pushstring(L, file->name);
  lua_call(L, 1, 1);
  if (!lua_isnil(L, -1)) return;
  lua_pop(L, 1);
  lua_pushboolean(L, 1);
}

/* Pushes the module of this name, loaded if it was not; 0 if there is none. */
static int push_module (lua_State *L, const char *name) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, name) == LUA_TNIL) {
    const EmbeddedFile *file = find_file(name);
    int is_core = strcmp(name, "perilune.core") == 0;
    lua_pop(L, 1);
    if (file == NULL && !is_core) return lua_pop(L, 1), 0;
    if (is_core) luaopen_perilune_core(L);
    else run_file(L, file);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, name);
  }
  lua_remove(L, -2);
  return 1;
}

static int require_ours (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  if (!push_module(L, name)) return luaL_error(L, "module '%s' is not part of perilune", name);
  return 1;
}


void perilune_preload (lua_State *L) {
  luaL_checkversion(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  for (size_t i = 0; i < perilune_file_count; i++) {
    lua_pushcfunction(L, require_ours);
    lua_setfield(L, -2, perilune_files[i].name);
  }
  lua_pushcfunction(L, require_ours);
  lua_setfield(L, -2, "perilune.core");
  lua_pop(L, 1);
}

int luaopen_perilune (lua_State *L) {
  luaL_checkversion(L);
  embed_open_border(L);
  push_module(L, "perilune");
  return 1;
}

/* peri.preload of the names in a list, the module being on top of the stack. */
static void preload_names (lua_State *L, const char *names) {
  lua_getfield(L, -1, "preload");
  if (strcmp(names, "*") == 0) {
    lua_call(L, 0, 0);
    return;
  }
  lua_newtable(L);
  for (const char *end; *(names += strspn(names, " ")) != '\0'; names = end) {
    end = names + strcspn(names, " ");
    lua_pushlstring(L, names, (size_t)(end - names));
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  }
  lua_call(L, 1, 0);
}

int perilune_open (lua_State *L, const perilune_Options *options) {
  luaopen_perilune(L);
  if (options == NULL) return 1;
  host_configure_threads(L, options->max_threads, &(Jobs) {options->jobs, options->jobs_data});
  if (options->eager != NULL) preload_names(L, options->eager);
  return 1;
}
