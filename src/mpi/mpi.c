/*
** mpi.c - messages between processes by MPI: perilune.mpi_core, a module of its own
**
** lua/perilune/mpi.lua is its face. What crosses is bytes (strings) and doubles (tensors); all
** calls but `tell` and `heard` are collective, on a communicator of our own.
**
** Each begins with a message from all ranks to all: a header, which says what call this is, so that
** ranks that have lost step find out instead of waiting for ever; and behind it room for numbers to
** be summed. The room is as large as the last sum needed: all ranks know that, so these messages
** have one size, whatever calls meet, and sums of the same size one after the other take one
** message each.
**
** A process has one MPI, so here are variables that last.
*/
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include <lua.h>
#include <lauxlib.h>

#include "perilune.h"

int luaopen_perilune_mpi_core (lua_State *L);

static struct World {
  MPI_Comm comm;
  int rank, size, is_open;
  pid_t process;               /* that has opened it: a fork of it has no MPI */
  uint64_t calls;              /* collective ones so far */
  size_t room;                 /* bytes behind the header of the next call */
  uint64_t messages, bytes;    /* that this rank has sent, each counted once */
  double seconds;              /* spent in MPI */
} world;

typedef enum Call { BCAST, GATHER, ALLGATHER, SCATTER, BARRIER, SUM, AGREE, END } Call;

static const char *const NAMES[] = {"bcast", "gather", "allgather", "scatter", "barrier",
                                    "allreduce", "allreduce", "the end of its script"};

static const char RAISE = 'R';   /* registry key: a function that raises at the user's line */


/* {=====================================================
** Errors: "mpi.gather: rank 1 of 4: why"
** ====================================================== */

static int fail (lua_State *L, Call call, const char *format, ...) {
  va_list list;
  va_start(list, format);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &RAISE);
  lua_pushfstring(L, "mpi.%s: rank %d of %d: ", NAMES[call], world.rank, world.size);
  lua_pushvfstring(L, format, list);
  va_end(list);
  lua_concat(L, 2);
  lua_call(L, 1, 0);
  return 0;
}

static void check (lua_State *L, Call call, int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  MPI_Error_string(code, text, &length);
  fail(L, call, "%s", text);
}

/* A number of elements as MPI counts them. */
static int count_of (lua_State *L, Call call, size_t n) {
  if (n > INT_MAX) fail(L, call, "a message must have less than 2^31 elements; send parts of it");
  return (int)n;
}

/* For what a call sends: n bytes, since a time. */
static void note (double begin, size_t n) {
  world.messages++;
  world.bytes += n;
  world.seconds += MPI_Wtime() - begin;
}

/* }====================================================== */


/* {=====================================================
** Headers
** ====================================================== */

typedef enum Kind { NOTHING, STRING, TENSOR } Kind;

typedef struct Header {
  uint64_t number;                       /* of the call */
  int32_t call, root, kind, rank;
  uint64_t bytes, shape[PERILUNE_MAX_RANK];
} Header;

static const perilune_Border *border_of (lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, PERILUNE_BORDER);
  const perilune_Border *border = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return border;
}

/* The bytes of the value at `index`, a string or a contiguous tensor; its header. */
static const void *describe (lua_State *L, int index, Header *header) {
  const perilune_Border *border = border_of(L);
  size_t shape[PERILUNE_MAX_RANK], n = 0;
  const void *bytes = NULL;
  int rank = border->shape(L, index, shape);
  if (rank >= 0) {
    bytes = border->data(L, index, &n);
    header->kind = TENSOR;
    header->rank = rank;
    header->bytes = n * sizeof(double);
    for (int d = 0; d < rank; d++) header->shape[d] = shape[d];
  }
  else if (lua_type(L, index) == LUA_TSTRING) {
    bytes = lua_tolstring(L, index, &n);
    header->kind = STRING;
    header->bytes = n;
  }
  return bytes;
}

static const char *name_of (int call) { return call >= 0 && call <= END ? NAMES[call] : "?"; }

/* "bcast with root 0" */
static const char *push_call (lua_State *L, const Header *header) {
  const char *name = name_of(header->call);
  int has_root = header->call == BCAST || header->call == GATHER || header->call == SCATTER;
  return has_root ? lua_pushfstring(L, "%s with root %d", name, (int)header->root)
                  : lua_pushstring(L, name);
}

