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
#define FREE_MAX 64                  /* blocks that wait to be used again */
#define NODES    64                  /* a walk over no more of them needs no tape of its own */

/* The gradient that a node had when a walk within this one began. */
typedef struct Note {
  double *gradient;
  bool empty;
} Note;

/* The nodes to walk over, in a userdata at `index` on the stack. */
typedef struct Tape {
  Node **node;
  size_t n, room;
  int index;
  Note *note;           /* one for each, if there are functions to call */
  uint64_t walk;        /* its number, */
  uint64_t last;        /* and that of the last walk which it knows to have begun */
  struct Tape *outer;   /* during whose walk this one began */
  bool in_order;        /* the nodes were met from the youngest on */
  bool calls;           /* there are functions to call, which may change anything */
  bool called;          /* one has run */
  bool noted;           /* an inner walk, which may meet the same nodes, has begun */
} Tape;

/* What a small walk needs, kept for the next one. */
typedef struct Desk {
  Node *node[NODES];
  double chunk[CHUNK + 8];
} Desk;

/* Memory for gradients: the desk's chunk, then chunks that are userdata in the table at
   `index`. What is done with is used again within a walk, chunks are by the next walk. */
typedef struct Memory {
  int index, chunks;
  double *at;               /* in the last chunk */
  size_t left;
  double *free[FREE_MAX];
  size_t free_size[FREE_MAX];
  int frees;
} Memory;

/* Upvalues of backward: the state, tensors by their addresses, the desk. */
enum { STATE = 1, HANDLES, DESK };

/* Stack of backward: its arguments, the desk, a larger tape, the table of chunks, notes. */
enum { RESULT = 1, OPTIONS, OWN_DESK, TAPE, CHUNKS, NOTES };

/* Puts the table of chunks that the last large walk left on the stack, or a new one, and
   takes it away from the state: a walk within this one must not find it. */
static void fetch_chunks (lua_State *L, const Memory *memory) {
  if (lua_istable(L, memory->index)) return;
  if (lua_getiuservalue(L, lua_upvalueindex(STATE), 1) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
  }
  lua_pushnil(L);
  lua_setmetatable(L, -2);
  lua_replace(L, memory->index);
  lua_pushnil(L);
  lua_setiuservalue(L, lua_upvalueindex(STATE), 1);
}

/* Leaves the chunks, if there are any, for the next walk, unless the collector wants them. */
static void leave_chunks (lua_State *L, const Memory *memory, const Tape *tape) {
  if (!lua_istable(L, memory->index)) return;
  lua_pushvalue(L, tape->index);
  lua_rawseti(L, memory->index, 0);
  lua_pushvalue(L, memory->index);
  lua_getmetatable(L, lua_upvalueindex(HANDLES));    /* weak values */
  lua_setmetatable(L, -2);
  lua_setiuservalue(L, lua_upvalueindex(STATE), 1);
}

/* Room for more nodes: that of the last large walk, if it is enough. */
COLD static void widen_tape (lua_State *L, Tape *tape, const Memory *memory) {
  size_t room = 2 * tape->room;
  fetch_chunks(L, memory);
  lua_rawgeti(L, memory->index, 0);
  if (lua_rawequal(L, -1, tape->index) || lua_rawlen(L, -1) < room * sizeof(Node *)) {
    lua_pop(L, 1);
    lua_newuserdatauv(L, room * sizeof(Node *), 0);
  }
  Node **wider = lua_touserdata(L, -1);
  memcpy(wider, tape->node, tape->n * sizeof *wider);
  tape->node = wider;
  tape->room = lua_rawlen(L, -1) / sizeof *wider;
  lua_replace(L, tape->index);
}

