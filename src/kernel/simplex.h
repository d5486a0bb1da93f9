/*
** simplex.h - what the families that choose among the outcomes of a row share
**
** Logits are not normalised: p_j = e_j/S with e_j = exp(l_j - m), m the largest of them and
** S = sum_j e_j = 1 + T. T, the sum without that outcome, holds what is lost in S:
** log S = log(1 + T), and 1 - p = T/S for the outcome itself, (S - e_j)/S for any other. A
** logit of -inf is an outcome that cannot happen.
*/
#ifndef PERILUNE_SIMPLEX_H
#define PERILUNE_SIMPLEX_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernel/kernel.h"
#include "special/vmath.h"

typedef struct Simplex {
  size_t top;                          /* a most likely outcome */
  double shift, sum, rest, log_sum;    /* m, S, T, log S */
} Simplex;


/* {=====================================================
** Sums, in four lanes; long ones of numbers in sixteen
** ====================================================== */

enum { SIMPLEX_LANES = 4 };

VECTOR double larger (double a, double b) {
  return a > b ? a : b;
}

/* the largest element that is no NaN */
static inline double simplex_largest (Stop stop, size_t k, const double *l) {
  double lane[SIMPLEX_LANES], m = -INFINITY;
  size_t fours = k - k % SIMPLEX_LANES;
  for (size_t r = 0; r < SIMPLEX_LANES; r++) lane[r] = m;
  for (size_t j = 0, end; (end = part_end(stop, j, fours)) > j; )
    for (; j < end; j += SIMPLEX_LANES)
      for (size_t r = 0; r < SIMPLEX_LANES; r++) lane[r] = larger(l[j + r], lane[r]);
  for (size_t r = 0; r < SIMPLEX_LANES; r++) m = larger(lane[r], m);
  for (size_t j = fours; j < k; j++) m = larger(l[j], m);
  return m;
}

/* where the first element is that equals m, or the last of all */
static inline size_t simplex_place (Stop stop, size_t k, const double *l, double m) {
  size_t j = 0, last = k > 0 ? k - 1 : 0;
  for (size_t end; (end = part_end(stop, j, last)) > j && l[j] != m; )
    while (j < end && l[j] != m) j++;
  return j;
}

/* that, but 0 in place of an infinity, which as a shift would make NaN of the others */
static inline double simplex_shift (Stop stop, size_t k, const double *l) {
  double m = simplex_largest(stop, k, l);
  return fabs(m) == INFINITY ? 0 : m;
}

/* e_j (g_j - origin), or e_j without a g; 0 at impossible outcomes, whatever g is there */
VECTOR double simplex_term (const double *l, const double *g, size_t j, double shift,
                            double origin) {
  double e = vexp(l[j] - shift), term = e * (g == NULL ? 1.0 : g[j] - origin);
  return e == 0 ? 0.0 : term;
}

/* four terms from outcome j on; nothing for `without` and those before `first` */
VECTOR void simplex_add (const double *l, const double *g, size_t j, double shift,
                         double origin, size_t first, size_t without, double *lane) {
  for (size_t r = 0; r < SIMPLEX_LANES; r++) {
    double term = simplex_term(l, g, j + r, shift, origin);
    lane[r] += j + r == without || j + r < first ? 0.0 : term;
  }
}

