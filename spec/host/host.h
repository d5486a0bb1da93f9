/*
** host.h - what the test hosts share: an allocator that can be told to fail,
** states with perilune linked in, and checks that end the program
*/
#ifndef PERILUNE_HOST_H
#define PERILUNE_HOST_H

#include <stddef.h>

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

#include "perilune.h"

/* The memory of one state. Requests are calls that ask for more bytes; Lua
   takes it for granted that giving bytes back works. */
typedef struct Memory {
  size_t used, limit;         /* bytes; a limit of 0 is none */
  long requests;              /* since the counter was last set to 0 */
  long fail_first, fail_last; /* which of them are refused; 0 for none */
  long refused;
  int refused_buffer;         /* was the last of them one that may be a luaL_Buffer's? */
} Memory;

/* A lua_Alloc: blocks always move, and what is given back is overwritten. */
void *host_allocate (void *memory, void *block, size_t old, size_t size);

/* A state with all libraries, and perilune for `require`. */
lua_State *host_open (Memory *memory);
/* Closes the state; all its bytes must have been returned. */
void host_close (lua_State *L, Memory *memory);

/* Runs a chunk that returns one string, which stays on the stack; an error
   ends the program. */
const char *host_run (lua_State *L, const char *code);
const char *host_run_file (lua_State *L, const char *path);

/* The process has n threads; those about to end are given a second. */
void check_threads (int n, const char *when);

void check (int holds, const char *format, ...)
  __attribute__((format(printf, 2, 3)));

#endif
