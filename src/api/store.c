/*
** store.c - rows of numbers in a file, or in memory, of 32 bits or 64 each
**
** A store has rows of `width` numbers, of which a view may show some columns only. What is read
** of it are doubles. Files are read at the place that is asked for, and not mapped: where a file
** has become shorter, reading is an error, while a page of a mapping that is not there any more
** ends the process (SIGBUS); and pages of a mapping count as memory of the process.
*/
#define _FILE_OFFSET_BITS 64

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#if !defined(_WIN32) && !defined(__EMSCRIPTEN__)
#define PLACES_CAN_BE_READ 1
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "api/api.h"

enum {
  SCRATCH_BYTES = 1 << 16,   /* that are read at once where numbers must be converted; after these, */
  LOOK_BYTES    = 1 << 20    /* or so many, hooks may run */
};

typedef struct Store {
  uint64_t proof;
  void *stream;            /* Lua's file, or NULL; the first user value */
  char *held;              /* the numbers, where they are in memory; ours, or the first user value's */
  uint64_t offset;         /* where the numbers begin in the file */
  size_t rows, width;
  size_t bytes;            /* of a number: 4 or 8 */
  size_t columns;          /* that are shown, */
  const size_t *column;    /* and which; NULL for all */
  char *scratch;           /* room for SCRATCH_BYTES of a file, or a row */
} Store;

enum { OWNER = 1, NAME = 2 };   /* user values */

static uint64_t proof_of (const Store *s) { return 0x7065726973746f72u ^ (uintptr_t)s; }   /* "peristor" */

static Store *check_store (lua_State *L, int index, const char *who) {
  Store *s = lua_touserdata(L, index);
  if (lua_type(L, index) != LUA_TUSERDATA || lua_rawlen(L, index) < sizeof *s || s->proof != proof_of(s))
    host_fail_type(L, who, "the first argument", "rows", index);
  return s;
}

static size_t row_bytes (const Store *s) { return s->width * s->bytes; }


/* {=====================================================
** Files
** ====================================================== */

/* The file of Lua's that this is; NULL if it was closed. */
static FILE *open_file (void *stream) {
#if LUA_VERSION_NUM >= 502
  const luaL_Stream *file = stream;
  return file->closef != NULL ? file->f : NULL;
#else
  return *(FILE **)stream;
#endif
}

/* Lua's file at `index`. */
static void *check_stream (lua_State *L, int index, const char *who) {
  int is_file = 0;
  if (lua_type(L, index) == LUA_TUSERDATA && lua_getmetatable(L, index)) {
    luaL_getmetatable(L, "FILE*");
    is_file = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
  }
  if (!is_file || open_file(lua_touserdata(L, index)) == NULL)
    host_fail(L, who, "io.open gave something else than an open file of Lua's");
  return lua_touserdata(L, index);
}

/* Reads so many bytes at a place; fewer at the end of the file, or where it cannot be read: errno
   says why. */