/* Memory that stays, of so many bytes, for messages. */
static char *buffer_of (size_t bytes) {
  static char *buffer = NULL;
  static size_t has = 0;
  if (bytes > has) {
    char *larger = realloc(buffer, bytes);
    if (larger == NULL) return NULL;
    buffer = larger;
    has = bytes;
  }
  return buffer;
}

/* The bytes from one rank's first message to the next one's. */
static size_t stride_of (void) { return sizeof(Header) + world.room; }

/* Sends a header, and the numbers behind it if they fit in; *all is what came from all ranks. */
static int exchange (const Header *own, const double *numbers, char **all) {
  size_t stride = stride_of();
  char *sent = buffer_of(((size_t)world.size + 1) * stride);
  if (sent == NULL) return MPI_ERR_NO_MEM;
  memcpy(sent, own, sizeof *own);
  if (numbers != NULL && own->bytes <= world.room) memcpy(sent + sizeof *own, numbers, own->bytes);
  *all = sent + stride;
  double begin = MPI_Wtime();
  int code = MPI_Allgather(sent, (int)stride, MPI_BYTE, *all, (int)stride, MPI_BYTE, world.comm);
  note(begin, stride);
  return code;
}

/* A rank that is at another call than this one, or -1. */
static int out_of_step (const char *all, const Header *own) {
  for (int r = 0; r < world.size; r++) {
    const Header *other = (const Header *)(const void *)(all + (size_t)r * stride_of());
    int is_same = other->number == own->number && other->call == own->call;
    if (!is_same || other->root != own->root) return r;
  }
  return -1;
}

/* Pushes memory with the headers of all ranks; raises if they have lost step. */
static Header *meet (lua_State *L, const Header *own, const double *numbers) {
  Header *headers = lua_newuserdatauv(L, (size_t)world.size * sizeof *headers, 0);
  char *all;
  check(L, own->call, exchange(own, numbers, &all));
  for (int r = 0; r < world.size; r++)
    memcpy(&headers[r], all + (size_t)r * stride_of(), sizeof *headers);
  int other = out_of_step(all, own);
  if (other >= 0) {
    const char *theirs = push_call(L, &headers[other]), *ours = push_call(L, own);
    fail(L, own->call, "ranks have lost step: rank %d is at %s (its call %I), and this one at %s "
         "(call %I)", other, theirs, (LUAI_UACINT)headers[other].number, ours,
         (LUAI_UACINT)own->number);
  }
  if (own->call != SUM) world.room = 0;
  return headers;
}

static Header header_of (Call call, int root) {
  return (Header) {.number = ++world.calls, .call = call, .root = root};
}

static int check_root (lua_State *L, Call call, int index) {
  lua_Integer root = luaL_checkinteger(L, index);
  if (root < 0 || root >= world.size)
    fail(L, call, "root must be a rank from 0 to %d, got %I", world.size - 1, (LUAI_UACINT)root);
  return (int)root;
}

/* }====================================================== */


/* {=====================================================
** Values from one rank to others
** ====================================================== */

/* Pushes memory for the value of a header, and returns it. */
static void *push_room (lua_State *L, const Header *header) {
  if (header->kind != TENSOR) return lua_newuserdatauv(L, header->bytes > 0 ? header->bytes : 1, 0);
  size_t shape[PERILUNE_MAX_RANK];
  for (int d = 0; d < header->rank; d++) shape[d] = header->shape[d];
  return border_of(L)->newtensor(L, header->rank, shape);
}

/* Replaces that memory, filled, on top of the stack by the value. */
static void finish_room (lua_State *L, const Header *header, const void *bytes) {
  if (header->kind == TENSOR) return;
  if (header->kind == STRING) lua_pushlstring(L, bytes, header->bytes);
  else lua_pushnil(L);
  lua_remove(L, -2);
}

