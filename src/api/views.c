/*
** views.c - views of the same elements: rows, slices, other shapes
*/
#include <string.h>

#include "api/api.h"
#include "driver/loop.h"


/* A view with the shape and strides of `from`, which is at `base`, without dimension
   `drop` (or all of them when drop is negative). */
static Tensor *view_without (lua_State *L, int base, const Tensor *from, int drop) {
  Tensor *view = host_new_view(L, base, from, from->rank - (drop >= 0));
  view->size = from->size;
  for (int d = 0, to = 0; d < from->rank; d++) {
    if (d == drop) continue;
    view->shape[to] = from->shape[d];
    view->stride[to++] = from->stride[d];
  }
  return view;
}

static Tensor *copy_of_view (lua_State *L, const Tensor *t) {
  return view_without(L, 1, t, -1);
}

static void recount (Tensor *view) {
  tensor_count(view->rank, view->shape, &view->size);
}

/* Position `index` (from 1, or from -1 backwards) in a dimension. */
ptrdiff_t api_position (lua_State *L, int index, const char *who,
                        const Tensor *t, int dim) {
  ptrdiff_t n = t->shape[dim];
  lua_Integer i = api_integer(L, index, who, "an index");
  if (i == 0 || i > n || i < -n)
    host_fail(L, who, "index %I is out of range: dimension %d has %I elements",
              i, dim + 1, (lua_Integer)n);
  return (ptrdiff_t)(i > 0 ? i - 1 : i + n);
}

Tensor *api_select (lua_State *L, int base, const Tensor *from, int dim, ptrdiff_t at) {
  Tensor *view = view_without(L, base, from, dim);
  view->data = from->data + at * from->stride[dim];
  recount(view);
  return view;
}


/*@ Tensor:select(dim, i) -> number or Tensor
 * What has the index i along a dimension: a view without that dimension.
 *   i  integer, from 1, or from -1 backwards
 * > tensor({ { 1, 2 }, { 3, 4 } }):select(2, 1)
 * Tensor(2)
 *   1  3 */
/* t:select(dim, i) */
static int view_select (lua_State *L) {
  const char *who = "Tensor:select";
  const Tensor *t = engine_check_tensor(L, 1, who);
  host_arguments(L, who, 3);
  int dim = (int)api_dimension(L, 2, who, t->rank);
  return api_return(L, api_select(L, 1, t, dim, api_position(L, 3, who, t, dim)), NULL);
}

/*@ Tensor:narrow(dim, first, length) -> Tensor
 * A part of a dimension, as a view.
 *   first   integer: where it begins, from 1
 *   length  integer: how many
 * > arange(1, 6):narrow(1, 2, 3)
 * Tensor(3)
 *   2  3  4 */
/* t:narrow(dim, first, length) */
static int view_narrow (lua_State *L) {
  const char *who = "Tensor:narrow";
  const Tensor *t = engine_check_tensor(L, 1, who);
  host_arguments(L, who, 4);
  int dim = (int)api_dimension(L, 2, who, t->rank);
  ptrdiff_t n = t->shape[dim];
  lua_Integer first = api_integer(L, 3, who, "first");
  lua_Integer length = api_integer(L, 4, who, "length");
  if (first < 1 || length < 0 || first > n + 1 || length > n + 1 - first)
    host_fail(L, who, "%I elements from %I on are out of range: dimension %d has"
              " %I elements", length, first, dim + 1, (lua_Integer)n);
  Tensor *view = copy_of_view(L, t);
  view->data += (first - 1) * t->stride[dim];
  view->shape[dim] = (ptrdiff_t)length;
  recount(view);
  return 1;
}

/*@ Tensor:transpose(dim1, dim2) -> Tensor
 * Two dimensions swapped, as a view.
 *   dim1  integer; the last but one unless told
 *   dim2  integer; the last unless told
 * > tensor({ { 1, 2 }, { 3, 4 } }):transpose()
 * Tensor(2, 2)
 *   1  3
 *   2  4 */
/* t:transpose([dim1, dim2]), the last two unless told */
static int view_transpose (lua_State *L) {
  const char *who = "Tensor:transpose";
  const Tensor *t = engine_check_tensor(L, 1, who);
  host_arguments(L, who, 3);
  if (lua_isnoneornil(L, 2) && t->rank < 2)
    host_fail(L, who, "a tensor of %d dimensions has none to swap", t->rank);
  int a = lua_isnoneornil(L, 2) ? t->rank - 2
                                : (int)api_dimension(L, 2, who, t->rank);
  int b = lua_isnoneornil(L, 3) ? t->rank - 1
                                : (int)api_dimension(L, 3, who, t->rank);
  Tensor *view = copy_of_view(L, t);
  view->shape[a] = t->shape[b];
  view->shape[b] = t->shape[a];
  view->stride[a] = t->stride[b];
  view->stride[b] = t->stride[a];
  return 1;
}

/*@ Tensor:permute(...) -> Tensor
 * The dimensions in another order, as a view.
 *   ...  integers, or a table of them: every dimension once
 * > table.unpack(zeros(2, 3, 4):permute(3, 1, 2).shape)
 * 4  2  3 */
