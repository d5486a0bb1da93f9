/*
** bernoulli.c - Bernoulli(logits), 1 with probability p, else 0
**
**   p = sigmoid(l),   log P(1) = -softplus(-l),   log P(0) = -softplus(l)
**
** Logits hold p and 1 - p to full precision, however small either is.
*/
#include "kernel/kernel.h"
#include "kernel/discrete_quantile.h"
#include "special/vmath.h"


/* f where x is 1, g where it is 0, -inf elsewhere; NaN stays */
VECTOR double at_outcome (double x, double f, double g) {
  double off = x == x ? -HUGE_VAL : x;
  double zero = x == 0 ? g : off;
  return x == 1 ? f : zero;
}

/* of a step function: `middle` on [0, 1), the others before and after */
VECTOR double step (double x, double before, double middle, double after) {
  double late = x >= 1 ? after : middle;
  return x < 0 ? before : x == x ? late : x;
}


static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *l = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double log_p = -vsoftplus(x[i] == 1 ? -l[i] : l[i]);
    out[i] = at_outcome(x[i], log_p, log_p);
  }
}

/* x - p */
static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *l = in[1];
  double *dx = d[0], *dl = d[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double missed = vsigmoid(x[i] == 1 ? -l[i] : l[i]), slope = at_outcome(x[i], missed, -missed);
    dx[i] = 0;
    dl[i] = fabs(slope) <= 1 ? slope : 0;
  }
}

static void log_prob_both (size_t n, const double *const in[], double *out,
                           double *const d[]) {
  const double *x = in[0], *l = in[1];
  double *dx = d[0], *dl = d[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double against = x[i] == 1 ? -l[i] : l[i], log_p = -vsoftplus(against);
    double missed = vsigmoid(against), slope = at_outcome(x[i], missed, -missed);
    out[i] = at_outcome(x[i], log_p, log_p);
    dx[i] = 0;
    dl[i] = fabs(slope) <= 1 ? slope : 0;
  }
}


VECTOR double tail (const double v[], int upper) {
  return upper ? step(v[0], 1, vsigmoid(v[1]), 0) : step(v[0], 0, vsigmoid(-v[1]), 1);
}

VECTOR double log_tail (const double v[], int upper) {
  return upper ? step(v[0], 0, -vsoftplus(-v[1]), -HUGE_VAL)
               : step(v[0], -HUGE_VAL, -vsoftplus(v[1]), 0);
}

VECTOR void tail_slopes (const double v[], int upper, double d[]) {
  double p = vsigmoid(v[1]), q = vsigmoid(-v[1]);
  d[0] = 0;
  d[1] = step(v[0], 0, upper ? p * q : -p * q, 0);
}

VECTOR void log_tail_slopes (const double v[], int upper, double d[]) {
  d[0] = 0;
  d[1] = step(v[0], 0, upper ? vsigmoid(-v[1]) : -vsigmoid(v[1]), 0);
}

/* the smallest outcome that reaches p, or an upper tail p; the logit is a rounded number */
VECTOR double quantile (const double v[], int upper) {
  double p = v[0], l = v[1];
  double size = fabs(l) < 800 ? fabs(l) : 800;   /* tails are exact beyond */
  Level level = level_of(p, upper, fma(DBL_EPSILON, size, QUANTILE_SLACK));
  double outcome = level_reached(level, vsigmoid(level.upper ? l : -l)) ? 0 : 1;
  return ((p >= 0) & (p <= 1)) ? outcome : (double)NAN;
}

static const SidedLaw law = {
  .operands = 2,
  .tail     = tail,     .tail_slopes     = tail_slopes,
  .log_tail = log_tail, .log_tail_slopes = log_tail_slopes,
  .quantile = quantile
};

#include "kernel/sided_kernels.h"


/* p softplus(-l) + (1 - p) softplus(l), whose slope is -l p (1 - p) */
static void entropy (size_t n, const double *const in[], double *out) {
  const double *l = in[0];
  EVERY for (size_t i = 0; i < n; i++) {
    double a = fabs(l[i]), rare = vsigmoid(-a);
    double sum = fma(rare, vsoftplus(a), vsigmoid(a) * vsoftplus(-a));
    out[i] = a == HUGE_VAL ? 0 : sum;
  }
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *l = in[0];
  double *dl = d[0];
  EVERY for (size_t i = 0; i < n; i++) {
    double slope = -l[i] * vsigmoid(l[i]) * vsigmoid(-l[i]);
    dl[i] = fabs(l[i]) == HUGE_VAL ? 0 : slope;
  }
}


static void variance (size_t n, const double *const in[], double *out) {
  const double *l = in[0];
  EVERY for (size_t i = 0; i < n; i++) out[i] = vsigmoid(l[i]) * vsigmoid(-l[i]);
}

static void variance_partials (size_t n, const double *const in[], double *const d[]) {
  const double *l = in[0];
  double *dl = d[0];
  EVERY for (size_t i = 0; i < n; i++) {
    double p = vsigmoid(l[i]), q = vsigmoid(-l[i]);
    dl[i] = p * q * (q - p);
  }
}


static void sample (size_t n, const double *const in[], double *out) {
  const double *u = in[0], *l = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = u[i] < vsigmoid(l[i]) ? 1 : 0;
}


const Kernel perilune_bernoulli[] = {
  {.name = "log_prob", .n_in = 2, .value = log_prob, .partials = log_prob_partials,
   .shortcuts = &(const Shortcuts) {.both = log_prob_both}},
  {.name = "cdf",      .n_in = 2, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 2, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 2, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 2, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 2, .value = icdf, .flat = 1},
  {.name = "isf",      .n_in = 2, .value = isf, .flat = 1},
  {.name = "entropy",  .n_in = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "variance", .n_in = 1, .value = variance, .partials = variance_partials},
  {.name = "sample", .n_in = 2, .value = sample, .integer = 1,
   .sampler = &(const Sampler) {.noise = "uniform"}},
  {.name = NULL}
};
