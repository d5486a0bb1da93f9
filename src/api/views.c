/*
** views.c - other ways to look at the same elements: rows, slices, shapes
*/
#include <string.h>

#include "api/api.h"
#include "driver/loop.h"


/* A view with room for the shape and strides of `from` without dimension
   `drop` (or all of them when drop is negative). */
static Tensor *view_without (lua_State *L, int base, int drop) {
  const Tensor *from = api_tensor(L, base);
  Tensor *view = api_new_view(L, base, from->rank - (drop >= 0));
  view->size = from->size;
  for (int d = 0, to = 0; d < from->rank; d++) {
    if (d == drop) continue;
    tensor_shape(view)[to] = tensor_cshape(from)[d];
    tensor_stride(view)[to++] = tensor_cstride(from)[d];
  }
  return view;
}

static Tensor *copy_of_view (lua_State *L, int base) {
  return view_without(L, base, -1);
}

static void recount (Tensor *view) {
  tensor_count(view->rank, tensor_cshape(view), &view->size);
}

/* Position `index` (from 1, or from -1 backwards) in a dimension. */
static ptrdiff_t position (lua_State *L, int index, const char *who,
                           const Tensor *t, int dim) {
  ptrdiff_t n = tensor_cshape(t)[dim];
  int ok;
  lua_Integer i = lua_tointegerx(L, index, &ok);
  if (!ok || lua_type(L, index) != LUA_TNUMBER)
    api_fail_type(L, who, "an index", "an integer", index);
  if (i == 0 || i > n || i < -n)
    api_fail(L, who, "index %I is out of range: dimension %d has %I elements",
             i, dim + 1, (lua_Integer)n);
  return (ptrdiff_t)(i > 0 ? i - 1 : i + n);
}

static Tensor *select_at (lua_State *L, int base, int dim, ptrdiff_t at) {
  const Tensor *from = api_tensor(L, base);
  Tensor *view = view_without(L, base, dim);
  view->data = from->data + at * tensor_cstride(from)[dim];
  recount(view);
  return view;
}


/* t:select(dim, i) */
static int view_select (lua_State *L) {
  const char *who = "Tensor:select";
  const Tensor *t = api_check_tensor(L, 1, who);
  int dim = (int)api_dimension(L, 2, who, t->rank);
  select_at(L, 1, dim, position(L, 3, who, t, dim));
  return 1;
}

/* t:narrow(dim, first, length) */
static int view_narrow (lua_State *L) {
  const char *who = "Tensor:narrow";
  const Tensor *t = api_check_tensor(L, 1, who);
  int ok, dim = (int)api_dimension(L, 2, who, t->rank);
  ptrdiff_t n = tensor_cshape(t)[dim];
  lua_Integer first = lua_tointegerx(L, 3, &ok);
  lua_Integer length = ok ? lua_tointegerx(L, 4, &ok) : 0;
  if (!ok) api_fail_type(L, who, "first and length", "integers",
                         lua_isinteger(L, 3) ? 4 : 3);
  if (first < 1 || length < 0 || first > n + 1 || length > n + 1 - first)
    api_fail(L, who, "elements %I to %I are out of range: dimension %d has %I"
             " elements", first, first + length - 1, dim + 1, (lua_Integer)n);
  Tensor *view = copy_of_view(L, 1);
  view->data += (first - 1) * tensor_cstride(t)[dim];
  tensor_shape(view)[dim] = (ptrdiff_t)length;
  recount(view);
  return 1;
}