static size_t read_at (FILE *f, uint64_t at, char *to, size_t n) {
  size_t done = 0;
  errno = 0;
#ifdef PLACES_CAN_BE_READ
  while (done < n) {
    ssize_t got = pread(fileno(f), to + done, n - done, (off_t)(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += (size_t)got;
  }
#elif defined(_WIN32)
  if (_fseeki64(f, (long long)at, SEEK_SET) == 0) done = fread(to, 1, n, f);
#else
  if (fseeko(f, (off_t)at, SEEK_SET) == 0) done = fread(to, 1, n, f);
#endif
  return done;
}

/* The size of a file, before anything was read of it; -1 if it has none. */
static int64_t size_of (FILE *f) {
#ifdef PLACES_CAN_BE_READ
  struct stat status;
  if (fstat(fileno(f), &status) != 0 || !S_ISREG(status.st_mode)) return -1;
  return (int64_t)status.st_size;
#else
  int64_t size = -1;
#ifdef _WIN32
  if (_fseeki64(f, 0, SEEK_END) == 0) size = (int64_t)_ftelli64(f);
#else
  if (fseeko(f, 0, SEEK_END) == 0) size = (int64_t)ftello(f);
#endif
  rewind(f);
  return size;
#endif
}

COLD static void fail_reading (lua_State *L, int index, const Store *s, size_t row, const char *who) {
  int reason = errno;
  FILE *f = open_file(s->stream);
  lua_getiuservalue(L, index, NAME);
  const char *name = lua_tostring(L, -1);
  if (reason != 0)
    host_fail(L, who, "%s: row %I cannot be read: %s", name, (LUAI_UACINT)row + 1, strerror(reason));
  uint64_t end = s->offset + s->rows * row_bytes(s);
  host_fail(L, who, "%s: row %I is not there any more: the file has become shorter, %I bytes where it"
            " had %I or more", name, (LUAI_UACINT)row + 1, (LUAI_UACINT)size_of(f), (LUAI_UACINT)end);
}

/* Reads rows of a file, the store at `index`, as they are. */
static void read_rows (lua_State *L, int index, const Store *s, size_t first, size_t n, char *to,
                       const char *who) {
  FILE *f = open_file(s->stream);
  if (f == NULL) host_fail(L, who, "the file was closed");
  size_t got = read_at(f, s->offset + first * row_bytes(s), to, n * row_bytes(s));
  if (got < n * row_bytes(s)) fail_reading(L, index, s, first + got / row_bytes(s), who);
}

/* core.file_size(file): in bytes; nil if it is not a regular file */
static int file_size (lua_State *L) {
  int64_t size = size_of(open_file(check_stream(L, 1, "map_file")));
  if (size < 0) lua_pushnil(L);
  else lua_pushinteger(L, (lua_Integer)size);
  return 1;
}

/* }====================================================== */


/* {=====================================================
** Making stores
** ====================================================== */

static size_t check_bytes (lua_State *L, int index) {
  static const char *const words[] = {"f32", "f64", NULL};
  return luaL_checkoption(L, index, NULL, words) == 0 ? 4 : 8;
}

static size_t check_count (lua_State *L, int index, lua_Integer least) {
  lua_Integer n = luaL_checkinteger(L, index);
  luaL_argcheck(L, n >= least, index, "a number of rows or columns");
  return (size_t)n;
}

/* Pushes a store with `room` bytes behind it, which `*behind` points to. */
static Store *new_store (lua_State *L, const char *who, Store like, size_t room, char **behind) {
  size_t header = (sizeof like + 63) / 64 * 64;
  if (room > SIZE_MAX / 2 - header) host_fail(L, who, "too many numbers for memory");
  Store *s = lua_newuserdatauv(L, header + room, 2);
  *s = like;
  s->proof = proof_of(s);
  *behind = (char *)s + header;
  return s;
}

static void check_addressable (lua_State *L, const char *who, size_t rows, size_t width, size_t bytes) {
  if (width > SIZE_MAX / 4 / bytes || (rows > 0 && width * bytes > INT64_MAX / rows / 2))
    host_fail(L, who, "too many numbers to be addressed");
}

/* core.store_file(file, name, offset, dtype, rows, width): rows of a file that io.open gave */
static int store_file (lua_State *L) {
  const char *who = "map_file";
  Store like = {.stream = check_stream(L, 1, who), .bytes = check_bytes(L, 4)};
  luaL_checkstring(L, 2);
  like.offset = (uint64_t)luaL_checkinteger(L, 3);
  like.rows = check_count(L, 5, 0);
  like.width = like.columns = check_count(L, 6, 1);
  check_addressable(L, who, like.rows, like.width, like.bytes);
  char *behind;
  Store *s = new_store(L, who, like, row_bytes(&like) < SCRATCH_BYTES ? SCRATCH_BYTES : row_bytes(&like), &behind);
  s->scratch = behind;
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, OWNER);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, -2, NAME);
  return 1;
}

/* core.store_hold(dtype, rows, width): rows of zeros in memory */
static int store_hold (lua_State *L) {
  Store like = {.bytes = check_bytes(L, 1), .rows = check_count(L, 2, 0)};
  like.width = like.columns = check_count(L, 3, 1);
  check_addressable(L, "rows", like.rows, like.width, like.bytes);
  if ((uint64_t)like.rows * row_bytes(&like) > SIZE_MAX / 2) host_fail(L, "rows", "too many numbers for memory");
  char *behind;
  Store *s = new_store(L, "rows", like, like.rows * row_bytes(&like), &behind);
  s->held = memset(behind, 0, like.rows * row_bytes(&like));
  return 1;
}

/* core.store_view(store, columns): the same rows, of which a list of columns is shown */
static int store_view (lua_State *L) {
  const Store *from = check_store(L, 1, "rows");
  luaL_checktype(L, 2, LUA_TTABLE);
  Store like = *from;
  char *behind;
  like.columns = lua_rawlen(L, 2);
  luaL_argcheck(L, from->column == NULL && like.columns > 0, 2, "columns of all");
  Store *s = new_store(L, "rows", like, like.columns * sizeof *like.column, &behind);
  size_t *column = (size_t *)(void *)behind;
  for (size_t c = 0; c < like.columns; c++) {
    lua_rawgeti(L, 2, (lua_Integer)c + 1);
    lua_Integer place = luaL_checkinteger(L, -1);
    luaL_argcheck(L, place >= 1 && (size_t)place <= like.width, 2, "columns that there are");
    column[c] = (size_t)place - 1;
    lua_pop(L, 1);
  }
  s->column = column;
  lua_pushvalue(L, 1);             /* whose file, memory and scratch these are */
  lua_setiuservalue(L, -2, OWNER);
  lua_getiuservalue(L, 1, NAME);
  lua_setiuservalue(L, -2, NAME);
  return 1;
}