/* bcast(value, root) -> the root's value */
static int bcast (lua_State *L) {
  int root = check_root(L, BCAST, 2);
  Header own = header_of(BCAST, root);
  const void *bytes = root == world.rank ? describe(L, 1, &own) : NULL;
  const Header *from = &meet(L, &own, NULL)[root];
  int n = count_of(L, BCAST, from->kind == TENSOR ? from->bytes / sizeof(double) : from->bytes);
  void *room = push_room(L, from);
  if (root == world.rank && n > 0) memcpy(room, bytes, from->bytes);
  double begin = MPI_Wtime();
  check(L, BCAST, MPI_Bcast(room, n, from->kind == TENSOR ? MPI_DOUBLE : MPI_BYTE, root, world.comm));
  note(begin, root == world.rank ? from->bytes : 0);
  finish_room(L, from, room);
  return 1;
}

/* Pushes a list of the values whose bytes lie one after the other. */
static void push_list (lua_State *L, const Header *all, const char *bytes) {
  lua_createtable(L, world.size, 0);
  for (int r = 0; r < world.size; r++) {
    void *room = push_room(L, &all[r]);
    if (all[r].bytes > 0) memcpy(room, bytes, all[r].bytes);
    finish_room(L, &all[r], room);
    lua_rawseti(L, -2, r + 1);
    bytes += all[r].bytes;
  }
}

/* Counts and places of all ranks' bytes, in memory that is pushed. */
static int *push_counts (lua_State *L, Call call, const Header *all, int **places, size_t *total) {
  int *counts = lua_newuserdatauv(L, 2 * (size_t)world.size * sizeof(int), 0);
  *places = counts + world.size;
  *total = 0;
  for (int r = 0; r < world.size; r++) {
    counts[r] = count_of(L, call, all[r].bytes);
    (*places)[r] = count_of(L, call, *total);
    *total += all[r].bytes;
  }
  return counts;
}

/* gather(value, root) -> a list of all values at the root; allgather(value) -> everywhere */
static int gather_by (lua_State *L, Call call, int root) {
  Header own = header_of(call, root);
  const void *bytes = describe(L, 1, &own);
  const Header *all = meet(L, &own, NULL);
  int is_here = call == ALLGATHER || root == world.rank, *places;
  size_t total;
  int *counts = push_counts(L, call, all, &places, &total);
  char *room = lua_newuserdatauv(L, is_here && total > 0 ? total : 1, 0);
  double begin = MPI_Wtime();
  int n = (int)own.bytes;
  check(L, call, call == ALLGATHER
    ? MPI_Allgatherv(bytes, n, MPI_BYTE, room, counts, places, MPI_BYTE, world.comm)
    : MPI_Gatherv(bytes, n, MPI_BYTE, room, counts, places, MPI_BYTE, root, world.comm));
  note(begin, own.bytes);
  if (!is_here) return 0;
  push_list(L, all, room);
  return 1;
}

static int gather (lua_State *L) { return gather_by(L, GATHER, check_root(L, GATHER, 2)); }
static int allgather (lua_State *L) { return gather_by(L, ALLGATHER, 0); }

/* Pushes the headers of the values in the list at 1, and memory with their bytes. */
static Header *push_parts (lua_State *L, char **room) {
  Header *parts = lua_newuserdatauv(L, (size_t)world.size * sizeof *parts, 0);
  size_t total = 0;
  for (int r = 0; r < world.size; r++) {
    parts[r] = (Header) {0};
    lua_rawgeti(L, 1, r + 1);
    describe(L, -1, &parts[r]);
    lua_pop(L, 1);
    total += parts[r].bytes;
  }
  char *at = *room = lua_newuserdatauv(L, total > 0 ? total : 1, 0);
  for (int r = 0; r < world.size; r++) {
    lua_rawgeti(L, 1, r + 1);
    const void *bytes = describe(L, -1, &parts[r]);
    if (parts[r].bytes > 0) memcpy(at, bytes, parts[r].bytes);
    at += parts[r].bytes;
    lua_pop(L, 1);
  }
  return parts;
}

