/*
** chain.c - the No-U-Turn sampler: trajectories, and what becomes of them
**
** A trajectory doubles, forwards or backwards in time, until it turns: its states form a binary
** tree. A subtree of 2^d states is built state by state; two neighbouring subtrees of the same
** size are merged when the second is complete, as a binary counter carries. So there are at most
** d + 1 subtrees at a time, each in a frame: its first and last momentum, the sum of all, a state
** drawn from it, and the logarithm of its weight. The last state needs no frame if it is merged at
** once.
**
** Momenta are in the metric's own units: r = l'p, where W = l l'. They are normal noise, and a
** path whose momenta add up to rho turns where r'rho < 0. The motion is dq/dt = l r,
** dr/dt = l' gradient.
*/
#include <math.h>
#include <string.h>

#include "sampler/adapt.h"
#include "sampler/chain.h"

#define DIVERGENT 1000.0   /* an error of the energy that is no rounding of the path */

/* Of a subtree; its vectors are at memory + vectors. */
typedef struct Frame {
  double log_weight, log_density, energy;
} Frame;

/* Vectors of a frame: momenta at both ends, their sum, a state and its gradient. */
enum { R_BEGIN, R_END, RHO, Q, GRADIENT, FRAME_VECTORS };

/* Vectors of a chain, before those of frames. An end of the trajectory has four: q, r, the
   gradient, and l' times that. */
enum {
  POSITION, POSITION_GRADIENT,              /* where the iteration began, or ended */
  LEFT, RIGHT = LEFT + 4,
  NEAR_R = RIGHT + 4,                       /* of the end from which the trajectory grows */
  SUM, PROPOSAL, PROPOSAL_GRADIENT,         /* of the whole trajectory */
  VELOCITY,
  METRIC_VECTORS                            /* the metric begins here */
};
enum { END_Q, END_R, END_GRADIENT, END_SLOPE };

/* A subtree: a frame, or the end of the trajectory. */
typedef struct Subtree {
  Frame frame;
  const double *r_begin, *r_end, *rho, *q, *gradient;
} Subtree;

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

static double uniform (Chain *c, const LogDensity *target) {
  if (c->uniforms == 0) {
    uint64_t first = philox_claim(&c->rng, CHAIN_UNIFORMS);
    target->uniform->draw(&c->rng, first, CHAIN_UNIFORMS, NULL, c->uniform);
    c->uniforms = CHAIN_UNIFORMS;
  }
  return c->uniform[--c->uniforms];
}

