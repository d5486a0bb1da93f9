/*
** backward.c - the walk back, from a number to the gradients of all parameters below it
**
** The nodes below a result are collected and ordered by age; gradients pass from each
** to its inputs, and what arrives at parameters becomes their `grad`. Gradients in
** between live in memory that is kept for the next walk.
*/
#include <string.h>

#include "api/api.h"
#include "autograd/adjoint.h"
#include "driver/loop.h"

#define CHUNK    ((size_t)1 << 10)   /* doubles in the first chunk, */
#define DOUBLED  8                   /* which are twice as many in each of the next ones */
#define LARGE    ((size_t)1 << 9)    /* elements: gradients that are written in place */
#define FREE_MAX 64                  /* blocks that wait to be used again */

/* The nodes to walk over, in a userdata at `index` on the stack that is kept for the
   next walk, and the gradients that they have: a walk within this one may meet the
   same nodes. */
typedef struct Entry {
  Node *node;
  double *gradient;
  bool empty;
} Entry;

typedef struct Tape {
  Entry *entry;
  size_t n, room;
  int index;
  uint64_t walk;
  struct Tape *outer;   /* during whose walk this one began */
  bool noted;           /* an inner walk has begun */
  bool called;          /* a function has run, which may have changed anything */
} Tape;

/* Memory for gradients, cut from chunks: userdata in the table at `index`. What is
   done with is used again within a walk, chunks are by the next walk. */
typedef struct Memory {
  int index, chunks;
  int handles;              /* index of the table of handles */
  double *at;               /* in the last chunk */
  size_t left;
  double *free[FREE_MAX];
  size_t free_size[FREE_MAX];
  int frees;
} Memory;

/* Begins with the memory of the last walk, if it is among the chunks. */
static void start_tape (lua_State *L, Tape *tape, int chunks) {
  lua_rawgeti(L, chunks, 0);
  tape->entry = lua_touserdata(L, -1);
  tape->room = lua_rawlen(L, -1) / sizeof(Entry);
  lua_replace(L, tape->index);
}

static void push_node (lua_State *L, Tape *tape, Node *node) {
  if (tape->n == tape->room) {
    size_t room = 2 * tape->room + 64;
    Entry *wider = lua_newuserdatauv(L, room * sizeof *wider, 0);
    if (tape->n > 0) memcpy(wider, tape->entry, tape->n * sizeof *wider);
    lua_replace(L, tape->index);
    tape->entry = wider;
    tape->room = room;
  }
  node->walk = tape->walk;
  node->gradient = NULL;
  tape->entry[tape->n++] = (Entry) {.node = node};
}

static void check_unchanged (lua_State *L, const Tensor *t, uint32_t version) {
  if (*t->version != version)
    api_fail(L, "backward", "a tensor was changed after it was used in what is being"
             " differentiated; clone it before changing it");
}

static void check_unspent (lua_State *L, const Node *node) {
  if (node->spent)
    api_fail(L, "backward", "this was differentiated already, and what it takes to do so"
             " again is gone; backward{retain = true} keeps it");
}

static void check_operands (lua_State *L, const Node *node) {
  if (node->kind != NODE_LEAF) check_unchanged(L, node->result, 0);
  for (int k = 0; k < node->n; k++)
    if (!node->in[k].is_number)
      check_unchanged(L, node->in[k].tensor, node->in[k].version);
}

/* Adds all nodes below those on the tape. */
static void collect (lua_State *L, Tape *tape) {
  for (size_t done = 0; done < tape->n; done++) {
    Node *node = tape->entry[done].node;
    check_unspent(L, node);
    check_operands(L, node);
    for (int k = 0; k < node->n; k++) {
      Node *below = node->in[k].tracked ? node_below(node, k) : NULL;
      if (below != NULL && below->walk != tape->walk) push_node(L, tape, below);
    }
  }
}

/* Moves the entry at `at` down a heap of n with the oldest on top. */
static void sift (Entry *entry, size_t n, size_t at) {
  for (size_t child; (child = 2 * at + 1) < n; at = child) {
    if (child + 1 < n && entry[child + 1].node->order < entry[child].node->order) child++;
    if (entry[at].node->order <= entry[child].node->order) return;
    Entry moved = entry[at];
    entry[at] = entry[child];
    entry[child] = moved;
  }
}

/* Youngest first. */
static void sort_by_age (Entry *entry, size_t n) {
  size_t sorted = 1;
  while (sorted < n && entry[sorted - 1].node->order > entry[sorted].node->order) sorted++;
  if (sorted >= n) return;   /* a chain is met in order */
  for (size_t i = n / 2; i-- > 0; ) sift(entry, n, i);
  for (size_t i = n; i-- > 1; ) {
    Entry oldest = entry[0];
    entry[0] = entry[i];
    entry[i] = oldest;
    sift(entry, i, 0);
  }
}