/* t:permute(dim, ...) with every dimension once */
static int view_permute (lua_State *L) {
  const char *who = "Tensor:permute";
  const Tensor *t = engine_check_tensor(L, 1, who);
  int rank = t->rank, source[TENSOR_MAX_RANK];
  unsigned set;
  if (api_dimensions(L, 2, lua_gettop(L), who, rank, source, &set) < rank)
    host_fail(L, who, "each of the %d dimensions must be named once", rank);
  Tensor *view = copy_of_view(L, t);
  for (int d = 0; d < rank; d++) {
    view->shape[d] = t->shape[source[d]];
    view->stride[d] = t->stride[source[d]];
  }
  return api_return(L, view, NULL);
}

Tensor *api_unsqueeze (lua_State *L, int base, const char *who, const Tensor *from, int dim) {
  if (from->rank == TENSOR_MAX_RANK)
    host_fail(L, who, "a shape has at most %d dimensions, got %d", TENSOR_MAX_RANK,
              TENSOR_MAX_RANK + 1);
  Tensor *view = host_new_view(L, base, from, from->rank + 1);
  view->size = from->size;
  for (int d = 0, own = 0; d < view->rank; d++) {
    view->shape[d] = d == dim ? 1 : from->shape[own];
    view->stride[d] = d == dim ? 0 : from->stride[own];
    own += d != dim;
  }
  return view;
}

/*@ Tensor:unsqueeze(dim) -> Tensor
 * With a new dimension of size 1 at this place: a view.
 * > table.unpack(zeros(2, 3):unsqueeze(-1).shape)
 * 2  3  1 */
/* t:unsqueeze(dim) */
static int view_unsqueeze (lua_State *L) {
  const char *who = "Tensor:unsqueeze";
  const Tensor *t = engine_check_tensor(L, 1, who);
  host_arguments(L, who, 2);
  int dim = (int)api_dimension(L, 2, who, t->rank + 1);
  api_unsqueeze(L, 1, who, t, dim);
  return 1;
}

/* core.diagonal(t): of the last two dimensions */
static int view_diagonal (lua_State *L) {
  const Tensor *t = engine_check_tensor(L, 1, "diagonal");
  int last = t->rank - 1;
  if (t->rank < 2) host_fail_type(L, "diagonal", "t", "a matrix, or a batch of them", 1);
  ptrdiff_t m = t->shape[last - 1], n = t->shape[last];
  Tensor *view = view_without(L, 1, t, last);
  view->shape[last - 1] = m < n ? m : n;
  view->stride[last - 1] = t->stride[last - 1] + t->stride[last];
  recount(view);
  return 1;
}

/*@ Tensor:expand(...) -> Tensor
 * Dimensions of size 1 stretched, and new ones in front, as a view: nothing is copied.
 *   ...  integers, or a table of them: the shape
 * > tensor({ 1, 2 }):expand(2, 2)
 * Tensor(2, 2)
 *   1  2
 *   1  2 */
/* t:expand(shape): dimensions of 1 stretched without copying */
static int view_expand (lua_State *L) {
  const char *who = "Tensor:expand";
  ptrdiff_t shape[TENSOR_MAX_RANK];
  const Tensor *t = engine_check_tensor(L, 1, who);
  int rank = api_shape(L, 2, lua_gettop(L), who, shape, NULL);
  Loop loop;
  const char *why = loop_plan_shaped(&loop, rank, shape, 1, &t);
  if (why != NULL) {
    host_push_shape(L, t->rank, t->shape);
    host_push_shape(L, rank, shape);
    host_fail(L, who, "shape %s does not expand to %s", lua_tostring(L, -2),
              lua_tostring(L, -1));
  }
  Tensor *view = host_new_view(L, 1, t, rank);
  for (int d = 0; d < rank; d++) {
    int own = d - (rank - t->rank);
    view->shape[d] = shape[d];
    view->stride[d] = own < 0 || t->shape[own] == 1
                           ? 0 : t->stride[own];
  }
  recount(view);
  return api_return(L, view, NULL);
}


/* Pushes t itself when its elements lie in row-major order, else a copy. */
static Tensor *push_contiguous (lua_State *L, int index, const char *who) {
  Tensor *t = engine_check_tensor(L, index, who);
  if (tensor_is_contiguous(t)) {
    lua_pushvalue(L, index);
    return t;
  }
  return api_new_copy(L, who, index);
}

/*@ Tensor:contiguous() -> Tensor
 * The tensor itself where its elements lie in memory row by row, else a copy of that kind.
 * > eye(2):transpose():contiguous():at(1, 1)
 * 1.0 */
static int contiguous (lua_State *L) {
  host_arguments(L, "Tensor:contiguous", 1);
  return api_return(L, push_contiguous(L, 1, "Tensor:contiguous"), NULL);
}

/*@ Tensor:clone() -> Tensor
 * A copy, through which gradients flow.
 * > t = ones(2)
 * > c = t:clone()
 * > c[1] = 5
 * > t
 * Tensor(2)
 *   1  1 */