/* The sum of terms. A last piece of less than four is the end of the last four. */
VECTOR double simplex_terms (Stop stop, size_t k, const double *l, const double *g,
                             double shift, double origin, size_t without) {
  double lane[SIMPLEX_LANES] = {0};
  size_t fours = k - k % SIMPLEX_LANES;
  for (size_t j = 0, end; (end = part_end(stop, j, fours)) > j; )
    for (; j < end; j += SIMPLEX_LANES)
      simplex_add(l, g, j, shift, origin, 0, without, lane);
  if (fours < k && k >= SIMPLEX_LANES)
    simplex_add(l, g, k - SIMPLEX_LANES, shift, origin, fours, without, lane);
  else
    for (size_t j = fours; j < k; j++)
      lane[j] = j == without ? 0 : simplex_term(l, g, j, shift, origin);
  return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/* sum_j e_j, an outcome left out if `without` is one */
static inline double simplex_sum (Stop stop, size_t k, const double *l, double shift,
                                  size_t without) {
  return simplex_terms(stop, k, l, NULL, shift, 0, without);
}

static inline Simplex simplex_of (Stop stop, size_t k, const double *l) {
  double m = simplex_largest(stop, k, l), first = fabs(m) == INFINITY ? vexp(m) : 1;
  Simplex s = {.shift = fabs(m) == INFINITY ? 0 : m, .top = simplex_place(stop, k, l, m)};
  s.rest = simplex_sum(stop, k, l, s.shift, s.top);
  s.sum = first + s.rest;
  s.log_sum = vlog1p((first - 1) + s.rest);
  return s;
}

/* S times (1 - p_j), given e_j */
static inline double simplex_others (const Simplex *s, size_t j, double e) {
  return j == s->top ? s->rest : s->sum - e;
}

/* sum_j p_j (g_j - g_top) */
static inline double simplex_mean (Stop stop, size_t k, const double *l, const Simplex *s,
                                   const double *g) {
  return simplex_terms(stop, k, l, g, s->shift, g[s->top], s->top) / s->sum;
}

enum { SIMPLEX_WIDE = 4 * SIMPLEX_LANES };   /* of a long sum: few would wait for one another */

/* adds x_j, as many at a time as there are lanes and from j on; returns where fewer are left */
VECTOR size_t lanes_add (size_t lanes, size_t j, size_t k, const double *x, double *lane) {
  for (; j + lanes <= k; j += lanes)
    for (size_t r = 0; r < lanes; r++) lane[r] += x[j + r];
  return j;
}

/* the same for w_j and for w_j (x_j - origin) */
VECTOR size_t lanes_add_both (size_t lanes, size_t j, size_t k, const double *w, const double *x,
                              double origin, double *all, double *product) {
  for (; j + lanes <= k; j += lanes)
    for (size_t r = 0; r < lanes; r++) {
      all[r] += w[j + r];
      product[r] = fma(w[j + r], x[j + r] - origin, product[r]);
    }
  return j;
}

/* all that fills the wide lanes; returns where fewer are left */
VECTOR size_t lanes_add_most (Stop stop, size_t k, const double *x, double *wide) {
  size_t j = 0;
  if (k <= STOP_PART) return lanes_add(SIMPLEX_WIDE, 0, k, x, wide);
  for (size_t end; (end = part_end(stop, j, k - k % SIMPLEX_WIDE)) > j; )
    j = lanes_add(SIMPLEX_WIDE, j, end, x, wide);
  return j;
}

VECTOR size_t lanes_add_most_both (Stop stop, size_t k, const double *w, const double *x,
                                   double origin, double *all, double *product) {
  size_t j = 0;
  if (k <= STOP_PART) return lanes_add_both(SIMPLEX_WIDE, 0, k, w, x, origin, all, product);
  for (size_t end; (end = part_end(stop, j, k - k % SIMPLEX_WIDE)) > j; )
    j = lanes_add_both(SIMPLEX_WIDE, j, end, w, x, origin, all, product);
  return j;
}

VECTOR void lanes_narrow (const double wide[SIMPLEX_WIDE], double lane[SIMPLEX_LANES]) {
  for (size_t r = 0; r < SIMPLEX_LANES; r++)
    lane[r] = (wide[r] + wide[r + 2 * SIMPLEX_LANES])
            + (wide[r + SIMPLEX_LANES] + wide[r + 3 * SIMPLEX_LANES]);
}

VECTOR double lanes_join (const double lane[SIMPLEX_LANES], double last) {
  return ((lane[0] + lane[2]) + (lane[1] + lane[3])) + last;
}

/* sum_j x_j */
static inline double simplex_total (Stop stop, size_t k, const double *x) {
  double wide[SIMPLEX_WIDE] = {0}, lane[SIMPLEX_LANES], last = 0;
  size_t j = lanes_add_most(stop, k, x, wide);
  lanes_narrow(wide, lane);
  j = lanes_add(SIMPLEX_LANES, j, k, x, lane);
  lanes_add(1, j, k, x, &last);
  return lanes_join(lane, last);
}

typedef struct Sums { double all, product; } Sums;

/* sum_j w_j and sum_j w_j (x_j - origin) */
VECTOR Sums simplex_sums (Stop stop, size_t k, const double *w, const double *x,
                          double origin) {
  double wide[2][SIMPLEX_WIDE] = {{0}}, lane[2][SIMPLEX_LANES], last[2] = {0};
  size_t j = lanes_add_most_both(stop, k, w, x, origin, wide[0], wide[1]);
  for (int i = 0; i < 2; i++) lanes_narrow(wide[i], lane[i]);
  j = lanes_add_both(SIMPLEX_LANES, j, k, w, x, origin, lane[0], lane[1]);
  lanes_add_both(1, j, k, w, x, origin, &last[0], &last[1]);
  return (Sums) {.all = lanes_join(lane[0], last[0]), .product = lanes_join(lane[1], last[1])};
}

/* e_j; e may be l */
static inline void simplex_weights (Stop stop, size_t k, const double *l, double shift,
                                    double *e) {
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) e[j] = vexp(l[j] - shift);
}

