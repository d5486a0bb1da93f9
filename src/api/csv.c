/*
** csv.c - tables of text: lines of fields (RFC 4180), and numbers among them
**
** Fields are separated by one character; one that begins with a quote ends with a quote, may
** hold separators and line ends, and has two quotes for one. Lines end with \n, \r\n or \r. The
** text is gone through three times: to count lines and see that they fit, for columns of
** numbers, and for the other columns if there are any.
*/
#include <math.h>
#include <stdint.h>

#include "api/api.h"
#include "api/decimal.h"

enum { LOOK_LINES = 2048 };   /* after so many hooks may run */

/* What a column is to be. */
typedef enum Kind { SKIPPED, OPEN, NUMBERS, TEXT } Kind;

typedef struct Reader {
  lua_State *L;
  State *state;
  const char *who;        /* reads, for messages */
  const char *at, *end;
  lua_Integer line;       /* where `at` is */
  lua_Integer records;    /* read, for hooks */
  char separator;
} Reader;

typedef struct Field {
  const char *first, *end;
  int is_quoted, has_quotes;   /* pairs of them */
  int is_last;                 /* of its line */
} Field;


/* Steps over a line end, or the end of the text; 0 if there is none. */
static int take_line_end (Reader *r) {
  if (r->at == r->end) return 1;
  if (*r->at != '\n' && *r->at != '\r') return 0;
  if (*r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n') r->at++;
  r->at++;
  r->line++;
  return 1;
}

static void take_quoted (Reader *r, Field *f) {
  lua_Integer opened = r->line;
  f->first = ++r->at;
  f->is_quoted = 1;
  for (;; r->at++) {
    if (r->at == r->end)
      host_fail(r->L, r->who, "line %I: a quote is opened that is never closed", (LUAI_UACINT)opened);
    if (*r->at == '\n' || (*r->at == '\r' && !(r->at + 1 < r->end && r->at[1] == '\n'))) r->line++;
    if (*r->at != '"') continue;
    if (r->at + 1 == r->end || r->at[1] != '"') break;
    f->has_quotes = 1;
    r->at++;
  }
  f->end = r->at++;
}

static void take_plain (Reader *r, Field *f) {
  const char *s = r->at, *end = r->end;
  char separator = r->separator;
  f->first = s;
  while (s < end && *s != separator && *s != '\n' && *s != '\r') {
    if (*s == '"')
      host_fail(r->L, r->who, "line %I: a quote within a field; put the field in quotes and write \"\" "
                "for it", (LUAI_UACINT)r->line);
    s++;
  }
  f->end = r->at = s;
}

/* The field at r->at; afterwards r->at is where the next one begins. */
static Field take_field (Reader *r) {
  Field f = {0};
  lua_Integer line = r->line;
  if (r->at < r->end && *r->at == '"') take_quoted(r, &f);
  else take_plain(r, &f);
  if (r->at < r->end && *r->at == r->separator) r->at++;
  else if (take_line_end(r)) f.is_last = 1;
  else host_fail(r->L, r->who, "line %I: text after the quote that ends a field", (LUAI_UACINT)line);
  return f;
}

static void push_field (lua_State *L, Field f) {
  luaL_Buffer b;
  if (!f.has_quotes) {
    lua_pushlstring(L, f.first, (size_t)(f.end - f.first));
    return;
  }
  luaL_buffinit(L, &b);
  for (const char *s = f.first; s < f.end; s++) {
    luaL_addchar(&b, *s);
    if (*s == '"') s++;
  }
  luaL_pushresult(&b);
}

/* For the text at 1 of the stack; who reads it is said at `who`. */
static Reader reader_at (lua_State *L, size_t at, lua_Integer line, const char *separator, int who) {
  size_t n;
  const char *text = luaL_checklstring(L, 1, &n);
  if (at > n) at = n;
  return (Reader) {.L = L, .state = host_state(L), .at = text + at, .end = text + n, .line = line,
                   .separator = separator[0], .who = luaL_checkstring(L, who)};
}

/* core.csv_record(text, at, line, separator, who): the fields of the line that begins after `at` bytes,
   in a list; where the next one begins, and the number of its line */
static int csv_record (lua_State *L) {
  const char *text = luaL_checkstring(L, 1);
  Reader r = reader_at(L, (size_t)luaL_checkinteger(L, 2), luaL_checkinteger(L, 3),
                       luaL_checkstring(L, 4), 5);
  lua_newtable(L);
  Field f = {0};
  for (lua_Integer i = 1; !f.is_last; i++) {
    f = take_field(&r);
    push_field(L, f);
    lua_rawseti(L, -2, i);
    if (i % LOOK_LINES == 0) host_look(L, r.state);
  }
  lua_pushinteger(L, (lua_Integer)(r.at - text));
  lua_pushinteger(L, r.line);
  return 3;
}


/* {=====================================================
** Columns
** ====================================================== */

typedef struct Column {
  Kind kind;
  double *out;     /* where its numbers go */
} Column;

/* What csv_columns was given, and where that is on the stack. */
typedef struct Table {
  Reader start;
  int width;
  Column *columns;
  char point;
  int names, missing, result;   /* places on the stack */
  lua_Integer rows;
} Table;

static const char *name_of (const Table *t, int column) {
  lua_State *L = t->start.L;
  lua_rawgeti(L, t->names, column + 1);
  return lua_tostring(L, -1);
}

static void look (Reader *r) {
  if (++r->records % LOOK_LINES == 0) host_look(r->L, r->state);
}

/* Only line ends are left. */
static int at_end (Reader r) {
  while (r.at < r.end && (*r.at == '\n' || *r.at == '\r')) r.at++;
  return r.at == r.end;
}

static void check_width (const Table *t, lua_Integer line, int fields) {
  lua_State *L = t->start.L;
  if (fields == t->width) return;
  host_fail(L, t->start.who, "line %I has %s%d field%s, but there %s %d column%s (%s first, %s last)",
            (LUAI_UACINT)line, fields > t->width ? "more than " : "", fields > t->width ? t->width : fields,
            fields == 1 ? "" : "s", t->width == 1 ? "is" : "are", t->width, t->width == 1 ? "" : "s",
            name_of(t, 0), name_of(t, t->width - 1));
}

static lua_Integer count_rows (const Table *t, lua_Integer *next_line) {
  Reader r = t->start;
  lua_Integer rows = 0;
  while (!at_end(r)) {
    lua_Integer line = r.line;
    int fields = 0;
    for (Field f = {0}; !f.is_last && fields <= t->width; fields++) f = take_field(&r);
    check_width(t, line, fields);
    rows++;
    look(&r);
  }
  *next_line = r.line;
  return rows;
}

static int is_missing (const Table *t, Field f) {
  lua_State *L = t->start.L;
  push_field(L, f);
  int found = lua_rawget(L, t->missing) != LUA_TNIL;
  lua_pop(L, 1);
  return found;
}

static int is_space (char c) { return c == ' ' || c == '\t'; }

/* The number that a field holds, spaces around it left out; 0 if it is none. */
static int field_number (const Table *t, Field f, double *x) {
  const char *s = f.first, *end = f.end, *after;
  while (s < end && is_space(*s)) s++;
  while (end > s && is_space(end[-1])) end--;
  if (s < end) {
    after = decimal_read(s, end, t->point, x);
    if (after == end) return 1;
  }
  *x = (double)NAN;
  return is_missing(t, f);
}

static void refuse_text (const Table *t, int column, lua_Integer line, Field f) {
  lua_State *L = t->start.L;
  const char *name = name_of(t, column);
  push_field(L, f);
  host_push_value(L, -1);
  host_fail(L, t->start.who, "line %I: %s must be a number, got %s", (LUAI_UACINT)line, name,
            lua_tostring(L, -1));
}

/* Fills the columns of numbers; one that turns out to have text becomes TEXT. */
static void read_numbers (const Table *t) {
  Reader r = t->start;
  for (lua_Integer i = 0; i < t->rows; i++) {
    for (int c = 0; c < t->width; c++) {
      Column *column = &t->columns[c];
      lua_Integer line = r.line;
      Field f = take_field(&r);
      if (column->out == NULL) continue;
      if (field_number(t, f, &column->out[i])) continue;
      if (column->kind == NUMBERS) refuse_text(t, c, line, f);
      column->kind = TEXT;
      column->out = NULL;
    }
    look(&r);
  }
}

/* Fills the columns of text; the lists are in the result. */
static void read_texts (const Table *t) {
  lua_State *L = t->start.L;
  Reader r = t->start;
  for (lua_Integer i = 0; i < t->rows; i++) {
    for (int c = 0; c < t->width; c++) {
      Field f = take_field(&r);
      if (t->columns[c].kind != TEXT) continue;
      lua_rawgeti(L, t->result, c + 1);
      push_field(L, f);
      lua_rawseti(L, -2, i + 1);
      lua_pop(L, 1);
    }
    look(&r);
  }
}

static Kind kind_at (lua_State *L, int kinds, int column) {
  static const char *const words[] = {"skipped", "open", "numbers", "text", NULL};
  lua_rawgeti(L, kinds, column + 1);
  Kind kind = (Kind)luaL_checkoption(L, -1, NULL, words);
  lua_pop(L, 1);
  return kind;
}

/* Puts tensors, or lists for columns of text, into the result. */
static int make_columns (const Table *t, int texts) {
  lua_State *L = t->start.L;
  ptrdiff_t shape[1] = {(ptrdiff_t)t->rows};
  int made = 0;
  for (int c = 0; c < t->width; c++) {
    Column *column = &t->columns[c];
    if (column->kind == SKIPPED || (column->kind == TEXT) != texts) continue;
    if (texts) lua_createtable(L, t->rows < INT32_MAX ? (int)t->rows : 0, 0);
    else column->out = host_new(L, t->start.who, 1, shape, NULL)->data;
    lua_rawseti(L, t->result, c + 1);
    made++;
  }
  return made;
}

/* core.csv_columns(text, at, line, separator, point, names, kinds, missing, who): the columns of
   all lines that begin after `at` bytes, by their numbers; how many lines there are, and the number
   of the next one. `kinds` says of each column what it is to be; the keys of `missing` are what
   stands for NaN. */
static int csv_columns (lua_State *L) {
  Reader start = reader_at(L, (size_t)luaL_checkinteger(L, 2), luaL_checkinteger(L, 3),
                           luaL_checkstring(L, 4), 9);
  Table t = {.start = start, .point = luaL_checkstring(L, 5)[0], .names = 6, .missing = 8,
             .result = 11};
  for (int i = 6; i <= 8; i++) luaL_checktype(L, i, LUA_TTABLE);
  lua_settop(L, 9);
  t.width = (int)lua_rawlen(L, 6);
  luaL_argcheck(L, t.width > 0, 6, "a name for each column");
  t.columns = lua_newuserdatauv(L, (size_t)t.width * sizeof *t.columns, 0);
  for (int c = 0; c < t.width; c++) t.columns[c] = (Column) {kind_at(L, 7, c), NULL};
  lua_newtable(L);
  lua_Integer next_line;
  t.rows = count_rows(&t, &next_line);
  if (make_columns(&t, 0)) read_numbers(&t);
  if (make_columns(&t, 1)) read_texts(&t);
  lua_pushinteger(L, t.rows);
  lua_pushinteger(L, next_line);
  return 3;
}

/* core.csv_cut(text): where the last line that is complete and not empty ends, its line end
   counted; 0 if there is none. What follows may be half a line, or empty ones. A \r at the end may
   be half of a line end. */
static int csv_cut (lua_State *L) {
  size_t n, begin = 0, cut = 0;
  const char *text = luaL_checklstring(L, 1, &n);
  int is_quoted = 0;
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '"') is_quoted = !is_quoted;
    if (is_quoted || (text[i] != '\n' && text[i] != '\r')) continue;
    int is_empty = i == begin;
    if (text[i] == '\r' && i + 1 == n) break;
    if (text[i] == '\r' && text[i + 1] == '\n') i++;
    begin = i + 1;
    if (!is_empty) cut = begin;
  }
  lua_pushinteger(L, (lua_Integer)cut);
  return 1;
}

/* }====================================================== */


static const luaL_Reg functions[] = {
  {"csv_record",  csv_record},
  {"csv_columns", csv_columns},
  {"csv_cut",     csv_cut},
  {NULL, NULL}
};

void api_open_csv (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
