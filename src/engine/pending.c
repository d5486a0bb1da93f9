/*
** pending.c - elementwise results that wait until they are read
**
** A tensor that waits has no data, but a node that says how to compute it: kernel and operands.
** Its user values are its operands, and later the tensor that holds its elements.
**
** While core.fused(fn, ...) runs fn, large elementwise results wait. What is read, and what fn
** returns, is then computed in one pass over memory (driver/program.c).
**
** Large recorded results wait as well, and so do their sums and means, and what is added to
** those: often only the sum is read, which is computed without storing them, or only the
** gradient. A backward pass also computes such sums, if sums of earlier passes were read. Their
** nodes have room for a single number.
**
** Whatever allocates may run finalizers, and these may compute what is being computed here, or
** write to an operand. So memory is allocated first, and then what is left to do is looked up.
** What happens before an operand is written to is in writes.c.
*/
#include <string.h>

#include "autograd/forward.h"
#include "driver/elementwise.h"
#include "driver/program.h"
#include "driver/sizes.h"
#include "engine/pass.h"


static const char WAITING = 'w';   /* registry key: the tensors that may wait */

static int waits (const Tensor *t) { return t->data == NULL; }

void pending_push_table (lua_State *L) { lua_rawgetp(L, LUA_REGISTRYINDEX, &WAITING); }

static int is_recorded (const Tensor *t) { return t->node != NULL; }


/*
** Waiting
*/
static int depth_of (const Recording *r) {
  int depth = 0;
  for (int k = 0; k < r->n; k++)
    if (waits(r->in[k]) && record_node(r->in[k])->depth > depth)
      depth = record_node(r->in[k])->depth;
  return depth;
}