static void push_node (lua_State *L, Tape *tape, const Memory *memory, Node *node) {
  if (tape->n == tape->room) widen_tape(L, tape, memory);
  if (tape->n > 0 && tape->node[tape->n - 1]->order < node->order)
    tape->in_order = false;
  if (node->kind == NODE_CALL) tape->calls = true;
  node->walk = tape->walk;
  node->gradient = NULL;
  tape->node[tape->n++] = node;
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
static void collect (lua_State *L, Tape *tape, const Memory *memory) {
  for (size_t done = 0; done < tape->n; done++) {
    Node *node = tape->node[done];
    check_unspent(L, node);
    check_operands(L, node);
    for (int k = 0; k < node->n; k++) {
      Node *below = node->in[k].tracked ? node_below(node, k) : NULL;
      if (below != NULL && below->walk != tape->walk) push_node(L, tape, memory, below);
    }
  }
}

/* Insertion sort of every `gap`-th node, youngest first. */
static void sort_apart (Node **node, size_t n, size_t gap) {
  for (size_t i = gap; i < n; i++) {
    Node *moved = node[i];
    size_t at = i;
    for (; at >= gap && node[at - gap]->order < moved->order; at -= gap)
      node[at] = node[at - gap];
    node[at] = moved;
  }
}

/* Shell's sort: few nodes are far from their place. */
static void sort_by_age (Node **node, size_t n) {
  for (size_t gap = n / 16; gap > 1; gap = gap * 4 / 9) sort_apart(node, n, gap);
  sort_apart(node, n, 1);
}

static void make_notes (lua_State *L, Tape *tape) {
  tape->note = lua_newuserdatauv(L, tape->n * sizeof(Note), 0);
  lua_replace(L, NOTES);
}

/* A walk within others, which may meet their nodes: notes the gradients of those. */
static void note_gradients (Tape *tape) {
  for (; tape != NULL && !tape->noted; tape = tape->outer) {
    for (size_t i = 0; i < tape->n; i++)
      tape->note[i] = (Note) {tape->node[i]->gradient, tape->node[i]->empty};
    tape->noted = true;
  }
}

static void restore_gradients (Tape *tape) {
  for (size_t i = 0; tape->noted && i < tape->n; i++) {
    tape->node[i]->walk = tape->walk;
    tape->node[i]->gradient = tape->note[i].gradient;
    tape->node[i]->empty = tape->note[i].empty;
  }
  tape->noted = false;
}


static void start_memory (Memory *memory, Desk *desk) {
  memory->index = CHUNKS;
  memory->chunks = memory->frees = 0;
  memory->at = tensor_aligned(desk->chunk);
  memory->left = CHUNK;
}

static size_t padded (size_t size) { return (size + 7) & ~(size_t)7; }

/* The next chunk, if it is large enough, or a new one in its place. */
COLD static void next_chunk (lua_State *L, Memory *memory, size_t size) {
  size_t room = CHUNK << (memory->chunks < DOUBLED ? memory->chunks : DOUBLED);
  if (room < size) room = size;
  fetch_chunks(L, memory);
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
static void push_handle (lua_State *L, const Tensor *t) {
  lua_rawgetp(L, lua_upvalueindex(HANDLES), t);
}

/* The memory of a parameter's grad. (A finalizer may have been first.) */
static void ensure_grad (lua_State *L, Node *node) {
  const Tensor *parameter = node->result;
  if (node->grad != NULL) return;
  push_handle(L, parameter);
  Tensor *grad = api_new(L, "backward", parameter->rank, parameter->shape, NULL);
  if (node->grad == NULL) {
    node->grad = grad;
    lua_setiuservalue(L, -2, 1);
  } else lua_pop(L, 1);
  lua_pop(L, 1);
}

/* The gradient of a parameter that has none yet is written where it will stay, unless a
   function might see it there. */
static void ensure_gradient (lua_State *L, const Tape *tape, Memory *memory, Node *node) {
  if (node->gradient != NULL) return;
  bool stays = node->kind == NODE_LEAF && !node->has_grad && !tape->calls;
  if (stays) ensure_grad(L, node);
  node->gradient = stays ? node->grad->data : take(L, memory, node->result->size);
  node->empty = true;
}

/* Where nothing came from above there are zeros. */
static void fill_gradient (Node *node) {
  if (node->empty) memset(node->gradient, 0, node->result->size * sizeof(double));
  node->empty = false;
}


/* Memory may have been collected, and a finalizer may have walked over the same nodes, or
   have set a grad that is being written. */
static void check_undisturbed (lua_State *L, const State *state, Tape *tape) {
  if (state->walk == tape->last) return;
  for (size_t i = 0; i < tape->n; i++)
    if (tape->node[i]->walk != tape->walk)
      api_fail(L, "backward", "a finalizer changed gradients of the same tensors meanwhile");
  tape->last = state->walk;
}

/* Pushes the gradient of a node as a tensor of its own. */
static void push_gradient (lua_State *L, const State *state, Tape *tape, const Node *node) {
  const Tensor *t = node->result;
  Tensor *gradient = api_new(L, "backward", t->rank, t->shape, t->stride);
  check_undisturbed(L, state, tape);
  memcpy(gradient->data, node->gradient, t->size * sizeof(double));
}

/* Adds result k of a recorded function's backward, at `index`, to its input. */
static void add_returned (lua_State *L, const State *state, Tape *tape, const Node *node,
                          int k, int index) {
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
  check_undisturbed(L, state, tape);
  adjoint_add(t, from);
}

/* Calls what backward() was given for a node, within the walk over `tape`. */
COLD static void step_call (lua_State *L, const Node *node, State *state, Tape *tape) {
  int base = lua_gettop(L);
  luaL_checkstack(L, node->n + 8, "backward");
  push_handle(L, node->result);
  lua_getiuservalue(L, -1, node->n + 1);
  push_gradient(L, state, tape, node);
  state->tape = tape;
  int status = lua_pcall(L, 1, node->n, 0);
  state->tape = tape->outer;
  if (status != LUA_OK) lua_error(L);
  tape->called = true;
  tape->last = state->walk;
  restore_gradients(tape);
  for (int k = 0; k < node->n; k++) add_returned(L, state, tape, node, k, base + 2 + k);
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

static void step_node (lua_State *L, const State *state, Tape *tape, Node *node,
                       Memory *memory) {
  Pool *pool = node->block ? NULL : api_pool(L, step_size(node));
  size_t need = adjoint_scratch(node, pool);
  double *scratch = need > 0 ? take(L, memory, need) : NULL;
  check_undisturbed(L, state, tape);
  adjoint_step(node, state->sum, state->valued > 0, pool, scratch);
  if (scratch != NULL) give_back(memory, scratch, need);
}

static void walk (lua_State *L, State *state, Tape *tape, Memory *memory) {
  for (size_t i = 0; i < tape->n; i++) {
    Node *node = tape->node[i];
    if (node->kind == NODE_LEAF || node->gradient == NULL) continue;
    if (tape->called) check_operands(L, node);
    for (int k = 0; k < node->n; k++)
      if (node->in[k].tracked) ensure_gradient(L, tape, memory, node_below(node, k));
    check_undisturbed(L, state, tape);
    fill_gradient(node);
    if (node->kind == NODE_CALL) step_call(L, node, state, tape);
    else step_node(L, state, tape, node, memory);
    give_back(memory, node->gradient, node->result->size);
  }
}


/* Whatever may fail before a parameter gets its grad. */
static void prepare (lua_State *L, Node *node) {
  ensure_grad(L, node);
  if (node->has_grad && node->shown) api_before_write(L, node->grad);
}

/* Adds the gradient of a parameter to its grad. */
static void deliver_one (Node *node) {
  fill_gradient(node);
  double *to = node->grad->data;
  size_t size = node->grad->size;
  if (node->has_grad)
    for (size_t j = 0; j < size; j++) to[j] += node->gradient[j];
  else if (to != node->gradient) memcpy(to, node->gradient, size * sizeof *to);
  node->has_grad = true;
  node->grad->writes++;
}

static bool is_to_deliver (const Node *node) {
  return node->kind == NODE_LEAF && node->gradient != NULL;
}

/* What arrived at parameters becomes their grads, all of them or none. */
static void deliver (lua_State *L, const State *state, Tape *tape) {
  for (size_t i = 0; i < tape->n; i++)
    if (is_to_deliver(tape->node[i])) prepare(L, tape->node[i]);
  check_undisturbed(L, state, tape);
  for (size_t i = 0; i < tape->n; i++)
    if (is_to_deliver(tape->node[i])) deliver_one(tape->node[i]);
}

/* Takes the desk, or a new one: a walk within this one must not find it. */
static Desk *take_desk (lua_State *L) {
  Desk *desk = lua_touserdata(L, lua_upvalueindex(DESK));
  if (desk == NULL) desk = lua_newuserdatauv(L, sizeof *desk, 0);
  else lua_pushvalue(L, lua_upvalueindex(DESK));
  lua_replace(L, OWN_DESK);
  lua_pushnil(L);
  lua_replace(L, lua_upvalueindex(DESK));
  return desk;
}

static void leave_desk (lua_State *L) {
  lua_pushvalue(L, OWN_DESK);
  lua_replace(L, lua_upvalueindex(DESK));
}

static int option (lua_State *L, int index, const char *name) {
  if (!lua_istable(L, index)) return 0;
  lua_getfield(L, index, name);
  int set = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return set;
}

/* The tensor to differentiate. */
static Tensor *check_result (lua_State *L, const char *who) {
  Tensor *t = api_header(L, RESULT);   /* its value is of no importance */
  if (t == NULL) api_fail_type(L, who, "self", "a tensor", RESULT);
  if (!lua_isnil(L, OPTIONS) && !lua_istable(L, OPTIONS))
    api_fail_type(L, who, "options", "a table", OPTIONS);
  if (t->size != 1) {
    api_push_shape(L, t->rank, t->shape);
    api_fail(L, who, "only a single number can be differentiated, this has shape %s; sum it"
             " first", lua_tostring(L, -1));
  }
  if (!is_tracked(t))
    api_fail(L, who, "this does not depend on any parameter (see peri.param)");
  return t;
}

/* t:backward{retain =}: adds dt/dw to w.grad for every parameter w below t */
static int backward (lua_State *L) {
  State *state = lua_touserdata(L, lua_upvalueindex(STATE));
  lua_settop(L, NOTES);
  const Tensor *t = check_result(L, "Tensor:backward");
  int retain = option(L, OPTIONS, "retain");
  if (state->sum == NULL) state->sum = api_kernel(L, "reduce", "sum");
  Desk *desk = take_desk(L);
  uint64_t number = ++state->walk;
  Tape tape = {.node = desk->node, .room = NODES, .index = TAPE, .walk = number,
               .last = number, .outer = state->tape, .in_order = true};
  Memory memory;
  start_memory(&memory, desk);
  Node *top = t->owner->node;
  note_gradients(tape.outer);
  push_node(L, &tape, &memory, top);
  collect(L, &tape, &memory);
  if (!tape.in_order) sort_by_age(tape.node, tape.n);
  if (tape.calls) make_notes(L, &tape);
  ensure_gradient(L, &tape, &memory, top);
  fill_gradient(top);
  top->gradient[t == t->owner ? 0 : t->data - t->owner->data] = 1;
  walk(L, state, &tape, &memory);
  deliver(L, state, &tape);
  for (size_t i = 0; !retain && i < tape.n; i++)
    if (tape.node[i]->kind != NODE_LEAF) tape.node[i]->spent = true;
  if (state->valued > 0) state->valued--;
  leave_chunks(L, &memory, &tape);
  leave_desk(L);
  return 0;
}

/* core.grad(t): of a parameter */
static int get_grad (lua_State *L) {
  const Tensor *t = api_check_tensor(L, 1, "Tensor.grad");
  if (t->node == NULL || t->node->kind != NODE_LEAF || !t->node->has_grad)
    return lua_pushnil(L), 1;
  t->node->shown = true;
  lua_getiuservalue(L, 1, 1);
  return 1;
}

/* The memory of a grad that nobody has in hand stays for the next one. */
void api_forget_grad (lua_State *L, int index, Node *node) {
  if (node->shown) {
    index = lua_absindex(L, index);
    lua_pushnil(L);
    lua_setiuservalue(L, index, 1);
    node->grad = NULL;
  }
  node->has_grad = node->shown = false;
}

/* Memory that nobody has in hand may be where a walk is writing: it is not let go, and the
   walk will notice. */
static Tensor *memory_for_grad (lua_State *L, const char *who, const Tensor *t) {
  Node *node = t->node;
  if (node->shown || node->grad == NULL) {
    Tensor *fresh = api_new(L, who, t->rank, t->shape, NULL);
    if (node->shown || node->grad == NULL) {
      lua_setiuservalue(L, 1, 1);
      node->grad = fresh;
    }
  }
  node->walk = 0;
  api_state(L)->walk++;
  return node->grad;
}

int api_set_grad (lua_State *L) {
  const char *who = "Tensor.grad = value";
  const Tensor *t = api_check_tensor(L, 1, who);
  if (t->node == NULL || t->node->kind != NODE_LEAF)
    api_fail(L, who, "only a parameter has a gradient");
  if (lua_isnoneornil(L, 3)) return api_forget_grad(L, 1, t->node), 0;
  const Tensor *grad = api_tensor(L, 3);
  if (grad == NULL) api_fail_type(L, who, "value", "nil or a tensor", 3);
  const Tensor *both[2] = {t, grad};
  if (!tensor_same_shape(t, grad))
    api_fail_shapes(L, who, "of parameter and gradient differ", 2, both);
  loop_copy(memory_for_grad(L, who, t), grad);
  t->node->has_grad = true;
  t->node->shown = false;
  return 0;
}


void api_open_backward (lua_State *L) {
  api_push_state(L);
  api_push_handles(L);
  lua_pushnil(L);                     /* no desk yet */
  lua_pushcclosure(L, backward, 3);
  lua_setfield(L, -2, "backward");
  lua_pushcfunction(L, get_grad);
  lua_setfield(L, -2, "grad");
}
