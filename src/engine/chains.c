/*
** chains.c - chains of the No-U-Turn sampler on a trace, run by the pool's threads
**
** Every chain is a block of memory that depends on nothing else (sampler/chain.h), so neither
** the number of threads nor the places where a run is interrupted change a bit of what is drawn.
** A thread replays a trace of its own.
*/
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "engine/trace.h"
#include "sampler/chain.h"

static const char METATABLE = 'C';   /* registry key */

#define CHAINS_MAGIC 0x7065726963686e73u   /* "perichns" */
#define CHAINS_MAX   1024
#define BURST_NS     400000                /* of work of a chain between two looks for hooks */

enum { STATS = sizeof(ChainStats) / sizeof(double) };

/* User values: a table of traces and parameters; what is drawn, and its statistics. */
enum { CHAINS_SOURCES = 1, CHAINS_DRAWS, CHAINS_STATS, CHAINS_VALUES = CHAINS_STATS };

typedef struct Chains {
  uint64_t magic;
  const struct Chains *self;
  ChainOptions options;
  size_t n, stride;            /* chains, and bytes from one to the next */
  int sources;                 /* traces */
  const Sampler *normal, *uniform;
  const Kernel *exp, *log1p;
  double *draws, *stats;       /* (n, warmup + draws, size), (n, warmup + draws, STATS) */
} Chains;

static Chain *chain_at (const Chains *chains, size_t i) {
  size_t header = (sizeof *chains + 63) & ~(size_t)63;
  return (Chain *)(void *)((char *)chains + header + i * chains->stride);
}


/* {=====================================================
** Running
** ====================================================== */

/* A trace, and the parameter that stands for q. */
typedef struct ChainTrace {
  State *state;
  Trace *trace;
  const Tensor *x;
} ChainTrace;

typedef struct Burst {
  const Chains *chains;
  Pool *pool;
  ChainTrace source[THREADS_MAX];
  uint64_t steps;              /* of each chain */
} Burst;

static double evaluate (void *self, const double *u, double *gradient) {
  const ChainTrace *s = self;
  return replay_gradient(s->state, s->trace, s->x, u, gradient);
}

static LogDensity density_of (const Chains *chains, ChainTrace *source) {
  return (LogDensity) {chains->options.size, evaluate, source, chains->normal, chains->uniform,
                       chains->exp, chains->log1p};
}

/* The draw of an iteration that has ended. */
static void keep (const Chains *chains, size_t i, const Chain *chain) {
  const ChainOptions *o = &chains->options;
  size_t row = i * (o->warmup + o->draws) + (size_t)chain_iterations(chain) - 1;
  ChainStats stats = chain_stats(chain);
  memcpy(chains->draws + row * o->size, chain_position(chain), o->size * sizeof(double));
  memcpy(chains->stats + row * STATS, &stats, sizeof stats);
}

/* A burst of steps for each of some chains. */
static void advance (void *job, size_t first, size_t last) {
  Burst *run = job;
  LogDensity target = density_of(run->chains, &run->source[pool_thread(run->pool)]);
  for (size_t i = first; i < last; i++) {
    Chain *chain = chain_at(run->chains, i);
    for (uint64_t k = 0; k < run->steps && !chain_is_done(chain); k++)
      if (chain_advance(chain, &target)) keep(run->chains, i, chain);
  }
}

static bool all_done (const Chains *chains) {
  for (size_t i = 0; i < chains->n; i++)
    if (!chain_is_done(chain_at(chains, i))) return false;
  return true;
}

/* The pool, if there is a trace for each of its threads. */
static Pool *pool_of (lua_State *L, const Chains *chains) {
  Pool *pool = chains->n > 1 ? host_pool(L, SIZE_MAX) : NULL;
  return pool != NULL && pool_threads(pool) <= chains->sources ? pool : NULL;
}

