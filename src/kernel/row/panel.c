/*
** panel.c - the panels of a quadrature: their ends, and the error of a rule on them
**
** For lua/perilune/quadrature.lua, which has the rules and says what they mean. f is known at INNER
** points of a panel, and next to both of its ends. Let c_k be the coefficients of f in normalised
** Legendre polynomials, k = 5, ..., 20, and e_1, ..., e_4 the norms of four groups of them. Then
**
**   error = 4 d max(e_4, d e_3),   d = min(1, 4 max_j e_(j+1)/e_j)^2   (Berntsen and Espelid 1991)
**
** in units of half the width: a coefficient of degree 32 is about e_4 r^3, where r is the slowest
** decay. A jump or kink between the outermost point and the end costs at most their distance times
** the difference of the polynomial and the value next to the end. Where nothing decays (d = 1)
** there may be a pole: then that difference counts up to four times the largest |f|, no more.
*/
#include "kernel/kernel.h"
#include "special/fma.h"

enum {
  INNER = 21, PANEL_POINTS = 23,    /* of a rule, and with those next to the ends, low and high */
  GROUPS = 4, EACH = 4,             /* of coefficients */
  LOW = 1 + GROUPS * EACH, HIGH,    /* columns of `rules`: the weights, coefficients, and values */
  RULES                             /* at both ends */
};

#define GAP        0.004342836974191919   /* between the outermost points and the ends */
#define JUMP_RATIO 8                      /* a step that many times as high as others is a jump */

/* What is found of a panel. */
enum { ERROR, SIZE, JUMP, FOUND };

/* Applies all rules to y. */
static void apply (const double *rules, const double *y, double unit, double *out) {
  for (int i = 0; i < RULES; i++) out[i] = 0;
  for (int j = 0; j < INNER; j++) {
    double value = y[j] / unit;
    for (int i = 0; i < RULES; i++) out[i] = fma(rules[j * RULES + i], value, out[i]);
  }
}

/* The least that is not NaN, and NaN if the first is. */
static double at_most (double x, double limit) { return x > limit ? limit : x; }

/* d as above, from the norms of groups of coefficients; NaN where f is. */
static double decay_of (const double *norm) {
  double slowest = norm[1] / fmax(norm[0], 1e-300);
  for (int g = 1; g < GROUPS - 1; g++) {
    double ratio = norm[g + 1] / fmax(norm[g], 1e-300);
    if (!(ratio <= slowest)) slowest = ratio;
  }
  double least = at_most(4 * slowest, 1);
  return least * least;
}

/* How far the polynomial is from the value next to an end; nothing where that is not a number. */
static double off_by (double value, double polynomial, double trusted) {
  double off = at_most(fabs(value - polynomial), trusted);
  return isfinite(off) ? off : 0;
}

/* The number of the gap between neighbouring points, from 1 at the low end, where f has a jump; 0
** if there is none. Next to the ends it may be a pole: these gaps count if f is smooth inside. */
static double jump_of (const double *y, const double *edges, int is_smooth) {
  double highest = -1, second = 0;
  int place = 0;
  for (int i = 0; i <= INNER; i++) {
    int is_edge = i == 0 || i == INNER;
    double before = i == 0 ? edges[0] : y[i - 1], after = i == INNER ? edges[1] : y[i];
    double step = is_edge && !is_smooth ? 0 : fabs(after - before);
    if (isnan(step)) return 0;
    if (step > highest) {
      second = highest;
      highest = step;
      place = i + 1;
    }
    else if (step == highest) place = i + 1;
    else if (step > second) second = step;
  }
  return highest > JUMP_RATIO * fmax(second, 0) ? place : 0;
}

static void measure_one (const double *x, double largest, const double *rules, double *out) {
  double y[INNER], found[RULES], norm[GROUPS], unit = largest > 0 ? largest : 1, size = 0;
  for (int j = 0; j < INNER; j++) {
    y[j] = isinf(x[j]) ? 0 : x[j];
    size = fma(rules[j * RULES], fabs(y[j]), size);
  }
  apply(rules, y, unit, found);
  for (int g = 0; g < GROUPS; g++) {
    norm[g] = 0;
    for (int k = 0; k < EACH; k++) {
      double c = found[1 + g * EACH + k];
      norm[g] = fma(c, c, norm[g]);
    }
    norm[g] = sqrt(norm[g]);
  }
  double decay = decay_of(norm), trusted = decay < 1 ? HUGE_VAL : 4;
  double inside = 4 * decay * fmax(norm[GROUPS - 1], decay * norm[GROUPS - 2]);
  double off = off_by(x[INNER] / unit, found[LOW], trusted)
             + off_by(x[INNER + 1] / unit, found[HIGH], trusted);
  out[ERROR] = unit * (inside + 1.5 * GAP * off);
  out[SIZE] = size;
  out[JUMP] = jump_of(y, x + INNER, decay < 1);
}

/* Values of f, the largest |f| that was seen, and rules, a row of which is for one point; the last
** operand has the size of the result. */
static void measure (const Batch *b, double *out) {
  const size_t *dims = b->dims;
  int fits = dims[0] == PANEL_POINTS && dims[1] == INNER && dims[2] == RULES && dims[3] == FOUND;
  for (size_t r = 0; r < b->n; r++, out += dims[3]) {
    if (fits) measure_one(event(b, 0, r), *event(b, 1, r), event(b, 2, r), out);
    else for (size_t i = 0; i < dims[3]; i++) out[i] = NAN;
  }
}


/* Shell's sort, with gaps that shrink by 2.25, of places from 1 by what x has there. */
static void sort_places (size_t n, const double *x, double *place) {
  for (size_t gap = n; gap > 1; ) {
    gap = gap < 5 ? 1 : gap * 4 / 9;
    for (size_t i = gap; i < n; i++) {
      double moved = place[i];
      size_t j = i;
      for (; j >= gap && x[(size_t)place[j - gap] - 1] > x[(size_t)moved - 1]; j -= gap)
        place[j] = place[j - gap];
      place[j] = moved;
    }
  }
}

/* The places of x in the order of their numbers. */
static void order (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    for (size_t j = 0; j < k; j++) out[j] = (double)(j + 1);
    sort_places(k, event(b, 0, r), out);
  }
}

static size_t one_row (const size_t dims[]) { return dims[0]; }

/* a, then those of the points that lie between a and b, in order and each once, then b, as often as
** there is room: two of the points at least do not lie between. */
static void ends (const Batch *b, double *out) {
  size_t k = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += k) {
    const double *x = event(b, 0, r);
    double from = *event(b, 1, r), to = *event(b, 2, r), *place = b->scratch;
    size_t n = 0, kept = 0;
    for (size_t j = 0; j < k; j++)
      if (x[j] > from && x[j] < to) place[n++] = (double)(j + 1);
    sort_places(n, x, place);
    if (k > 0) out[kept++] = from;
    for (size_t j = 0; j < n && kept < k; j++) {
      double next = x[(size_t)place[j] - 1];
      if (next != out[kept - 1]) out[kept++] = next;
    }
    while (kept < k) out[kept++] = to;
  }
}


const Kernel perilune_row_panel[] = {
  {.name = "measure", .n_in = 4,
   .rows = &(const RowKernel) {.signature = "(k),(),(n,r),(m)->(m)", .run = measure}},
  {.name = "ends", .n_in = 3,
   .rows = &(const RowKernel) {.signature = "(k),(),()->(k)", .run = ends, .scratch = one_row}},
  {.name = "order", .n_in = 1, .rows = &(const RowKernel) {.signature = "(k)->(k)", .run = order}},
  {.name = NULL}
};
