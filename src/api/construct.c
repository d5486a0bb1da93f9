/*
** construct.c - new tensors: of data, filled, in progression
*/
#include <math.h>
#include <string.h>

#include "api/api.h"
#include "driver/loop.h"


/*@ peri.tensor(data) -> Tensor
 * A tensor of numbers: a copy, with rank 0 of a number. Rows of a nested table must be equally
 * long.
 *   data  number, (nested) table of numbers, or tensor
 * > tensor { { 1, 2 }, { 3, 4 } }
 * Tensor(2, 2)
 *   1  2
 *   3  4 */
static int new_tensor (lua_State *L) {
  Tensor header;
  double number;
  host_arguments(L, "tensor", 1);
  host_check_exact(L, 1, "tensor", "data");
  int fresh = lua_istable(L, 1);
  const Tensor *from = engine_operand(L, 1, "tensor", "data", &header, &number);
  engine_check_untraced(L, host_state(L), "tensor", 1, &from);
  if (fresh) return 1;
  Tensor *t = host_new(L, "tensor", from->rank, from->shape, NULL);
  host_copy(L, t, from);
  return 1;
}

static Tensor *new_filled (lua_State *L, const char *who, double value) {
  ptrdiff_t shape[TENSOR_MAX_RANK];
  int rank = api_shape(L, 1, lua_gettop(L), who, shape, NULL);
  Tensor *t = host_new(L, who, rank, shape, NULL);
  Tensor header;
  host_copy(L, t, tensor_scalar(&header, &value));
  return t;
}

/*@ peri.zeros(...) -> Tensor
 * A tensor of zeros.
 *   ...  integers, or a table of them: the shape
 * > zeros(2, 3)
 * Tensor(2, 3)
 *   0  0  0
 *   0  0  0 */
static int new_zeros (lua_State *L) { return new_filled(L, "zeros", 0), 1; }
/*@ peri.ones(...) -> Tensor
 * A tensor of ones.
 *   ...  integers, or a table of them: the shape
 * > ones { 3 }
 * Tensor(3)
 *   1  1  1 */
static int new_ones (lua_State *L) { return new_filled(L, "ones", 1), 1; }

static double number_argument (lua_State *L, int index, const char *who,
                               const char *name) {
  if (lua_type(L, index) != LUA_TNUMBER)
    host_fail_type(L, who, name, "a number", index);
  return lua_tonumber(L, index);
}

/*@ peri.full(...) -> Tensor
 * A tensor of one number throughout.
 *   ...  integers, or a table of them: the shape; and after it the number
 * > full(2, 3, 7)
 * Tensor(2, 3)
 *   7  7  7
 *   7  7  7 */
static int new_full (lua_State *L) {
  int last = lua_gettop(L) > 0 ? lua_gettop(L) : 1;
  double value = number_argument(L, last, "full", "the value");
  lua_pop(L, 1);
  return new_filled(L, "full", value), 1;
}

/* first, first + by, ...: n values, none computed from another. */
static int push_progression (lua_State *L, const char *who, double first,
                             double by, double n) {
  if (!(n < (double)PTRDIFF_MAX)) {
    lua_pushnumber(L, n);
    host_fail_type(L, who, "the number of elements", "finite", -1);
  }
  ptrdiff_t shape[1] = {n > 0 ? (ptrdiff_t)n : 0};
  Tensor *t = host_new(L, who, 1, shape, NULL);
  State *state = t->size < LOOP_GRAIN ? NULL : host_state(L);
  for (size_t i = 0; i < t->size; i++) {
    t->data[i] = first + (double)i * by;
    if (i % LOOP_GRAIN == LOOP_GRAIN - 1) host_look(L, state);
  }
  return 1;
}

/*@ peri.arange(start, stop, step) -> Tensor
 * Numbers from start on, below stop: arange(n) is 0, ..., n - 1, and arange(1, n + 1) counts
 * from 1.
 *   start  number; 0 unless told, where a single argument is stop
 *   stop   number, which does not belong to them
 *   step   number other than 0; 1 unless told
 * > arange(1, 6)
 * Tensor(5)
 *   1  2  3  4  5
 * > arange(1, 0, -0.25)
 * Tensor(4)
 *      1  0.75   0.5  0.25 */
static int new_arange (lua_State *L) {
  int bounded = lua_gettop(L) >= 2;
  host_arguments(L, "arange", 3);
  double first = bounded ? number_argument(L, 1, "arange", "start") : 0;
  double last = number_argument(L, bounded ? 2 : 1, "arange", "stop");
  double by = lua_isnoneornil(L, 3) ? 1 : number_argument(L, 3, "arange", "step");
  if (by == 0 || by != by)
    host_fail_type(L, "arange", "step", "a number other than 0", 3);
  return push_progression(L, "arange", first, by, ceil((last - first) / by));
}

/*@ peri.linspace(start, stop, count) -> Tensor
 * So many numbers at equal distances, both ends included.
 *   start  number
 *   stop   number
 *   count  integer
 * > linspace(0, 1, 5)
 * Tensor(5)
 *      0  0.25   0.5  0.75     1 */
static int new_linspace (lua_State *L) {
  double first = number_argument(L, 1, "linspace", "start");
  double last = number_argument(L, 2, "linspace", "stop");
  lua_Integer n = api_integer(L, 3, "linspace", "count");
  if (n < 0) host_fail_type(L, "linspace", "count", "a non-negative integer", 3);
  host_arguments(L, "linspace", 3);
  /* where the distance overflows, halves are computed and doubled */
  int is_wide = isinf(last - first) && !isinf(first) && !isinf(last);
  double part = is_wide ? 0.5 : 1;
  push_progression(L, "linspace", part * first,
                   n > 1 ? (part * last - part * first) / (double)(n - 1) : 0, (double)n);
  Tensor *t = engine_tensor(L, -1);
  for (lua_Integer i = 0; is_wide && i < n; i++) t->data[i] *= 2;
  if (n > 1) t->data[n - 1] = last;
  return 1;
}

/*@ peri.eye(n, columns) -> Tensor
 * The unit matrix, or ones on the diagonal of any matrix.
 *   n        integer: rows
 *   columns  integer; n unless told
 * > eye(2)
 * Tensor(2, 2)
 *   1  0
 *   0  1 */
static int new_eye (lua_State *L) {
  host_arguments(L, "eye", 2);
  ptrdiff_t rows = api_extent(L, 1, "eye");
  ptrdiff_t shape[2] = {rows, lua_isnoneornil(L, 2) ? rows : api_extent(L, 2, "eye")};
  Tensor *t = host_new(L, "eye", 2, shape, NULL);
  Pool *pool = host_pool(L, t->size);
  loop_clear(pool, t->data, t->size);
  host_check_stopped(L, pool);
  for (ptrdiff_t i = 0; i < shape[0] && i < shape[1]; i++)
    t->data[i * shape[1] + i] = 1;
  return 1;
}


static const luaL_Reg public_functions[] = {
  {"tensor",    new_tensor},
  {"zeros",     new_zeros},
  {"ones",      new_ones},
  {"full",      new_full},
  {"arange",    new_arange},
  {"linspace",  new_linspace},
  {"eye",       new_eye},
  {NULL, NULL}
};

void api_open_construct (lua_State *L) {
  host_list(L, "public", public_functions);
}