/* t:transpose([dim1, dim2]), the last two unless told */
static int view_transpose (lua_State *L) {
  const char *who = "Tensor:transpose";
  const Tensor *t = api_check_tensor(L, 1, who);
  if (lua_isnoneornil(L, 2) && t->rank < 2)
    api_fail(L, who, "a tensor of %d dimensions has none to swap", t->rank);
  int a = lua_isnoneornil(L, 2) ? t->rank - 2
                                : (int)api_dimension(L, 2, who, t->rank);
  int b = lua_isnoneornil(L, 3) ? t->rank - 1
                                : (int)api_dimension(L, 3, who, t->rank);
  Tensor *view = copy_of_view(L, 1);
  tensor_shape(view)[a] = tensor_cshape(t)[b];
  tensor_shape(view)[b] = tensor_cshape(t)[a];
  tensor_stride(view)[a] = tensor_cstride(t)[b];
  tensor_stride(view)[b] = tensor_cstride(t)[a];
  return 1;
}

/* t:permute(dim, ...) with every dimension once */
static int view_permute (lua_State *L) {
  const char *who = "Tensor:permute";
  const Tensor *t = api_check_tensor(L, 1, who);
  int rank = t->rank, source[TENSOR_MAX_RANK];
  unsigned seen = 0;
  for (int d = 0; d < rank; d++) {
    source[d] = (int)api_dimension(L, 2 + d, who, rank);
    seen |= 1u << source[d];
  }
  if (seen != (1u << rank) - 1 || lua_gettop(L) != 1 + rank)
    api_fail(L, who, "each of the %d dimensions must be named once", rank);
  Tensor *view = copy_of_view(L, 1);
  for (int d = 0; d < rank; d++) {
    tensor_shape(view)[d] = tensor_cshape(t)[source[d]];
    tensor_stride(view)[d] = tensor_cstride(t)[source[d]];
  }
  return 1;
}

/* t:expand(shape): dimensions of 1 stretched without copying */
static int view_expand (lua_State *L) {
  const char *who = "Tensor:expand";
  ptrdiff_t shape[TENSOR_MAX_RANK];
  const Tensor *t = api_check_tensor(L, 1, who);
  int rank = api_shape(L, 2, who, shape);
  Loop loop;
  const char *why = loop_plan_shaped(&loop, rank, shape, 1, &t);
  if (why != NULL) {
    api_push_shape(L, t->rank, tensor_cshape(t));
    api_push_shape(L, rank, shape);
    api_fail(L, who, "shape %s does not expand to %s", lua_tostring(L, -2),
             lua_tostring(L, -1));
  }
  Tensor *view = api_new_view(L, 1, rank);
  for (int d = 0; d < rank; d++) {
    int own = d - (rank - t->rank);
    tensor_shape(view)[d] = shape[d];
    tensor_stride(view)[d] = own < 0 || tensor_cshape(t)[own] == 1
                           ? 0 : tensor_cstride(t)[own];
  }
  recount(view);
  return 1;
}


/* Pushes t itself when its elements lie in row-major order, else a copy. */
static Tensor *push_contiguous (lua_State *L, int index, const char *who) {
  Tensor *t = api_check_tensor(L, index, who);
  if (tensor_is_contiguous(t)) {
    lua_pushvalue(L, index);
    return t;
  }
  Tensor *copy = api_new(L, who, t->rank, tensor_cshape(t), NULL);
  loop_copy(copy, t);
  return copy;
}

static int contiguous (lua_State *L) {
  push_contiguous(L, 1, "Tensor:contiguous");
  return 1;
}

static int clone (lua_State *L) {
  const Tensor *t = api_check_tensor(L, 1, "Tensor:clone");
  loop_copy(api_new(L, "Tensor:clone", t->rank, tensor_cshape(t), NULL), t);
  return 1;
}