/* A walk within others, which may meet their nodes: notes the gradients of those. */
static void note_gradients (Tape *tape) {
  for (; tape != NULL && !tape->noted; tape = tape->outer) {
    for (size_t i = 0; i < tape->n; i++) {
      tape->entry[i].gradient = tape->entry[i].node->gradient;
      tape->entry[i].empty = tape->entry[i].node->empty;
    }
    tape->noted = true;
  }
}

static void restore_gradients (Tape *tape) {
  for (size_t i = 0; tape->noted && i < tape->n; i++) {
    tape->entry[i].node->gradient = tape->entry[i].gradient;
    tape->entry[i].node->empty = tape->entry[i].empty;
  }
  tape->noted = false;
}


static size_t padded (size_t size) { return (size + 7) & ~(size_t)7; }

/* The next chunk, if it is large enough, or a new one in its place. */
static void next_chunk (lua_State *L, Memory *memory, size_t size) {
  size_t room = CHUNK << (memory->chunks < DOUBLED ? memory->chunks : DOUBLED);
  if (room < size) room = size;
  lua_rawgeti(L, memory->index, ++memory->chunks);
  if (lua_rawlen(L, -1) < (room + 8) * sizeof(double)) {
    lua_pop(L, 1);
    lua_newuserdatauv(L, (room + 8) * sizeof(double), 0);
    lua_pushvalue(L, -1);
    lua_rawseti(L, memory->index, memory->chunks);
  }
  memory->at = tensor_aligned(lua_touserdata(L, -1));
  memory->left = lua_rawlen(L, -1) / sizeof(double) - 8;
  lua_pop(L, 1);
}

static double *take (lua_State *L, Memory *memory, size_t size) {
  size = padded(size);
  for (int i = memory->frees; i-- > 0; ) {
    if (memory->free_size[i] != size) continue;
    double *found = memory->free[i];
    memory->free[i] = memory->free[--memory->frees];
    memory->free_size[i] = memory->free_size[memory->frees];
    return found;
  }
  if (memory->left < size) next_chunk(L, memory, size);
  double *taken = memory->at;
  memory->at += size;
  memory->left -= size;
  return taken;
}

static void give_back (Memory *memory, double *block, size_t size) {
  if (memory->frees == FREE_MAX) return;
  memory->free[memory->frees] = block;
  memory->free_size[memory->frees++] = padded(size);
}


/* Pushes a tensor of which only the address is known. */
static void push_handle (lua_State *L, const Memory *memory, const Tensor *t) {
  lua_rawgetp(L, memory->handles, t);
}

/* Pushes the `grad` of a parameter, or nil; returns it, or NULL. */
static Tensor *push_grad (lua_State *L, const Memory *memory, const Tensor *parameter) {
  push_handle(L, memory, parameter);
  lua_getiuservalue(L, -1, 1);
  lua_remove(L, -2);
  return api_tensor(L, -1);
}

/* The gradient of a large parameter that has none yet is written where it will stay:
   into a tensor, kept among the chunks under the parameter's address till then. */
static double *fresh_grad (lua_State *L, Memory *memory, const Tensor *parameter) {
  const Tensor *grad = push_grad(L, memory, parameter);
  lua_pop(L, 1);
  if (grad != NULL) return NULL;
  Tensor *fresh = api_new(L, "backward", parameter->rank, parameter->shape, NULL);
  lua_rawsetp(L, memory->index, parameter);
  return fresh->data;
}

static void ensure_gradient (lua_State *L, Memory *memory, Node *node) {
  size_t size = node->result->size;
  if (node->gradient != NULL) return;
  if (node->kind == NODE_LEAF && size >= LARGE)
    node->gradient = fresh_grad(L, memory, node->result);
  if (node->gradient == NULL) node->gradient = take(L, memory, size);
  node->empty = true;
}

/* Where nothing came from above there are zeros. */
static void fill_gradient (Node *node) {
  if (node->empty) memset(node->gradient, 0, node->result->size * sizeof(double));
  node->empty = false;
}


/* Pushes the gradient of a node as a tensor of its own. */
static Tensor *push_gradient (lua_State *L, const Node *node) {
  const Tensor *t = node->result;
  Tensor *gradient = api_new(L, "backward", t->rank, t->shape, t->stride);
  memcpy(gradient->data, node->gradient, t->size * sizeof(double));
  return gradient;
}