static int clone (lua_State *L) {
  host_arguments(L, "Tensor:clone", 1);
  engine_check_tensor(L, 1, "Tensor:clone");
  return api_return(L, api_new_copy(L, "Tensor:clone", 1), NULL);
}

/* Reads the shape asked for; one dimension may be -1, "whatever is left". */
static int wanted_shape (lua_State *L, const char *who, const Tensor *t,
                         ptrdiff_t shape[]) {
  int open, rank = api_shape(L, 2, lua_gettop(L), who, shape, &open);
  size_t size, rest = 1;
  if (open >= 0) {
    if (!tensor_count(rank, shape, &rest)) rest = 0;
    if (rest == 0) host_fail(L, who, "the dimension -1 cannot be told from shape and"
                             " size");
    if (t->size % rest == 0) shape[open] = (ptrdiff_t)(t->size / rest);
  }
  if (!tensor_count(rank, shape, &size) || size != t->size) {
    host_push_shape(L, t->rank, t->shape);
    host_push_shape(L, rank, shape);
    host_fail(L, who, "%I elements of shape %s do not make shape %s",
              (lua_Integer)t->size, lua_tostring(L, -2), lua_tostring(L, -1));
  }
  return rank;
}

/*@ Tensor:reshape(...) -> Tensor
 * The same elements, in their order, in another shape: a view where that is possible, else a
 * copy.
 *   ...  integers, or a table of them: the shape, in which -1 stands for what is left
 * > arange(1, 7):reshape(2, -1)
 * Tensor(2, 3)
 *   1  2  3
 *   4  5  6 */
/* t:reshape(...): a view where the elements lie in order, else a copy */
static int view_reshape (lua_State *L) {
  const char *who = "Tensor:reshape";
  ptrdiff_t shape[TENSOR_MAX_RANK];
  const Tensor *t = engine_check_tensor(L, 1, who);
  int rank = wanted_shape(L, who, t, shape);
  lua_settop(L, 1);
  const Tensor *from = push_contiguous(L, 1, who);
  Tensor *view = host_new_view(L, 2, from, rank);
  memcpy(view->shape, shape, (size_t)rank * sizeof(ptrdiff_t));
  tensor_row_major(rank, shape, view->stride);
  recount(view);
  return api_return(L, view, NULL);
}


/* core.broadcast_shape(x, ...) -> shape, or nil and why there is none */
static int broadcast_shape (lua_State *L) {
  struct Number { Tensor header; double value; } few[KERNEL_MAX_IN], *number = few;
  const Tensor *few_in[KERNEL_MAX_IN] = {NULL}, **in = few_in;
  ptrdiff_t shape[TENSOR_MAX_RANK];
  int rank, n = lua_gettop(L);
  size_t size;
  if (n > KERNEL_MAX_IN) {
    number = lua_newuserdatauv(L, (size_t)n * sizeof *number, 0);
    in = lua_newuserdatauv(L, (size_t)n * sizeof *in, 0);
  }
  for (int k = 0; k < n; k++)
    in[k] = engine_operand(L, 1 + k, "broadcast_shape", "an operand", &number[k].header,
                           &number[k].value);
  const char *why = loop_broadcast(n, in, &rank, shape, &size);
  if (why != NULL) {
    lua_pushnil(L);
    host_push_shapes(L, n, in);
    lua_pushfstring(L, "%s %s", lua_tostring(L, -1), why);
    lua_remove(L, -2);
    return 2;
  }
  api_push_shape_table(L, rank, shape);
  return 1;
}

/* core.ends_with(x, shape): are these the last dimensions of a tensor? A number has none. */
static int ends_with (lua_State *L) {
  luaL_checktype(L, 2, LUA_TTABLE);
  const Tensor *t = host_header(L, 1);
  lua_Integer n = (lua_Integer)lua_rawlen(L, 2), before = (t != NULL ? t->rank : 0) - n;
  int same = before >= 0;
  for (lua_Integer d = 1; same && d <= n; d++) {
    lua_rawgeti(L, 2, d);
    same = lua_tointeger(L, -1) == (lua_Integer)t->shape[before + d - 1];
    lua_pop(L, 1);
  }
  lua_pushboolean(L, same);
  return 1;
}

static const luaL_Reg methods[] = {
  {"select",     view_select},
  {"narrow",     view_narrow},
  {"transpose",  view_transpose},
  {"permute",    view_permute},
  {"unsqueeze",  view_unsqueeze},
  {"expand",     view_expand},
  {"reshape",    view_reshape},
  {"contiguous", contiguous},
  {"clone",      clone},
  {NULL, NULL}
};

static const luaL_Reg functions[] = {
  {"diagonal",        view_diagonal},
  {"broadcast_shape", broadcast_shape},
  {"ends_with",       ends_with},
  {NULL, NULL}
};

void api_open_views (lua_State *L) {
  host_list(L, "methods", methods);
  luaL_setfuncs(L, functions, 0);
}