/* scatter(list, root) -> of the root's list that for this rank. Only the root's list is looked at. */
static int scatter (lua_State *L) {
  int root = check_root(L, SCATTER, 2), is_root = root == world.rank, *counts = NULL, *places = NULL;
  Header own = header_of(SCATTER, root), mine, *parts = NULL;
  char *bytes = NULL;
  size_t total = 0;
  meet(L, &own, NULL);
  if (is_root) {
    parts = push_parts(L, &bytes);
    counts = push_counts(L, SCATTER, parts, &places, &total);
  }
  double begin = MPI_Wtime();
  check(L, SCATTER, MPI_Scatter(parts, sizeof mine, MPI_BYTE, &mine, sizeof mine, MPI_BYTE, root,
                                world.comm));
  note(begin, is_root ? (size_t)world.size * sizeof mine : 0);
  void *room = push_room(L, &mine);
  begin = MPI_Wtime();
  check(L, SCATTER, MPI_Scatterv(bytes, counts, places, MPI_BYTE, room,
                                 count_of(L, SCATTER, mine.bytes), MPI_BYTE, root, world.comm));
  note(begin, total);
  finish_room(L, &mine, room);
  return 1;
}

/* barrier(): returns when all ranks have called it */
static int barrier (lua_State *L) {
  Header own = header_of(BARRIER, 0);
  meet(L, &own, NULL);
  return 0;
}

/* }====================================================== */


/* {=====================================================
** Sums in the order of the ranks
**
** All numbers go to all ranks, and each adds them up in rank order: the same bits everywhere,
** whatever the network does. Many numbers are cut: each rank adds up one piece, and gives it to
** all.
** ====================================================== */

#define ROOM_MOST   65536  /* bytes of room behind a header */
#define PIECES_FROM 4096   /* numbers that are worth two messages more, for more than two ranks */

/* All bits of n numbers in one. */
static uint64_t fingerprint (const double *x, size_t n) {
  uint64_t h = 0xcbf29ce484222325;
  for (size_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    h = (h ^ bits) * 1099511628211u;
    h ^= h >> 29;
  }
  return h;
}

/* What is in the header of a sum, beside the call and the bytes. */
static void set_sum (Header *header, int has_failed, uint64_t print) {
  header->kind = has_failed;
  header->shape[0] = print;
}

/* The first rank that has failed, or -1. Raises if ranks have other numbers than rank 0. */
static int check_sum (lua_State *L, const Header *all, const Header *own) {
  int failed = -1, differing = 0;
  for (int r = 0; r < world.size; r++) {
    if (all[r].bytes != own->bytes)
      fail(L, SUM, "rank %d has %I numbers to be summed, and this one %I", r,
           (LUAI_UACINT)(all[r].bytes / sizeof(double)), (LUAI_UACINT)(own->bytes / sizeof(double)));
    if (failed < 0 && all[r].kind) failed = r;
  }
  if (failed >= 0) return failed;
  lua_pushliteral(L, "");
  for (int r = 1; r < world.size; r++) {
    if (all[r].shape[0] == all[0].shape[0]) continue;
    lua_pushfstring(L, differing++ ? ", %d" : " %d", r);
    lua_concat(L, 2);
  }
  if (differing)
    fail(L, SUM, "numbers that must be the same on all ranks differ from those of rank 0 on rank%s%s",
         differing > 1 ? "s" : "", lua_tostring(L, -1));
  lua_pop(L, 1);
  return -1;
}

/* out = the sum of the ranks' n numbers, `stride` bytes apart */
static void add_rows (double *out, const char *rows, size_t stride, size_t n) {
  memcpy(out, rows, n * sizeof *out);
  for (int r = 1; r < world.size; r++) {
    const double *row = (const double *)(const void *)(rows + (size_t)r * stride);
    for (size_t i = 0; i < n; i++) out[i] += row[i];
  }
}

/* The sum of n numbers, in place: all of them to all ranks. */
static void sum_whole (lua_State *L, double *x, size_t n) {
  size_t bytes = n * sizeof *x;
  char *rows = buffer_of((size_t)world.size * bytes);
  if (rows == NULL) luaL_error(L, "not enough memory");
  int count = count_of(L, SUM, n);
  double begin = MPI_Wtime();
  check(L, SUM, MPI_Allgather(x, count, MPI_DOUBLE, rows, count, MPI_DOUBLE, world.comm));
  note(begin, bytes);
  add_rows(x, rows, bytes, n);
}