/* the probabilities; p may be l */
static inline void simplex_probs (Stop stop, size_t k, const double *l, double *p) {
  simplex_weights(stop, k, l, simplex_shift(stop, k, l), p);
  double sum = simplex_total(stop, k, p);
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) p[j] /= sum;
}

/*
** d_j = scale p_j (g_j - sum_i p_i g_i), back through p to the logits. g is counted from
** its value at the top, so that a row that is nearly certain keeps its digits. d may be g.
*/
static inline void simplex_pull (Stop stop, size_t k, const double *l, const double *g,
                                 double scale, double *d) {
  Simplex s = simplex_of(stop, k, l);
  double origin = g[s.top], mean = simplex_mean(stop, k, l, &s, g), shift = s.shift, sum = s.sum;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      double p = vexp(l[j] - shift) / sum, value = scale * p * ((g[j] - origin) - mean);
      d[j] = p == 0 ? 0.0 : value;
    }
}

/* }====================================================== */


/* {=====================================================
** Kernels of Categorical and OneHotCategorical
** ====================================================== */

enum { SIMPLEX_ASKED = 16384 };   /* outcomes, or rows that share theirs, between two questions */

/* the outcome that an event names, or k; *sum is NaN if the event has one */
typedef size_t Place (Stop stop, size_t k, const double *x, double *sum);

VECTOR void simplex_log_prob (const Batch *b, double *out, Place *place) {
  size_t k = b->dims[0], each = b->step[1] == 0 ? SIMPLEX_ASKED : SIMPLEX_ASKED / (k + 1) + 1;
  const double *seen = NULL;
  Simplex s = {0};
  for (size_t r = 0, end; r < b->n && !stops(b->stop); r = end) {
    end = b->n - r < each ? b->n : r + each;
    for (size_t i = r; i < end; i++) {
      const double *l = event(b, 1, i);
      double sum;
      size_t at = place(b->stop, k, event(b, 0, i), &sum);
      if (l != seen) s = simplex_of(b->stop, k, l);   /* once for a shared row */
      seen = l;
      if (at < k) out[i] = (l[at] - s.shift) - s.log_sum;
      else out[i] = sum == sum ? -INFINITY : sum;
    }
  }
}

/* upstream (1[j = x] - p_j); x has `width` numbers, which cannot be moved a little */
VECTOR void simplex_log_prob_adjoint (const Batch *b, const double *upstream, double *const d[],
                                      Place *place, size_t width) {
  size_t k = b->dims[0];
  clear(b->stop, b->n * width, d[0]);
  for (size_t r = 0; r < b->n && !stops_at(b->stop, r, k); r++) {
    const double *l = event(b, 1, r);
    double *dl = d[1] + r * k, sum;
    size_t at = place(b->stop, k, event(b, 0, r), &sum);
    Simplex s = simplex_of(b->stop, k, l);
    double scale = at < k ? upstream[r] / s.sum : 0, shift = s.shift;
    for (size_t j = 0, end; (end = part_end(b->stop, j, k)) > j; )
      for (; j < end; j++) dl[j] = -scale * vexp(l[j] - shift);
    if (at < k) dl[at] = scale * simplex_others(&s, at, vexp(l[at] - shift));
  }
}


