/*
** threads.c - peri.set_threads: a pool of workers for one Lua state
**
** The registry holds the state's keeper, made when the module is opened; its
** user values are the memory of the pools. The keeper's finalizer joins the
** threads when the state closes. A pool has no finalizer of its own: one made
** by another finalizer, while the state closes, would never be called.
*/
#include "driver/sizes.h"
#include "host/host.h"

static const char KEEPER = 'p';


typedef struct Keeper {
  State *state;
  int closed;      /* the state is closing: no more pools */
} Keeper;

/* User values of a keeper: the memory of the pools. */
enum { POOL = 1, ALONE };


Pool *host_pool (lua_State *L, size_t size) {
  if (size < WATCH_MIN_ELEMENTS) return NULL;
  State *state = host_state(L);
  state->running = L;
  return size < THREADS_MIN_ELEMENTS ? state->alone : state->pool;
}

/* Joins the threads, if there are any. */
static void retire_pool (State *state) {
  if (state->pool != state->alone) pool_stop(state->pool);
  state->pool = state->alone;
}

static int close_keeper (lua_State *L) {
  Keeper *keeper = lua_touserdata(L, 1);
  State *state = keeper->state;
  if (keeper->closed) return 0;
  keeper->closed = 1;
  retire_pool(state);
  pool_stop(state->alone);
  state->pool = state->alone = NULL;
  return 0;
}

static Keeper *push_keeper (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &KEEPER);
  return lua_touserdata(L, -1);
}

static int most_threads (const State *state) {
  return state->max_threads > 0 ? state->max_threads : THREADS_MAX;
}

void host_configure_threads (lua_State *L, int most, const Jobs *jobs) {
  State *state = host_state(L);
  if (most < 0 || most > THREADS_MAX)
    host_fail(L, "perilune_open", "max_threads must be from 0 to %d, got %d", THREADS_MAX, most);
  if (state->pool != state->alone)
    host_fail(L, "perilune_open", "threads are running already");
  state->max_threads = most;
  state->jobs = jobs != NULL ? *jobs : (Jobs) {NULL, NULL};
}

/*@ peri.set_threads(n) -> nothing
 * How many threads large computations and chains may use; 1 at first. Results and draws are
 * the same to the last bit for every n.
 *   n  integer from 1 to 256, or to what a host that embeds perilune allows
 * > set_threads(1)
 * */
static int set_threads (lua_State *L) {
  host_arguments(L, "set_threads", 1);
  lua_Integer n = lua_type(L, 1) == LUA_TNUMBER ? lua_tointeger(L, 1) : 0;
  int most = most_threads(host_state(L));
  if (n < 1 || n > most)
    host_fail_type(L, "set_threads", "n", lua_pushfstring(L, "an integer from 1 to %d", most), 1);
  Keeper *keeper = push_keeper(L);
  State *state = keeper->state;
  Pool *pool = NULL;
  if (state->watch.asking)
    host_fail(L, "set_threads", "not in a hook that runs during a computation");
  if (keeper->closed) return 0;
  if (n == 1) lua_pushnil(L);
  else pool = lua_newuserdatauv(L, pool_bytes((int)n), 0);
  retire_pool(state);                /* from here on nothing can raise */
  lua_setiuservalue(L, -2, POOL);
  if (pool == NULL) return 0;
  pool_start(pool, (int)n, &state->watch, state->jobs.run == NULL ? NULL : &state->jobs);
  state->pool = pool;
  return 0;
}

/* core.threads(): how many there are, the caller's own included */
static int threads (lua_State *L) {
  lua_pushinteger(L, pool_threads(host_state(L)->pool));
  return 1;
}

static void new_keeper (lua_State *L) {
  Keeper *keeper = lua_newuserdatauv(L, sizeof *keeper, ALONE);
  State *state = host_state(L);
  *keeper = (Keeper) {.state = state, .closed = 0};
  Pool *alone = lua_newuserdatauv(L, pool_bytes(1), 0);
  lua_setiuservalue(L, -2, ALONE);
  lua_createtable(L, 0, 2);
  lua_pushcfunction(L, close_keeper);
  lua_setfield(L, -2, "__gc");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  pool_start(alone, 1, &state->watch, NULL);
  state->pool = state->alone = alone;
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &KEEPER);
}

static const luaL_Reg public_functions[] = {
  {"set_threads", set_threads},
  {NULL, NULL}
};

void host_open_threads (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &KEEPER) == LUA_TNIL) new_keeper(L);
  lua_pop(L, 1);
  host_list(L, "public", public_functions);
  lua_pushcfunction(L, threads);
  lua_setfield(L, -2, "threads");
}