/* The same in pieces of m numbers, one for each rank; x has room for all of them. */
static void sum_pieces (lua_State *L, double *x, size_t n, size_t m) {
  size_t bytes = m * sizeof *x, size = (size_t)world.size;
  char *rows = buffer_of((size + 1) * bytes);
  if (rows == NULL) luaL_error(L, "not enough memory");
  double *piece = (double *)(void *)(rows + size * bytes), begin = MPI_Wtime();
  int count = count_of(L, SUM, m);
  memset(x + n, 0, (size * m - n) * sizeof *x);
  check(L, SUM, MPI_Alltoall(x, count, MPI_DOUBLE, rows, count, MPI_DOUBLE, world.comm));
  note(begin, size * bytes);
  add_rows(piece, rows, bytes, m);
  begin = MPI_Wtime();
  check(L, SUM, MPI_Allgather(piece, count, MPI_DOUBLE, x, count, MPI_DOUBLE, world.comm));
  note(begin, bytes);
}

/* Copies the tensors from index 3 on to x, one after the other; or back. */
static void copy_tensors (lua_State *L, int top, double *x, int is_back) {
  const perilune_Border *border = border_of(L);
  size_t n;
  for (int i = 3; i <= top; i++, x += n) {
    if (is_back) {
      double *to = border->write(L, i, &n);
      memcpy(to, x, n * sizeof *x);
    }
    else {
      const double *from = border->data(L, i, &n);
      memcpy(x, from, n * sizeof *x);
    }
  }
}

/* agree(t): raises unless all ranks have a tensor of this shape */
static int agree (lua_State *L) {
  Header own = header_of(AGREE, 0);
  describe(L, 1, &own);
  const Header *all = meet(L, &own, NULL);
  for (int r = 0; r < world.size; r++) {
    int is_same = all[r].kind == own.kind && all[r].rank == own.rank;
    if (!is_same || memcmp(all[r].shape, own.shape, sizeof own.shape) != 0)
      fail(L, SUM, "tensors must have the same shape on all ranks; that of rank %d differs from "
           "this one's", r);
  }
  return 0;
}

/* sum(has_failed, same, t, ...): adds the tensors of all ranks up, in place. `same` is a tensor that
   must be the same on all ranks, or nil. Returns the first rank that has failed, if one has; the
   tensors are as they were then. */
static int sum (lua_State *L) {
  const perilune_Border *border = border_of(L);
  int top = lua_gettop(L);
  size_t n = 0, length = 0, size = (size_t)world.size;
  for (int i = 3; i <= top; i++, n += length) border->data(L, i, &length);
  size_t m = (n + size - 1) / size;
  double *x = lua_newuserdatauv(L, (size * m > 0 ? size * m : 1) * sizeof *x, 0);
  const double *same = lua_isnil(L, 2) ? NULL : border->data(L, 2, &length);
  Header own = header_of(SUM, 0);
  own.bytes = n * sizeof *x;
  set_sum(&own, lua_toboolean(L, 1), same == NULL ? 0 : fingerprint(same, length));
  copy_tensors(L, top, x, 0);
  int fits = own.bytes <= world.room, in_pieces = size > 2 && n >= PIECES_FROM;
  const Header *all = meet(L, &own, x);
  int failed = check_sum(L, all, &own);
  if (failed >= 0) {
    lua_pushinteger(L, failed);
    return 1;
  }
  if (fits) add_rows(x, buffer_of(0) + stride_of() + sizeof own, stride_of(), n);
  else if (in_pieces) sum_pieces(L, x, n, m);
  else sum_whole(L, x, n);
  world.room = in_pieces || own.bytes > ROOM_MOST ? 0 : own.bytes;
  copy_tensors(L, top, x, 1);
  return 0;
}

/* }====================================================== */


/* {=====================================================
** Short texts to rank 0 that nobody waits for
** ====================================================== */

#define TAG  1
#define MOST 1024

/* tell(text, must): sends a text to rank 0, unless the last one is still on its way and it need not
   be sent. Returns whether it was. */
static int tell (lua_State *L) {
  static char text[MOST];
  static MPI_Request request = MPI_REQUEST_NULL;
  size_t n;
  const char *given = luaL_checklstring(L, 1, &n);
  int done = 1;
  if (n > MOST) return luaL_error(L, "a text must not be longer than %d bytes", MOST);
  if (lua_toboolean(L, 2)) MPI_Wait(&request, MPI_STATUS_IGNORE);
  else MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  if (done) {
    memcpy(text, given, n);
    MPI_Isend(text, (int)n, MPI_BYTE, 0, TAG, world.comm, &request);
  }
  lua_pushboolean(L, done);
  return 1;
}