/* Finds the traces in the table at `index`, and makes them ready. */
static void find_sources (lua_State *L, State *state, Chains *chains, int index, ChainTrace *source) {
  for (int k = 0; k < chains->sources; k++) {
    lua_rawgeti(L, index, 2 * k + 1);
    lua_rawgeti(L, index, 2 * k + 2);
    source[k] = (ChainTrace) {state, lua_touserdata(L, -2), lua_touserdata(L, -1)};
    lua_pop(L, 2);
  }
  for (int k = 0; k < chains->sources; k++) {
    lua_rawgeti(L, index, 2 * k + 1);
    replay_ready(L, lua_gettop(L), state, source[k].trace, source[k].x);
    lua_pop(L, 1);
  }
}

/* Bursts until `steps` of each chain are done or `ns` have passed. Hooks run in between. */
static void run_chains (lua_State *L, State *state, Chains *chains, uint64_t steps, uint64_t ns) {
  Burst run = {.chains = chains};
  uint64_t begin = watch_clock(), burst = 1;
  lua_getiuservalue(L, 1, CHAINS_SOURCES);
  int sources = lua_gettop(L);
  while (steps > 0 && !all_done(chains)) {
    find_sources(L, state, chains, sources, run.source);
    int writing = state->writing;
    state->writing = 1;
    run.pool = pool_of(L, chains);
    run.steps = burst < steps ? burst : steps;
    uint64_t before = watch_clock();
    pool_run(run.pool, chains->n, 1, 1, advance, &run);
    uint64_t now = watch_clock();
    state->writing = writing;
    steps -= run.steps;
    if (run.pool != NULL && pool_stopped(run.pool)) host_stop(L);
    host_look(L, state);
    if (now - begin >= ns) break;
    if (now - before < BURST_NS / 2 && burst < ((uint64_t)1 << 20)) burst *= 2;
    else if (now - before > BURST_NS && burst > 1) burst /= 2;
  }
}

/* }====================================================== */


/* {=====================================================
** The functions of Lua
** ====================================================== */

static Chains *check_chains (lua_State *L, const char *who) {
  Chains *chains = lua_type(L, 1) == LUA_TUSERDATA && lua_rawlen(L, 1) >= sizeof *chains
                 ? lua_touserdata(L, 1) : NULL;
  if (chains == NULL || chains->magic != CHAINS_MAGIC || chains->self != chains)
    host_fail_type(L, who, "self", "chains", 1);
  return chains;
}

static lua_Integer integer_field (lua_State *L, int index, const char *name, lua_Integer low,
                                  lua_Integer high) {
  int is_integer;
  lua_getfield(L, index, name);
  lua_Integer value = lua_tointegerx(L, -1, &is_integer);
  if (!is_integer || value < low || value > high)
    host_fail(L, "chains", "%s must be an integer from %I to %I", name, (LUAI_UACINT)low,
              (LUAI_UACINT)high);
  lua_pop(L, 1);
  return value;
}

static double number_field (lua_State *L, int index, const char *name, double low, double high) {
  lua_getfield(L, index, name);
  double value = lua_tonumber(L, -1);
  bool fits = lua_type(L, -1) == LUA_TNUMBER && value > low && value < high;
  if (!fits) host_fail(L, "chains", "%s must be between %f and %f", name, low, high);
  lua_pop(L, 1);
  return value;
}

static ChainOptions read_options (lua_State *L, int index, size_t size) {
  luaL_checktype(L, index, LUA_TTABLE);
  ChainOptions o = {.size = size};
  o.max_depth = (int)integer_field(L, index, "max_depth", 1, CHAIN_MAX_DEPTH);
  o.warmup = (uint64_t)integer_field(L, index, "warmup", 0, (lua_Integer)1 << 40);
  o.draws = (uint64_t)integer_field(L, index, "draws", 0, (lua_Integer)1 << 40);
  o.steps = (int)integer_field(L, index, "steps", 0, 1 << 20);
  o.accept = number_field(L, index, "target", 0, 1);
  o.step = number_field(L, index, "step", 0, 1e300);
  lua_getfield(L, index, "dense");
  o.dense = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return o;
}

