/*
** border.c - numbers from C to Lua and back: elements read and written, a host's memory as tensors
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static int releases;

static void release (double *data, void *count) {
  ++*(int *)count;
  memset(data, 0x7f, 4 * sizeof *data);   /* whoever reads it now reads 1e306 */
  free(data);
}

/* Runs f(L) protected, which must raise a message with this in it. */
static void refuses (lua_State *L, lua_CFunction f, const char *message) {
  lua_pushcfunction(L, f);
  check(lua_pcall(L, 0, 0, 0) == LUA_ERRRUN, "refuses: %s", message);
  check(strstr(lua_tostring(L, -1), message) != NULL, "%s, expected %s", lua_tostring(L, -1), message);
  lua_pop(L, 1);
}

static int wrap_null (lua_State *L) { return perilune_wrap(L, NULL, 1, (size_t[]) {3}, 0), 1; }
static int wrap_odd (lua_State *L) {
  double two[2];
  return perilune_wrap(L, (double *)(void *)((char *)two + 1), 1, (size_t[]) {1}, 0), 1;
}
static int wrap_rank (lua_State *L) { return perilune_wrap(L, NULL, 17, NULL, 0), 1; }
static int new_negative (lua_State *L) { return perilune_newtensor(L, 1, (size_t[]) {(size_t)-1}), 1; }
static int new_huge (lua_State *L) { return perilune_newtensor(L, 2, (size_t[]) {1ul << 40, 1ul << 40}), 1; }
static int data_of_number (lua_State *L) { return lua_pushinteger(L, 3), perilune_data(L, -1, NULL), 1; }
static int data_of_transposed (lua_State *L) {
  return lua_getglobal(L, "transposed"), perilune_data(L, -1, NULL), 1;
}
static int write_recorded (lua_State *L) {
  return lua_getglobal(L, "recorded"), perilune_write(L, -1, NULL), 1;
}
static int write_expanded (lua_State *L) {
  return lua_getglobal(L, "expanded"), perilune_write(L, -1, NULL), 1;
}
static int lend_without_release (lua_State *L) {
  double x = 0;
  return perilune_lend(L, &x, 0, NULL, NULL, NULL), 1;
}

static void check_refusals (lua_State *L) {
  host_run(L, "w = peri.param { 1, 2 } recorded = w * w transposed = peri.ones(2, 3):transpose()"
              " expanded = peri.ones(1):expand(3) return 'ok'");
  lua_pop(L, 1);
  refuses(L, wrap_null, "perilune_wrap: data must be an address of doubles");
  refuses(L, wrap_odd, "perilune_wrap: data must be an address of doubles");
  refuses(L, wrap_rank, "perilune_wrap: rank must be from 0 to 16, got 17");
  refuses(L, new_negative, "perilune_newtensor: dimension 1 has too many elements");
  refuses(L, new_huge, "perilune_newtensor: shape (1099511627776, 1099511627776) has too many elements");
  refuses(L, data_of_number, "perilune_data: the value must be a tensor, got 3");
  refuses(L, data_of_transposed, "perilune_data: elements must lie one after the other");
  refuses(L, write_recorded, "perilune_write: the result of a recorded computation cannot be changed");
  refuses(L, write_expanded, "perilune_write: elements must lie one after the other");
  refuses(L, lend_without_release, "perilune_lend: release must be a function");
}


/* Elements go over and come back. */
static void check_elements (lua_State *L) {
  size_t n, shape[PERILUNE_MAX_RANK];
  double *to = perilune_newtensor(L, 2, (size_t[]) {2, 3});
  check(to[0] == 0 && to[5] == 0, "a new tensor holds zeros");
  for (int i = 0; i < 6; i++) to[i] = i + 1;
  lua_setglobal(L, "x");
  host_run(L, "y = x * 2 + 1 return tostring(x[2][3])");
  check(strcmp(lua_tostring(L, -1), "6.0") == 0, "Lua reads %s", lua_tostring(L, -1));
  lua_getglobal(L, "y");
  const double *from = perilune_data(L, -1, &n);
  check(n == 6 && from[0] == 3 && from[5] == 13, "C reads what Lua computed");
  check(perilune_shape(L, -1, shape) == 2 && shape[0] == 2 && shape[1] == 3, "C reads the shape");
  check(perilune_shape(L, -2, NULL) == -1, "a string has no shape");
  lua_pop(L, 2);
}

/* A result that waits has the elements as they were; gradients through what was changed are refused. */
static void check_writes (lua_State *L) {
  host_run(L, "w = peri.param(peri.ones(5000)) a = peri.full(5000, 3) later = (w * a):exp():sum()"
              " loss = (w * a):sum() return 'ok'");
  lua_getglobal(L, "a");
  double *a = perilune_write(L, -1, NULL);
  for (int i = 0; i < 5000; i++) a[i] = 0;
  lua_pop(L, 2);
  host_run(L, "assert(math.abs(later:item() - 5000 * math.exp(3)) < 1e-6, later:item())"
              " local ok, message = pcall(loss.backward, loss)"
              " assert(not ok and message:find 'changed', message) return 'ok'");
  lua_pop(L, 1);
}

