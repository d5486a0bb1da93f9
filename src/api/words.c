/*
** words.c - numbers as the eight bytes that they are in saved strings, the last digits first
**
** Lua has string.pack and 64-bit operators for this, but not before 5.3.
*/
#include <string.h>

#include "api/api.h"

#define BYTES 8


static uint64_t bits_of (double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static uint64_t read_word (const char *text) {
  uint64_t word = 0;
  for (int i = BYTES - 1; i >= 0; i--) word = word << 8 | (unsigned char)text[i];
  return word;
}

static int push_word (lua_State *L, uint64_t word) {
  char text[BYTES];
  for (int i = 0; i < BYTES; i++) text[i] = (char)(unsigned char)(word >> 8 * i & 0xff);
  lua_pushlstring(L, text, BYTES);
  return 1;
}

/* core.double_word(x), core.integer_word(i) -> eight bytes */
static int double_word (lua_State *L) { return push_word(L, bits_of(luaL_checknumber(L, 1))); }
static int integer_word (lua_State *L) { return push_word(L, (uint64_t)(int64_t)luaL_checkinteger(L, 1)); }

/* The word at a place of a text, both of which are arguments. */
static uint64_t word_at (lua_State *L) {
  size_t length;
  const char *text = luaL_checklstring(L, 1, &length);
  lua_Integer at = luaL_checkinteger(L, 2);
  if (length < BYTES || at < 1 || (size_t)at > length - BYTES + 1)
    host_fail(L, "word", "there are no eight bytes from %I on", (LUAI_UACINT)at);
  return read_word(text + at - 1);
}

/* core.double_at(text, i) -> number */
static int double_at (lua_State *L) {
  uint64_t word = word_at(L);
  double x;
  memcpy(&x, &word, sizeof x);
  lua_pushnumber(L, x);
  return 1;
}

/* core.integer_at(text, i) -> integer */
static int integer_at (lua_State *L) {
  int64_t n = (int64_t)word_at(L);
  if ((int64_t)(lua_Integer)n == n) lua_pushinteger(L, (lua_Integer)n);
  else lua_pushnumber(L, (lua_Number)n);
  return 1;
}

/* core.checksum(text) -> eight bytes: FNV-1a on words, with a shift that brings high bits down */
static int checksum (lua_State *L) {
  size_t n;
  const char *text = luaL_checklstring(L, 1, &n);
  uint64_t h = 0xcbf29ce484222325;
  for (size_t at = 0; at < n; at += BYTES) {
    char padded[BYTES] = {0};
    memcpy(padded, text + at, n - at < BYTES ? n - at : BYTES);
    h = (h ^ read_word(padded)) * 1099511628211u;
    h ^= h >> 29;
  }
  return push_word(L, h ^ n);
}

/* core.binary(x) -> its 64 bits as text: sign, exponent, fraction; and the exponent */
static int binary (lua_State *L) {
  uint64_t bits = bits_of(luaL_checknumber(L, 1));
  char text[64];
  for (int i = 0; i < 64; i++) text[i] = (char)('0' + (int)(bits >> (63 - i) & 1));
  lua_pushlstring(L, text, sizeof text);
  lua_pushinteger(L, (lua_Integer)(bits >> 52 & 2047));
  return 2;
}

/* Places in the order of numbers, one apart; 0 and -0 are one. */
static uint64_t place (double x) {
  uint64_t bits = bits_of(x), sign = (uint64_t)1 << 63;
  return bits < sign ? sign + bits : sign - (bits - sign);
}

/* core.steps(x, y) -> how many doubles lie between, one end counted: an integer, or a float where
   none is so large */
static int steps (lua_State *L) {
  uint64_t a = place(luaL_checknumber(L, 1)), b = place(luaL_checknumber(L, 2));
  uint64_t n = a < b ? b - a : a - b;
  if ((lua_Integer)n >= 0 && (uint64_t)(lua_Integer)n == n) lua_pushinteger(L, (lua_Integer)n);
  else lua_pushnumber(L, (lua_Number)n);
  return 1;
}


static const luaL_Reg functions[] = {
  {"double_word", double_word},
  {"integer_word", integer_word},
  {"double_at", double_at},
  {"integer_at", integer_at},
  {"checksum", checksum},
  {"binary", binary},
  {"steps", steps},
  {NULL, NULL}
};

void api_open_words (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
