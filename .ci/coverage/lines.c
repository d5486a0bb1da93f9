/*
** lines.c - which lines of lua/perilune a program runs, by a hook for lines
**
** `require "lines"` sets the hook, which coroutines made from then on have as well. When the process ends, the lines
** that were met are appended to a file of FOLDER, as "path line".
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>

#define OURS "lua/perilune/"
#define MOST_LINES 16384
#define SLOTS 4096

typedef struct File {
  char path[128];                    /* from lua/perilune on; "" if it is none of ours */
  unsigned char met[MOST_LINES];
  struct File *next;
} File;

/* Found by the address of a chunk's name; other chunks may have it later, so that names are compared. */
typedef struct Slot {
  const char *address;
  char source[128];
  File *file;
} Slot;

static File *files, *others;
static Slot slots[SLOTS];

int luaopen_lines (lua_State *L);

static File *file_of (const char *source) {
  const char *path = source[0] == '@' ? strstr(source, OURS) : NULL;
  if (path == NULL) return others;
  for (File *f = files; f != NULL; f = f->next)
    if (strcmp(f->path, path) == 0) return f;
  File *f = calloc(1, sizeof(File));
  if (f == NULL || strlen(path) >= sizeof(f->path)) abort();
  strcpy(f->path, path);
  f->next = files;
  return files = f;
}

static void on_line (lua_State *L, lua_Debug *event) {
  lua_getinfo(L, "S", event);
  Slot *slot = &slots[(size_t)event->source / 16 % SLOTS];
  if (slot->address != event->source || strncmp(slot->source, event->source, sizeof(slot->source) - 1) != 0) {
    slot->address = event->source;
    strncpy(slot->source, event->source, sizeof(slot->source) - 1);
    slot->file = file_of(event->source);
  }
  if (event->currentline > 0 && event->currentline < MOST_LINES) slot->file->met[event->currentline] = 1;
}

static void write_lines (void) {
  char name[512];
  snprintf(name, sizeof(name), "%s/%ld", FOLDER, (long)getpid());
  FILE *out = fopen(name, "a");
  if (out == NULL) return;
  for (const File *f = files; f != NULL; f = f->next)
    for (int i = 1; i < MOST_LINES; i++)
      if (f->met[i]) fprintf(out, "%s %d\n", f->path, i);
  fclose(out);
}

static int start (lua_State *L) {
  lua_sethook(L, on_line, LUA_MASKLINE, 0);
  return 0;
}

/* Returns a function that sets the hook again. */
int luaopen_lines (lua_State *L) {
  if (others == NULL) {
    others = calloc(1, sizeof(File));
    if (others == NULL || atexit(write_lines) != 0) abort();
  }
  start(L);
  lua_pushcfunction(L, start);
  return 1;
}
