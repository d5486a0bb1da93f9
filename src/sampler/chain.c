/*
** chain.c - the No-U-Turn sampler: trajectories, and what becomes of them
**
** A trajectory doubles, forwards or backwards in time, until it turns: its states form a binary
** tree. A subtree of 2^d states is built state by state; two neighbouring subtrees of the same
** size are merged when the second is complete, as a binary counter carries. So there are at most
** d + 1 subtrees at a time, each a Frame: its first and last momentum, the sum of all, a state
** drawn from it, and the logarithm of its weight.
*/
#include <math.h>
#include <string.h>

#include "linalg/triangle.h"
#include "sampler/adapt.h"
#include "sampler/chain.h"
#include "special/vmath.h"

#define DIVERGENT 1000.0   /* an error of the energy that is no rounding of the path */

/* Of a subtree; its vectors are at memory + vectors. */
typedef struct Frame {
  double log_weight, log_density, energy;
} Frame;

/* Vectors of a frame: momenta at both ends, W times these, their sum, a state and its gradient. */
enum { P_BEGIN, P_END, V_BEGIN, V_END, RHO, Q, GRADIENT, FRAME_VECTORS };

/* Vectors of a chain, before those of frames. An end of the trajectory has four: q, p, W p and
   the gradient. */
enum {
  POSITION, POSITION_GRADIENT,              /* where the iteration began, or ended */
  LEFT, RIGHT = LEFT + 4,                   /* each: q, p, W p, gradient */
  NEAR_P = RIGHT + 4, NEAR_V,               /* of the end from which the trajectory grows */
  SUM, PROPOSAL, PROPOSAL_GRADIENT,         /* of the whole trajectory */
  SCRATCH, SCRATCH_SUM,
  METRIC_VECTORS                            /* the metric begins here */
};
enum { END_Q, END_P, END_V, END_GRADIENT };

struct Chain {
  ChainOptions options;
  Philox rng;
  ChainPhase phase;
  uint64_t iteration;
  double step;
  double log_density, energy, start_energy;

  /* the trajectory */
  Frame tree, frame[CHAIN_MAX_DEPTH + 1];
  int height, depth, direction;     /* frames; doublings so far; of the subtree that grows */
  uint64_t leaves;                  /* of that subtree */
  double accepted;
  uint64_t leapfrogs;
  bool divergent;

  Adaptation adaptation;
  double search_direction;          /* of the search for a first step: 1, -1, or 0 at its begin */

  int uniforms;                     /* that are left */
  double uniform[CHAIN_UNIFORMS];
  ChainStats stats;
  double memory[];
};


/* {=====================================================
** Memory
** ====================================================== */

static size_t metric_doubles (const ChainOptions *o) {
  return adapt_doubles(o->size, o->dense);
}

size_t chain_bytes (const ChainOptions *o) {
  size_t vectors = METRIC_VECTORS + FRAME_VECTORS * ((size_t)o->max_depth + 1);
  return sizeof(Chain) + (vectors * o->size + metric_doubles(o)) * sizeof(double);
}

static double *vector (Chain *c, size_t i) { return c->memory + i * c->options.size; }

static double *frame_vector (Chain *c, int frame, int i) {
  double *frames = vector(c, METRIC_VECTORS) + metric_doubles(&c->options);
  return frames + ((size_t)frame * FRAME_VECTORS + (size_t)i) * c->options.size;
}

static double *metric (Chain *c) { return vector(c, METRIC_VECTORS); }

static void copy (Chain *c, double *to, const double *from) {
  memcpy(to, from, c->options.size * sizeof *to);
}

/* }====================================================== */


/* {=====================================================
** Noise
** ====================================================== */

static double uniform (Chain *c, const Target *target) {
  if (c->uniforms == 0) {
    uint64_t first = philox_claim(&c->rng, CHAIN_UNIFORMS);
    target->uniform->draw(&c->rng, first, CHAIN_UNIFORMS, NULL, c->uniform);
    c->uniforms = CHAIN_UNIFORMS;
  }
  return c->uniform[--c->uniforms];
}

