/*
** host.c - a game with perilune inside: 60 frames a second, two worlds on two threads
**
**   cc host.c $(pkg-config --cflags --libs perilune) -o host
**
** In each frame 64 agents choose what to do by Thompson sampling, a belief about the player is updated, a
** parameter takes a step of Adam, and a fit of a model goes on for a millisecond. Nothing is read from disk, and each
** world lives in a piece of memory that the host gave it at the start. The program prints how long frames take, on
** the clock and of the processor's time, and how many bytes were asked of the system once all was running; then it
** saves a world, goes on with the original and with a copy in another state, and compares all bits.
** With REAL_TIME in the environment it sleeps between frames.
*/
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lauxlib.h>
#include <lualib.h>
#include <perilune.h>

enum { WARM_UP = 300, FRAMES = 1200, CHECKED = 60, AGENTS = 64, ARMS = 5 };

/* The world: a function frame(steps), which takes so many steps of the fit, or works on it for a millisecond; save()
   and restore(text). The tensors `wins` and `losses` are memory of the host's. */
static const char script[] =
  "local peri, wins, losses = ...\n"
  "local rng = peri.rng(2026)\n"
  "local belief = peri.Beta(wins, losses)                    -- sees what is written into them\n"
  "local rates = peri.tensor { 0.42, 0.52, 0.66, 0.30, 0.58 }\n"
  "local arms, agents = peri.arange(1, 6), #wins\n"
  "local skill, precision, news = 0, 1, 0                    -- what is known of the player\n"
  "local aim = peri.param { 0, 0 }\n"
  "local adam = peri.optim.Adam(aim, { lr = 0.01 })\n"
  "local posed = peri.model(function (m, d)\n"
  "  m.a, m.b, m.noise = peri.Normal(0, 5), peri.Normal(0, 5), peri.HalfNormal(2)\n"
  "  m.y = peri.Normal(m.a + m.b * d.x, m.noise)\n"
  "end) { x = { 1, 2, 3, 4, 5, 6 }, y = { 2.1, 3.9, 6.2, 7.8, 10.1, 12.2 } }\n"
  "local fit = posed:vi { run = false, rng = peri.rng(1), tolerance = false }\n"
  "local world = {}\n"
  "\n"
  "function world.frame (steps)\n"
  "  local arm = belief:sample(nil, rng):argmax(2)\n"
  "  local won = peri.Bernoulli(rates[arm]):sample(nil, rng):reshape(agents, 1)\n"
  "  local chosen = arms:eq(arm:reshape(agents, 1))\n"
  "  wins:copy(wins + chosen * won)\n"
  "  losses:copy(losses + chosen * (1 - won))\n"
  "\n"
  "  local seen = rng:normal() + 0.7                         -- how well the player did\n"
  "  local before = peri.Normal(skill, precision ^ -0.5)\n"
  "  skill, precision = (precision * skill + seen) / (precision + 1), math.min(precision + 1, 100)\n"
  "  news = peri.kl_divergence(peri.Normal(skill, precision ^ -0.5), before)\n"
  "\n"
  "  adam:zero_grad()\n"
  "  peri.square(aim - rng:normal(2)):sum():backward()\n"
  "  adam:step()\n"
  "  fit:step(steps or { ms = 1 })\n"
  "end\n"
  "\n"
  "function world.save ()\n"
  "  return peri.pack { wins = wins, losses = losses, skill = skill, precision = precision, news = news, aim = aim,\n"
  "                     rng = rng:state(), adam = adam:state(), fit = fit:state() }\n"
  "end\n"
  "\n"
  "function world.restore (text)\n"
  "  local s = assert(peri.unpack(text))\n"
  "  skill, precision, news = s.skill, s.precision, s.news\n"
  "  wins:copy(s.wins) losses:copy(s.losses) aim:copy(s.aim)\n"
  "  adam:restore(s.adam)\n"
  "  assert(rng:restore(s.rng) and fit:restore(s.fit))\n"
  "end\n"
  "return world\n";


