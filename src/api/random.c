/*
** random.c - generators as Lua values: seed, save, restore, split, draw
**
** A generator is a key and a position in the stream of that key; drawing n
** elements moves the position on by n.
*/
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "driver/elementwise.h"

static const char METATABLE = 'g', DEFAULT = 'd';

#define MAGIC        0x70657269726e6721u   /* "perirng!" */
#define STATE_FORMAT "philox4x32-10 %08" PRIx32 "%08" PRIx32 " %016" PRIx64
#define STATE_LENGTH (14 + 16 + 1 + 16)
#define SPLIT_MAX    (1 << 20)
#define SPLIT_TAG    1                     /* word 3 of the counter */

typedef struct Generator {
  uint64_t magic;
  const struct Generator *self;
  Philox philox;
} Generator;


/*@ Rng
 * A generator of random numbers: a key and a position in its stream (Philox). It can be saved,
 * restored and split; draws do not depend on the number of threads. Whatever draws takes one
 * as its last argument or as the option rng.
 * > Normal(0, 1):sample({ 2 }, rng(1)):equal(Normal(0, 1):sample({ 2 }, rng(1)))
 * true */
static Philox *to_generator (lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA) return NULL;
  if (lua_rawlen(L, index) < sizeof(Generator)) return NULL;
  Generator *g = lua_touserdata(L, index);
  return g->magic == MAGIC && g->self == g ? &g->philox : NULL;
}

Philox *api_generator (lua_State *L, int index, const char *who) {
  Philox *g = NULL;
  if (lua_isnoneornil(L, index)) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &DEFAULT);
    g = to_generator(L, -1);
    lua_pop(L, 1);
  }
  else g = to_generator(L, index);
  if (g == NULL) host_fail_type(L, who, "rng", "a generator (peri.rng)", index);
  return g;
}

static Philox *self (lua_State *L, const char *who) {
  Philox *g = to_generator(L, 1);
  if (g == NULL) host_fail_type(L, who, "self", "a generator (peri.rng)", 1);
  return g;
}

static Philox *push_generator (lua_State *L) {
  Generator *g = lua_newuserdatauv(L, sizeof *g, 0);
  memset(g, 0, sizeof *g);
  g->magic = MAGIC;
  g->self = g;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &METATABLE);
  lua_setmetatable(L, -2);
  return &g->philox;
}


static uint64_t seed_argument (lua_State *L, const char *who) {
  return (uint64_t)api_integer(L, 1, who, "seed");
}

/*@ peri.rng(seed) -> Rng
 * A generator that starts from a seed: the same seed, the same numbers.
 *   seed  integer
 * > rng(1)
 * rng(key=0000000000000001, position=0) */
static int rng (lua_State *L) {
  host_arguments(L, "rng", 1);
  uint64_t seed = seed_argument(L, "rng");
  *push_generator(L) = philox_seed(seed);
  return 1;
}

/*@ peri.seed(seed, rng) -> nothing
 * Sets the default generator, or another one, to a seed. The default one starts from a fixed
 * seed; math.random is never touched.
 *   seed  integer
 * > seed(7)
 * > a = Normal(0, 1):sample()
 * > seed(7)
 * > a == Normal(0, 1):sample()
 * true */
static int seed (lua_State *L) {
  host_arguments(L, "seed", 2);
  uint64_t value = seed_argument(L, "seed");
  *api_generator(L, 2, "seed") = philox_seed(value);
  return 0;
}


/*@ Rng:state() -> string
 * Where the generator is, for restore.
 * > rng(1):state()
 * philox4x32-10 0000000000000001 0000000000000000 */
static int state (lua_State *L) {
  const Philox *g = self(L, "rng:state");
  host_arguments(L, "rng:state", 1);
  char text[STATE_LENGTH + 1];
  snprintf(text, sizeof text, STATE_FORMAT, g->key[1], g->key[0], g->position);
  lua_pushlstring(L, text, STATE_LENGTH);
  return 1;
}

/* Reads `digits` hexadecimal digits. */
static int read_hex (const char *text, int digits, uint64_t *value) {
  *value = 0;
  for (int i = 0; i < digits; i++) {
    const char *all = "0123456789abcdef", *at = strchr(all, text[i]);
    if (text[i] == '\0' || at == NULL) return 0;
    *value = *value << 4 | (uint64_t)(at - all);
  }
  return 1;
}

/*@ Rng:restore(state) -> true or nil, string
 * Goes on from a state; nil and a message for what is none.
 *   state  string that Rng:state gave
 * > g = rng(1)
 * > s, a = g:state(), g:uniform()
 * > g:restore(s), g:uniform() == a
 * true  true */
static int restore (lua_State *L) {
  Philox *g = self(L, "rng:restore");
  host_arguments(L, "rng:restore", 2);
  size_t length;
  uint64_t key, position;
  if (lua_type(L, 2) != LUA_TSTRING) {
    lua_pushnil(L);
    lua_pushfstring(L, "rng:restore: a state is a string, got a %s",
                    luaL_typename(L, 2));
    return 2;
  }
  const char *text = lua_tolstring(L, 2, &length);
  if (length != STATE_LENGTH || memcmp(text, "philox4x32-10 ", 14) != 0
      || text[30] != ' ' || !read_hex(text + 14, 16, &key)
      || !read_hex(text + 31, 16, &position)) {
    lua_pushnil(L);
    lua_pushliteral(L, "rng:restore: this is not a state that rng:state() gave");
    return 2;
  }
  *g = philox_seed(key);
  g->position = position;
  lua_pushboolean(L, 1);
  return 1;
}


