/*
** terminal.c - what the prompt needs of a terminal: perilune.terminal, a module of its own
**
** Keys as they are typed, the size of the window, Ctrl-C while something runs, names of files.
** Hosts that embed perilune do not have it: it is no part of the core or of the library.
** Signals are the process's and not a state's, so here alone is a variable that lasts.
*/
#include <errno.h>
#include <signal.h>
#include <string.h>

#include <lua.h>
#include <lauxlib.h>

#if defined(__unix__) || defined(__APPLE__)
#include <dirent.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#define HAS_TERMINAL 1
#else
#define HAS_TERMINAL 0
#endif

int luaopen_perilune_terminal (lua_State *L);


/* {=====================================================
** Ctrl-C
** ====================================================== */

/* What runs under `protected`: its state, the coroutine that was resumed last and still runs,
   and how often Ctrl-C was pressed. */
static struct Running {
  lua_State *volatile main, *volatile coroutine;
  volatile sig_atomic_t times;
} running;

/* The first Ctrl-C raises once: a sampler may keep what it has. From the second one on it is
   raised at every instruction, whatever catches it, until `protected` is left. */
static void stop (lua_State *L, lua_Debug *at) {
  (void)at;
  if (running.times < 2) lua_sethook(L, NULL, 0, 0);
  luaL_error(L, "interrupted!");
}