/* }====================================================== */


/* {=====================================================
** Reading
** ====================================================== */

static double number_at (const char *row, size_t column, size_t bytes) {
  float narrow;
  double x;
  if (bytes == 4) {
    memcpy(&narrow, row + 4 * column, sizeof narrow);
    return (double)narrow;
  }
  memcpy(&x, row + 8 * column, sizeof x);
  return x;
}

/* The columns that are shown of n rows as they are stored. */
static void widen (const Store *s, const char *from, size_t n, double *out) {
  if (s->column != NULL) {
    for (; n > 0; n--, from += row_bytes(s), out += s->columns)
      for (size_t c = 0; c < s->columns; c++) out[c] = number_at(from, s->column[c], s->bytes);
  } else if (s->bytes == 4) {
    const float *narrow = (const float *)(const void *)from;
    for (size_t i = 0; i < n * s->width; i++) out[i] = (double)narrow[i];
  } else memcpy(out, from, n * row_bytes(s));
}

/* How many of n rows are read before hooks may run. */
static size_t part_of (const Store *s, size_t n, size_t bytes) {
  size_t part = bytes / row_bytes(s);
  return part == 0 ? (n > 0) : part < n ? part : n;
}

/* Rows first .. first+n-1 of the store at `index`, into the elements `out` of `to`. Hooks may run
   in between, and may have begun something that waits for the elements to be read. */
static void fetch (lua_State *L, int index, const Store *s, size_t first, size_t n, Tensor *to,
                   double *out, const char *who) {
  int is_plain = s->column == NULL && s->bytes == 8;
  for (size_t part; n > 0; first += part, n -= part, out += part * s->columns) {
    part = part_of(s, n, s->held != NULL || is_plain ? LOOK_BYTES : SCRATCH_BYTES);
    if (s->held != NULL) widen(s, s->held + first * row_bytes(s), part, out);
    else if (is_plain) read_rows(L, index, s, first, part, (char *)out, who);
    else {
      read_rows(L, index, s, first, part, s->scratch, who);
      widen(s, s->scratch, part, out);
    }
    if (n == part) continue;
    host_look(L, host_state(L));
    api_begin_write(L, to);
  }
}

/* The tensor at `index` that rows are written into; it has elements for n of them, which is
   returned. */
static Tensor *check_target (lua_State *L, int index, const Store *s, const char *who, size_t *n) {
  Tensor *to = engine_check_tensor(L, index, who);
  api_check_writable(L, who, to);
  *n = to->size / s->columns;
  luaL_argcheck(L, tensor_is_contiguous(to) && *n * s->columns == to->size, index, "room for whole rows");
  return to;
}

/* Rows from the one at `index` on; raises unless there are n. */
static size_t check_first (lua_State *L, int index, const Store *s, size_t n) {
  lua_Integer first = luaL_checkinteger(L, index);
  luaL_argcheck(L, first >= 1 && (size_t)first - 1 <= s->rows && n <= s->rows - ((size_t)first - 1), index,
                "rows that there are");
  return (size_t)first - 1;
}

/* core.store_read(store, first, to): fills a tensor with rows from `first` on */
static int store_read (lua_State *L) {
  const Store *s = check_store(L, 1, "Rows:read");
  size_t n;
  Tensor *to = check_target(L, 3, s, "Rows:read", &n);
  size_t first = check_first(L, 2, s, n);
  api_begin_write(L, to);
  fetch(L, 1, s, first, n, to, to->data, "Rows:read");
  lua_settop(L, 3);
  return 1;
}

static size_t check_row (lua_State *L, const Store *s, const Tensor *index, size_t i, const char *who) {
  double x = index->data[(ptrdiff_t)i * (index->rank > 0 ? index->stride[0] : 0)];
  if (!(x >= 1 && x <= (double)s->rows && floor(x) == x))
    host_fail(L, who, "an index must be an integer from 1 to %I, got %f", (LUAI_UACINT)s->rows, x);
  return (size_t)x - 1;
}

/* Rows of a store in memory, whose numbers are valid. Each is fetched from memory while others are
   copied. */