/* heard() -> rank and text of a message that has come, or nothing */
static int heard (lua_State *L) {
  char text[MOST];
  int has_come = 0, n;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, TAG, world.comm, &has_come, &status);
  if (!has_come) return 0;
  MPI_Recv(text, MOST, MPI_BYTE, status.MPI_SOURCE, TAG, world.comm, &status);
  MPI_Get_count(&status, MPI_BYTE, &n);
  lua_pushinteger(L, status.MPI_SOURCE);
  lua_pushlstring(L, text, (size_t)n);
  return 2;
}

/* counters() -> messages that this rank has sent, their bytes, seconds spent in MPI */
static int counters (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)world.messages);
  lua_pushinteger(L, (lua_Integer)world.bytes);
  lua_pushnumber(L, world.seconds);
  return 3;
}

/* }====================================================== */


/* {=====================================================
** Beginning and end
** ====================================================== */

/* Have all ranks come to their end? Else says who has not. */
static int has_parted (void) {
  Header own = header_of(END, 0);
  char *all;
  if (exchange(&own, NULL, &all) != MPI_SUCCESS) return 0;
  int other = out_of_step(all, &own);
  if (other < 0) return 1;
  const Header *theirs = (const Header *)(const void *)(all + (size_t)other * stride_of());
  fprintf(stderr, "perilune.mpi: rank %d of %d has come to the end of its script, and rank %d is at "
          "%s\n", world.rank, world.size, other, name_of(theirs->call));
  return 0;
}

/* A process whose status is not 0 (an error in its script, os.exit(1)) takes the others along. */
static void at_exit (int status, void *unused) {
  int has_ended;
  (void)unused;
  MPI_Finalized(&has_ended);
  if (has_ended || getpid() != world.process) return;
  fflush(NULL);
  if (status == 0) {
    if (has_parted()) {
      MPI_Finalize();
      return;
    }
    status = 1;
  }
  else fprintf(stderr, "perilune.mpi: rank %d of %d has ended with status %d; all ranks end\n",
               world.rank, world.size, status);
  fflush(NULL);
  MPI_Abort(world.comm, status);
}

/* Opens MPI, once in a process; `is_ours` unless the host has done so before. */
static int begin (void) {
  int is_begun, has_ended, provided, is_ours;
  MPI_Initialized(&is_begun);
  MPI_Finalized(&has_ended);
  if (has_ended) return 0;
  is_ours = !is_begun;
  if (is_ours && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return 0;
  if (MPI_Comm_dup(MPI_COMM_WORLD, &world.comm) != MPI_SUCCESS) return 0;
  MPI_Comm_set_errhandler(world.comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(world.comm, &world.rank);
  MPI_Comm_size(world.comm, &world.size);
  world.process = getpid();
  world.is_open = 1;
  if (is_ours) on_exit(at_exit, NULL);
  return 1;
}

/* open(raise) -> rank, size, the library's name; raise(message) raises at the user's line */
static int open (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  const perilune_Border *border = border_of(L);
  if (border == NULL || border->size < sizeof *border)
    return luaL_error(L, "mpi: needs perilune of this version");
  lua_settop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &RAISE);
  if (!world.is_open && !begin()) return luaL_error(L, "mpi: MPI cannot be opened in this process");
  if (world.process != getpid()) return luaL_error(L, "mpi: a fork of a process with MPI has none");
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length;
  MPI_Get_library_version(library, &length);
  lua_pushinteger(L, world.rank);
  lua_pushinteger(L, world.size);
  lua_pushstring(L, library);
  return 3;
}

static const luaL_Reg functions[] = {
  {"open", open},
  {"bcast", bcast},
  {"gather", gather},
  {"allgather", allgather},
  {"scatter", scatter},
  {"barrier", barrier},
  {"agree", agree},
  {"sum", sum},
  {"tell", tell},
  {"heard", heard},
  {"counters", counters},
  {NULL, NULL}
};

__attribute__((visibility("default")))
int luaopen_perilune_mpi_core (lua_State *L) {
  luaL_newlib(L, functions);
  return 1;
}

/* }====================================================== */
