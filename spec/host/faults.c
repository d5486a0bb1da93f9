/*
** faults.c - every entry point, interrupted at every place
**
** Each snippet runs while the k-th request for memory is refused, for k = 1,
** 2, ... until there is no k-th one:
**   once      Lua collects garbage and asks again: all must go on as if
**             nothing had happened (an emergency collection at every place);
**             long texts in luaL_Buffers are the exception, for which Lua
**             asks once;
**   twice     one request fails for good, the next succeed;
**   forever   that request and all that follow fail;
** and then while a count hook raises an error at the k-th instruction. A
** failure must be an ordinary error that says why; the same call afterwards
** must give what it gives in a state that never saw a failure; when all is
** collected, the state holds no more bytes than before the failures; and a
** closed state has returned all its bytes and left no thread.
**
** Some files have long snippets, or very many: of their places some are tried,
** spread over the whole call; as many as PLACES says, or all of them if LONG is
** set. A word as an argument runs those snippets alone whose names have it in them. Each file has a
** process, so that all cores are used.
*/
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"

typedef struct File {
  const char *path;
  int places;        /* of a snippet that are tried for each fault; 0 for all */
} File;

static const File files[] = {
  {"spec/host/snippets.lua", 0}, {"spec/host/fits.lua", 2}, {"spec/host/examples.lua", 1}, {NULL, 0}
};

#define GROWTH 256    /* bytes: what the state remembers of its last names */
#define ROUNDS 6      /* of faults, in none of which memory stays as it is */

typedef enum Fault { ONCE, TWICE, FOREVER, HOOK, FAULTS } Fault;

static const char *const fault_names[] = {"once", "twice", "forever", "hook"};

/* What runs: a state, its snippets at stack index 1, the current one. */
typedef struct Run {
  Memory memory;
  lua_State *L;
  const char *path;
  int most;            /* places */
  int snippet;
  int fresh, forgiving;
  char name[64];
  char expected[65536];
  long total[FAULTS];  /* places that an undisturbed call has, about */
} Run;


static int interrupted;      /* coroutines have the hook, too: once in all */

static void interrupt (lua_State *L, lua_Debug *event) {
  (void)event;
  if (interrupted) return;
  interrupted = 1;
  luaL_error(L, "over budget");
}

static void arm (Run *run, Fault fault, long k) {
  run->memory.requests = run->memory.refused = 0;
  interrupted = 0;
  if (fault == HOOK) {
    lua_sethook(run->L, interrupt, LUA_MASKCOUNT, (int)k);
    return;
  }
  run->memory.fail_first = k;
  run->memory.fail_last = fault == ONCE ? k : fault == TWICE ? k + 1 : LONG_MAX;
}

/* Has there been a fault since arm? */
static int disarm (Run *run, Fault fault) {
  lua_sethook(run->L, NULL, 0, 0);
  run->memory.fail_first = run->memory.fail_last = 0;
  return fault == HOOK ? interrupted : run->memory.refused > 0;
}


/* Pushes a field of the snippet: its name, function or clean-up. */
static int push_field (Run *run, int i, const char *name) {
  lua_rawgeti(run->L, 1, run->snippet);
  int type = name != NULL ? lua_getfield(run->L, -1, name)
                          : lua_rawgeti(run->L, -1, i);
  lua_remove(run->L, -2);
  return type;
}

/* Calls a function of the snippet that need not be there. */
static void call_if_any (Run *run, const char *name) {
  if (push_field(run, 0, name) == LUA_TFUNCTION) lua_call(run->L, 0, 0);
  lua_settop(run->L, 1);
}

static void open_state (Run *run) {
  run->L = host_open(&run->memory);
  int status = luaL_dofile(run->L, run->path);
  check(status == LUA_OK, "%s", lua_tostring(run->L, -1));
  lua_settop(run->L, 1);
}

static void close_state (Run *run) {
  host_close(run->L, &run->memory);
  check_threads(1, run->name);
}

static const char *message (Run *run) {
  const char *text = lua_tostring(run->L, -1);
  return text != NULL ? text : "an error that is no text";
}

