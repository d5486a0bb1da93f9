/*
** reduce.c - reductions: the state of one block, and how states of blocks are merged
**
** Blocks are summed in sixteen interleaved lanes, joined pairwise: fast, the
** same on every machine, and with an error that grows with the logarithm of
** the number of blocks.
*/
#include <math.h>

#include "kernel/kernel.h"
#include "special/eight.h"
#include "special/vmath.h"

#define LANES 8

typedef double Lanes[LANES];

static double join_lanes (const Lanes s) {
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

VECTOR void add_eight (Eight *s, const double *x) {
  Eight a;
  eight_load(&a, x);
  s->low += a.low;
  s->high += a.high;
}

/* Lanes as Eights, which stay in registers. */
static double block_sum (size_t n, const double *x) {
  Eight s = {{0}, {0}}, t = {{0}, {0}};
  size_t i = 0;
  for (; i + 2 * LANES <= n; i += 2 * LANES) {
    add_eight(&s, x + i);
    add_eight(&t, x + i + LANES);
  }
  s.low += t.low;
  s.high += t.high;
  for (; i + LANES <= n; i += LANES) add_eight(&s, x + i);
  if (i < n) {
    Lanes rest = {0};
    for (size_t j = 0; i < n; i++, j++) rest[j] = x[i];
    add_eight(&s, rest);
  }
  Four both = s.low + s.high;
  return (both[0] + both[2]) + (both[1] + both[3]);
}


/*@ peri.sum(t, dim, keep) -> number or Tensor
 * The sum of all elements, or along dimensions; that of nothing is 0.
 *   dim  integer, from 1, or from -1 backwards, or a table of several; all of them unless told
 * > sum({ 1, 2, 3 })
 * 6.0
 * > tensor({ { 1, 2 }, { 3, 4 } }):sum(1)
 * Tensor(2)
 *   4  6 */

/*@ peri.mean(t, dim, keep) -> number or Tensor
 * The mean of all elements, or along dimensions; that of nothing is NaN.
 *   dim  integer, from 1, or from -1 backwards, or a table of several; all of them unless told
 * > mean({ 1, 2, 6 })
 * 3.0 */
static void sum_fold (size_t n, const double *x, double *state) {
  state[0] = block_sum(n, x);
}

static void sum_merge (double *state, const double *next) {
  state[0] += next[0];
}

static double sum_finish (size_t count, const double *state) {
  return count == 0 ? 0 : state[0];
}

static double mean_finish (size_t count, const double *state) {
  return count == 0 ? NAN : state[0] / (double)count;
}

static void sum_slope (size_t n, const double *x, size_t count, double value, double *d) {
  (void)x, (void)count, (void)value;
  EVERY for (size_t i = 0; i < n; i++) d[i] = 1;
}

static void mean_slope (size_t n, const double *x, size_t count, double value, double *d) {
  (void)x, (void)value;
  EVERY for (size_t i = 0; i < n; i++) d[i] = 1 / (double)count;
}


/*@ peri.prod(t, dim, keep) -> number or Tensor
 * The product of all elements, or along dimensions; that of nothing is 1.
 *   dim  integer, from 1, or from -1 backwards, or a table of several; all of them unless told
 * > prod({ 2, 3, 4 })
 * 24.0 */
static void prod_fold (size_t n, const double *x, double *state) {
  state[0] = 1;
  for (size_t i = 0; i < n; i++) state[0] *= x[i];
}

static void prod_merge (double *state, const double *next) {
  state[0] *= next[0];
}

static double prod_finish (size_t count, const double *state) {
  return count == 0 ? 1 : state[0];
}


/*
** Extremes. A NaN wins over everything.
*/
static double larger (double a, double b) {
  return a > b || a != a ? a : b;
}

static double smaller (double a, double b) {
  return a < b || a != a ? a : b;
}

static double first_value (size_t count, const double *state) {
  return count == 0 ? NAN : state[0];
}

/*@ peri.max(t, dim, keep) -> number or Tensor
 * The largest element, or those along dimensions; NaN if there is one among them. Raises where
 * there is none to choose. Those that are equally large share the gradient.
 *   dim  integer, from 1, or from -1 backwards, or a table of several; all of them unless told
 * > max({ 3, 7, 5 })
 * 7.0 */
static void max_fold (size_t n, const double *x, double *state) {
  double m = x[0];
  for (size_t i = 1; i < n; i++) m = larger(m, x[i]);
  state[0] = m;
}

/* shared by those that are as large */
static void extreme_slope (size_t n, const double *x, size_t count, double value, double *d) {
  (void)count;
  EVERY for (size_t i = 0; i < n; i++) d[i] = x[i] == value;
}

static void max_merge (double *state, const double *next) {
  state[0] = larger(state[0], next[0]);
}

/*@ peri.min(t, dim, keep) -> number or Tensor
 * The smallest element, or those along dimensions; NaN if there is one among them. Raises
 * where there is none to choose.
 *   dim  integer, from 1, or from -1 backwards, or a table of several; all of them unless told
 * > min({ 3, 7, 5 })
 * 3.0 */
static void min_fold (size_t n, const double *x, double *state) {
  double m = x[0];
  for (size_t i = 1; i < n; i++) m = smaller(m, x[i]);
  state[0] = m;
}

static void min_merge (double *state, const double *next) {
  state[0] = smaller(state[0], next[0]);
}


/*
** Where the first extreme is, from 1. State: extreme, place, elements so far.
*/
/*@ peri.argmax(t, dim, keep) -> integer or Tensor
 * Where the largest element is, from 1: among all elements in their order, or along a
 * dimension. Of several it is the first.
 *   dim  integer, from 1, or from -1 backwards, or a table of several; all of them unless told
 * > argmax({ 3, 7, 5 })
 * 2 */
static void argmax_fold (size_t n, const double *x, double *state) {
  size_t at = 0;
  for (size_t i = 1; i < n; i++)
    if (x[i] > x[at] || (x[i] != x[i] && x[at] == x[at])) at = i;
  state[0] = x[at];
  state[1] = (double)(at + 1);
  state[2] = (double)n;
}

static void argmax_merge (double *state, const double *next) {
  if (next[0] > state[0] || (next[0] != next[0] && state[0] == state[0])) {
    state[0] = next[0];
    state[1] = state[2] + next[1];
  }
  state[2] += next[2];
}

/*@ peri.argmin(t, dim, keep) -> integer or Tensor
 * Where the smallest element is, from 1: among all elements in their order, or along a
 * dimension. Of several it is the first.
 *   dim  integer, from 1, or from -1 backwards, or a table of several; all of them unless told
 * > argmin({ 3, 7, 5 })
 * 1 */
static void argmin_fold (size_t n, const double *x, double *state) {
  size_t at = 0;
  for (size_t i = 1; i < n; i++)
    if (x[i] < x[at] || (x[i] != x[i] && x[at] == x[at])) at = i;
  state[0] = -x[at];                       /* merged as the largest of -x */
  state[1] = (double)(at + 1);
  state[2] = (double)n;
}

static double place_finish (size_t count, const double *state) {
  return count == 0 ? NAN : state[1];
}


/*
** log sum exp. State: the largest, m, and the sum of exp(x - m) without one that is m. The
** logarithm of 1 + that sum keeps its digits where it is small.
*/

/* The sum of exp(x - m) over eight elements less than m; those that are m are counted. */
static double sum_below (const double *x, double m, Lanes equal) {
  Lanes terms;
  for (size_t j = 0; j < LANES; j++) {
    double e = vexp(x[j] - m);
    terms[j] = x[j] == m ? 0.0 : e;
    equal[j] += x[j] == m ? 1.0 : 0.0;
  }
  return join_lanes(terms);
}

/*@ peri.logsumexp(t, dim, keep) -> number or Tensor
 * log of the sum of exp(x), without overflow: a sum of probabilities, given their logarithms.
 * That of nothing is -inf.
 *   dim  integer, from 1, or from -1 backwards, or a table of several; all of them unless told
 * > logsumexp({ 1000, 1000 })
 * 1000.6931471806 */
static void logsumexp_fold (size_t n, const double *x, double *state) {
  Lanes last, equal = {0};
  double s = 0, m;
  size_t i = 0;
  max_fold(n, x, &m);
  for (; i + LANES <= n; i += LANES) s += sum_below(x + i, m, equal);
  for (size_t j = 0; j < LANES; j++) last[j] = i + j < n ? x[i + j] : -INFINITY;
  if (i < n) s += sum_below(last, m, equal);
  state[0] = m;
  state[1] = s + (join_lanes(equal) - 1);
}

/* e^(x - m), where m is not smaller */
static double relative (double x, double m) { return x == m ? 1 : vexp(x - m); }

static void logsumexp_merge (double *state, const double *next) {
  double m = larger(state[0], next[0]);
  state[1] = state[0] >= next[0] ? state[1] + (1 + next[1]) * relative(next[0], m)
                                 : next[1] + (1 + state[1]) * relative(state[0], m);
  state[0] = m;
}

static double logsumexp_finish (size_t count, const double *state) {
  if (count == 0) return -INFINITY;
  return fabs(state[0]) == INFINITY ? state[0] : state[0] + vlog1p(state[1]);
}

static void logsumexp_slope (size_t n, const double *x, size_t count, double value,
                             double *d) {
  (void)count;
  EVERY for (size_t i = 0; i < n; i++) d[i] = x[i] == -INFINITY ? 0 : vexp(x[i] - value);
}


/*
** Variance. State: count, mean, sum of squares about the mean (Chan, Golub
** and LeVeque's merging).
*/
/*@ peri.var(t, dim, keep) -> number or Tensor
 * The variance of a sample, divided by n - 1: of all elements, or along dimensions. NaN of
 * fewer than two.
 *   dim  integer, from 1, or from -1 backwards, or a table of several; all of them unless told
 * > var({ 1, 2, 3 })
 * 1.0 */

/*@ peri.std(t, dim, keep) -> number or Tensor
 * The standard deviation of a sample, the root of var.
 *   dim  integer, from 1, or from -1 backwards, or a table of several; all of them unless told
 * > std({ 1, 3, 5 })
 * 2.0 */
static void var_fold (size_t n, const double *x, double *state) {
  double mean = block_sum(n, x) / (double)n;
  Lanes squares = {0}, rest = {0};
  size_t i = 0;
  for (; i + LANES <= n; i += LANES)
    for (size_t j = 0; j < LANES; j++) {
      double e = x[i + j] - mean;
      squares[j] += e * e;
      rest[j] += e;
    }
  for (size_t j = 0; i < n; i++, j++) {
    double e = x[i] - mean;
    squares[j] += e * e;
    rest[j] += e;
  }
  double r = join_lanes(rest) / (double)n;   /* what rounding left in the mean */
  state[0] = (double)n;
  state[1] = mean + r;
  state[2] = join_lanes(squares) - (double)n * r * r;
}

static void var_merge (double *state, const double *next) {
  double n = state[0] + next[0], delta = next[1] - state[1];
  state[1] += delta * (next[0] / n);
  state[2] += next[2] + delta * delta * (state[0] * (next[0] / n));
  state[0] = n;
}

static double var_finish (size_t count, const double *state) {
  return count < 2 ? NAN : state[2] / (double)(count - 1);
}

static double std_finish (size_t count, const double *state) {
  return sqrt(var_finish(count, state));
}


/*@ peri.all(t, dim, keep) -> number or Tensor
 * 1 if no element is 0, else 0; 1 of nothing.
 *   dim  integer, from 1, or from -1 backwards, or a table of several; all of them unless told
 * > all(gt({ 1, 2 }, 0))
 * 1.0 */
static void all_fold (size_t n, const double *x, double *state) {
  uint64_t zeros = 0;
  for (size_t i = 0; i < n; i++) zeros |= x[i] == 0;
  state[0] = zeros == 0;
}

static void all_merge (double *state, const double *next) {
  state[0] = state[0] != 0 && next[0] != 0;
}

static double all_finish (size_t count, const double *state) {
  return count == 0 ? 1 : state[0];
}

/*@ peri.any(t, dim, keep) -> number or Tensor
 * 1 if an element is not 0, else 0; 0 of nothing.
 *   dim  integer, from 1, or from -1 backwards, or a table of several; all of them unless told
 * > any(gt({ -1, -2 }, 0))
 * 0.0 */
static void any_fold (size_t n, const double *x, double *state) {
  uint64_t found = 0;
  for (size_t i = 0; i < n; i++) found |= x[i] != 0;
  state[0] = found != 0;
}

static void any_merge (double *state, const double *next) {
  state[0] = state[0] != 0 || next[0] != 0;
}


const Kernel perilune_reduce[] = {
  {.name = "sum", .n_in = 1,
   .reduction = &(const Reduction) {
     .width = 1, .fold = sum_fold, .merge = sum_merge, .finish = sum_finish, .slope = sum_slope}},
  {.name = "mean", .n_in = 1,
   .reduction = &(const Reduction) {
     .width = 1, .fold = sum_fold, .merge = sum_merge, .finish = mean_finish, .slope = mean_slope}},
  {.name = "prod", .n_in = 1,
   .reduction = &(const Reduction) {
     .width = 1, .fold = prod_fold, .merge = prod_merge, .finish = prod_finish}},
  {.name = "max", .n_in = 1,
   .reduction = &(const Reduction) {
     .width = 1, .fold = max_fold, .merge = max_merge, .finish = first_value,
     .slope = extreme_slope, .unnormalised = 1}},
  {.name = "min", .n_in = 1,
   .reduction = &(const Reduction) {
     .width = 1, .fold = min_fold, .merge = min_merge, .finish = first_value,
     .slope = extreme_slope, .unnormalised = 1}},
  {.name = "argmax", .n_in = 1, .flat = 1, .integer = 1,
   .reduction = &(const Reduction) {
     .width = 3, .fold = argmax_fold, .merge = argmax_merge, .finish = place_finish}},
  {.name = "argmin", .n_in = 1, .flat = 1, .integer = 1,
   .reduction = &(const Reduction) {
     .width = 3, .fold = argmin_fold, .merge = argmax_merge, .finish = place_finish}},
  {.name = "logsumexp", .n_in = 1,
   .reduction = &(const Reduction) {
     .width = 2, .fold = logsumexp_fold, .merge = logsumexp_merge, .finish = logsumexp_finish,
     .slope = logsumexp_slope}},
  {.name = "var", .n_in = 1,
   .reduction = &(const Reduction) {
     .width = 3, .fold = var_fold, .merge = var_merge, .finish = var_finish}},
  {.name = "std", .n_in = 1,
   .reduction = &(const Reduction) {
     .width = 3, .fold = var_fold, .merge = var_merge, .finish = std_finish}},
  {.name = "all", .n_in = 1, .flat = 1,
   .reduction = &(const Reduction) {
     .width = 1, .fold = all_fold, .merge = all_merge, .finish = all_finish}},
  {.name = "any", .n_in = 1, .flat = 1,
   .reduction = &(const Reduction) {
     .width = 1, .fold = any_fold, .merge = any_merge, .finish = sum_finish}},
  {.name = NULL}
};