/* Blocks of memory that were given back, by the logarithm of their size. */
enum { CHUNK = 16 << 20, SIZES = 40 };

typedef struct Block { struct Block *next; } Block;

typedef struct World {
  lua_State *L;
  Block *returned[SIZES];
  char *chunk, *next, *end;       /* memory that was never used */
  size_t bytes, system;           /* in use, and asked of the system */
  double wins[AGENTS * ARMS], losses[AGENTS * ARMS];
  double times[FRAMES], busy[FRAMES];
  size_t steady;                  /* bytes asked of the system in the steady part */
} World;

static int size_class (size_t size) {
  int class = 4;
  while ((size_t)1 << class < size) class++;
  return class;
}

static void *take (World *w, int class) {
  size_t size = (size_t)1 << class;
  Block *block = w->returned[class];
  if (block != NULL) return w->returned[class] = block->next, block;
  if ((size_t)(w->end - w->next) < size) {       /* a world that needs more than its chunk */
    w->system += size;
    return malloc(size);                         /* and kept until the program ends */
  }
  w->next += size;
  return w->next - size;
}

static void give (World *w, void *data, int class) {
  Block *block = data;
  block->next = w->returned[class];
  w->returned[class] = block;
}

/* A lua_Alloc. */
static void *allocate (void *data, void *block, size_t old, size_t size) {
  World *w = data;
  void *moved = NULL;
  if (block == NULL) old = 0;
  if (size > 0 && old > 0 && size_class(size) == size_class(old)) moved = block;
  else {
    if (size > 0 && (moved = take(w, size_class(size))) == NULL) return NULL;
    if (moved != NULL && old > 0) memcpy(moved, block, old < size ? old : size);
    if (old > 0) give(w, block, size_class(old));
  }
  w->bytes += size - old;
  return moved;
}

static void must (World *w, int status) {
  if (status == LUA_OK) return;
  fprintf(stderr, "%s\n", lua_tostring(w->L, -1));
  exit(1);
}

/* Opens perilune and the world; protected. */
static int open_world (lua_State *L) {
  static const luaL_Reg libraries[] = {
    {"_G", luaopen_base}, {LUA_COLIBNAME, luaopen_coroutine}, {LUA_TABLIBNAME, luaopen_table},
    {LUA_STRLIBNAME, luaopen_string}, {LUA_MATHLIBNAME, luaopen_math}
  };
  World *w = lua_touserdata(L, 1);
  for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
    luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
    lua_pop(L, 1);
  }
  if (luaL_loadbuffer(L, script, sizeof script - 1, "=world") != LUA_OK) return lua_error(L);
  perilune_open(L, &(perilune_Options) {.max_threads = 1, .eager = "*"});
  for (int i = 0; i < AGENTS * ARMS; i++) w->wins[i] = w->losses[i] = 1;
  perilune_wrap(L, w->wins, 2, (size_t[]) {AGENTS, ARMS}, 0);
  perilune_wrap(L, w->losses, 2, (size_t[]) {AGENTS, ARMS}, 0);
  lua_call(L, 3, 1);
  lua_setglobal(L, "world");
  return 0;
}

static World *new_world (void) {
  World *w = calloc(1, sizeof *w);
  w->chunk = w->next = malloc(w->system = CHUNK);
  w->end = w->chunk + CHUNK;
  w->L = lua_newstate(allocate, w);
  lua_gc(w->L, LUA_GCGEN, 0, 0);          /* short pauses for short-lived garbage */
  lua_pushcfunction(w->L, open_world);
  lua_pushlightuserdata(w->L, w);
  must(w, lua_pcall(w->L, 1, 0, 0));
  return w;
}

static void frame (World *w, int steps) {
  lua_settop(w->L, 0);
  lua_getglobal(w->L, "world");
  lua_getfield(w->L, -1, "frame");
  if (steps > 0) lua_pushinteger(w->L, steps);
  must(w, lua_pcall(w->L, steps > 0, 0, 0));
}

