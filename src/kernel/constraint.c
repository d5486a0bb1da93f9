/*
** constraint.c - what a parameter may be: 1 where it is allowed, 0 where not
*/
#include <math.h>

#include "kernel/kernel.h"
#include "special/vector.h"


/* any number but NaN */
static void real (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = in[0][i] == in[0][i];
}

static void positive (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = in[0][i] > 0;
}

static void nonnegative (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = in[0][i] >= 0;
}

/* the same without infinities, or with one of them: what a parameter may be unless it says more */
static void finite_real (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = fabs(in[0][i]) < INFINITY;
}

static void finite_positive (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = (in[0][i] > 0) & (in[0][i] < INFINITY);
}

static void finite_nonnegative (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = (in[0][i] >= 0) & (in[0][i] < INFINITY);
}

static void real_above (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = in[0][i] > -INFINITY;
}

static void real_below (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = in[0][i] < INFINITY;
}

static void greater_than (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = in[0][i] > in[1][i];
}

static void interval (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = (in[0][i] >= in[1][i]) & (in[0][i] <= in[2][i]);
}

static void half_open_interval (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = (in[0][i] >= in[1][i]) & (in[0][i] < in[2][i]);
}

static void left_open_interval (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = (in[0][i] > in[1][i]) & (in[0][i] <= in[2][i]);
}

static void integer_interval (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) {
    double x = in[0][i];
    out[i] = (x >= in[1][i]) & (x <= in[2][i]) & (floor(x) == x)
           & (fabs(x) < INFINITY);
  }
}

/* the number of one of in[1] things, from 1, or from -1 backwards */
static void place (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) {
    double x = fabs(in[0][i]);
    out[i] = (x >= 1) & (x <= in[1][i]) & (floor(x) == x);
  }
}


const Kernel perilune_constraint[] = {
  {.name = "real",             .n_in = 1, .value = real, .flat = 1},
  {.name = "positive",         .n_in = 1, .value = positive, .flat = 1},
  {.name = "nonnegative",      .n_in = 1, .value = nonnegative, .flat = 1},
  {.name = "finite",           .n_in = 1, .value = finite_real, .flat = 1},
  {.name = "finite_real",      .n_in = 1, .value = finite_real, .flat = 1},
  {.name = "finite_positive",  .n_in = 1, .value = finite_positive, .flat = 1},
  {.name = "finite_nonnegative", .n_in = 1, .value = finite_nonnegative, .flat = 1},
  {.name = "real_above",       .n_in = 1, .value = real_above, .flat = 1},
  {.name = "real_below",       .n_in = 1, .value = real_below, .flat = 1},
  {.name = "greater_than",     .n_in = 2, .value = greater_than, .flat = 1},
  {.name = "interval",         .n_in = 3, .value = interval, .flat = 1},
  {.name = "half_open_interval", .n_in = 3, .value = half_open_interval, .flat = 1},
  {.name = "left_open_interval", .n_in = 3, .value = left_open_interval, .flat = 1},
  {.name = "integer_interval", .n_in = 3, .value = integer_interval, .flat = 1},
  {.name = "place",            .n_in = 2, .value = place, .flat = 1},
  {.name = NULL}
};