/* The host's memory is what Lua reads, and an owner lives as long as a view. */
static void check_wrapped (lua_State *L) {
  double frame[4] = {1, 2, 3, 4};
  perilune_wrap(L, frame, 2, (size_t[]) {2, 2}, 0);
  lua_setglobal(L, "frame");
  host_run(L, "frame[1] = { 10, 20 } return tostring(frame:sum())");
  check(frame[1] == 20 && strcmp(lua_tostring(L, -1), "37.0") == 0, "both see what the other wrote");
  lua_pop(L, 1);

  double *owned = lua_newuserdatauv(L, 4 * sizeof *owned, 0);
  for (int i = 0; i < 4; i++) owned[i] = i;
  perilune_wrap(L, owned, 1, (size_t[]) {4}, -1);
  lua_setglobal(L, "owned");
  lua_pop(L, 1);
  host_run(L, "owned = owned:narrow(1, 3, 2) for i = 1, 3 do collectgarbage() end"
              " local t = {} for i = 1, 100 do t[i] = peri.zeros(4) end return tostring(owned:sum())");
  check(strcmp(lua_tostring(L, -1), "5.0") == 0, "a view keeps the owner alive");
  lua_pop(L, 1);
  host_run(L, "frame, owned = nil collectgarbage() return 'ok'");
  lua_pop(L, 1);
}

static void lend (lua_State *L, const char *name) {
  double *data = calloc(4, sizeof *data);
  data[0] = 5;
  perilune_lend(L, data, 1, (size_t[]) {4}, release, &releases);
  lua_setglobal(L, name);
}

/* Lent memory comes back when nothing needs it, and not before: a finalizer may still use it, or bring it back. */
static void check_lent (lua_State *L) {
  lend(L, "a");
  host_run(L, "view = a:narrow(1, 1, 1) a = nil for i = 1, 4 do collectgarbage() end return tostring(view:sum())");
  check(releases == 1 && strcmp(lua_tostring(L, -1), "5.0") == 0, "a view keeps lent memory");
  host_run(L, "view = nil for i = 1, 4 do collectgarbage() end return 'ok'");
  check(releases == 2, "lent memory comes back once, not %d times", releases - 1);

  host_run(L, "elder = setmetatable({}, { __gc = function (e) seen, back = e.t:sum(), e.t end }) return 'ok'");
  lend(L, "b");
  host_run(L, "elder.t, elder, b = b, nil, nil for i = 1, 4 do collectgarbage() end"
              " return tostring(seen + back:sum())");
  check(releases == 2 && strcmp(lua_tostring(L, -1), "10.0") == 0, "a finalizer brings a tensor back");
  host_run(L, "back = nil for i = 1, 4 do collectgarbage() end return 'ok'");
  check(releases == 3, "and then it goes");

  /* However often it is brought back, and whatever runs first, the loan's finalizer or the one that does. */
  lend(L, "d");
  host_run(L, "function park (x, name) setmetatable({ x }, { __gc = function (o) _G[name] = o[1] end }) end"
              " for i = 1, 20 do"
              "   if i % 3 == 0 then collectgarbage 'generational' else collectgarbage 'incremental' end"
              "   park(d, 'd') d = nil collectgarbage() d:copy(peri.full(4, i))"
              "   collectgarbage() if i % 2 == 0 then collectgarbage() end"
              " end"
              " collectgarbage 'incremental' return tostring(d:sum())");
  check(releases == 3 && strcmp(lua_tostring(L, -1), "80.0") == 0, "finalizers bring a tensor back time and again");
  host_run(L, "park(d, 'd') d = nil collectgarbage() v = d:narrow(1, 1, 2) park(v, 'v') v, d = nil, nil"
              " collectgarbage() return tostring(v:sum())");
  check(releases == 3 && strcmp(lua_tostring(L, -1), "40.0") == 0, "or a view of it");
  host_run(L, "v = nil for i = 1, 2 do collectgarbage() end return 'ok'");
  check(releases == 4, "and then it goes, too");

  /* When the state closes, a finalizer of a script's runs before the memory goes. */
  host_run(L, "last = setmetatable({}, { __gc = function (e) sum(e.t:sum()) end }) return 'ok'");
  lend(L, "c");
  host_run(L, "last.t, c = c, nil return 'ok'");
  lua_settop(L, 0);
}

static int lend_here (lua_State *L) {
  perilune_lend(L, lua_touserdata(L, 1), 1, (size_t[]) {4}, release, &releases);
  return 1;
}

/* If lending fails for want of memory, the memory is still the host's. */
static void check_failures (lua_State *L, Memory *memory) {
  int before = releases, status = LUA_ERRMEM;
  for (long n = 1; status == LUA_ERRMEM; n++) {
    double *data = calloc(4, sizeof *data);
    lua_pushcfunction(L, lend_here);
    lua_pushlightuserdata(L, data);
    memory->requests = 0;
    memory->fail_first = n;
    memory->fail_last = 1L << 40;
    status = lua_pcall(L, 1, 0, 0);
    memory->fail_first = memory->fail_last = 0;
    for (int i = 0; i < 4; i++) lua_gc(L, LUA_GCCOLLECT);
    if (status != LUA_ERRMEM) break;
    check(releases == before, "what was not lent is not given back");
    free(data);
    lua_settop(L, 0);
  }
  check(status == LUA_OK && releases == before + 1, "lending works in the end");
}

static double at_close;
static int note_sum (lua_State *L) { return at_close = luaL_checknumber(L, 1), 0; }

int main (void) {
  Memory memory;
  lua_State *L = host_open(&memory);
  luaL_requiref(L, "perilune", luaopen_perilune, 0);
  lua_setglobal(L, "peri");
  lua_register(L, "sum", note_sum);
  check_elements(L);
  check_writes(L);
  check_wrapped(L);
  check_refusals(L);
  check_failures(L, &memory);
  check_lent(L);
  host_close(L, &memory);
  check(releases == 5 && at_close == 5, "closing gives back what was lent, after finalizers: %d, %g",
        releases, at_close);
  printf("border: elements cross it unharmed, and lent memory comes back when nothing needs it\n");
  return 0;
}