/* Reads the shape asked for; one dimension may be -1, "whatever is left". */
static int wanted_shape (lua_State *L, const char *who, const Tensor *t,
                         ptrdiff_t shape[]) {
  int rank, open = -1, listed = lua_istable(L, 2);
  size_t size, rest = 1;
  if (listed) {
    int n = (int)luaL_len(L, 2);
    luaL_checkstack(L, n > TENSOR_MAX_RANK ? 1 : n, who);
    for (int d = 1; d <= n && d <= TENSOR_MAX_RANK + 1; d++) lua_rawgeti(L, 2, d);
    lua_remove(L, 2);
  }
  for (int i = 2; i <= lua_gettop(L); i++) {
    if (lua_type(L, i) != LUA_TNUMBER || lua_tonumber(L, i) != -1) continue;
    if (open >= 0) api_fail(L, who, "only one dimension may be -1");
    open = i - 2;
    lua_pushinteger(L, 1);
    lua_replace(L, i);
  }
  rank = api_shape(L, 2, who, shape);
  if (open >= 0) {
    if (tensor_count(rank, shape, &rest) && rest > 0 && t->size % rest == 0)
      shape[open] = (ptrdiff_t)(t->size / rest);
  }
  if (!tensor_count(rank, shape, &size) || size != t->size) {
    api_push_shape(L, t->rank, tensor_cshape(t));
    api_push_shape(L, rank, shape);
    api_fail(L, who, "%I elements of shape %s do not make shape %s",
             (lua_Integer)t->size, lua_tostring(L, -2), lua_tostring(L, -1));
  }
  return rank;
}

/* t:reshape(...): a view where the elements lie in order, else a copy */
static int view_reshape (lua_State *L) {
  const char *who = "Tensor:reshape";
  ptrdiff_t shape[TENSOR_MAX_RANK];
  const Tensor *t = api_check_tensor(L, 1, who);
  int rank = wanted_shape(L, who, t, shape);
  lua_settop(L, 1);
  push_contiguous(L, 1, who);
  Tensor *view = api_new_view(L, 2, rank);
  memcpy(tensor_shape(view), shape, (size_t)rank * sizeof(ptrdiff_t));
  tensor_row_major(rank, shape, tensor_stride(view));
  recount(view);
  return 1;
}


/*
** Indexing
*/

/* t:at(i, j, ...): one element, or the view left by fewer indices */
static int at (lua_State *L) {
  const char *who = "Tensor:at";
  const Tensor *t = api_check_tensor(L, 1, who);
  int n = lua_gettop(L) - 1;
  if (n > t->rank)
    api_fail(L, who, "%d indices for %d dimensions", n, t->rank);
  const double *data = t->data;
  for (int d = 0; d < n; d++)
    data += position(L, 2 + d, who, t, d) * tensor_cstride(t)[d];
  if (n == t->rank) {
    lua_pushnumber(L, *data);
    return 1;
  }
  Tensor *view = api_new_view(L, 1, t->rank - n);
  view->data = (double *)data;
  for (int d = n; d < t->rank; d++) {
    tensor_shape(view)[d - n] = tensor_cshape(t)[d];
    tensor_stride(view)[d - n] = tensor_cstride(t)[d];
  }
  recount(view);
  return 1;
}

/* t[i]: a number from a tensor of rank 1, else a row. Upvalue 1 holds the
   methods, upvalue 2 the function that makes t.shape. */
static int get_index (lua_State *L) {
  const char *who = "Tensor[i]";
  const Tensor *t = api_check_tensor(L, 1, who);
  if (lua_type(L, 2) != LUA_TNUMBER) {
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    lua_rawget(L, lua_upvalueindex(1));
    if (!lua_isnil(L, -1) || lua_type(L, 2) != LUA_TSTRING
        || strcmp(lua_tostring(L, 2), "shape") != 0) return 1;
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return 1;
  }
  if (t->rank == 0) api_fail(L, who, "a tensor of rank 0 has no rows; use item()");
  if (lua_isinteger(L, 2) && lua_tointeger(L, 2) == tensor_cshape(t)[0] + 1)
    return lua_pushnil(L), 1;              /* so that ipairs ends */
  ptrdiff_t i = position(L, 2, who, t, 0);
  if (t->rank > 1) select_at(L, 1, 0, i);
  else lua_pushnumber(L, t->data[i * tensor_cstride(t)[0]]);
  return 1;
}