/* Copies the traces and parameters of the table at `index` into a new one, which is pushed;
   returns how many there are. All parameters have `size` elements. */
static int push_sources (lua_State *L, int index, size_t size) {
  luaL_checktype(L, index, LUA_TTABLE);
  int n = (int)(lua_rawlen(L, index) / 2);
  if (n < 1 || n > THREADS_MAX) host_fail(L, "chains", "takes from 1 to %d traces", THREADS_MAX);
  lua_createtable(L, 2 * n, 0);
  for (int k = 1; k <= n; k++) {
    lua_rawgeti(L, index, 2 * k - 1);
    replay_check(L, lua_gettop(L), "chains");
    lua_rawgeti(L, index, 2 * k);
    const Tensor *x = engine_check_tensor(L, lua_gettop(L), "chains");
    if (x->node == NULL || x->node->kind != NODE_LEAF || x->size != size
        || !tensor_is_contiguous(x))
      host_fail(L, "chains", "parameter %d must have %d elements", k, (int)size);
    lua_rawseti(L, -3, 2 * k);
    lua_rawseti(L, -2, 2 * k - 1);
  }
  return n;
}

/* Pushes a tensor for (n, iterations, width) numbers, not yet drawn: NaN. */
static double *push_rows (lua_State *L, const Chains *c, size_t width) {
  ptrdiff_t shape[3] = {(ptrdiff_t)c->n, (ptrdiff_t)(c->options.warmup + c->options.draws),
                        (ptrdiff_t)width};
  const Tensor *t = host_new(L, "chains", 3, shape, NULL);
  for (size_t i = 0; i < t->size; i++) t->data[i] = NAN;
  return t->data;
}

/* The field "scale" of the options at `index`, for a first metric, or NULL. */
static const double *scale_field (lua_State *L, int index, const ChainOptions *o) {
  lua_getfield(L, index, "scale");
  const Tensor *t = lua_isnil(L, -1) ? NULL : engine_check_tensor(L, lua_gettop(L), "chains");
  if (t != NULL && (t->size != (o->dense ? o->size * o->size : o->size) || !tensor_is_contiguous(t)))
    host_fail(L, "chains", "scale must be a factor of the metric");
  lua_pop(L, 1);               /* the table keeps it */
  return t != NULL ? t->data : NULL;
}

/* Begins every chain, at the rows of `starts`. */
static void start_all (lua_State *L, State *state, Chains *chains, const Tensor *starts,
                       int generators, int options) {
  ChainTrace source[THREADS_MAX];
  Philox rng[CHAINS_MAX];
  for (size_t i = 0; i < chains->n; i++) {
    lua_rawgeti(L, generators, (lua_Integer)i + 1);
    rng[i] = philox_seed((uint64_t)luaL_checkinteger(L, -1));
    lua_pop(L, 1);
  }
  lua_getiuservalue(L, -1, CHAINS_SOURCES);
  find_sources(L, state, chains, lua_gettop(L), source);
  lua_pop(L, 1);
  const double *scale = scale_field(L, options, &chains->options);
  LogDensity target = density_of(chains, &source[0]);
  for (size_t i = 0; i < chains->n; i++)
    chain_start(chain_at(chains, i), &chains->options, &rng[i],
                starts->data + i * chains->options.size, scale, &target);
}