static void set_hook (lua_State *L) {
  if (L != NULL) lua_sethook(L, stop, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

/* Setting a hook is all that Lua allows a signal handler to do. */
static void on_interrupt (int signal_number) {
  (void)signal_number;
  if (running.times < 2) running.times++;
  set_hook(running.main);
  set_hook(running.coroutine);
}

typedef void (*Handler) (int);

/* Sets a handler; system calls go on after it, or not. Returns the one before. */
static Handler handle (int number, Handler handler, int restart) {
#if HAS_TERMINAL
  struct sigaction new = {.sa_handler = handler, .sa_flags = restart ? SA_RESTART : 0}, old;
  sigemptyset(&new.sa_mask);
  return sigaction(number, &new, &old) == 0 ? old.sa_handler : SIG_DFL;
#else
  (void)restart;
  return signal(number, handler);
#endif
}

/* protected(f, on_error): as xpcall, and Ctrl-C raises "interrupted!" in f. The first result is
   true, false, or "interrupted" for an error after Ctrl-C was pressed twice. f may call it, too:
   Ctrl-C is then the inner one's. */
static int protected (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  lua_insert(L, 1);
  struct Running outer = running;
  running.main = L, running.coroutine = NULL, running.times = 0;
  Handler before = handle(SIGINT, on_interrupt, 0);
  int status = lua_pcall(L, 0, LUA_MULTRET, 1);
  handle(SIGINT, before, 1);
  int is_stopped = status != LUA_OK && running.times >= 2;
  running = outer;
  if (lua_gethook(L) == stop) lua_sethook(L, NULL, 0, 0);
  if (is_stopped) lua_pushliteral(L, "interrupted");
  else lua_pushboolean(L, status == LUA_OK);
  lua_replace(L, 1);
  return lua_gettop(L);
}

/* resume(coroutine, ...): coroutine.resume, with Ctrl-C reaching the coroutine. The function in
   its place before is upvalue 1; it raises if this is no coroutine, or Ctrl-C was pressed. The
   coroutine is forgotten in any case: it may be collected, and Ctrl-C pressed again. */
static int resume (lua_State *L) {
  lua_State *before = running.coroutine, *coroutine = lua_tothread(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  if (coroutine != NULL) running.coroutine = coroutine;
  int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  if (coroutine != NULL && lua_gethook(coroutine) == stop) lua_sethook(coroutine, NULL, 0, 0);
  running.coroutine = before;
  return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* following(resume): such a function */
static int following (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_pushcclosure(L, resume, 1);
  return 1;
}

/* }====================================================== */


#if HAS_TERMINAL

/* {=====================================================
** The window and its keys
** ====================================================== */

/* is_terminal(fd): of 0, 1 and 2, standard input, output, errors */
static int is_terminal (lua_State *L) {
  lua_pushboolean(L, isatty((int)luaL_checkinteger(L, 1)));
  return 1;
}

/* size(): columns and rows of the window, or nothing */
static int size (lua_State *L) {
  struct winsize window;
  for (int fd = 1; fd >= 0; fd--) {
    if (ioctl(fd, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) continue;
    lua_pushinteger(L, window.ws_col);
    lua_pushinteger(L, window.ws_row);
    return 2;
  }
  return 0;
}

#define MODE "perilune.terminal.mode"

typedef struct Mode {
  struct termios saved;
  int active;
} Mode;

/* raw(): every key is read as it is typed, and none is echoed, until mode:restore(); nothing if
   standard input is no terminal */
static int raw (lua_State *L) {
  Mode *mode = lua_newuserdatauv(L, sizeof *mode, 0);
  mode->active = 0;
  luaL_setmetatable(L, MODE);
  if (tcgetattr(0, &mode->saved) != 0) return 0;
  struct termios keys = mode->saved;
  keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
  keys.c_iflag &= ~(tcflag_t)(IXON | ICRNL | INLCR | ISTRIP | BRKINT);
  keys.c_cc[VMIN] = 1, keys.c_cc[VTIME] = 0;
  if (tcsetattr(0, TCSADRAIN, &keys) != 0) return 0;
  mode->active = 1;
  return 1;
}

static int restore (lua_State *L) {
  Mode *mode = luaL_checkudata(L, 1, MODE);
  if (mode->active) tcsetattr(0, TCSADRAIN, &mode->saved);
  mode->active = 0;
  return 0;
}

static void nothing (int signal_number) { (void)signal_number; }

/* Waits for a key, so many milliseconds or without end (-1): > 0 if there is one, < 0 if a signal
   came first. */
static int wait_for_key (int milliseconds) {
  struct pollfd input = {.fd = 0, .events = POLLIN};
  Handler before = handle(SIGWINCH, nothing, 0);
  int ready = poll(&input, 1, milliseconds);
  handle(SIGWINCH, before, 1);
  return ready;
}

/* read(milliseconds): bytes that were typed; "" if there were none in time, or the window has
   another size; nil at the end of the input */
static int read_keys (lua_State *L) {
  char bytes[4096];
  int ready = wait_for_key((int)luaL_optinteger(L, 1, -1));
  ssize_t n = 0;
  if (ready > 0) {
    n = read(0, bytes, sizeof bytes);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) return lua_pushnil(L), 1;
  }
  lua_pushlstring(L, bytes, n > 0 ? (size_t)n : 0);
  return 1;
}

/* suspend(): as Ctrl-Z; returns when the shell brings us back */
static int suspend (lua_State *L) {
  (void)L;
  raise(SIGTSTP);
  return 0;
}

/* }====================================================== */


/* {=====================================================
** Files
** ====================================================== */

static int is_directory (const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Appends the names in an open directory to the table on top; those of directories end in /. */
static int append_names (lua_State *L) {
  DIR *directory = lua_touserdata(L, 1);
  const char *path = lua_tostring(L, 2);
  lua_newtable(L);
  for (struct dirent *entry; (entry = readdir(directory)) != NULL; ) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    lua_pushfstring(L, "%s/%s", path, entry->d_name);
    lua_pushfstring(L, is_directory(lua_tostring(L, -1)) ? "%s/" : "%s", entry->d_name);
    lua_rawseti(L, 3, (lua_Integer)lua_rawlen(L, 3) + 1);
    lua_settop(L, 3);
  }
  return 1;
}

/* names(path): a list of the names in a directory; an empty one if it cannot be read */
static int names (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  DIR *directory = opendir(path);
  if (directory == NULL) return lua_newtable(L), 1;
  lua_pushcfunction(L, append_names);
  lua_pushlightuserdata(L, directory);
  lua_pushvalue(L, 1);
  int status = lua_pcall(L, 2, 1, 0);
  closedir(directory);
  return status == LUA_OK ? 1 : lua_error(L);
}

/* make_directory(path): makes a directory for its owner alone, where there is none */
static int make_directory (lua_State *L) {
  mkdir(luaL_checkstring(L, 1), 0700);
  return 0;
}

/* }====================================================== */

static const luaL_Reg of_a_terminal[] = {
  {"is_terminal", is_terminal}, {"size", size}, {"raw", raw}, {"read", read_keys}, {"suspend", suspend},
  {"names", names}, {"make_directory", make_directory},
  {NULL, NULL}
};

static void set_functions (lua_State *L) {
  luaL_setfuncs(L, of_a_terminal, 0);
  luaL_newmetatable(L, MODE);
  lua_pushcfunction(L, restore);
  lua_setfield(L, -2, "__gc");
  lua_newtable(L);
  lua_pushcfunction(L, restore);
  lua_setfield(L, -2, "restore");
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

#else   /* elsewhere there is none: the prompt reads lines */

static int is_terminal (lua_State *L) { return lua_pushboolean(L, 0), 1; }
static int nothing (lua_State *L) { (void)L; return 0; }
static int no_names (lua_State *L) { return lua_newtable(L), 1; }

static void set_functions (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"is_terminal", is_terminal}, {"size", nothing}, {"raw", nothing}, {"read", nothing}, {"suspend", nothing},
    {"names", no_names}, {"make_directory", nothing},
    {NULL, NULL}
  };
  luaL_setfuncs(L, functions, 0);
}

#endif


static const luaL_Reg functions[] = {
  {"protected", protected}, {"following", following},
  {NULL, NULL}
};

__attribute__((visibility("default")))
int luaopen_perilune_terminal (lua_State *L) {
  luaL_checkversion(L);
  lua_newtable(L);
  luaL_setfuncs(L, functions, 0);
  set_functions(L);
  return 1;
}