static void normals (Chain *c, const Target *target, double *out) {
  uint64_t first = philox_claim(&c->rng, c->options.size);
  for (size_t i = 0; i < c->options.size; i += KERNEL_DRAW_MAX) {
    size_t n = c->options.size - i < KERNEL_DRAW_MAX ? c->options.size - i : KERNEL_DRAW_MAX;
    target->normal->draw(&c->rng, first + i, n, NULL, out + i);
  }
}

/* }====================================================== */


/* {=====================================================
** Mechanics
** ====================================================== */

static double dot (size_t n, const double *a, const double *b) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* v = w p: w is symmetric, so rows are columns; four at a time, since loops over few elements cost
   more than what they do. */
static void multiply (size_t n, const double *w, const double *p, double *v) {
  size_t j = 0;
  for (size_t i = 0; i < n; i++) v[i] = 0;
  for (; j + 4 <= n; j += 4) {
    const double *w0 = w + j * n, *w1 = w0 + n, *w2 = w1 + n, *w3 = w2 + n;
    double p0 = p[j], p1 = p[j + 1], p2 = p[j + 2], p3 = p[j + 3];
    for (size_t i = 0; i < n; i++)
      v[i] += (w0[i] * p0 + w1[i] * p1) + (w2[i] * p2 + w3[i] * p3);
  }
  for (; j < n; j++)
    for (size_t i = 0; i < n; i++) v[i] += w[j * n + i] * p[j];
}

/* v = W p */
static void velocity (Chain *c, const double *p, double *v) {
  const double *w = metric(c);
  if (c->options.dense) multiply(c->options.size, w, p, v);
  else for (size_t i = 0; i < c->options.size; i++) v[i] = w[i] * p[i];
}

/* p ~ N(0, W^-1) */
static void draw_momentum (Chain *c, const Target *target, double *p) {
  size_t n = c->options.size;
  normals(c, target, p);
  if (c->options.dense) triangle_solve_transposed(n, adapt_factor(metric(c), n), p);
  else for (size_t i = 0; i < n; i++) p[i] /= sqrt(metric(c)[i]);
}

/* One step of the leapfrog method from the end with its first vector at `end`. Returns the
   energy, infinite where it is not a number; the log density goes to *log_density. */
static double leapfrog (Chain *c, const Target *target, int end, double step, double *log_density) {
  size_t n = c->options.size;
  double *q = vector(c, (size_t)end + END_Q), *p = vector(c, (size_t)end + END_P);
  double *v = vector(c, (size_t)end + END_V), *g = vector(c, (size_t)end + END_GRADIENT);
  for (size_t i = 0; i < n; i++) p[i] += 0.5 * step * g[i];
  velocity(c, p, v);
  for (size_t i = 0; i < n; i++) q[i] += step * v[i];
  *log_density = target->evaluate(target->self, q, g);
  for (size_t i = 0; i < n; i++) p[i] += 0.5 * step * g[i];
  velocity(c, p, v);
  double energy = 0.5 * dot(n, p, v) - *log_density;
  return energy == energy ? energy : INFINITY;
}

/* Does the path between two states with these velocities, whose momenta add up to rho, go on? */
static bool goes_on (size_t n, const double *v_a, const double *v_b, const double *rho) {
  return dot(n, v_a, rho) > 0 && dot(n, v_b, rho) > 0;
}

/* The same with rho + p. */
static bool goes_on_with (Chain *c, const double *v_a, const double *v_b, const double *rho,
                          const double *p) {
  size_t n = c->options.size;
  double *sum = vector(c, SCRATCH_SUM);
  for (size_t i = 0; i < n; i++) sum[i] = rho[i] + p[i];
  return goes_on(n, v_a, v_b, sum);
}

/* }====================================================== */


/* {=====================================================
** Iterations
** ====================================================== */

static void begin_subtree (Chain *c, const Target *target) {
  c->direction = uniform(c, target) < 0.5 ? -1 : 1;
  c->leaves = 0;
  c->height = 0;
  size_t end = c->direction > 0 ? RIGHT : LEFT;
  copy(c, vector(c, NEAR_P), vector(c, end + END_P));
  copy(c, vector(c, NEAR_V), vector(c, end + END_V));
}