/* The saved world, a string that stays on the stack. */
static const char *save (World *w, size_t *length) {
  lua_settop(w->L, 0);
  lua_getglobal(w->L, "world");
  lua_getfield(w->L, -1, "save");
  must(w, lua_pcall(w->L, 0, 1, 0));
  return lua_tolstring(w->L, -1, length);
}

static void restore (World *w, const char *text, size_t length) {
  lua_settop(w->L, 0);
  lua_getglobal(w->L, "world");
  lua_getfield(w->L, -1, "restore");
  lua_pushlstring(w->L, text, length);
  must(w, lua_pcall(w->L, 1, 0, 0));
}


static double milliseconds (clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* Frames that are timed; what is left over of a sixtieth of a second is slept. */
static void *play (void *data) {
  World *w = data;
  for (int i = 0; i < WARM_UP + FRAMES; i++) {
    if (i == WARM_UP) w->steady = w->system;
    double begin = milliseconds(CLOCK_MONOTONIC), busy = milliseconds(CLOCK_THREAD_CPUTIME_ID);
    frame(w, 0);
    double took = milliseconds(CLOCK_MONOTONIC) - begin;
    if (i >= WARM_UP) {
      w->times[i - WARM_UP] = took;
      w->busy[i - WARM_UP] = milliseconds(CLOCK_THREAD_CPUTIME_ID) - busy;
    }
    if (took < 1000.0 / 60 && getenv("REAL_TIME") != NULL) {
      struct timespec rest = {.tv_nsec = (long)(1e6 * (1000.0 / 60 - took))};
      nanosleep(&rest, NULL);
    }
  }
  w->steady = w->system - w->steady;
  return NULL;
}

static int by_size (const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void report (World *w, int number) {
  qsort(w->times, FRAMES, sizeof w->times[0], by_size);
  qsort(w->busy, FRAMES, sizeof w->busy[0], by_size);
  printf("world %d, %d frames          p50     p99     max\n", number, FRAMES);
  printf("  ms on the clock        %6.2f  %6.2f  %6.2f\n", w->times[FRAMES / 2], w->times[FRAMES * 99 / 100],
         w->times[FRAMES - 1]);
  printf("  ms of the processor    %6.2f  %6.2f  %6.2f\n", w->busy[FRAMES / 2], w->busy[FRAMES * 99 / 100],
         w->busy[FRAMES - 1]);
  printf("  bytes asked of the system: %zu; %.1f MB were ever used of the %d at the start\n", w->steady,
         1e-6 * (double)(w->next - w->chunk), CHUNK >> 20);
}


/* Goes on for some frames; the two worlds must end equal in all bits. */
static int same_bits (World *a, World *b) {
  size_t n, m;
  for (int i = 0; i < CHECKED; i++) {
    frame(a, 3);
    frame(b, 3);
  }
  const char *x = save(a, &n), *y = save(b, &m);
  return n == m && memcmp(x, y, n) == 0 && memcmp(a->wins, b->wins, sizeof a->wins) == 0;
}

int main (void) {
  World *worlds[2] = {new_world(), new_world()}, *copy = new_world();
  pthread_t threads[2];
  size_t length;
  int ok = 1;
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, play, worlds[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < 2; i++) {
    report(worlds[i], i + 1);
    ok &= worlds[i]->steady == 0;
  }

  const char *text = save(worlds[0], &length);
  char *saved = memcpy(malloc(length), text, length);
  restore(copy, saved, length);
  int same = same_bits(worlds[0], copy);
  printf("saved in %zu bytes, restored in another state, %d frames later: %s\n", length, CHECKED,
         same ? "the same bits" : "DIFFERENT");
  free(saved);

  World *all[3] = {worlds[0], worlds[1], copy};
  size_t left = 0;
  for (int i = 0; i < 3; i++) {
    lua_close(all[i]->L);
    left += all[i]->bytes;
    free(all[i]->chunk);
    free(all[i]);
  }
  printf("closed: %zu bytes left\n", left);
  return ok && same && left == 0 ? 0 : 1;
}