static void gather_held (const Store *s, const Tensor *index, size_t n, double *out) {
  enum { AHEAD = 8 };
  const double *at = index->data;
  ptrdiff_t step = index->stride[0];
  for (size_t i = 0; i < n; i++, out += s->columns) {
    if (i + AHEAD < n) {
      const char *soon = s->held + ((size_t)at[(ptrdiff_t)(i + AHEAD) * step] - 1) * row_bytes(s);
      for (size_t k = 0; k < row_bytes(s); k += 64) __builtin_prefetch(soon + k);
    }
    widen(s, s->held + ((size_t)at[(ptrdiff_t)i * step] - 1) * row_bytes(s), 1, out);
  }
}

/* core.store_gather(store, index, to): fills a tensor with the rows that a tensor of rank 1 numbers */
static int store_gather (lua_State *L) {
  const char *who = "Rows[index]";
  const Store *s = check_store(L, 1, who);
  const Tensor *index = engine_check_tensor(L, 2, who);
  size_t n;
  Tensor *to = check_target(L, 3, s, who, &n);
  luaL_argcheck(L, index->rank == 1 && index->size == n, 2, "an index for each row");
  for (size_t i = 0; i < n; i++) check_row(L, s, index, i, who);
  api_begin_write(L, to);
  if (s->held != NULL) gather_held(s, index, n, to->data);
  else for (size_t i = 0; i < n; i++)
    fetch(L, 1, s, check_row(L, s, index, i, who), 1, to, to->data + i * s->columns, who);
  lua_settop(L, 3);
  return 1;
}

/* core.store_load(to, at, from, first, n): copies n rows as they are into a store in memory */
static int store_load (lua_State *L) {
  const char *who = "rows";
  Store *to = check_store(L, 1, who);
  const Store *from = check_store(L, 3, who);
  size_t n = check_count(L, 5, 0);
  luaL_argcheck(L, to->held != NULL && row_bytes(to) == row_bytes(from) && to->bytes == from->bytes, 1,
                "memory for such rows");
  size_t at = check_first(L, 2, to, n), first = check_first(L, 4, from, n);
  for (size_t part; n > 0; first += part, at += part, n -= part) {
    char *into = to->held + at * row_bytes(to);
    part = part_of(from, n, LOOK_BYTES);
    if (from->held != NULL) memmove(into, from->held + first * row_bytes(from), part * row_bytes(from));
    else read_rows(L, 3, from, first, part, into, who);
    if (n > part) host_look(L, host_state(L));
  }
  return 0;
}

/* }====================================================== */


/* {=====================================================
** Writing
** ====================================================== */

/* Doubles as they are stored; raises where one has no place in 32 bits. */
static void narrow (lua_State *L, const char *who, const double *x, size_t n, size_t bytes, char *to) {
  if (bytes == 8) {
    memcpy(to, x, 8 * n);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    float single = (float)x[i];
    if (isinf(single) && !isinf(x[i]))
      host_fail(L, who, "%f is too large for 32 bits; take dtype = \"f64\"", x[i]);
    memcpy(to + 4 * i, &single, sizeof single);
  }
}

static const Tensor *check_source (lua_State *L, int index, const char *who) {
  const Tensor *from = engine_check_tensor(L, index, who);
  luaL_argcheck(L, tensor_is_contiguous(from), index, "a contiguous tensor");
  return from;
}

/* core.store_write(store, first, from): rows in memory from `first` on are those of a tensor */
static int store_write (lua_State *L) {
  Store *s = check_store(L, 1, "rows");
  const Tensor *from = check_source(L, 3, "rows");
  size_t n = from->size / s->width, first = check_first(L, 2, s, n);
  luaL_argcheck(L, s->held != NULL && s->column == NULL && n * s->width == from->size, 3, "whole rows");
  narrow(L, "rows", from->data, from->size, s->bytes, s->held + first * row_bytes(s));
  return 0;
}

/* core.raw(from, dtype): the elements of a tensor as they are in files, a string */
static int raw (lua_State *L) {
  const Tensor *from = check_source(L, 1, "write_rows");
  size_t bytes = check_bytes(L, 2);
  char *text = lua_newuserdatauv(L, from->size * bytes, 0);
  narrow(L, "write_rows", from->data, from->size, bytes, text);
  lua_pushlstring(L, text, from->size * bytes);
  return 1;
}

/* }====================================================== */


static const luaL_Reg functions[] = {
  {"file_size",    file_size},
  {"store_file",   store_file},
  {"store_hold",   store_hold},
  {"store_view",   store_view},
  {"store_read",   store_read},
  {"store_gather", store_gather},
  {"store_load",   store_load},
  {"store_write",  store_write},
  {"raw",          raw},
  {NULL, NULL}
};

void api_open_store (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