/* A new momentum, and a trajectory of one state. */
static void begin_trajectory (Chain *c, const Target *target) {
  double *p = vector(c, RIGHT + END_P), *v = vector(c, RIGHT + END_V);
  copy(c, vector(c, RIGHT + END_Q), vector(c, POSITION));
  copy(c, vector(c, RIGHT + END_GRADIENT), vector(c, POSITION_GRADIENT));
  draw_momentum(c, target, p);
  velocity(c, p, v);
  for (int i = 0; i < 4; i++) copy(c, vector(c, LEFT + (size_t)i), vector(c, RIGHT + (size_t)i));
  copy(c, vector(c, SUM), p);
  copy(c, vector(c, PROPOSAL), vector(c, POSITION));
  copy(c, vector(c, PROPOSAL_GRADIENT), vector(c, POSITION_GRADIENT));
  c->start_energy = 0.5 * dot(c->options.size, p, v) - c->log_density;
  c->tree = (Frame) {0, c->log_density, c->start_energy};
  c->depth = 0;
  c->accepted = 0;
  c->leapfrogs = 0;
  c->divergent = false;
  begin_subtree(c, target);
}

/* A first step: doubled or halved until one leapfrog step is accepted with probability 0.8. */
static void begin_search (Chain *c) {
  c->phase = CHAIN_SEARCH;
  c->search_direction = 0;
}

static void begin_iteration (Chain *c, const Target *target) {
  c->phase = CHAIN_TREE;
  begin_trajectory(c, target);
}

static bool search_step (Chain *c, const Target *target) {
  double log_density;
  begin_trajectory(c, target);
  double energy = leapfrog(c, target, RIGHT, c->step, &log_density);
  double direction = c->start_energy - energy > -0.22314355131420976 ? 1 : -1;   /* log 0.8 */
  bool found = c->search_direction != 0 && direction != c->search_direction;
  if (!found) c->step = direction > 0 ? 2 * c->step : c->step / 2;
  c->search_direction = direction;
  if (!found && c->step > 1e-300 && c->step < 1e7) return false;
  adapt_restart_step(&c->adaptation, c->step);
  begin_iteration(c, target);
  return false;
}

/* What has been drawn, and what the next iteration begins with. True: an iteration has ended. */
static bool end_iteration (Chain *c, const Target *target) {
  const ChainOptions *o = &c->options;
  copy(c, vector(c, POSITION), vector(c, PROPOSAL));
  copy(c, vector(c, POSITION_GRADIENT), vector(c, PROPOSAL_GRADIENT));
  c->log_density = c->tree.log_density;
  double accept = c->leapfrogs > 0 ? c->accepted / (double)c->leapfrogs : 0;
  c->stats = (ChainStats) {c->log_density, c->tree.energy, accept, c->step, c->depth,
                           (double)c->leapfrogs, c->divergent};
  bool is_new = false;
  if (c->iteration < o->warmup) {
    c->step = adapt_step(&c->adaptation, accept);
    is_new = adapt_metric(&c->adaptation, c->iteration, o->size, o->dense, vector(c, POSITION),
                          metric(c));
    if (c->iteration + 1 == o->warmup) c->step = adapt_final_step(&c->adaptation);
  }
  c->iteration++;
  if (c->iteration == o->warmup + o->draws) c->phase = CHAIN_DONE;
  else if (is_new && c->iteration < o->warmup) begin_search(c);
  else begin_iteration(c, target);
  return true;
}

/* A state on its own. */
static void push_leaf (Chain *c, size_t end, double log_density, double energy) {
  int i = c->height++;
  c->frame[i] = (Frame) {c->start_energy - energy, log_density, energy};
  copy(c, frame_vector(c, i, P_BEGIN), vector(c, end + END_P));
  copy(c, frame_vector(c, i, P_END), vector(c, end + END_P));
  copy(c, frame_vector(c, i, V_BEGIN), vector(c, end + END_V));
  copy(c, frame_vector(c, i, V_END), vector(c, end + END_V));
  copy(c, frame_vector(c, i, RHO), vector(c, end + END_P));
  copy(c, frame_vector(c, i, Q), vector(c, end + END_Q));
  copy(c, frame_vector(c, i, GRADIENT), vector(c, end + END_GRADIENT));
}

