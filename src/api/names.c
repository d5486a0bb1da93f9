/*
** names.c - which of several names was probably meant
*/
#include <ctype.h>
#include <string.h>

#include "api/api.h"

#define LONGEST 64   /* of names that are compared */

typedef struct Name {
  size_t length;
  unsigned char letter[2 * LONGEST];   /* in lower case; a longer name is close to none */
} Name;

/* The letters of the string at `index`. */
static void read_name (lua_State *L, int index, Name *name) {
  const char *s = lua_tolstring(L, index, &name->length);
  for (size_t i = 0; i < name->length; i++)
    name->letter[i] = (unsigned char)tolower((unsigned char)s[i]);
}

static int least_of (int a, int b) { return a < b ? a : b; }

/* How many letters must be changed, left out, put in or swapped with a neighbour to make b of a. */
static int distance (const Name *a, const Name *b) {
  int rows[3][2 * LONGEST + 1];
  int *above = rows[0], *before = rows[1], *row = rows[2];
  for (size_t j = 0; j <= b->length; j++) row[j] = (int)j;
  for (size_t i = 1; i <= a->length; i++) {
    int *oldest = above;
    above = before, before = row, row = oldest;
    row[0] = (int)i;
    for (size_t j = 1; j <= b->length; j++) {
      int same = a->letter[i - 1] == b->letter[j - 1];
      row[j] = least_of(before[j - 1] + !same, 1 + least_of(before[j], row[j - 1]));
      if (i > 1 && j > 1 && a->letter[i - 1] == b->letter[j - 2]
          && a->letter[i - 2] == b->letter[j - 1])
        row[j] = least_of(row[j], above[j - 2] + 1);
    }
  }
  return row[b->length];
}

/* Names differ by as many letters as their lengths do, or more. */
static int is_close (size_t a, size_t b, int most) {
  return (a > b ? a - b : b - a) <= (size_t)most;
}

/* core.nearest(name, names): the one of a list of names that was probably meant, or nil. Upper and
   lower case are alike; of those that are equally near it is the first in the alphabet. */
static int nearest (lua_State *L) {
  Name name, other;
  luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  if (lua_rawlen(L, 1) > LONGEST) return lua_pushnil(L), 1;
  read_name(L, 1, &name);
  int least = (name.length < 6 ? 1 : (int)name.length / 3) + 1;   /* too far, if there is no best */
  const char *best = NULL;
  lua_Integer at = 0;   /* where it is in the list: nowhere */
  for (lua_Integer i = 1; lua_rawgeti(L, 2, i) != LUA_TNIL; i++, lua_pop(L, 1)) {
    if (lua_type(L, -1) != LUA_TSTRING || !is_close(name.length, lua_rawlen(L, -1), least))
      continue;
    read_name(L, -1, &other);
    int d = distance(&name, &other);
    const char *text = lua_tostring(L, -1);   /* the list keeps it alive */
    if (d > least || (d == least && (best == NULL || strcmp(text, best) >= 0))) continue;
    best = text, least = d, at = i;
  }
  return lua_rawgeti(L, 2, at), 1;
}


static const luaL_Reg functions[] = {
  {"nearest", nearest},
  {NULL, NULL}
};

void api_open_names (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
