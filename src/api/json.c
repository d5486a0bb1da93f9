/*
** json.c - arrays of numbers in JSON, as tensors
**
** The rest of JSON is read in Lua (lua/perilune/data/json.lua), which also says what is wrong with
** an array that is refused here.
*/
#include <math.h>
#include <string.h>

#include "api/api.h"
#include "api/decimal.h"

enum { LOOK_NUMBERS = 16384, UNKNOWN = -1 };   /* numbers after which hooks may run */

typedef struct Reader {
  lua_State *L;
  State *state;
  const char *at, *end;
  double *out;                        /* NULL while they are counted */
  size_t count;
  int rank;
  ptrdiff_t shape[TENSOR_MAX_RANK];   /* UNKNOWN before the first array of a level has ended */
} Reader;

static void skip_space (Reader *s) {
  while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\r' || *s->at == '\t'))
    s->at++;
}

static int is_digit (const Reader *s, const char *at) { return at < s->end && *at >= '0' && *at <= '9'; }

/* JSON has no leading zeros, no leading sign but -, and digits on both sides of a point. */
static int is_strict (const Reader *s) {
  const char *at = s->at;
  if (*at == '-') at++;
  if (!is_digit(s, at) || (*at == '0' && is_digit(s, at + 1))) return 0;
  while (is_digit(s, at)) at++;
  return !(at < s->end && *at == '.' && !is_digit(s, at + 1))
      && !(at < s->end && (*at == 'e' || *at == 'E') && !is_digit(s, at + 1)
           && !(at + 1 < s->end && (at[1] == '-' || at[1] == '+') && is_digit(s, at + 2)));
}

/* A number, or null; 0 if it is neither. */
static int take_number (Reader *s) {
  double x = (double)NAN;
  if (s->end - s->at >= 4 && memcmp(s->at, "null", 4) == 0) s->at += 4;
  else {
    const char *after = s->at < s->end && is_strict(s) ? decimal_read(s->at, s->end, '.', &x) : NULL;
    if (after == NULL) return 0;
    s->at = after;
  }
  if (s->out != NULL) s->out[s->count] = x;
  if (++s->count % LOOK_NUMBERS == 0) host_look(s->L, s->state);
  return 1;
}

/* Numbers are at one depth. */
static int is_deepest (Reader *s, int depth) {
  if (s->rank == UNKNOWN) s->rank = depth + 1;
  return s->rank == depth + 1;
}

static int take_array (Reader *s, int depth);

static int take_element (Reader *s, int depth) {
  skip_space(s);
  if (s->at == s->end) return 0;
  if (*s->at == '[') return take_array(s, depth + 1);
  return is_deepest(s, depth) && take_number(s);
}

/* The array at s->at; 0 if it is none of numbers, or has rows of several lengths. */
static int take_array (Reader *s, int depth) {
  ptrdiff_t n = 0;
  if (depth == TENSOR_MAX_RANK) return 0;
  s->at++;
  skip_space(s);
  if (s->at < s->end && *s->at == ']') {
    if (!is_deepest(s, depth)) return 0;
  } else for (;; s->at++) {
    if (!take_element(s, depth)) return 0;
    n++;
    skip_space(s);
    if (s->at == s->end || (*s->at != ',' && *s->at != ']')) return 0;
    if (*s->at == ']') break;
  }
  s->at++;
  if (s->shape[depth] == UNKNOWN) s->shape[depth] = n;
  return s->shape[depth] == n;
}

/* core.json_array(text, at): the tensor that the array at place `at`, from 1, stands for, and the
   place after it; nil if it is no array of numbers and null, or has no shape */
static int json_array (lua_State *L) {
  size_t n;
  const char *text = luaL_checklstring(L, 1, &n);
  lua_Integer at = luaL_checkinteger(L, 2);
  if (at < 1 || (size_t)at > n || text[at - 1] != '[') return lua_pushnil(L), 1;
  Reader s = {.L = L, .state = host_state(L), .at = text + at - 1, .end = text + n, .rank = UNKNOWN};
  for (int d = 0; d < TENSOR_MAX_RANK; d++) s.shape[d] = UNKNOWN;
  Reader first = s;
  if (!take_array(&first, 0)) return lua_pushnil(L), 1;
  Tensor *t = host_new(L, "read_json", first.rank, first.shape, NULL);
  first.out = t->data, first.at = s.at, first.count = 0;
  (void)take_array(&first, 0);
  lua_pushinteger(L, (lua_Integer)(first.at - text) + 1);
  return 2;
}

void api_open_json (lua_State *L) {
  lua_pushcfunction(L, json_array);
  lua_setfield(L, -2, "json_array");
}