/* Adds result k of a recorded function's backward, at `index`, to its input. */
static void add_returned (lua_State *L, const Node *node, int k, int index) {
  const Tensor *t = node->in[k].tensor;
  Tensor header;
  double number;
  Loop loop;
  if (!node->in[k].tracked || lua_isnil(L, index)) return;
  const Tensor *from = api_operand(L, index, "backward", "a gradient", &header, &number);
  if (loop_plan_shaped(&loop, t->rank, t->shape, 1, &from) != NULL) {
    const Tensor *both[2] = {from, t};
    api_fail_shapes(L, "backward: gradient and input", "do not fit", 2, both);
  }
  adjoint_add(t, from);
}

/* Calls what backward() was given for a node, within the walk over `tape`. */
static void step_call (lua_State *L, const Node *node, const Memory *memory, State *state,
                       Tape *tape) {
  int base = lua_gettop(L);
  luaL_checkstack(L, node->n + 8, "backward");
  push_handle(L, memory, node->result);
  lua_getiuservalue(L, -1, node->n + 1);
  push_gradient(L, node);
  state->tape = tape;
  int status = lua_pcall(L, 1, node->n, 0);
  state->tape = tape->outer;
  if (status != LUA_OK) lua_error(L);
  tape->called = true;
  restore_gradients(tape);
  for (int k = 0; k < node->n; k++) add_returned(L, node, k, base + 2 + k);
  lua_settop(L, base);
}

/* Elements that a step goes through: of the result, or of the largest operand where they
   were summed up. */
static size_t step_size (const Node *node) {
  size_t size = node->result->size;
  for (int k = 0; k < node->n; k++)
    if (!node->in[k].is_number && node->in[k].tensor->size > size)
      size = node->in[k].tensor->size;
  return size;
}

static void step_node (lua_State *L, State *state, Node *node, Memory *memory) {
  Pool *pool = api_pool(L, step_size(node));
  size_t need = adjoint_scratch(node, pool);
  double *scratch = need > 0 ? take(L, memory, need) : NULL;
  adjoint_step(node, state->sum, pool, scratch);
  if (scratch != NULL) give_back(memory, scratch, need);
}

static void walk (lua_State *L, State *state, Tape *tape, Memory *memory) {
  for (size_t i = 0; i < tape->n; i++) {
    Node *node = tape->entry[i].node;
    if (node->kind == NODE_LEAF || node->gradient == NULL) continue;
    if (tape->called) check_operands(L, node);
    for (int k = 0; k < node->n; k++)
      if (node->in[k].tracked) ensure_gradient(L, memory, node_below(node, k));
    fill_gradient(node);
    if (node->kind == NODE_CALL) step_call(L, node, memory, state, tape);
    else step_node(L, state, node, memory);
    give_back(memory, node->gradient, node->result->size);
  }
}


/* Gives a parameter that has no `grad` one of zeros, unless its gradient is in a
   tensor already. */
static void ensure_grad (lua_State *L, const Memory *memory, const Tensor *parameter) {
  if (push_grad(L, memory, parameter) == NULL
      && lua_rawgetp(L, memory->index, parameter) == LUA_TNIL) {
    push_handle(L, memory, parameter);
    Tensor *grad = api_new(L, "backward", parameter->rank, parameter->shape, NULL);
    memset(grad->data, 0, grad->size * sizeof(double));
    lua_setiuservalue(L, -2, 1);
  }
}

/* Adds the gradient of a parameter to its grad. */
static void deliver_one (lua_State *L, const Memory *memory, Node *node) {
  Tensor *parameter = node->result, *grad = push_grad(L, memory, parameter);
  fill_gradient(node);
  if (grad == NULL) {
    push_handle(L, memory, parameter);
    lua_rawgetp(L, memory->index, parameter);
    lua_setiuservalue(L, -2, 1);
    return;
  }
  if (node->shown) api_before_write(L, grad);
  for (size_t j = 0; j < grad->size; j++) grad->data[j] += node->gradient[j];
  (*grad->version)++;
}

/* What arrived at parameters becomes their grads, all of them or none. */
static void deliver (lua_State *L, const Tape *tape, const Memory *memory) {
  int top = lua_gettop(L);
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < tape->n; i++) {
      Node *node = tape->entry[i].node;
      if (node->kind != NODE_LEAF || node->gradient == NULL) continue;
      if (pass == 0) ensure_grad(L, memory, node->result);
      else deliver_one(L, memory, node);
      lua_settop(L, top);
    }
}

/* Takes the gradients of parameters from among the chunks. */
static void forget_fresh (lua_State *L, const Tape *tape, const Memory *memory) {
  for (size_t i = 0; i < tape->n; i++) {
    const Node *node = tape->entry[i].node;
    if (node->kind != NODE_LEAF || node->result->size < LARGE) continue;
    lua_pushnil(L);
    lua_rawsetp(L, memory->index, node->result);
  }
}