static void normals (Chain *c, const LogDensity *target, double *out) {
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

/* The sum of rows of m, each times an element of x; four at a time, since loops over few elements
   cost more than what they do. Of a lower triangular matrix, or an upper one, which has the zeros
   too. */
static void combine (size_t n, const double *m, bool lower, const double *x, double *out) {
  size_t i = 0;
  for (size_t j = 0; j < n; j++) out[j] = 0;
  for (; i + 4 <= n; i += 4) {
    const double *m0 = m + i * n, *m1 = m0 + n, *m2 = m1 + n, *m3 = m2 + n;
    double x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
    for (size_t j = lower ? 0 : i, end = lower ? i + 4 : n; j < end; j++)
      out[j] += (m0[j] * x0 + m1[j] * x1) + (m2[j] * x2 + m3[j] * x3);
  }
  for (; i < n; i++)
    for (size_t j = lower ? 0 : i, end = lower ? i + 1 : n; j < end; j++)
      out[j] += m[i * n + j] * x[i];
}

/* slope = l' gradient */
static void turn_gradient (Chain *c, const double *gradient, double *slope) {
  size_t n = c->options.size;
  const double *l = adapt_factor(metric(c), n, c->options.dense);
  if (c->options.dense) combine(n, l, true, gradient, slope);
  else for (size_t i = 0; i < n; i++) slope[i] = l[i] * gradient[i];
}

/* q += step l r */
static void move (Chain *c, double step, const double *r, double *q) {
  size_t n = c->options.size;
  const double *l = adapt_factor(metric(c), n, c->options.dense);
  if (c->options.dense) {
    double *v = vector(c, VELOCITY);
    combine(n, l + n * n, false, r, v);
    for (size_t i = 0; i < n; i++) q[i] += step * v[i];
  } else for (size_t i = 0; i < n; i++) q[i] += step * (l[i] * r[i]);
}

/* One step of the leapfrog method from the end with its first vector at `end`. Returns the
   energy, infinite where it is not a number; the log density goes to *log_density. */
static double leapfrog (Chain *c, const LogDensity *target, size_t end, double step,
                        double *log_density) {
  size_t n = c->options.size;
  double *q = vector(c, end + END_Q), *r = vector(c, end + END_R);
  double *g = vector(c, end + END_GRADIENT), *slope = vector(c, end + END_SLOPE);
  for (size_t i = 0; i < n; i++) r[i] += 0.5 * step * slope[i];
  move(c, step, r, q);
  *log_density = target->evaluate(target->self, q, g);
  turn_gradient(c, g, slope);
  for (size_t i = 0; i < n; i++) r[i] += 0.5 * step * slope[i];
  double energy = 0.5 * dot(n, r, r) - *log_density;
  return energy == energy ? energy : INFINITY;
}

/* Does the path between two states with these momenta, all of which add up to rho, go on? */
static bool goes_on (size_t n, const double *r_a, const double *r_b, const double *rho) {
  return dot(n, r_a, rho) > 0 && dot(n, r_b, rho) > 0;
}

/* The same with rho + r. */
static bool goes_on_with (size_t n, const double *r_a, const double *r_b, const double *rho,
                          const double *r) {
  double a = 0, b = 0;
  for (size_t i = 0; i < n; i++) {
    double sum = rho[i] + r[i];
    a += r_a[i] * sum;
    b += r_b[i] * sum;
  }
  return a > 0 && b > 0;
}

/* }====================================================== */


/* {=====================================================
** Iterations
** ====================================================== */

static void begin_subtree (Chain *c, const LogDensity *target) {
  c->direction = uniform(c, target) < 0.5 ? -1 : 1;
  c->leaves = 0;
  c->height = 0;
  size_t end = c->direction > 0 ? RIGHT : LEFT;
  copy(c, vector(c, NEAR_R), vector(c, end + END_R));
}

/* A new momentum, and a trajectory of one state. */
static void begin_trajectory (Chain *c, const LogDensity *target) {
  double *r = vector(c, RIGHT + END_R);
  copy(c, vector(c, RIGHT + END_Q), vector(c, POSITION));
  copy(c, vector(c, RIGHT + END_GRADIENT), vector(c, POSITION_GRADIENT));
  turn_gradient(c, vector(c, POSITION_GRADIENT), vector(c, RIGHT + END_SLOPE));
  normals(c, target, r);
  memcpy(vector(c, LEFT), vector(c, RIGHT), 4 * c->options.size * sizeof *r);
  copy(c, vector(c, SUM), r);
  copy(c, vector(c, PROPOSAL), vector(c, POSITION));
  copy(c, vector(c, PROPOSAL_GRADIENT), vector(c, POSITION_GRADIENT));
  c->start_energy = 0.5 * dot(c->options.size, r, r) - c->log_density;
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

static void begin_iteration (Chain *c, const LogDensity *target) {
  c->phase = CHAIN_TREE;
  begin_trajectory(c, target);
}

static bool search_step (Chain *c, const LogDensity *target) {
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
static bool end_iteration (Chain *c, const LogDensity *target) {
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

static double exponential (const LogDensity *target, double x) {
  const double *in[] = {&x};
  double y;
  target->exp->value(1, in, &y);
  return y;
}

/* log(exp(a) + exp(b)); the smaller of both exponentials over the larger one goes to *ratio. */
static double add_weights (const LogDensity *target, double a, double b, double *ratio) {
  double log_sum;
  const double *in[] = {ratio};
  *ratio = exponential(target, -fabs(a - b));
  target->log1p->value(1, in, &log_sum);
  return (a > b ? a : b) + log_sum;
}

static Subtree subtree_of_frame (Chain *c, int i) {
  return (Subtree) {c->frame[i], frame_vector(c, i, R_BEGIN), frame_vector(c, i, R_END),
                    frame_vector(c, i, RHO), frame_vector(c, i, Q), frame_vector(c, i, GRADIENT)};
}

/* The last state of the trajectory, on its own. */
static Subtree subtree_of_end (Chain *c, size_t end, double log_density, double energy) {
  const double *r = vector(c, end + END_R);
  Frame frame = {c->start_energy - energy, log_density, energy};
  return (Subtree) {frame, r, r, r, vector(c, end + END_Q), vector(c, end + END_GRADIENT)};
}

static void push_frame (Chain *c, const Subtree *t) {
  int i = c->height++;
  c->frame[i] = t->frame;
  copy(c, frame_vector(c, i, R_BEGIN), t->r_begin);
  copy(c, frame_vector(c, i, R_END), t->r_end);
  copy(c, frame_vector(c, i, RHO), t->rho);
  copy(c, frame_vector(c, i, Q), t->q);
  copy(c, frame_vector(c, i, GRADIENT), t->gradient);
}

/* The state of frame i gives way to that of the subtree that follows, or does not. */
static void merge_states (Chain *c, const LogDensity *target, int i, const Subtree *next) {
  Frame *frame = &c->frame[i];
  double a = frame->log_weight, b = next->frame.log_weight, ratio;
  double both = add_weights(target, a, b, &ratio);
  if (uniform(c, target) < (b < a ? ratio : 1) / (1 + ratio)) {
    copy(c, frame_vector(c, i, Q), next->q);
    copy(c, frame_vector(c, i, GRADIENT), next->gradient);
    frame->log_density = next->frame.log_density;
    frame->energy = next->frame.energy;
  }
  frame->log_weight = both;
}

/* The topmost frame and the subtree that follows become one. False if the path turns within it. */
static bool merge (Chain *c, const LogDensity *target, const Subtree *next) {
  size_t n = c->options.size;
  int i = c->height - 1;
  double *rho = frame_vector(c, i, RHO), *r_end = frame_vector(c, i, R_END);
  const double *r_begin = frame_vector(c, i, R_BEGIN);
  bool on = goes_on_with(n, r_begin, next->r_begin, rho, next->r_begin)
         && goes_on_with(n, r_end, next->r_end, next->rho, r_end);
  merge_states(c, target, i, next);
  for (size_t j = 0; j < n; j++) rho[j] += next->rho[j];
  copy(c, r_end, next->r_end);
  return on && goes_on(n, r_begin, r_end, rho);
}

/* The subtree, complete in frame 0, becomes part of the trajectory. False if that turns. */
static bool join_subtree (Chain *c, const LogDensity *target) {
  size_t n = c->options.size;
  Subtree new = subtree_of_frame(c, 0);
  double *sum = vector(c, SUM), ratio;
  const double *far = vector(c, (c->direction > 0 ? LEFT : RIGHT) + END_R);
  double before = c->tree.log_weight, added = new.frame.log_weight;
  double both = add_weights(target, before, added, &ratio);
  if (uniform(c, target) < (added < before ? ratio : 1)) {
    copy(c, vector(c, PROPOSAL), new.q);
    copy(c, vector(c, PROPOSAL_GRADIENT), new.gradient);
    c->tree.log_density = new.frame.log_density;
    c->tree.energy = new.frame.energy;
  }
  c->tree.log_weight = both;
  bool on = goes_on_with(n, far, new.r_begin, sum, new.r_begin)
         && goes_on_with(n, vector(c, NEAR_R), new.r_end, new.rho, vector(c, NEAR_R));
  for (size_t i = 0; i < n; i++) sum[i] += new.rho[i];
  c->depth++;
  return on && goes_on(n, far, new.r_end, sum);
}

/* The last state joins the subtree that grows. False if the path turns. */
static bool add_state (Chain *c, const LogDensity *target, Subtree state) {
  c->leaves++;
  for (uint64_t carry = c->leaves; carry % 2 == 0; carry /= 2) {
    bool is_frame = carry != c->leaves;
    if (is_frame) state = subtree_of_frame(c, --c->height);
    if (!merge(c, target, &state)) return false;
  }
  if (c->leaves % 2 == 1) push_frame(c, &state);
  return true;
}

/* One more state of the subtree that grows. True: the iteration has ended. */
static bool grow (Chain *c, const LogDensity *target) {
  double log_density;
  size_t end = c->direction > 0 ? RIGHT : LEFT;
  double energy = leapfrog(c, target, end, c->direction * c->step, &log_density);
  double change = energy - c->start_energy;
  c->leapfrogs++;
  c->accepted += change > 0 ? exponential(target, -change) : 1;
  c->divergent = change > DIVERGENT;
  if (c->divergent || !add_state(c, target, subtree_of_end(c, end, log_density, energy)))
    return end_iteration(c, target);
  if (c->leaves < (uint64_t)1 << c->depth) return false;
  if (!join_subtree(c, target) || c->depth == c->options.max_depth) return end_iteration(c, target);
  begin_subtree(c, target);
  return false;
}

/* One more step of a trajectory whose last state is accepted or not. It has 1 to `steps` steps, all
   equally likely: a fixed number of them might be a period of the motion. */
static bool go_along (Chain *c, const LogDensity *target) {
  double log_density;
  if (c->leapfrogs == 0) c->leaves = 1 + (uint64_t)(uniform(c, target) * c->options.steps);
  double energy = leapfrog(c, target, RIGHT, c->step, &log_density);
  double change = energy - c->start_energy;
  c->leapfrogs++;
  c->accepted = change > 0 ? exponential(target, -change) : 1;
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
                  const double *scale, const LogDensity *target) {
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

bool chain_advance (Chain *c, const LogDensity *target) {
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

/* A byte that came from outside may be neither. */
static bool is_boolean (const bool *b) {
  unsigned char byte;
  memcpy(&byte, b, 1);
  return byte <= 1;
}

static bool is_same_options (const ChainOptions *a, const ChainOptions *b) {
  return a->size == b->size && is_boolean(&a->dense) && a->dense == b->dense
      && a->max_depth == b->max_depth && a->warmup == b->warmup && a->draws == b->draws
      && a->steps == b->steps;
}

static bool are_uniform (const double *u, int n) {
  for (int i = 0; i < n; i++)
    if (!(u[i] >= 0 && u[i] <= 1)) return false;
  return true;
}

/* Whatever is used as an index or a count must be one. */
static bool has_sound_tree (const Chain *c, const ChainOptions *options) {
  return c->depth >= 0 && c->depth < options->max_depth
      && (c->height == __builtin_popcountll(c->leaves) || options->steps > 0)
      && c->leaves < (uint64_t)1 << (c->depth + (options->steps > 0 ? 21 : 1))
      && (c->direction == 1 || c->direction == -1);
}

/* The search for a step begins a tree anew, and a chain that is done has no use for one. */
bool chain_is_sound (const Chain *c, size_t bytes, const ChainOptions *options) {
  return bytes == chain_bytes(options) && is_same_options(&c->options, options)
      && is_boolean(&c->divergent)
      && (c->phase == CHAIN_SEARCH || c->phase == CHAIN_DONE
          || (c->phase == CHAIN_TREE && has_sound_tree(c, options)))
      && c->iteration <= options->warmup + options->draws
      && (c->iteration < options->warmup + options->draws || c->phase == CHAIN_DONE)
      && c->uniforms >= 0 && c->uniforms <= CHAIN_UNIFORMS
      && are_uniform(c->uniform, c->uniforms)
      && adapt_is_sound(&c->adaptation, options->warmup);
}
