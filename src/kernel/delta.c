/*
** delta.c - Delta(v), the point mass at v
**
** Its density is counted in points: log P(v) = 0, -inf elsewhere. A draw is v itself and
** moves with it.
*/
#include "kernel/kernel.h"
#include "special/vector.h"


/* `here` at v, `off` elsewhere; NaN stays */
VECTOR double at (double x, double v, double here, double off) {
  double value = x == v ? here : off;
  return ((x == x) & (v == v)) ? value : (double)NAN;
}

/* `before` below v, `after` from v on */
VECTOR double step (double x, double v, double before, double after) {
  double value = x >= v ? after : before;
  return ((x == x) & (v == v)) ? value : (double)NAN;
}


static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *v = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = at(x[i], v[i], 0, -HUGE_VAL);
}

static void cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *v = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = step(x[i], v[i], 0, 1);
}

static void sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *v = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = step(x[i], v[i], 1, 0);
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *v = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = step(x[i], v[i], -HUGE_VAL, 0);
}

static void log_sf (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *v = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = step(x[i], v[i], 0, -HUGE_VAL);
}

/* all of these are constant wherever they have a slope */
static void no_slope (size_t n, const double *const in[], double *const d[]) {
  double *dx = d[0], *dv = d[1];
  (void)in;
  EVERY for (size_t i = 0; i < n; i++) {
    dx[i] = 0;
    dv[i] = 0;
  }
}


/* of p or q alike */
static void quantile (size_t n, const double *const in[], double *out) {
  const double *p = in[0], *v = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = ((p[i] >= 0) & (p[i] <= 1)) ? v[i] : (double)NAN;
}

static void quantile_partials (size_t n, const double *const in[], double *const d[]) {
  double *dp = d[0], *dv = d[1];
  (void)in;
  EVERY for (size_t i = 0; i < n; i++) {
    dp[i] = 0;
    dv[i] = 1;
  }
}


static void rsample (const struct Philox *g, uint64_t first, size_t n, const double *const in[],
                     double *out) {
  const double *v = in[0];
  (void)g;
  (void)first;
  EVERY for (size_t i = 0; i < n; i++) out[i] = v[i];
}

static void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  double *dx = d[0], *dv = d[1];
  (void)in;
  EVERY for (size_t i = 0; i < n; i++) {
    dx[i] = 1;
    dv[i] = 1;
  }
}


const Kernel perilune_delta[] = {
  {.name = "log_prob", .n_in = 2, .value = log_prob, .partials = no_slope},
  {.name = "cdf",      .n_in = 2, .value = cdf,      .partials = no_slope},
  {.name = "sf",       .n_in = 2, .value = sf,       .partials = no_slope},
  {.name = "log_cdf",  .n_in = 2, .value = log_cdf,  .partials = no_slope},
  {.name = "log_sf",   .n_in = 2, .value = log_sf,   .partials = no_slope},
  {.name = "icdf",     .n_in = 2, .value = quantile, .partials = quantile_partials},
  {.name = "isf",      .n_in = 2, .value = quantile, .partials = quantile_partials},
  {.name = "rsample", .n_in = 2, .partials = rsample_partials,
   .sampler = &(const Sampler) {.draw = rsample}},
  {.name = NULL}
};