/* Takes the state of another frame, or keeps its own. */
static void merge_states (Chain *c, const Target *target, int into, int from) {
  Frame *a = &c->frame[into], *b = &c->frame[from];
  double both = vlogaddexp(a->log_weight, b->log_weight);
  if (uniform(c, target) < vexp(b->log_weight - both)) {
    copy(c, frame_vector(c, into, Q), frame_vector(c, from, Q));
    copy(c, frame_vector(c, into, GRADIENT), frame_vector(c, from, GRADIENT));
    a->log_density = b->log_density;
    a->energy = b->energy;
  }
  a->log_weight = both;
}

/* The two topmost frames become one. False if the path turns within it. */
static bool merge (Chain *c, const Target *target) {
  size_t n = c->options.size;
  int a = c->height - 2, b = c->height - 1;
  double *rho_a = frame_vector(c, a, RHO);
  const double *rho_b = frame_vector(c, b, RHO);
  bool on = goes_on_with(c, frame_vector(c, a, V_BEGIN), frame_vector(c, b, V_BEGIN), rho_a,
                         frame_vector(c, b, P_BEGIN))
         && goes_on_with(c, frame_vector(c, a, V_END), frame_vector(c, b, V_END), rho_b,
                         frame_vector(c, a, P_END));
  merge_states(c, target, a, b);
  for (size_t i = 0; i < n; i++) rho_a[i] += rho_b[i];
  copy(c, frame_vector(c, a, P_END), frame_vector(c, b, P_END));
  copy(c, frame_vector(c, a, V_END), frame_vector(c, b, V_END));
  c->height--;
  return on && goes_on(n, frame_vector(c, a, V_BEGIN), frame_vector(c, a, V_END), rho_a);
}

/* The subtree, complete in frame 0, becomes part of the trajectory. False if that turns. */
static bool join_subtree (Chain *c, const Target *target) {
  size_t n = c->options.size;
  const Frame *new = &c->frame[0];
  double *sum = vector(c, SUM);
  const double *rho = frame_vector(c, 0, RHO);
  const double *far_v = vector(c, (c->direction > 0 ? LEFT : RIGHT) + END_V);
  if (uniform(c, target) < vexp(new->log_weight - c->tree.log_weight)) {
    copy(c, vector(c, PROPOSAL), frame_vector(c, 0, Q));
    copy(c, vector(c, PROPOSAL_GRADIENT), frame_vector(c, 0, GRADIENT));
    c->tree.log_density = new->log_density;
    c->tree.energy = new->energy;
  }
  c->tree.log_weight = vlogaddexp(c->tree.log_weight, new->log_weight);
  bool on = goes_on_with(c, far_v, frame_vector(c, 0, V_BEGIN), sum, frame_vector(c, 0, P_BEGIN))
         && goes_on_with(c, vector(c, NEAR_V), frame_vector(c, 0, V_END), rho, vector(c, NEAR_P));
  for (size_t i = 0; i < n; i++) sum[i] += rho[i];
  c->depth++;
  return on && goes_on(n, far_v, frame_vector(c, 0, V_END), sum);
}

/* One more state of the subtree that grows. True: the iteration has ended. */
static bool grow (Chain *c, const Target *target) {
  double log_density;
  size_t end = c->direction > 0 ? RIGHT : LEFT;
  double energy = leapfrog(c, target, (int)end, c->direction * c->step, &log_density);
  double change = energy - c->start_energy;
  c->leapfrogs++;
  c->accepted += change > 0 ? vexp(-change) : 1;
  c->divergent = change > DIVERGENT;
  if (c->divergent) return end_iteration(c, target);
  push_leaf(c, end, log_density, energy);
  c->leaves++;
  for (uint64_t carry = c->leaves; carry % 2 == 0; carry /= 2)
    if (!merge(c, target)) return end_iteration(c, target);
  if (c->leaves < (uint64_t)1 << c->depth) return false;
  if (!join_subtree(c, target) || c->depth == c->options.max_depth) return end_iteration(c, target);
  begin_subtree(c, target);
  return false;
}

