/*
** tensors.c - tensors as userdata
**
** A tensor is a userdata without finalizer. Its elements lie in the same block, so the
** collector and the host's memory limit see every byte. A view keeps the tensor that owns the
** elements alive through its user value.
*/
#include <stdint.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "autograd/node.h"
#include "driver/loop.h"
#include "host/host.h"

static const char METATABLE = 'm';   /* its address is the registry's key */

#define HUGE_PAGE ((size_t)2 << 20)


/* Fresh pages cost more than the arithmetic done on them: ask for huge ones
   where a block holds several. */
static void advise_huge_pages (double *data, size_t bytes) {
#ifdef MADV_HUGEPAGE
  if (bytes < 2 * HUGE_PAGE) return;
  uintptr_t first = ((uintptr_t)data + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
  uintptr_t last = ((uintptr_t)data + bytes) & ~(HUGE_PAGE - 1);
  madvise((void *)first, last - first, MADV_HUGEPAGE);
#else
  (void)data; (void)bytes;
#endif
}

static void set_metatable (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &METATABLE);
  lua_setmetatable(L, -2);
}

static void set_metatable_of (lua_State *L, const State *state) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, state->metatable);
  lua_setmetatable(L, -2);
}

static void set_dims (Tensor *t, const ptrdiff_t shape[], const ptrdiff_t stride[]) {
  for (int d = 0; d < t->rank; d++) t->shape[d] = shape[d];
  if (stride == NULL) tensor_row_major(t->rank, shape, t->stride);
  else for (int d = 0; d < t->rank; d++) t->stride[d] = stride[d];
}

static size_t count_elements (lua_State *L, const char *who, int rank, const ptrdiff_t shape[]) {
  size_t size;
  if (tensor_count(rank, shape, &size)) return size;
  host_push_shape(L, rank, shape);
  host_fail(L, who, "shape %s has too many elements", lua_tostring(L, -1));
  return 0;
}

static inline Tensor *new_bare (lua_State *L, const char *who, int rank, const ptrdiff_t shape[],
                                const ptrdiff_t stride[]) {
  size_t size = count_elements(L, who, rank, shape);
  void *block = lua_newuserdatauv(L, tensor_bytes(rank, size), 0);
  Tensor *t = tensor_init(block, rank, size, NULL);
  set_dims(t, shape, stride);
  advise_huge_pages(t->data, size * sizeof(double));
  return t;
}

/* Pushes a tensor with elements of its own, not yet set; row-major when
   stride is NULL. */
Tensor *host_new (lua_State *L, const char *who, int rank,
                  const ptrdiff_t shape[], const ptrdiff_t stride[]) {
  Tensor *t = new_bare(L, who, rank, shape, stride);
  set_metatable(L);
  return t;
}

Tensor *host_new_of (lua_State *L, const State *state, const char *who, int rank,
                     const ptrdiff_t shape[], const ptrdiff_t stride[]) {
  Tensor *t = new_bare(L, who, rank, shape, stride);
  set_metatable_of(L, state);
  return t;
}

/* (It has its elements, and is no view: a view of it keeps it alive, and it keeps the owner.) */
Tensor *host_new_over (lua_State *L, const char *who, double *data, int rank,
                       const ptrdiff_t shape[]) {
  size_t size = count_elements(L, who, rank, shape);
  if ((data == NULL && size > 0) || (uintptr_t)data % sizeof(double) != 0)
    host_fail(L, who, "data must be an address of doubles, got %p", (void *)data);
  Tensor *t = tensor_init(lua_newuserdatauv(L, tensor_header_bytes(rank), 1), rank, size, data);
  set_dims(t, shape, NULL);
  set_metatable(L);
  lua_insert(L, -2);
  lua_setiuservalue(L, -2, 1);
  return t;
}

/* Pushes a tensor in a block of so many bytes, without data. */
Tensor *host_new_block (lua_State *L, const State *state, size_t bytes, int rank, size_t size,
                        const ptrdiff_t shape[], const ptrdiff_t stride[],
                        int user_values) {
  void *block = lua_newuserdatauv(L, bytes, user_values);
  Tensor *t = tensor_init(block, rank, size, block);
  t->data = NULL;
  set_dims(t, shape, stride);
  set_metatable_of(L, state);
  return t;
}

/* Pushes a view of the tensor `from` at `base`, whose elements are there; the caller fills
   data, size, shape and strides. */
Tensor *host_new_view (lua_State *L, int base, const Tensor *from, int rank) {
  base = lua_absindex(L, base);
  void *block = lua_newuserdatauv(L, tensor_header_bytes(rank), 1);
  Tensor *view = tensor_init(block, rank, 0, from->data);
  view->is_view = true;
  view->version = from->version;
  if (is_tracked(from)) view->owner = from->owner;
  if (from->is_view) lua_getiuservalue(L, base, 1);
  else lua_pushvalue(L, base);
  lua_setiuservalue(L, -2, 1);
  set_metatable(L);
  return view;
}

void host_copy (lua_State *L, Tensor *to, const Tensor *from) {
  Pool *pool = host_pool(L, to->size);
  loop_copy(pool, to, from);
  host_check_stopped(L, pool);
}

/* (A finalizer may change the number of threads.) */
Pool *host_pool_scratch (lua_State *L, const char *who, size_t work, size_t size,
                         double **scratch) {
  ptrdiff_t shape[2] = {0, (ptrdiff_t)size};
  Pool *pool;
  *scratch = NULL;
  lua_pushnil(L);
  while (pool_threads(pool = host_pool(L, work)) > shape[0] && size > 0) {
    shape[0] = pool_threads(pool);
    *scratch = host_new(L, who, 2, shape, NULL)->data;
    lua_replace(L, -2);
  }
  return pool;
}


static int metatable (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &METATABLE);
  return 1;
}


void host_open_tensors (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &METATABLE) == LUA_TNIL) {
    lua_newtable(L);
    lua_pushliteral(L, "perilune.Tensor");
    lua_setfield(L, -2, "__name");
    lua_pushliteral(L, "perilune.Tensor");   /* getmetatable gives this */
    lua_setfield(L, -2, "__metatable");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &METATABLE);
  }
  lua_pop(L, 1);
  State *state = host_state(L);
  if (state->metatable == 0) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &METATABLE);
    state->metatable = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  lua_pushcfunction(L, metatable);
  lua_setfield(L, -2, "tensor_metatable");
}
