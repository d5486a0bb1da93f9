/*
** summation.h - sums of a smooth function over a long run of integers
**
** A sum over k = 0, ..., last as a weighted sum over few nodes:
**
**   sum f(k) = sum w_j f(k_j)
**
** Short runs are added up term by term. Of a long run only the ends are: of a term at distance d
** from the end, counted from 1, the part s(d), which falls smoothly from 1 to 0 as log d passes
** log 60. The remaining function vanishes with all its derivatives at both ends, so its sum is its
** integral (Poisson's summation formula: the error is exponentially small). With
** d = T sigmoid(t), T = last + 2, that integral over t is by the same argument a sum with a
** constant step.
**
** f may be any function that at distance d from an end changes over lengths of d or more, as powers
** of d do, or a peak whose place and width are given. For a narrow peak, equidistant outcomes are
** enough, again by Poisson's formula.
*/
#ifndef PERILUNE_SUMMATION_H
#define PERILUNE_SUMMATION_H

#include "special/constants.h"
#include "special/verf.h"
#include "special/vmath.h"

enum { SUMMATION_BLOCK = 64, SUMMATION_END = 480, SUMMATION_SHORT = 1200 };

/* n nodes and their weights; rest = last - k, to all digits where k is rounded near the end */
typedef struct Nodes {
  size_t n;
  double k[SUMMATION_BLOCK], rest[SUMMATION_BLOCK], weight[SUMMATION_BLOCK];
} Nodes;

typedef void Visit (const Nodes *at, void *state);

typedef struct Summation {
  Nodes nodes;
  Visit *visit;
  void *state;
} Summation;


/* the share of a term at distance d that is added up: 1 - 1e-17 or more up to d = 8 */
VECTOR double summation_share (double d) { return 0.5 * verfc(3 * vlog(d / 60)); }

/* the same of any distance, of which few are close to an end */
static inline double summation_share_at (double d) {
  return d > SUMMATION_END ? 0 : summation_share(d);
}

static inline void summation_flush (Summation *s) {
  if (s->nodes.n > 0) s->visit(&s->nodes, s->state);
  s->nodes.n = 0;
}

static inline void summation_node (Summation *s, double k, double rest, double weight) {
  Nodes *at = &s->nodes;
  at->k[at->n] = k;
  at->rest[at->n] = rest;
  at->weight[at->n] = weight;
  if (++at->n == SUMMATION_BLOCK) summation_flush(s);
}

/* the nodes between the ends, at least three for a deviation of `width` in units of t */
static inline void summation_middle (Summation *s, double span, double width) {
  double h = width < 0.45 ? width / 3 : 0.15, steps = floor(vlog(span / 7) / h);
  for (double j = -steps; j <= steps; j++) {
    double t = h * j, d = span * vsigmoid(t), e = span * vsigmoid(-t);
    double rest = 1 - summation_share_at(d) - summation_share_at(e);
    summation_node(s, d - 1, e - 1, h * d * vsigmoid(-t) * rest);
  }
}

/* the ends whose terms matter */
enum { SUMMATION_LOW = 1, SUMMATION_HIGH = 2, SUMMATION_BOTH = 3 };

static inline void summation_long (Summation *s, double last, double width, int ends) {
  double share[SUMMATION_END];
  EVERY for (int i = 0; i < SUMMATION_END; i++) share[i] = summation_share(i + 1);
  for (int i = 0; i < SUMMATION_END; i++) {
    if (ends & SUMMATION_LOW) summation_node(s, i, last - i, share[i]);
    if (ends & SUMMATION_HIGH) summation_node(s, last - i, i, share[i]);
  }
  summation_middle(s, last + 2, width);
}

/* a peak far from both ends: outcomes in whole steps of a third of its deviation */
static inline void summation_peak (Summation *s, double last, double centre, double deviation) {
  double step = floor(deviation / 3) < 1 ? 1 : floor(deviation / 3);
  double steps = floor(25 * deviation / step);
  for (double j = -steps; j <= steps; j++) {
    double k = floor(centre) + j * step;
    if (k >= 0 && k <= last) summation_node(s, k, last - k, step);
  }
}

/*
** All nodes of the sum over k = 0, ..., last; centre and deviation tell of a peak. The
** deviation is infinite where there is none; below 1 all that matters is near an end.
** Nothing is summed where `last` or the centre is no number from 0 to 1e300.
*/
static inline void summation (double last, double centre, double deviation, Visit *visit,
                              void *state) {
  Summation s = {.nodes = {.n = 0}, .visit = visit, .state = state};
  if (!(last >= 0 && last <= 1e300 && centre >= 0 && centre <= last && deviation >= 0)) return;
  double c = centre + 1, width = deviation / c * ((last + 2) / (last + 2 - c));
  if (deviation < 1) width = HUGE_VAL;
  if (last < SUMMATION_SHORT)
    for (double k = 0; k <= last; k++) summation_node(&s, k, last - k, 1);
  else if (width < 0.05) summation_peak(&s, last, centre, deviation);
  else summation_long(&s, last, width, SUMMATION_BOTH);
  summation_flush(&s);
}

/* the same without a peak, of which the first or last SUMMATION_END terms may be nothing */
static inline void summation_ends (double last, int ends, Visit *visit, void *state) {
  if (last < SUMMATION_SHORT || ends == SUMMATION_BOTH || !(last <= 1e300)) {
    summation(last, 0, HUGE_VAL, visit, state);
    return;
  }
  Summation s = {.nodes = {.n = 0}, .visit = visit, .state = state};
  summation_long(&s, last, HUGE_VAL, ends);
  summation_flush(&s);
}

/*
** A law of counts that are sums of more than SUMMATION_NORMAL small ones is a normal law to all
** digits, and doubles may be further apart than its deviation: its entropy is
**   log(2 pi e variance)/2 - skewness^2/12 - ...
** Slopes by sums lose a digit with each power of ten, as the centre of the law is rounded; from
** SUMMATION_SLOPES on those of these two terms are better.
*/
static const double SUMMATION_NORMAL = 0x1p50, SUMMATION_SLOPES = 0x1p20;

static inline double summation_normal_entropy (double log_variance) {
  return fma(0.5, log_variance, HALF_LOG_2PI_E);
}

#endif
