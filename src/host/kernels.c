/*
** kernels.c - which kernels there are, and which build of them this machine
** runs
**
** The kernels are compiled once for each instruction set (see the Makefile)
** and give the same bits in all of them.
*/
#include <stdlib.h>
#include <string.h>

#include "host/host.h"

extern const char *const perilune_modules[];   /* generated, as the tables are: "folder/name" */
extern const unsigned long perilune_kernel_files;   /* in each of these */
extern const KernelFile perilune_kernels_baseline[];
#ifdef PERILUNE_HAVE_AVX2
extern const KernelFile perilune_kernels_avx2[];
#endif

static const char CHOSEN = 'k';


static const char *instruction_set (void) {
#ifdef PERILUNE_HAVE_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return "avx2";
#endif
  return "baseline";
}

static const KernelFile *kernel_files (const char *set) {
#ifdef PERILUNE_HAVE_AVX2
  if (strcmp(set, "avx2") == 0) return perilune_kernels_avx2;
#endif
  (void)set;
  return perilune_kernels_baseline;
}

/* All files, in the order of their names, and one without a name. */
static const KernelFile *first_file (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &CHOSEN);
  const KernelFile *f = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return f;
}

static int by_name (const void *name, const void *file) {
  return strcmp(name, ((const KernelFile *)file)->name);
}

const Kernel *host_kernels (lua_State *L, const char *file) {
  const KernelFile *f = first_file(L);
  f = bsearch(file, f, perilune_kernel_files, sizeof *f, by_name);
  return f == NULL ? NULL : f->kernels;
}

const Kernel *host_kernel (lua_State *L, const char *file, const char *name) {
  for (const Kernel *k = host_kernels(L, file); k != NULL && k->name != NULL; k++)
    if (strcmp(k->name, name) == 0) return k;
  return NULL;
}


static const char *kind_of (const Kernel *k) {
  if (k->sampler != NULL) return "sampler";
  if (k->rows != NULL) return "rows";
  if (k->reduction != NULL) return "reduction";
  return k->update != NULL ? "step" : "elementwise";
}

/* Sets a field of the table on top of the stack, if there is a text for it. */
static void set_text (lua_State *L, const char *field, const char *text) {
  if (text == NULL) return;
  lua_pushstring(L, text);
  lua_setfield(L, -2, field);
}

static void push_kernel (lua_State *L, const Kernel *k) {
  lua_createtable(L, 0, 7);
  set_text(L, "name", k->name);
  lua_pushinteger(L, k->n_in);
  lua_setfield(L, -2, "n_in");
  set_text(L, "kind", kind_of(k));
  set_text(L, "noise", kernel_noise(k));
  set_text(L, "signature", k->rows == NULL ? NULL : k->rows->signature);
  lua_pushboolean(L, k->partials != NULL);
  lua_setfield(L, -2, "has_partials");
  lua_pushboolean(L, k->rows != NULL && k->rows->adjoint != NULL);
  lua_setfield(L, -2, "has_adjoint");
}

/* core.kernels(file) -> {{name =, n_in =, kind =, noise =, signature =, has_partials =,
   has_adjoint =}, ...}, or nil if there is no such file */
static int kernels (lua_State *L) {
  const Kernel *k = host_kernels(L, luaL_checkstring(L, 1));
  if (k == NULL) return lua_pushnil(L), 1;
  lua_newtable(L);
  for (; k->name != NULL; k++) {
    push_kernel(L, k);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  }
  return 1;
}

/* Returns name, n_in and kind of the next kernel of a file, and nothing after the last. */
static int next_kernel (lua_State *L) {
  const Kernel *k = lua_touserdata(L, lua_upvalueindex(1));
  if (k->name == NULL) return 0;
  lua_pushlightuserdata(L, (void *)(uintptr_t)(k + 1));
  lua_replace(L, lua_upvalueindex(1));
  lua_pushstring(L, k->name);
  lua_pushinteger(L, k->n_in);
  lua_pushstring(L, kind_of(k));
  return 3;
}

/* for name, n_in, kind in core.each_kernel(file); nil if there is no such file. It makes no tables. */
static int each_kernel (lua_State *L) {
  const Kernel *first = host_kernels(L, luaL_checkstring(L, 1));
  if (first == NULL) return lua_pushnil(L), 1;
  lua_pushlightuserdata(L, (void *)(uintptr_t)first);
  lua_pushcclosure(L, next_kernel, 1);
  return 1;
}

/* Is a file in a folder of this name? */
static int is_in (const char *file, const char *folder, size_t length) {
  return strncmp(file, folder, length) == 0 && file[length] == '/';
}

/* core.kernel_files(folder) -> the names of all files, or of those in a folder: "normal",
   "kl/normal", ... */
static int files (lua_State *L) {
  size_t length = 0;
  const char *folder = luaL_optlstring(L, 1, NULL, &length);
  lua_Integer n = 0;
  lua_newtable(L);
  for (const KernelFile *f = first_file(L); f->name != NULL; f++) {
    if (folder != NULL && !is_in(f->name, folder, length)) continue;
    lua_pushstring(L, f->name);
    lua_rawseti(L, -2, ++n);
  }
  return 1;
}

/* Pushes the names of the files in a folder of lua/perilune, in alphabetical order. */
static void push_modules (lua_State *L, const char *folder) {
  size_t length = strlen(folder);
  lua_Integer n = 0;
  lua_newtable(L);
  for (const char *const *m = perilune_modules; *m != NULL; m++) {
    if (!is_in(*m, folder, length)) continue;
    lua_pushstring(L, *m + length + 1);
    lua_rawseti(L, -2, ++n);
  }
}

/* core.modules(folder) -> the names of its files */
static int modules (lua_State *L) {
  push_modules(L, luaL_checkstring(L, 1));
  return 1;
}

/* core.all_modules() -> the names of all files: "kl", "model/space", ... */
static int all_modules (lua_State *L) {
  lua_Integer n = 0;
  lua_newtable(L);
  for (const char *const *m = perilune_modules; *m != NULL; m++) {
    lua_pushstring(L, *m);
    lua_rawseti(L, -2, ++n);
  }
  return 1;
}

/* core.classes() -> the names of all distributions */
static int classes (lua_State *L) {
  host_arguments(L, "distributions", 0);
  push_modules(L, "distributions");
  return 1;
}

int host_is_module (const char *folder, const char *name) {
  size_t length = strlen(folder);
  int found = 0;
  for (const char *const *m = perilune_modules; *m != NULL && !found; m++)
    found = is_in(*m, folder, length) && strcmp(*m + length + 1, name) == 0;
  return found;
}

/* core.is_module(folder, name) */
static int is_module (lua_State *L) {
  const char *folder = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
  lua_pushboolean(L, host_is_module(folder, name));
  return 1;
}

static const luaL_Reg functions[] = {
  {"kernels", kernels},
  {"each_kernel", each_kernel},
  {"kernel_files", files},
  {"modules", modules},
  {"all_modules", all_modules},
  {"is_module", is_module},
  {"classes", classes},
  {NULL, NULL}
};

void host_open_kernels (lua_State *L) {
  const char *set = instruction_set();
  lua_pushlightuserdata(L, (void *)(uintptr_t)kernel_files(set));
  lua_rawsetp(L, LUA_REGISTRYINDEX, &CHOSEN);
  lua_pushstring(L, set);
  lua_setfield(L, -2, "instruction_set");
  luaL_setfuncs(L, functions, 0);
}