/* log S - sum_j p_j (l_j - m), no term of which is negative */
static inline void simplex_entropy (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 0, r);
    Simplex s = simplex_of(b->stop, k, l);
    out[r] = s.log_sum - simplex_mean(b->stop, k, l, &s, l);
  }
}

/* -p_j (l_j - sum_i p_i l_i) */
static inline void simplex_entropy_adjoint (const Batch *b, const double *upstream,
                                            double *const d[]) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 0, r);
    simplex_pull(b->stop, k, l, l, -upstream[r], d[0] + r * k);
  }
}

/* }====================================================== */


/* {=====================================================
** Draws by inversion: the first outcome whose running sum exceeds the share u of all, never
** an impossible one. Where many draws share their logits, a guide says for each cell of
** (0, 1) the outcome from which to look on; both ways compare the same numbers.
** ====================================================== */

enum { SIMPLEX_GUIDE = 4096 };

typedef struct Chances {
  size_t k;
  double total, *sums;   /* of all e_j; of those up to j, the last NaN: no u is beyond it */
  uint32_t *guide;       /* NULL: none */
} Chances;

/* doubles for sums and a guide */
static inline size_t chances_scratch (const size_t dims[]) {
  return dims[0] + SIMPLEX_GUIDE * sizeof(uint32_t) / sizeof(double);
}

/* those of logits l; `draws` is how many come from them */
static inline Chances chances_of (Stop stop, size_t k, const double *l, size_t draws,
                                  double *scratch) {
  Chances c = {.k = k, .sums = scratch};
  simplex_weights(stop, k, l, simplex_shift(stop, k, l), scratch);
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) scratch[j] = c.total += scratch[j];
  scratch[k - 1] = (double)NAN;
  if (draws <= SIMPLEX_GUIDE / 8 || k > UINT32_MAX) return c;
  uint32_t *guide = (uint32_t *)(void *)(scratch + k);
  for (size_t cell = 0, j = 0; cell < SIMPLEX_GUIDE; cell++) {
    if (stops_at(stop, cell, k / SIMPLEX_GUIDE)) return c;
    while (scratch[j] <= c.total * ((double)cell / SIMPLEX_GUIDE)) j++;
    guide[cell] = (uint32_t)j;
  }
  c.guide = guide;
  return c;
}

/* the outcome that u in (0, 1) makes, with the guide: seldom more than one further on */
static inline size_t guided (const Chances *c, double u) {
  double share = u * c->total;
  size_t j = c->guide[(int)(u * SIMPLEX_GUIDE)];
  j += c->sums[j] <= share;
  while (c->sums[j] <= share) j++;
  return j;
}

/* and any u without it, by halving */
static inline size_t halved (const Chances *c, double u) {
  double share = u * c->total;
  size_t low = 0, high = c->k - 1;   /* `high` has exceeded it, what is before `low` has not */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (c->sums[middle] <= share) low = middle + 1;
    else high = middle;
  }
  return high;
}

/* a one-hot row for each draw, operands u and logits */
static inline void simplex_draw_rows (const Batch *b, double *out) {
  size_t k = b->dims[0];
  const double *seen = NULL;
  Chances c = {0};
  clear(b->stop, b->n * k, out);
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *l = event(b, 1, r);
    double u = *event(b, 0, r);
    if (l != seen) c = chances_of(b->stop, k, l, b->step[1] == 0 ? b->n : 1, b->scratch);
    seen = l;
    out[c.guide != NULL && u > 0 && u < 1 ? guided(&c, u) : halved(&c, u)] = 1;
  }
}

/* }====================================================== */

#endif
