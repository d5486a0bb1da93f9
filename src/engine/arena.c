/*
** arena.c - memory of a backward pass, kept for the next one
**
** The first chunk is all that a small pass needs. A larger one has more chunks, and room for its
** tape, in a table with weak values that the state keeps. Both are taken from where they are kept
** while in use, so that a pass within this one does not find them.
*/
#include <string.h>

#include "engine/pass.h"


typedef struct FirstChunk {
  Node *node[TAPE_FIRST_NODES];
  double chunk[ARENA_FIRST_CHUNK + 8];
} FirstChunk;


static FirstChunk *take_first_chunk (lua_State *L) {
  FirstChunk *first = lua_touserdata(L, lua_upvalueindex(PASS_KEPT_CHUNK));
  if (first == NULL) first = lua_newuserdatauv(L, sizeof *first, 0);
  else lua_pushvalue(L, lua_upvalueindex(PASS_KEPT_CHUNK));
  lua_replace(L, PASS_FIRST_CHUNK);
  lua_pushnil(L);
  lua_replace(L, lua_upvalueindex(PASS_KEPT_CHUNK));
  return first;
}

void arena_open (lua_State *L, State *state, Tape *tape, Arena *arena) {
  FirstChunk *first = take_first_chunk(L);
  uint64_t number = ++state->passes;
  *tape = (Tape) {.node = first->node, .room = TAPE_FIRST_NODES, .pass = number, .checked = number,
                  .outer = state->tape, .in_order = true};
  arena->chunks = arena->frees = 0;
  arena->at = tensor_aligned(first->chunk);
  arena->left = ARENA_FIRST_CHUNK;
}

void arena_fetch_chunks (lua_State *L) {
  if (lua_istable(L, PASS_CHUNKS)) return;
  if (lua_getiuservalue(L, lua_upvalueindex(PASS_STATE), 1) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
  }
  lua_pushnil(L);
  lua_setmetatable(L, -2);
  lua_replace(L, PASS_CHUNKS);
  lua_pushnil(L);
  lua_setiuservalue(L, lua_upvalueindex(PASS_STATE), 1);
}

/* Leaves the chunks, if there are any, for the next pass, unless the collector takes them. */
static void leave_chunks (lua_State *L) {
  if (!lua_istable(L, PASS_CHUNKS)) return;
  lua_pushvalue(L, PASS_TAPE);
  lua_rawseti(L, PASS_CHUNKS, 0);
  lua_pushvalue(L, PASS_CHUNKS);
  lua_pushvalue(L, lua_upvalueindex(PASS_WEAK));
  lua_setmetatable(L, -2);
  lua_setiuservalue(L, lua_upvalueindex(PASS_STATE), 1);
}

void arena_close (lua_State *L) {
  leave_chunks(L);
  lua_pushvalue(L, PASS_FIRST_CHUNK);
  lua_replace(L, lua_upvalueindex(PASS_KEPT_CHUNK));
}


/* The next chunk, if it is large enough, or a new one in its place. */
COLD static void next_chunk (lua_State *L, Arena *arena, size_t size) {
  int doublings = arena->chunks < ARENA_DOUBLINGS ? arena->chunks : ARENA_DOUBLINGS;
  size_t room = ARENA_FIRST_CHUNK << doublings;
  if (room < size) room = size;
  arena_fetch_chunks(L);
  lua_rawgeti(L, PASS_CHUNKS, ++arena->chunks);
  if (lua_rawlen(L, -1) < (room + 8) * sizeof(double)) {
    lua_pop(L, 1);
    lua_newuserdatauv(L, (room + 8) * sizeof(double), 0);
    lua_pushvalue(L, -1);
    lua_rawseti(L, PASS_CHUNKS, arena->chunks);
  }
  arena->at = tensor_aligned(lua_touserdata(L, -1));
  arena->left = lua_rawlen(L, -1) / sizeof(double) - 8;
  lua_pop(L, 1);
}

double *arena_take (lua_State *L, Arena *arena, size_t size) {
  size = arena_padded(size);
  for (int i = arena->frees; i-- > 0; ) {
    if (arena->free_size[i] != size) continue;
    double *found = arena->free[i];
    arena->free[i] = arena->free[--arena->frees];
    arena->free_size[i] = arena->free_size[arena->frees];
    return found;
  }
  if (arena->left < size) next_chunk(L, arena, size);
  double *taken = arena->at;
  arena->at += size;
  arena->left -= size;
  return taken;
}

void arena_give_back (Arena *arena, double *block, size_t size) {
  if (arena->frees == ARENA_MAX_FREE) return;
  arena->free[arena->frees] = block;
  arena->free_size[arena->frees++] = arena_padded(size);
}


void pass_push_function (lua_State *L, lua_CFunction f) {
  host_push_state(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_pushnil(L);                     /* no first chunk yet */
  lua_pushcclosure(L, f, PASS_KEPT_CHUNK);
}
