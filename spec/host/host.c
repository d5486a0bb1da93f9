/*
** host.c - what the test hosts share
*/
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"


void check (int holds, const char *format, ...) {
  va_list arguments;
  if (holds) return;
  va_start(arguments, format);
  fputs("FAILED: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  _exit(1);
}


/* `kind` is that of a new object of Lua, 0 for what is none. */
static int refuses (Memory *m, size_t kind, size_t more) {
  m->requests++;
  int refused = (m->requests >= m->fail_first && m->requests <= m->fail_last)
                || (m->limit > 0 && m->used + more > m->limit);
  m->refused += refused;
  if (refused) m->refused_buffer = kind == 0 && more > LUAL_BUFFERSIZE / 2;
  return refused;
}

void *host_allocate (void *memory, void *block, size_t old, size_t size) {
  Memory *m = memory;
  void *moved = NULL;
  size_t kind = block == NULL ? old : 0;
  if (block == NULL) old = 0;
  if (size > old && refuses(m, kind, size - old)) return NULL;
  if (size > 0) {
    moved = malloc(size);
    check(moved != NULL, "the machine itself is out of memory");
    if (block != NULL) memcpy(moved, block, old < size ? old : size);
  }
  if (block != NULL) {
    memset(block, 0x5a, old);
    free(block);
  }
  m->used += size - old;
  return moved;
}


lua_State *host_open (Memory *memory) {
  memset(memory, 0, sizeof *memory);
  lua_State *L = lua_newstate(host_allocate, memory);
  check(L != NULL, "a state opens");
  luaL_openlibs(L);
  perilune_preload(L);
  return L;
}

void host_close (lua_State *L, Memory *memory) {
  lua_close(L);
  check(memory->used == 0, "%zu bytes were never returned", memory->used);
}


static const char *call_chunk (lua_State *L, int status) {
  if (status == LUA_OK) status = lua_pcall(L, 0, 1, 0);
  check(status == LUA_OK, "%s", lua_tostring(L, -1));
  check(lua_type(L, -1) == LUA_TSTRING, "a chunk gave no string");
  return lua_tostring(L, -1);
}

const char *host_run (lua_State *L, const char *code) {
  return call_chunk(L, luaL_loadstring(L, code));
}

const char *host_run_file (lua_State *L, const char *path) {
  return call_chunk(L, luaL_loadfile(L, path));
}


static int count_threads (void) {
  DIR *tasks = opendir("/proc/self/task");
  int n = 0;
  check(tasks != NULL, "/proc/self/task can be read");
  for (struct dirent *entry; (entry = readdir(tasks)) != NULL; )
    n += entry->d_name[0] != '.';
  closedir(tasks);
  return n;
}

/* A joined thread may be listed for a moment longer. */
void check_threads (int n, const char *when) {
  int now = count_threads();
  for (int tries = 0; now != n && tries < 1000; tries++) {
    usleep(1000);
    now = count_threads();
  }
  check(now == n, "%s: %d threads, expected %d", when, now, n);
}