/* One more step of a trajectory whose last state is accepted or not. It has 1 to `steps` steps, all
   equally likely: a fixed number of them might be a period of the motion. */
static bool go_along (Chain *c, const Target *target) {
  double log_density;
  if (c->leapfrogs == 0) c->leaves = 1 + (uint64_t)(uniform(c, target) * c->options.steps);
  double energy = leapfrog(c, target, RIGHT, c->step, &log_density);
  double change = energy - c->start_energy;
  c->leapfrogs++;
  c->accepted = change > 0 ? vexp(-change) : 1;
  c->divergent = change > DIVERGENT;
  if (!c->divergent && c->leapfrogs < c->leaves) return false;
  if (uniform(c, target) < c->accepted) {
    copy(c, vector(c, PROPOSAL), vector(c, RIGHT + END_Q));
    copy(c, vector(c, PROPOSAL_GRADIENT), vector(c, RIGHT + END_GRADIENT));
    c->tree.log_density = log_density;
    c->tree.energy = energy;
  }
  c->accepted *= (double)c->leapfrogs;   /* of the last step alone */
  return end_iteration(c, target);
}

/* }====================================================== */


void chain_start (Chain *c, const ChainOptions *options, const Philox *rng, const double *q,
                  const double *scale, const Target *target) {
  memset(c, 0, chain_bytes(options));
  c->options = *options;
  c->rng = *rng;
  copy(c, vector(c, POSITION), q);
  c->log_density = target->evaluate(target->self, q, vector(c, POSITION_GRADIENT));
  c->step = options->step;
  adapt_start(&c->adaptation, options->warmup, options->accept, options->size, options->dense,
              scale, metric(c));
  adapt_restart_step(&c->adaptation, c->step);
  if (options->warmup > 0) begin_search(c);
  else if (options->draws > 0) begin_iteration(c, target);
  else c->phase = CHAIN_DONE;
}

bool chain_advance (Chain *c, const Target *target) {
  switch (c->phase) {
    case CHAIN_SEARCH: return search_step(c, target);
    case CHAIN_TREE:   return c->options.steps > 0 ? go_along(c, target) : grow(c, target);
    default:           return false;
  }
}

uint64_t chain_iterations (const Chain *c) { return c->iteration; }
bool chain_is_done (const Chain *c) { return c->phase == CHAIN_DONE; }
const double *chain_position (const Chain *c) { return c->memory + POSITION * c->options.size; }
ChainStats chain_stats (const Chain *c) { return c->stats; }
double chain_step (const Chain *c) { return c->step; }

const double *chain_metric (const Chain *c) {
  return c->memory + METRIC_VECTORS * c->options.size;
}

static bool is_same_options (const ChainOptions *a, const ChainOptions *b) {
  return a->size == b->size && a->dense == b->dense && a->max_depth == b->max_depth
      && a->warmup == b->warmup && a->draws == b->draws && a->steps == b->steps;
}

/* Whatever is used as an index or a count must be one. */
bool chain_is_sound (const Chain *c, size_t bytes, const ChainOptions *options) {
  return bytes == chain_bytes(options) && is_same_options(&c->options, options)
      && (c->phase == CHAIN_SEARCH || c->phase == CHAIN_TREE || c->phase == CHAIN_DONE)
      && c->depth >= 0 && c->depth <= options->max_depth
      && (c->height == __builtin_popcountll(c->leaves) || options->steps > 0)
      && c->leaves < (uint64_t)1 << (c->depth + (options->steps > 0 ? 21 : 1))
      && (c->direction == 1 || c->direction == -1)
      && (c->depth < options->max_depth || c->phase == CHAIN_DONE)
      && c->iteration <= options->warmup + options->draws
      && c->uniforms >= 0 && c->uniforms <= CHAIN_UNIFORMS
      && adapt_is_sound(&c->adaptation, options->warmup);
}