/* core.chains({trace, x, ...}, starts, seeds, options): chains at the rows of `starts` */
static int new_chains (lua_State *L) {
  State *state = lua_touserdata(L, lua_upvalueindex(PASS_STATE));
  host_arguments(L, "chains", 4);
  lua_settop(L, 4);
  const Tensor *starts = engine_check_tensor(L, 2, "chains");
  luaL_checktype(L, 3, LUA_TTABLE);
  if (starts->rank != 2 || !tensor_is_contiguous(starts) || starts->shape[0] < 1
      || starts->shape[0] > CHAINS_MAX || starts->shape[1] < 1)
    host_fail_type(L, "chains", "starts", "a matrix of 1 to 1024 rows", 2);
  size_t n = (size_t)starts->shape[0], size = (size_t)starts->shape[1];
  ChainOptions options = read_options(L, 4, size);
  size_t stride = (chain_bytes(&options) + 63) & ~(size_t)63;
  size_t header = (sizeof(Chains) + 63) & ~(size_t)63;
  if (stride > SIZE_MAX / 2 / n) host_fail(L, "chains", "too large");
  int sources = push_sources(L, 1, size);                                            /* 5 */
  Chains *chains = lua_newuserdatauv(L, header + n * stride, CHAINS_VALUES);         /* 6 */
  *chains = (Chains) {.magic = CHAINS_MAGIC, .self = chains, .options = options, .n = n,
                      .stride = stride, .sources = sources};
  chains->normal = host_kernel(L, "noise", "normal")->sampler;
  chains->uniform = host_kernel(L, "noise", "uniform")->sampler;
  chains->exp = host_kernel(L, "op/exponential", "exp");
  chains->log1p = host_kernel(L, "op/exponential", "log1p");
  lua_pushvalue(L, 5);
  lua_setiuservalue(L, 6, CHAINS_SOURCES);
  chains->draws = push_rows(L, chains, size);
  lua_setiuservalue(L, 6, CHAINS_DRAWS);
  chains->stats = push_rows(L, chains, STATS);
  lua_setiuservalue(L, 6, CHAINS_STATS);
  start_all(L, state, chains, starts, 3, 4);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &METATABLE);
  lua_setmetatable(L, 6);
  return 1;
}

/* chains:run([steps [, seconds]]): so many gradients of each chain, or until all are done. True if
   they are. */
static int run (lua_State *L) {
  State *state = lua_touserdata(L, lua_upvalueindex(PASS_STATE));
  Chains *chains = check_chains(L, "chains:run");
  host_arguments(L, "chains:run", 3);
  uint64_t steps = UINT64_MAX, ns = UINT64_MAX;
  if (!lua_isnoneornil(L, 2)) {
    lua_Integer given = luaL_checkinteger(L, 2);
    steps = given > 0 ? (uint64_t)given : 0;
  }
  if (!lua_isnoneornil(L, 3)) {
    double seconds = luaL_checknumber(L, 3);
    ns = seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9) : 0;
  }
  if (state->tracing) host_fail(L, "chains:run", "not within a trace");
  lua_settop(L, 1);
  run_chains(L, state, chains, steps, ns);
  lua_pushboolean(L, all_done(chains));
  return 1;
}

/* Pushes (n, iterations, width) numbers. */
static void push_copy (lua_State *L, const Chains *c, const double *from, size_t width) {
  ptrdiff_t shape[3] = {(ptrdiff_t)c->n, (ptrdiff_t)(c->options.warmup + c->options.draws),
                        (ptrdiff_t)width};
  const Tensor *t = host_new(L, "chains:draws", 3, shape, NULL);
  memcpy(t->data, from, t->size * sizeof(double));
}

/* chains:draws(): (chains, iterations, size), statistics, and how many iterations each has done;
   iterations of the warm-up come first, those to come are NaN */