static void push_child (lua_State *L, const Philox *parent, uint32_t i) {
  const uint32_t counter[4] = {(uint32_t)parent->position,
                               (uint32_t)(parent->position >> 32), i, SPLIT_TAG};
  uint32_t word[4];
  philox_block(parent->key, counter, word);
  *push_generator(L) = philox_seed((uint64_t)word[1] << 32 | word[0]);
}

/*@ Rng:split(n) -> Rng or table
 * Another generator, independent of this one, or a list of n. The next split gives others.
 *   n  integer from 1 to 2^20; a single generator, not in a list, unless told
 * > #rng(1):split(3)
 * 3 */
/* rng:split() -> one generator; rng:split(n) -> a table of n. Splitting takes
   one element of the stream, so the next split gives others. */
static int split (lua_State *L) {
  Philox *g = self(L, "rng:split");
  host_arguments(L, "rng:split", 2);
  if (lua_isnoneornil(L, 2)) push_child(L, g, 0);
  else {
    lua_Integer n = api_integer(L, 2, "rng:split", "n");
    if (n < 1 || n > SPLIT_MAX)
      host_fail_type(L, "rng:split", "n", "an integer from 1 to 2^20", 2);
    lua_createtable(L, (int)n, 0);
    for (int i = 0; i < (int)n; i++) {
      push_child(L, g, (uint32_t)i);
      lua_rawseti(L, -2, i + 1);
    }
  }
  g->position++;
  return 1;
}


/*@ Rng:uniform(...) -> number or Tensor
 * Numbers that are uniform between 0 and 1.
 *   ...  integers, or a table of them: the shape; a single number unless told
 * > rng(1):uniform()
 * 0.89468471633509 */

/*@ Rng:normal(...) -> number or Tensor
 * Standard normal numbers.
 *   ...  integers, or a table of them: the shape; a single number unless told
 * > rng(1):normal()
 * -0.89686405062801 */

/*@ Rng:exponential(...) -> number or Tensor
 * Standard exponential numbers.
 *   ...  integers, or a table of them: the shape; a single number unless told
 * > rng(1):exponential()
 * 0.11128389502102 */
/* rng:uniform(shape) and the like; upvalue 1 is the noise kernel, upvalue 2
   who, upvalue 3 the state. Without a shape, a number. */
static int draw (lua_State *L) {
  const Kernel *kernel = lua_touserdata(L, lua_upvalueindex(1));
  const char *who = lua_tostring(L, lua_upvalueindex(2));
  Philox *g = self(L, who);
  ptrdiff_t shape[TENSOR_MAX_RANK];
  double number;
  const State *state = lua_touserdata(L, lua_upvalueindex(3));
  if (state->tracing)
    engine_fail_traced(L, state, who, "a replay would not draw it again; rsample from a"
                       " distribution, such as Normal(0, 1), is drawn again");
  if (lua_gettop(L) <= 2 && lua_isnoneornil(L, 2)) {
    kernel->sampler->draw(g, g->position++, 1, NULL, &number);
    lua_pushnumber(L, number);
    return 1;
  }
  int rank = api_shape(L, 2, lua_gettop(L), who, shape, NULL);
  Tensor *t = host_new(L, who, rank, shape, NULL);
  Pool *pool = host_pool(L, t->size);
  elementwise_noise(pool, kernel, g, philox_claim(g, t->size), t->size, t->data);
  host_check_stopped(L, pool);
  return 1;
}

static void push_draw (lua_State *L, const char *name) {
  const Kernel *kernel = host_kernel(L, "noise", name);
  lua_pushlightuserdata(L, (void *)(uintptr_t)kernel);
  lua_pushfstring(L, "rng:%s", name);
  host_push_state(L);
  lua_pushcclosure(L, draw, 3);
  lua_setfield(L, -2, name);
}

static int describe (lua_State *L) {
  const Philox *g = self(L, "rng");
  char text[64];
  snprintf(text, sizeof text, "rng(key=%08" PRIx32 "%08" PRIx32 ", position=%"
           PRIu64 ")", g->key[1], g->key[0], g->position);
  lua_pushstring(L, text);
  return 1;
}

/* core.philox(c0, c1, c2, c3, k0, k1): one block, as its published answers
   are checked. */
static int block (lua_State *L) {
  uint32_t counter[4], key[2], out[4];
  for (int i = 0; i < 4; i++) counter[i] = (uint32_t)luaL_checkinteger(L, 1 + i);
  for (int i = 0; i < 2; i++) key[i] = (uint32_t)luaL_checkinteger(L, 5 + i);
  philox_block(key, counter, out);
  for (int i = 0; i < 4; i++) lua_pushinteger(L, (lua_Integer)out[i]);
  return 4;
}


static const luaL_Reg public_functions[] = {
  {"rng",  rng},
  {"seed", seed},
  {NULL, NULL}
};

static const luaL_Reg functions[] = {
  {"philox", block},
  {NULL, NULL}
};

static const luaL_Reg methods[] = {
  {"state",      state},
  {"restore",    restore},
  {"split",      split},
  {NULL, NULL}
};

static void new_metatable (lua_State *L) {
  lua_newtable(L);
  lua_pushliteral(L, "perilune.rng");
  lua_setfield(L, -2, "__name");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pushcfunction(L, describe);
  lua_setfield(L, -2, "__tostring");
  luaL_newlib(L, methods);
  push_draw(L, "uniform");
  push_draw(L, "normal");
  push_draw(L, "exponential");
  lua_setfield(L, -2, "__index");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &METATABLE);
}

/* The module may be opened twice in one state: the default generator stays. */
void api_open_random (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &DEFAULT) == LUA_TNIL) {
    new_metatable(L);
    push_generator(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &DEFAULT);
  }
  lua_pop(L, 1);
  host_list(L, "public", public_functions);
  luaL_setfuncs(L, functions, 0);
}