static void remember (lua_State *L, State *state) {
  state->waiting++;
  pending_push_table(L);
  lua_pushvalue(L, -2);
  lua_pushboolean(L, 1);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

/* Are they all tensors or numbers? Those that are recorded wait no longer. */
static int force_recorded_operands (lua_State *L, const Recording *r) {
  for (int k = 0; k < r->n; k++) {
    if (r->in[k] == NULL) return 0;
    if (waits(r->in[k]) && is_recorded(r->in[k])) engine_force(L, r->base + k);
  }
  return 1;
}

int engine_defer (lua_State *L, const Recording *r) {
  ptrdiff_t shape[TENSOR_MAX_RANK];
  size_t size;
  int rank;
  if (r->state->writing || r->kernel->slow || !force_recorded_operands(L, r)
      || engine_is_tracked(r->state, r->n, r->in)
      || loop_broadcast(r->n, r->in, &rank, shape, &size) != NULL || size < DEFER_MIN_ELEMENTS
      || depth_of(r) >= DEFER_MAX_DEPTH) return 0;
  Tensor *t = record_new_waiting(L, r, rank, shape, NULL);
  t->node->depth = (uint8_t)(1 + depth_of(r));
  t->node = NULL;                /* it has no gradient: see record_node */
  remember(L, r->state);
  return 1;
}


static int is_worth_waiting (const Recording *r, size_t size) {
  return size >= DEFER_RECORDED_MIN_ELEMENTS && !r->state->writing
      && engine_is_tracked(r->state, r->n, r->in);
}

int engine_defer_recorded (lua_State *L, const Recording *r) {
  const Loop *loop = r->loop;
  if (!is_worth_waiting(r, loop->size)) return 0;
  record_new_waiting(L, r, loop->out_rank, loop->out_shape, loop->out_stride);
  remember(L, r->state);
  return 1;
}

int engine_defer_sum (lua_State *L, const Recording *r, size_t size) {
  if (!is_worth_waiting(r, size)) return 0;
  record_new_waiting(L, r, 0, NULL, NULL);
  remember(L, r->state);
  return 1;
}

/* How deep an operand waits, 0 for a number; -1 if it is not one number, or not recorded. */
static int depth_of_single (const Tensor *t) {
  if (t == NULL || t->rank > 0) return -1;
  if (!waits(t)) return 0;
  return is_recorded(t) ? 1 + t->node->depth : -1;
}

/* May operand k be uncomputed? Only if no partial reads it. */
static int may_wait (const Kernel *kernel, int k, int depth) {
  return depth == 0 || kernel_partials_read(kernel) == READ_NONE || k == 0;
}

/* Can its elements be written to? Those of recorded results cannot. */
static int is_open (const Tensor *t) {
  return !tensor_is_number(t) && (!is_tracked(t) || t->owner->node->kind == NODE_LEAF);
}

int engine_defer_linear (lua_State *L, const Recording *r) {
  int deepest = 0, open = 0;
  if (r->state->writing) return 0;
  for (int k = 0; k < r->n; k++) {
    int depth = depth_of_single(r->in[k]);
    if (depth < 0 || !may_wait(r->kernel, k, depth)) return 0;
    if (kernel_partials_read(r->kernel) == READ_OTHERS && k > 0 && !tensor_is_number(r->in[k]))
      return 0;
    if (depth > deepest) deepest = depth;
    if (is_open(r->in[k])) open = 1;
  }
  if (deepest == 0 || deepest > DEFER_MAX_DEPTH || !engine_is_tracked(r->state, r->n, r->in))
    return 0;
  record_new_waiting(L, r, 0, NULL, NULL)->node->depth = (uint8_t)deepest;
  if (open) remember(L, r->state);
  return 1;
}


/*
** Computing
*/

/* Computes those operands of the recorded tensor at `index` that wait: sums, and what was
   made of them. */
static void force_operands (lua_State *L, int index, const Node *node) {
  for (int k = 0; node->depth > 0 && k < node->n; k++) {
    if (node->in[k].is_number) continue;
    lua_getiuservalue(L, index, k + 1);
    engine_force(L, -1);
    lua_pop(L, 1);
  }
}

/* Pushes the operands of the recorded tensor at `index`: it may get others (keep_operands)
   while these are read. */
static void push_operands (lua_State *L, int index, const Node *node) {
  luaL_checkstack(L, node->n + 8, "tensor");
  for (int k = 0; k < node->n; k++) lua_getiuservalue(L, index, k + 1);
}

/* The sum or mean of what the node's kernel gives. */
static double sum_of_values (lua_State *L, const Node *node, const Tensor *const in[],
                             Loop *loop) {
  State *state = host_state(L);
  if (state->sum == NULL) state->sum = host_kernel(L, "reduce", "sum");
  if (node->pass > 0) state->with_sums = SUM_PASSES;
  Pool *pool = host_pool(L, loop->size);
  double sum = forward_sum(node, state->sum, in, loop, pool);
  host_check_stopped(L, pool);
  return sum;
}

static bool has_inputs (const Node *node, const Tensor *const in[]) {
  for (int k = 0; k < node->n; k++)
    if (!node->in[k].is_number && node->in[k].tensor != in[k]) return false;
  return true;
}

/* Finds how to compute the recorded tensor t, and pushes memory for its elements, along that
   loop; a single number has room of its own. A finalizer may have made copies of operands. */
static Tensor *plan_recorded (lua_State *L, const Tensor *t, Tensor header[],
                              const Tensor *in[], Loop *loop) {
  for (;;) {
    node_inputs(t->node, header, in);
    loop_plan(loop, t->node->n, in);
    if (t->size == 1) return NULL;
    Tensor *elements = host_new(L, "tensor", t->rank, t->shape, loop->out_stride);
    if (has_inputs(t->node, in)) return elements;
  }
}

/* The values of t, or its single one, in `data`. */
static void compute_recorded (lua_State *L, const Tensor *t, const Tensor *const in[],
                              Loop *loop, double *data) {
  const Kernel *kernel = t->node->kernel;
  if (t->node->kind != NODE_ELEMENTWISE) {
    data[0] = sum_of_values(L, t->node, in, loop);
    return;
  }
  Pool *pool = host_pool(L, elementwise_work(kernel, t->size));
  elementwise_value(pool, kernel, loop, data);
  host_check_stopped(L, pool);
}

/* Computes the recorded tensor t at `index`, unless a hook does so meanwhile; again, if one
   wrote to an operand, of which t got a copy. */
static void force_recorded (lua_State *L, int index, Tensor *t) {
  Tensor header[KERNEL_MAX_IN];
  const Tensor *in[KERNEL_MAX_IN];
  Loop loop;
  force_operands(L, index, t->node);
  int base = lua_gettop(L);
  do {
    lua_settop(L, base);
    Tensor *elements = plan_recorded(L, t, header, in, &loop);
    if (!waits(t)) return;
    int at = lua_gettop(L);
    push_operands(L, index, t->node);
    double *data = elements == NULL ? node_room(t->node) : elements->data;
    compute_recorded(L, t, in, &loop, data);
    if (!waits(t)) return;
    if (!has_inputs(t->node, in)) continue;
    t->data = data;
    if (elements == NULL) return;
    memcpy(t->stride, elements->stride, (size_t)t->rank * sizeof *t->stride);
    lua_pushvalue(L, at);
    lua_setiuservalue(L, index, t->node->n + 1);
  } while (waits(t));
}

typedef struct Plan {
  Program program;
  const Tensor *target;
  const Tensor *made[PROGRAM_MAX_STEPS];   /* what each step computes */
  Tensor header[LOOP_MAX_IN];              /* leaves that are numbers */
  int open;        /* steps whose operands are being looked at */
  int reserved;    /* operands of those that are still to come */
  bool outdated;   /* something was computed meanwhile: nothing in it may be used */
} Plan;

static Source leaf (Plan *plan, const Tensor *t) {
  Program *program = &plan->program;
  int k = 0;
  while (k < program->leaves && program->leaf[k] != t) k++;
  if (k == program->leaves) program->leaf[program->leaves++] = t;
  return (Source) {.is_step = false, .index = k};
}

static Source number_leaf (Plan *plan, double *number) {
  Tensor *header = &plan->header[plan->program.leaves];
  return leaf(plan, tensor_scalar(header, number));
}

/* Is there room for one more step, should all its operands be leaves? */
static int has_room (const Plan *plan, const Tensor *t) {
  const Program *program = &plan->program;
  int operands = record_node(t)->n;
  return program->steps + plan->open < PROGRAM_MAX_STEPS
      && program->leaves + plan->reserved + operands <= LOOP_MAX_IN;
}

static Source add_step (lua_State *L, Plan *plan, int index);

/* Operand k of the tensor at `index`, as a source. It stays on the stack: the tensor may lose it
   while the program runs. */
static Source operand (lua_State *L, Plan *plan, int index, Input *input, int k) {
  if (plan->outdated) return (Source) {.index = 0};
  if (input->is_number) return number_leaf(plan, &input->number);
  const Tensor *t = input->tensor;
  for (int s = 0; s < plan->program.steps; s++)
    if (plan->made[s] == t) return (Source) {.is_step = true, .index = s};
  luaL_checkstack(L, 8, "tensor");
  lua_getiuservalue(L, index, k + 1);
  if (!waits(t)) return leaf(plan, t);
  Source from = {.index = 0};
  if (tensor_same_shape(t, plan->target) && has_room(plan, t))
    from = add_step(L, plan, lua_gettop(L));
  else {
    engine_force(L, lua_gettop(L));
    plan->outdated = true;
  }
  return from;
}

/* Adds what computes the tensor at `index`, its operands first. */
static Source add_step (lua_State *L, Plan *plan, int index) {
  const Tensor *t = lua_touserdata(L, index);
  Node *node = record_node(t);
  ProgramStep step = {.kernel = node->kernel};
  plan->open++;
  plan->reserved += node->n;
  for (int k = 0; k < node->n; k++) {
    step.in[k] = operand(L, plan, index, &node->in[k], k);
    plan->reserved--;
  }
  plan->open--;
  int s = plan->program.steps++;
  plan->program.step[s] = step;
  plan->made[s] = t;
  return (Source) {.is_step = true, .index = s};
}

/* Plans how to compute the tensor t at `index`; false if something else had to be computed
   first, and this is to be called again. */
static bool make_plan (lua_State *L, Plan *plan, int index, const Tensor *t) {
  plan->target = t;               /* large: only what counts is set to 0 */
  plan->program.leaves = plan->program.steps = plan->open = plan->reserved = 0;
  plan->outdated = false;
  add_step(L, plan, index);
  return !plan->outdated;
}

/* The elements on top are those of the tensor t at `index`, which forgets its operands. */
static void adopt_elements (lua_State *L, int index, Tensor *t, Tensor *elements) {
  int operands = record_node(t)->n;
  t->data = elements->data;
  t->version = elements->version;   /* views keep those alive, not t */
  elements->awaited = t->awaited;
  t->is_view = true;
  lua_setiuservalue(L, index, 1);
  for (int k = 2; k <= operands; k++) {
    lua_pushnil(L);
    lua_setiuservalue(L, index, k);
  }
}

/* Computes the tensor t at `index`, of a formula, with all that waits and goes into it; unless
   a hook does so meanwhile. */
static void force_program (lua_State *L, int index, Tensor *t) {
  Plan plan;
  Loop loop;
  Tensor *elements = host_new(L, "tensor", t->rank, t->shape, NULL);
  int at = lua_gettop(L);
  while (waits(t) && !make_plan(L, &plan, index, t)) lua_settop(L, at);
  if (!waits(t)) return;
  loop_plan_shaped(&loop, t->rank, t->shape, plan.program.leaves, plan.program.leaf);
  Pool *pool = host_pool(L, t->size);
  program_run(pool, &plan.program, &loop, elements->data);
  host_check_stopped(L, pool);
  lua_settop(L, at);
  if (waits(t)) adopt_elements(L, index, t, elements);
}

void engine_force (lua_State *L, int index) {
  Tensor *t = lua_touserdata(L, index);
  int top = lua_gettop(L);
  if (!waits(t)) return;
  luaL_checkstack(L, 8, "tensor");
  index = lua_absindex(L, index);
  if (is_recorded(t)) force_recorded(L, index, t);
  else force_program(L, index, t);
  lua_settop(L, top);
}


void engine_open_pending (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &WAITING) == LUA_TNIL) {
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &WAITING);
  }
  lua_pop(L, 1);
}