/* The snippet without faults gives what it should. */
static void run_undisturbed (Run *run, const char *when) {
  push_field(run, 2, NULL);
  int status = lua_pcall(run->L, 0, 1, 0);
  check(status == LUA_OK, "%s, %s: %s", run->name, when, message(run));
  check(strcmp(message(run), run->expected) == 0, "%s, %s:\n  %s\nexpected\n  %s",
        run->name, when, message(run), run->expected);
  lua_settop(run->L, 1);
}

/* Did the failure say why? */
static void check_failure (Run *run, Fault fault, int status, const char *when) {
  const char *text = message(run);
  check(fault != ONCE || run->memory.refused_buffer, "%s, %s: an emergency collection shows: %s",
        run->name, when, text);
  check(status == LUA_ERRMEM || status == LUA_ERRRUN, "%s, %s: status %d: %s",
        run->name, when, status, text);
  int says_why = fault == HOOK
    ? strstr(text, "over budget") != NULL
    : strstr(text, "not enough memory") != NULL || strstr(text, "stack overflow") != NULL;
  check(says_why, "%s, %s: the message hides the reason: %s", run->name, when, text);
}

/* Runs the snippet with one fault; returns whether that came to pass. */
static int run_with (Run *run, Fault fault, long k) {
  char when[64];
  snprintf(when, sizeof when, "%s at %ld", fault_names[fault], k);
  push_field(run, 2, NULL);
  arm(run, fault, k);
  int status = lua_pcall(run->L, 0, 1, 0);
  int happened = disarm(run, fault);
  if (status != LUA_OK) check_failure(run, fault, status, when);
  else check(run->forgiving || strcmp(message(run), run->expected) == 0, "%s, during %s:\n  %s\nexpected\n  %s",
             run->name, when, message(run), run->expected);
  lua_settop(run->L, 1);
  call_if_any(run, "after");
  run_undisturbed(run, when);
  return happened;
}


/* The place after the k-th. Where every place takes a fresh state, only some are
   tried, further and further apart: loading makes very many requests. Of `most`
   places in all, each lies somewhere in a stretch of its own. */
static long next_place (const Run *run, Fault fault, long k) {
  if (run->most > 0) {
    long stretch = run->total[fault] / run->most + 1, i = k / stretch + 1;
    return i * stretch + (long)((unsigned long)i * 2654435761u % (unsigned long)stretch);
  }
  if (!run->fresh) return k + 1;
  return k + (fault == HOOK ? 997 : 1 + k / 100);
}

/* A state in which the snippet is about to run, as it has run before unless it is
   one for a fresh state. */
static void prepare (Run *run) {
  open_state(run);
  call_if_any(run, "before");
  if (run->fresh) return;
  run_undisturbed(run, "a first time");
  run_undisturbed(run, "a second time");
}

/* Bytes that are in use when all garbage is collected, that of finalizers too. */
static size_t bytes_in_use (Run *run) {
  for (int i = 0; i < 5; i++) lua_gc(run->L, LUA_GCCOLLECT);   /* stacks shrink each time */
  return run->memory.used;
}

/* Runs the snippet with one kind of fault at all places; returns how many there were. */
static int run_places (Run *run, Fault fault) {
  int places = 0;
  for (long k = run->most > 0 ? next_place(run, fault, 0) : 1; run_with(run, fault, k);
       k = next_place(run, fault, k)) {
    places++;
    if (!run->fresh) continue;
    close_state(run);
    prepare(run);
  }
  return places;
}

/* The same, and nothing is left behind: what a round leaves, such as files that only errors load or
   a table that has grown, later ones do not leave again. */
static int run_all (Run *run, Fault fault) {
  prepare(run);
  size_t before = bytes_in_use(run);
  int places = run_places(run, fault);
  size_t after = bytes_in_use(run), earlier = before;
  for (int round = 1; !run->fresh && after > earlier + GROWTH; round++) {
    check(round < ROUNDS, "%s, %s: %zu bytes are in use, and after %d rounds of %d faults still more: %zu",
          run->name, fault_names[fault], before, round, places, after);
    earlier = after;
    run_places(run, fault);
    after = bytes_in_use(run);
  }
  close_state(run);
  return places;
}


static long hooks_seen;

static void count_hook (lua_State *L, lua_Debug *event) {
  (void)L, (void)event;
  hooks_seen++;
}