/* Pushes the table of chunks that the last walk left, or a new one, and takes it away
   from the state: a walk within this one must not find it. */
static void push_chunks (lua_State *L) {
  api_push_state(L);
  if (lua_getiuservalue(L, -1, 1) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
  }
  lua_pushnil(L);
  lua_setiuservalue(L, -3, 1);
  lua_remove(L, -2);
  lua_pushnil(L);
  lua_setmetatable(L, -2);
}

/* Leaves the chunks at `index` for the next walk, unless the collector wants them. */
static void leave_chunks (lua_State *L, int index) {
  api_push_state(L);
  lua_pushvalue(L, index);
  api_push_handles(L);
  lua_getmetatable(L, -1);          /* weak values */
  lua_setmetatable(L, -3);
  lua_pop(L, 1);
  lua_setiuservalue(L, -2, 1);
  lua_pop(L, 1);
}

static int option (lua_State *L, int index, const char *name) {
  if (!lua_istable(L, index)) return 0;
  lua_getfield(L, index, name);
  int set = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return set;
}

/* t:backward{retain =}: adds dt/dw to w.grad for every parameter w below t */
static int backward (lua_State *L) {
  const char *who = "Tensor:backward";
  Tensor *t = api_header(L, 1);   /* its value is of no importance */
  if (t == NULL) api_fail_type(L, who, "self", "a tensor", 1);
  lua_settop(L, 2);
  int retain = option(L, 2, "retain");
  if (!lua_isnil(L, 2) && !lua_istable(L, 2))
    api_fail_type(L, who, "options", "a table", 2);
  if (t->size != 1) {
    api_push_shape(L, t->rank, t->shape);
    api_fail(L, who, "only a single number can be differentiated, this has shape %s; sum it"
             " first", lua_tostring(L, -1));
  }
  if (!is_tracked(t))
    api_fail(L, who, "this does not depend on any parameter (see peri.param)");
  Node *top = t->owner->node;
  State *state = api_state(L);
  if (state->sum == NULL) state->sum = api_kernel(L, "reduce", "sum");
  lua_pushnil(L);
  Tape tape = {.index = lua_gettop(L), .walk = ++state->walk, .outer = state->tape};
  api_push_handles(L);
  push_chunks(L);
  Memory memory = {.index = lua_gettop(L), .handles = lua_gettop(L) - 1};
  note_gradients(tape.outer);
  start_tape(L, &tape, memory.index);
  push_node(L, &tape, top);
  collect(L, &tape);
  sort_by_age(tape.entry, tape.n);
  ensure_gradient(L, &memory, top);
  fill_gradient(top);
  top->gradient[t == t->owner ? 0 : t->data - t->owner->data] = 1;
  walk(L, state, &tape, &memory);
  deliver(L, &tape, &memory);
  forget_fresh(L, &tape, &memory);
  for (size_t i = 0; !retain && i < tape.n; i++)
    if (tape.entry[i].node->kind != NODE_LEAF) tape.entry[i].node->spent = true;
  lua_pushvalue(L, tape.index);
  lua_rawseti(L, memory.index, 0);
  leave_chunks(L, memory.index);
  return 0;
}

/* core.grad(t): of a parameter */
static int get_grad (lua_State *L) {
  const Tensor *t = api_check_tensor(L, 1, "Tensor.grad");
  if (t->node == NULL || t->node->kind != NODE_LEAF) return lua_pushnil(L), 1;
  t->node->shown = lua_getiuservalue(L, 1, 1) != LUA_TNIL;
  return 1;
}

int api_set_grad (lua_State *L) {
  const char *who = "Tensor.grad = value";
  const Tensor *t = api_check_tensor(L, 1, who);
  if (t->node == NULL || t->node->kind != NODE_LEAF)
    api_fail(L, who, "only a parameter has a gradient");
  lua_settop(L, 3);
  if (!lua_isnil(L, 3)) {
    Tensor *grad = api_tensor(L, 3);
    if (grad == NULL) api_fail_type(L, who, "value", "nil or a tensor", 3);
    const Tensor *both[2] = {t, grad};
    if (!tensor_same_shape(t, grad))
      api_fail_shapes(L, who, "of parameter and gradient differ", 2, both);
    Tensor *own = api_new(L, who, t->rank, t->shape, NULL);
    loop_copy(own, grad);
  }
  t->node->shown = false;
  lua_setiuservalue(L, 1, 1);
  return 0;
}


static const luaL_Reg functions[] = {
  {"backward", backward},
  {"grad",     get_grad},
  {NULL, NULL}
};

void api_open_backward (lua_State *L) { luaL_setfuncs(L, functions, 0); }