static int repeats (const Tensor *t) {
  for (int d = 0; d < t->rank; d++)
    if (tensor_cstride(t)[d] == 0 && tensor_cshape(t)[d] > 1) return 1;
  return 0;
}

/* Writes the value at `value` into the view or tensor `to` at the top. */
static void assign (lua_State *L, const char *who, Tensor *to, int value) {
  Tensor header;
  double number;
  const Tensor *from = api_operand(L, value, who, "the value", &header, &number);
  Loop loop;
  if (repeats(to))
    api_fail(L, who, "an expanded tensor cannot be written to; clone it first");
  if (loop_plan_shaped(&loop, to->rank, tensor_cshape(to), 1, &from) != NULL) {
    const Tensor *both[2] = {from, to};
    api_fail_shapes(L, who, "do not fit one into the other", 2, both);
  }
  if (from->size > 1) {          /* a copy first: the two may overlap */
    Tensor *copy = api_new(L, who, from->rank, tensor_cshape(from), NULL);
    loop_copy(copy, from);
    from = copy;
  }
  loop_copy(to, from);
}

/* t[i] = a number, table or tensor that broadcasts to the row */
static int set_index (lua_State *L) {
  const char *who = "Tensor[i] = value";
  const Tensor *t = api_check_tensor(L, 1, who);
  if (t->rank == 0 || lua_type(L, 2) != LUA_TNUMBER)
    api_fail_type(L, who, "an index", "an integer", 2);
  assign(L, who, select_at(L, 1, 0, position(L, 2, who, t, 0)), 3);
  return 0;
}

/* t:copy(value): writes over all elements; returns t */
static int copy (lua_State *L) {
  Tensor *t = api_check_tensor(L, 1, "Tensor:copy");
  assign(L, "Tensor:copy", t, 2);
  lua_settop(L, 1);
  return 1;
}

static int length (lua_State *L) {
  const Tensor *t = api_check_tensor(L, 1, "#Tensor");
  if (t->rank == 0) api_fail(L, "#Tensor", "a tensor of rank 0 has no length");
  lua_pushinteger(L, (lua_Integer)tensor_cshape(t)[0]);
  return 1;
}

/* core.broadcast_shape(t, ...) -> shape, or nil and why there is none */
static int broadcast_shape (lua_State *L) {
  const Tensor *in[KERNEL_MAX_IN];
  ptrdiff_t shape[TENSOR_MAX_RANK];
  int rank, n = lua_gettop(L);
  size_t size;
  if (n > KERNEL_MAX_IN) api_fail(L, "broadcast_shape", "too many tensors");
  for (int k = 0; k < n; k++) in[k] = api_check_tensor(L, 1 + k, "broadcast_shape");
  const char *why = loop_broadcast(n, in, &rank, shape, &size);
  if (why != NULL) {
    lua_pushnil(L);
    api_push_shapes(L, n, in);
    lua_pushfstring(L, "%s %s", lua_tostring(L, -1), why);
    lua_remove(L, -2);
    return 2;
  }
  lua_createtable(L, rank, 0);
  for (int d = 0; d < rank; d++) {
    lua_pushinteger(L, (lua_Integer)shape[d]);
    lua_rawseti(L, -2, d + 1);
  }
  return 1;
}

/* core.indexer(methods, shape): the __index of tensors */
static int indexer (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  lua_pushcclosure(L, get_index, 2);
  return 1;
}


static const luaL_Reg functions[] = {
  {"select",     view_select},
  {"narrow",     view_narrow},
  {"transpose",  view_transpose},
  {"permute",    view_permute},
  {"expand",     view_expand},
  {"reshape",    view_reshape},
  {"contiguous", contiguous},
  {"clone",      clone},
  {"at",         at},
  {"copy",       copy},
  {"length",     length},
  {"newindex",   set_index},
  {"indexer",    indexer},
  {"broadcast_shape", broadcast_shape},
  {NULL, NULL}
};

void api_open_views (lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