/* About how many places there are for faults. */
static void count_places (Run *run) {
  enum { EVERY = 64 };
  open_state(run);
  call_if_any(run, "before");
  if (!run->fresh) run_undisturbed(run, "before counting");
  hooks_seen = run->memory.requests = 0;
  lua_sethook(run->L, count_hook, LUA_MASKCOUNT, EVERY);
  run_undisturbed(run, "counting");
  lua_sethook(run->L, NULL, 0, 0);
  for (Fault fault = 0; fault < HOOK; fault++) run->total[fault] = run->memory.requests;
  run->total[HOOK] = hooks_seen * EVERY;
  close_state(run);
}

/* Reads the snippet's name; returns 0 after the last. */
static int find (Run *run) {
  open_state(run);
  int type = lua_rawgeti(run->L, 1, run->snippet);
  lua_settop(run->L, 1);
  if (type != LUA_TNIL) {
    push_field(run, 1, NULL);
    snprintf(run->name, sizeof run->name, "%s", message(run));
    push_field(run, 0, "fresh");
    run->fresh = lua_toboolean(run->L, -1);
    push_field(run, 0, "forgiving");
    run->forgiving = lua_toboolean(run->L, -1);
  }
  close_state(run);
  return type != LUA_TNIL;
}

/* What the snippet gives in a state of its own, where it gives that again. */
static void begin (Run *run) {
  open_state(run);
  push_field(run, 2, NULL);
  int status = lua_pcall(run->L, 0, 1, 0);
  check(status == LUA_OK, "%s: %s", run->name, message(run));
  check(lua_rawlen(run->L, -1) < sizeof run->expected, "%s: a long text", run->name);
  strcpy(run->expected, message(run));
  lua_settop(run->L, 1);
  run_undisturbed(run, "a second time");
  close_state(run);
  if (run->most > 0) count_places(run);
}

/* Out of memory for good, a state keeps the threads it has when it can get no
   others, and can be closed. */
static void close_without_memory (void) {
  Memory memory;
  lua_State *L = host_open(&memory);
  host_run(L, "peri = require 'perilune' peri.set_threads(2) return ''");
  check_threads(2, "set_threads(2)");
  luaL_loadstring(L, "peri.set_threads(3)");
  memory.fail_first = 1;
  memory.fail_last = LONG_MAX;
  check(lua_pcall(L, 0, 0, 0) == LUA_ERRMEM, "set_threads(3) without memory");
  check_threads(2, "set_threads(3) without memory");
  host_close(L, &memory);
  check_threads(1, "closed without memory");
}

/* Of a snippet, for each fault; 0 for all. */
static int places_wanted (const File *file) {
  const char *wanted = getenv("PLACES"), *all = getenv("LONG");
  if (all != NULL && *all != '\0') return 0;
  return wanted != NULL && file->places > 0 ? atoi(wanted) : file->places;
}

/* Returns how many snippets there were whose name has the word in it. */
static int run_file (const File *file, const char *word) {
  static Run run;
  int snippets = 0, places[FAULTS] = {0};
  run.path = file->path;
  run.most = places_wanted(file);
  for (run.snippet = 1; find(&run); run.snippet++) {
    if (word != NULL && strstr(run.name, word) == NULL) continue;
    snippets++;
    begin(&run);
    for (Fault fault = 0; fault < FAULTS; fault++) places[fault] += run_all(&run, fault);
  }
  if (snippets > 0)
    printf("faults: %d of %s, %d requests refused once, %d twice, %d with all that follow, %d interruptions\n",
           snippets, file->path, places[ONCE], places[TWICE], places[FOREVER], places[HOOK]);
  return snippets;
}

enum { PASSED = 0, NONE = 2 };   /* how the process of a file ends; that of a failure, otherwise */

int main (int count, char *argument[]) {
  const char *word = count > 1 ? argument[1] : NULL;
  int passed = 0, processes = 0, status;
  close_without_memory();
  for (const File *file = files; file->path != NULL; file++, processes++)
    if (fork() == 0) return run_file(file, word) > 0 ? PASSED : NONE;
  while (processes-- > 0) {
    wait(&status);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code != PASSED && code != NONE) return 1;   /* it has said why */
    passed += code == PASSED;
  }
  check(passed > 0, "there is no such snippet");
  return 0;
}
