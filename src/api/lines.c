/*
** lines.c - columns as lines of text, and numbers as text
*/
#include "api/api.h"
#include "api/decimal.h"

static const char WHO[] = "write_csv";


/* An empty text has quotes: a line of nothing else would be no line. */
static int needs_quotes (const char *s, size_t n, char separator) {
  if (n == 0) return 1;
  for (size_t i = 0; i < n; i++)
    if (s[i] == separator || s[i] == '"' || s[i] == '\n' || s[i] == '\r') return 1;
  return 0;
}

static void add_text (luaL_Buffer *b, const char *s, size_t n, char separator) {
  if (!needs_quotes(s, n, separator)) {
    luaL_addlstring(b, s, n);
    return;
  }
  luaL_addchar(b, '"');
  for (size_t i = 0; i < n; i++) {
    if (s[i] == '"') luaL_addchar(b, '"');
    luaL_addchar(b, s[i]);
  }
  luaL_addchar(b, '"');
}

/* Columns at FIRST, FIRST + 1, ... on the stack, as they are written. */
typedef struct Lines {
  int width;
  char separator, point;
  const char *missing;   /* for NaN */
  size_t length;         /* of that */
} Lines;

enum { FIRST = 8 };   /* after the arguments, and room for a string: a buffer stays on top of both */

static void add_number (const Lines *lines, luaL_Buffer *b, double x) {
  if (x != x) luaL_addlstring(b, lines->missing, lines->length);
  else luaL_addsize(b, decimal_write(x, lines->point, luaL_prepbuffsize(b, DECIMAL_ROOM)));
}

/* Field i of column c. */
static void add_field (lua_State *L, const Lines *lines, luaL_Buffer *b, int c, lua_Integer i) {
  const Tensor *t = host_header(L, FIRST + c);
  if (t != NULL) {
    add_number(lines, b, t->data[(i - 1) * t->stride[0]]);
    return;
  }
  size_t n;
  lua_rawgeti(L, FIRST + c, i);
  lua_replace(L, FIRST - 1);
  const char *s = lua_tolstring(L, FIRST - 1, &n);
  if (s == NULL) host_fail(L, WHO, "a column must have numbers or strings only");
  add_text(b, s, n, lines->separator);
}

/* Pushes a column, which must have the lines up to `last`. */
static void push_column (lua_State *L, int c, lua_Integer last) {
  lua_rawgeti(L, 1, c + 1);
  const Tensor *t = host_header(L, -1);
  ptrdiff_t rows = -1;
  if (t != NULL && t->rank == 1) rows = engine_check_tensor(L, -1, WHO)->shape[0];
  else if (lua_istable(L, -1)) rows = (ptrdiff_t)lua_rawlen(L, -1);
  if (last > rows) host_fail(L, WHO, "columns must have the same length");
}

/* core.csv_lines(columns, first, last, separator, point, missing): lines first to last of a list
   of columns, tensors of rank 1 and lists of strings, as text; `missing` stands for NaN */
static int csv_lines (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_Integer first = luaL_checkinteger(L, 2), last = luaL_checkinteger(L, 3);
  Lines lines = {.width = (int)lua_rawlen(L, 1), .separator = luaL_checkstring(L, 4)[0],
                 .point = luaL_checkstring(L, 5)[0]};
  lines.missing = luaL_checklstring(L, 6, &lines.length);
  luaL_argcheck(L, first >= 1, 2, "lines count from 1");
  lua_settop(L, FIRST - 1);
  luaL_checkstack(L, lines.width + 8, WHO);
  for (int c = 0; c < lines.width; c++) push_column(L, c, last);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (lua_Integer i = first; i <= last; i++)
    for (int c = 0; c < lines.width; c++) {
      add_field(L, &lines, &b, c, i);
      luaL_addchar(&b, c + 1 < lines.width ? lines.separator : '\n');
    }
  luaL_pushresult(&b);
  return 1;
}


/* core.read_number(text, point): the number that a whole text is, or nil */
static int read_number (lua_State *L) {
  size_t n;
  double x;
  const char *s = luaL_checklstring(L, 1, &n);
  if (decimal_read(s, s + n, luaL_optstring(L, 2, ".")[0], &x) != s + n) return lua_pushnil(L), 1;
  lua_pushnumber(L, x);
  return 1;
}

/* core.write_number(x): the shortest text that reads back as x */
static int write_number (lua_State *L) {
  char text[DECIMAL_ROOM];
  size_t n = decimal_write(luaL_checknumber(L, 1), '.', text);
  lua_pushlstring(L, text, n);
  return 1;
}

static const luaL_Reg functions[] = {
  {"csv_lines",    csv_lines},
  {"read_number",  read_number},
  {"write_number", write_number},
  {NULL, NULL}
};

void api_open_lines (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
