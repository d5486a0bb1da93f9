/*
** arena.c - memory of a walk back, kept for the next one
**
** A small walk finds all it needs on the desk. A larger one has chunks, and room for its
** tape, in a table that the state keeps for as long as the collector lets it. Both are taken
** away while they are in use: a walk within this one must not find them.
*/
#include <string.h>

#include "engine/walk.h"

#define DOUBLED 8   /* chunks that are twice as large as the one before */

typedef struct Desk {
  Node *node[WALK_NODES];
  double chunk[WALK_CHUNK + 8];
} Desk;


static Desk *take_desk (lua_State *L) {
  Desk *desk = lua_touserdata(L, lua_upvalueindex(WALK_OWN_DESK));
  if (desk == NULL) desk = lua_newuserdatauv(L, sizeof *desk, 0);
  else lua_pushvalue(L, lua_upvalueindex(WALK_OWN_DESK));
  lua_replace(L, WALK_DESK);
  lua_pushnil(L);
  lua_replace(L, lua_upvalueindex(WALK_OWN_DESK));
  return desk;
}

void memory_open (lua_State *L, State *state, Tape *tape, Memory *memory) {
  Desk *desk = take_desk(L);
  uint64_t number = ++state->walk;
  *tape = (Tape) {.node = desk->node, .room = WALK_NODES, .walk = number, .last = number,
                  .outer = state->tape, .in_order = true};
  memory->chunks = memory->frees = 0;
  memory->at = tensor_aligned(desk->chunk);
  memory->left = WALK_CHUNK;
}

void arena_fetch_chunks (lua_State *L) {
  if (lua_istable(L, WALK_CHUNKS)) return;
  if (lua_getiuservalue(L, lua_upvalueindex(WALK_STATE), 1) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
  }
  lua_pushnil(L);
  lua_setmetatable(L, -2);
  lua_replace(L, WALK_CHUNKS);
  lua_pushnil(L);
  lua_setiuservalue(L, lua_upvalueindex(WALK_STATE), 1);
}

/* Leaves the chunks, if there are any, for the next walk, unless the collector wants them. */
static void leave_chunks (lua_State *L) {
  if (!lua_istable(L, WALK_CHUNKS)) return;
  lua_pushvalue(L, WALK_TAPE);
  lua_rawseti(L, WALK_CHUNKS, 0);
  lua_pushvalue(L, WALK_CHUNKS);
  lua_pushvalue(L, lua_upvalueindex(WALK_WEAK));
  lua_setmetatable(L, -2);
  lua_setiuservalue(L, lua_upvalueindex(WALK_STATE), 1);
}

void memory_close (lua_State *L) {
  leave_chunks(L);
  lua_pushvalue(L, WALK_DESK);
  lua_replace(L, lua_upvalueindex(WALK_OWN_DESK));
}


/* The next chunk, if it is large enough, or a new one in its place. */
COLD static void next_chunk (lua_State *L, Memory *memory, size_t size) {
  size_t room = WALK_CHUNK << (memory->chunks < DOUBLED ? memory->chunks : DOUBLED);
  if (room < size) room = size;
  arena_fetch_chunks(L);
  lua_rawgeti(L, WALK_CHUNKS, ++memory->chunks);
  if (lua_rawlen(L, -1) < (room + 8) * sizeof(double)) {
    lua_pop(L, 1);
    lua_newuserdatauv(L, (room + 8) * sizeof(double), 0);
    lua_pushvalue(L, -1);
    lua_rawseti(L, WALK_CHUNKS, memory->chunks);
  }
  memory->at = tensor_aligned(lua_touserdata(L, -1));
  memory->left = lua_rawlen(L, -1) / sizeof(double) - 8;
  lua_pop(L, 1);
}

double *memory_take (lua_State *L, Memory *memory, size_t size) {
  size = memory_padded(size);
  for (int i = memory->frees; i-- > 0; ) {
    if (memory->free_size[i] != size) continue;
    double *found = memory->free[i];
    memory->free[i] = memory->free[--memory->frees];
    memory->free_size[i] = memory->free_size[memory->frees];
    return found;
  }
  if (memory->left < size) next_chunk(L, memory, size);
  double *taken = memory->at;
  memory->at += size;
  memory->left -= size;
  return taken;
}

void memory_give_back (Memory *memory, double *block, size_t size) {
  if (memory->frees == WALK_FREE) return;
  memory->free[memory->frees] = block;
  memory->free_size[memory->frees++] = memory_padded(size);
}


void walk_push_function (lua_State *L, lua_CFunction f) {
  host_push_state(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_pushnil(L);                     /* no desk yet */
  lua_pushcclosure(L, f, WALK_OWN_DESK);
}
