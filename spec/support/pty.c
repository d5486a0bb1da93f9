/*
** pty.c - a terminal for specs: a program that runs in it, and what is typed and shown there
**
**   local terminal = pty.open(columns, rows, {"command", "argument", ...})
**   terminal:write(bytes)    terminal:read(milliseconds) -> bytes, "" if there are none, nil at the end
**   terminal:resize(columns, rows)    terminal:close() -> exit code, or minus the signal
*/
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>

#define NAME "perilune.spec.pty"
#define MOST_WORDS 24

typedef struct Pty {
  int fd;
  pid_t child;
} Pty;

int luaopen_pty (lua_State *L);

static Pty *self (lua_State *L) {
  Pty *p = luaL_checkudata(L, 1, NAME);
  if (p->fd < 0) luaL_error(L, "the terminal is closed");
  return p;
}

static void set_size (int fd, lua_Integer columns, lua_Integer rows) {
  struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
  ioctl(fd, TIOCSWINSZ, &size);
}

/* In the child: the terminal becomes its own, and the program takes its place. */
static void run (const char *path, const char *const words[]) {
  setsid();
  int fd = open(path, O_RDWR);
  if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) != 0) _exit(126);
  for (int i = 0; i < 3; i++) dup2(fd, i);
  if (fd > 2) close(fd);
  execvp(words[0], (char *const *)words);
  _exit(127);
}

static int open_pty (lua_State *L) {
  const char *words[MOST_WORDS + 1] = {NULL};
  luaL_checktype(L, 3, LUA_TTABLE);
  for (int i = 0; i < MOST_WORDS && lua_rawgeti(L, 3, i + 1) == LUA_TSTRING; i++)
    words[i] = lua_tostring(L, -1);
  Pty *p = lua_newuserdatauv(L, sizeof *p, 0);
  p->fd = -1;
  luaL_setmetatable(L, NAME);
  int fd = posix_openpt(O_RDWR | O_NOCTTY);
  if (fd < 0 || grantpt(fd) != 0 || unlockpt(fd) != 0) return luaL_error(L, "no terminal");
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  set_size(fd, luaL_checkinteger(L, 1), luaL_checkinteger(L, 2));
  const char *path = ptsname(fd);
  p->child = fork();
  if (p->child == 0) run(path, words);
  p->fd = fd;
  return 1;
}

static int write_bytes (lua_State *L) {
  const Pty *p = self(L);
  size_t n, done = 0;
  const char *bytes = luaL_checklstring(L, 2, &n);
  while (done < n) {
    ssize_t written = write(p->fd, bytes + done, n - done);
    if (written < 0 && errno != EINTR) return luaL_error(L, "nothing can be typed");
    if (written > 0) done += (size_t)written;
  }
  return 0;
}

static int read_bytes (lua_State *L) {
  const Pty *p = self(L);
  char bytes[65536];
  struct pollfd output = {.fd = p->fd, .events = POLLIN};
  if (poll(&output, 1, (int)luaL_checkinteger(L, 2)) <= 0) return lua_pushliteral(L, ""), 1;
  ssize_t n = read(p->fd, bytes, sizeof bytes);
  if (n <= 0) return lua_pushnil(L), 1;
  lua_pushlstring(L, bytes, (size_t)n);
  return 1;
}

static int resize (lua_State *L) {
  set_size(self(L)->fd, luaL_checkinteger(L, 2), luaL_checkinteger(L, 3));
  return 0;
}

/* The program is told that the terminal is gone, and killed if that does not end it. */
static int close_pty (lua_State *L) {
  Pty *p = luaL_checkudata(L, 1, NAME);
  int status = 0;
  if (p->fd < 0) return 0;
  close(p->fd);
  p->fd = -1;
  for (int i = 0; waitpid(p->child, &status, WNOHANG) == 0; i++) {
    if (i == 200) kill(p->child, SIGKILL);
    usleep(10000);
  }
  lua_pushinteger(L, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  return 1;
}

static const luaL_Reg methods[] = {
  {"write", write_bytes}, {"read", read_bytes}, {"resize", resize}, {"close", close_pty}, {NULL, NULL}
};

__attribute__((visibility("default")))
int luaopen_pty (lua_State *L) {
  luaL_newmetatable(L, NAME);
  lua_pushcfunction(L, close_pty);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  lua_newtable(L);
  lua_pushcfunction(L, open_pty);
  lua_setfield(L, -2, "open");
  return 1;
}