static int draws (lua_State *L) {
  const Chains *chains = check_chains(L, "chains:draws");
  push_copy(L, chains, chains->draws, chains->options.size);
  push_copy(L, chains, chains->stats, STATS);
  lua_createtable(L, (int)chains->n, 0);
  for (size_t i = 0; i < chains->n; i++) {
    lua_pushinteger(L, (lua_Integer)chain_iterations(chain_at(chains, i)));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 3;
}

/* The iterations of chain i after the warm-up that diverged. */
static lua_Integer divergences_of (const Chains *chains, size_t i) {
  const ChainOptions *o = &chains->options;
  const double *rows = chains->stats + i * (o->warmup + o->draws) * STATS;
  size_t column = offsetof(ChainStats, divergent) / sizeof(double);
  lua_Integer n = 0;
  for (uint64_t k = o->warmup; k < chain_iterations(chain_at(chains, i)); k++)
    n += rows[k * STATS + column] == 1;
  return n;
}

/* chains:counts(): the iterations that each chain has done, and how many after the warm-up
   diverged */
static int counts (lua_State *L) {
  const Chains *chains = check_chains(L, "chains:counts");
  lua_createtable(L, (int)chains->n, 0);
  lua_createtable(L, (int)chains->n, 0);
  for (size_t i = 0; i < chains->n; i++) {
    lua_pushinteger(L, (lua_Integer)chain_iterations(chain_at(chains, i)));
    lua_rawseti(L, -3, (lua_Integer)i + 1);
    lua_pushinteger(L, divergences_of(chains, i));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 2;
}

/* chains:state(): a string for each chain */
static int state (lua_State *L) {
  const Chains *chains = check_chains(L, "chains:state");
  lua_createtable(L, (int)chains->n, 0);
  for (size_t i = 0; i < chains->n; i++) {
    lua_pushlstring(L, (const char *)chain_at(chains, i), chain_bytes(&chains->options));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static const Tensor *check_history (lua_State *L, const Chains *chains, int index, size_t width) {
  const Tensor *t = engine_check_tensor(L, index, "chains:restore");
  size_t rows = chains->n * (size_t)(chains->options.warmup + chains->options.draws);
  return t->size == rows * width && tensor_is_contiguous(t) ? t : NULL;
}

/* chains:restore(list, draws, stats): true, or false if these are no states of such chains */
static int restore (lua_State *L) {
  Chains *chains = check_chains(L, "chains:restore");
  luaL_checktype(L, 2, LUA_TTABLE);
  const Tensor *history = check_history(L, chains, 3, chains->options.size);
  const Tensor *stats = check_history(L, chains, 4, STATS);
  if (history == NULL || stats == NULL) {
    lua_pushboolean(L, 0);
    return 1;
  }
  for (int pass = 0; pass < 2; pass++)     /* first look at all, then copy */
    for (size_t i = 0; i < chains->n; i++) {
      size_t bytes;
      lua_rawgeti(L, 2, (lua_Integer)i + 1);
      const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &bytes) : NULL;
      Chain *copy = text != NULL ? lua_newuserdatauv(L, bytes + 64, 0) : NULL;
      if (copy != NULL) memcpy(copy, text, bytes);
      if (copy == NULL || bytes != chain_bytes(&chains->options)
          || !chain_is_sound(copy, bytes, &chains->options)) {
        lua_pushboolean(L, 0);
        return 1;
      }
      if (pass == 1) memcpy(chain_at(chains, i), copy, bytes);
      lua_pop(L, 2);
    }
  memcpy(chains->draws, history->data, history->size * sizeof(double));
  memcpy(chains->stats, stats->data, stats->size * sizeof(double));
  lua_pushboolean(L, 1);
  return 1;
}

/* }====================================================== */


/* core.chains(...) -> chains, with methods run, draws, counts, state, restore */
void engine_open_chains (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"draws", draws}, {"counts", counts}, {"state", state}, {"restore", restore}, {NULL, NULL}
  };
  lua_newtable(L);
  lua_pushliteral(L, "perilune.chains");
  lua_setfield(L, -2, "__name");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  luaL_newlib(L, methods);
  pass_push_function(L, run);
  lua_setfield(L, -2, "run");
  lua_setfield(L, -2, "__index");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &METATABLE);
  pass_push_function(L, new_chains);
  lua_setfield(L, -2, "chains");
}
