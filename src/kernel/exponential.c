/*
** exponential.c - Exponential(rate), the waiting time without memory
**
**   log p(x) = log(rate) - t,    F(x) = 1 - e^-t,    t = rate x >= 0
*/
#include "kernel/kernel.h"
#include "special/vmath.h"


/* t, and 0 below the support, where cdf and sf are those of x = 0 */
static inline double waited (double x, double rate) {
  return x < 0 ? 0.0 : rate * x;
}


static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *rate = in[1];
  for (size_t i = 0; i < n; i++) {
    double inside = fma(-rate[i], x[i], vlog(rate[i]));
    out[i] = x[i] < 0 ? -HUGE_VAL : inside;
  }
}

static void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *rate = in[1];
  for (size_t i = 0; i < n; i++) {
    d[0][i] = x[i] < 0 ? 0 : -rate[i];
    d[1][i] = x[i] < 0 ? 0 : 1 / rate[i] - x[i];
  }
}


/* A function g of t has the partials g' rate and g' x. */
static inline void waited_partials (size_t i, double x, double rate, double slope,
                                    double *const d[]) {
  double inside = x < 0 ? 0 : slope;
  d[0][i] = inside * rate;
  d[1][i] = slope_times(inside, x);
}

static void cdf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = -vexpm1(-waited(in[0][i], in[1][i]));
}

static void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++)
    waited_partials(i, in[0][i], in[1][i], vexp(-waited(in[0][i], in[1][i])), d);
}

static void sf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = vexp(-waited(in[0][i], in[1][i]));
}

static void sf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++)
    waited_partials(i, in[0][i], in[1][i], -vexp(-waited(in[0][i], in[1][i])), d);
}

static void log_cdf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = vlog1mexp(-waited(in[0][i], in[1][i]));
}

static void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++)
    waited_partials(i, in[0][i], in[1][i], 1 / vexpm1(waited(in[0][i], in[1][i])), d);
}

static void log_sf (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = -waited(in[0][i], in[1][i]);
}

static void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) waited_partials(i, in[0][i], in[1][i], -1, d);
}


static void icdf (size_t n, const double *const in[], double *out) {
  const double *p = in[0], *rate = in[1];
  for (size_t i = 0; i < n; i++) {
    double x = -vlog1p(-p[i]) / rate[i];
    out[i] = p[i] < 0 ? (double)NAN : x;
  }
}

static void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *p = in[0], *rate = in[1];
  for (size_t i = 0; i < n; i++) {
    d[0][i] = 1 / ((1 - p[i]) * rate[i]);
    d[1][i] = vlog1p(-p[i]) / rate[i] / rate[i];
  }
}

static void isf (size_t n, const double *const in[], double *out) {
  const double *q = in[0], *rate = in[1];
  for (size_t i = 0; i < n; i++) {
    double x = -vlog(q[i]) / rate[i];
    out[i] = q[i] > 1 ? (double)NAN : x;
  }
}

static void isf_partials (size_t n, const double *const in[], double *const d[]) {
  const double *q = in[0], *rate = in[1];
  for (size_t i = 0; i < n; i++) {
    d[0][i] = -1 / (q[i] * rate[i]);
    d[1][i] = vlog(q[i]) / rate[i] / rate[i];
  }
}


static void entropy (size_t n, const double *const in[], double *out) {
  for (size_t i = 0; i < n; i++) out[i] = 1 - vlog(in[0][i]);
}

static void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) d[0][i] = -1 / in[0][i];
}


static void rsample (size_t n, const double *const in[], double *out) {
  const double *e = in[0], *rate = in[1];
  for (size_t i = 0; i < n; i++) out[i] = e[i] / rate[i];
}

static void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  const double *e = in[0], *rate = in[1];
  for (size_t i = 0; i < n; i++) {
    d[0][i] = 1 / rate[i];
    d[1][i] = -e[i] / rate[i] / rate[i];
  }
}


const Kernel perilune_exponential[] = {
  {.name = "log_prob", .n_in = 2, .value = log_prob, .partials = log_prob_partials},
  {.name = "cdf",      .n_in = 2, .value = cdf,      .partials = cdf_partials},
  {.name = "sf",       .n_in = 2, .value = sf,       .partials = sf_partials},
  {.name = "log_cdf",  .n_in = 2, .value = log_cdf,  .partials = log_cdf_partials},
  {.name = "log_sf",   .n_in = 2, .value = log_sf,   .partials = log_sf_partials},
  {.name = "icdf",     .n_in = 2, .value = icdf,     .partials = icdf_partials},
  {.name = "isf",      .n_in = 2, .value = isf,      .partials = isf_partials},
  {.name = "entropy",  .n_in = 1, .value = entropy,  .partials = entropy_partials},
  {.name = "rsample",  .n_in = 2, .value = rsample,  .partials = rsample_partials,
   .noise = "exponential"},
  {.name = NULL}
};
