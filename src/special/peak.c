/*
** peak.c - integrals of positive functions with one peak (peak.h)
*/
#include "special/peak.h"

#include "special/legendre.h"
#include "special/vmath.h"

enum { PANELS = 1200, REFUSALS = 100 };

static const double TOLERANCE = 1e-8, TOLERANCE_MOST = 0.5, ROUNDING = 0x1p-46;
static const double LEAST = 1e-22;   /* of the peak: below it factors no longer count */
static const double LEVEL_MOST = 50;   /* above the peak: rounding errors of levels like 1e18 */

/* three points about the peak; at an end of the range two of them are one */
typedef struct Bracket { double left, middle, right, at_left, top, at_right; } Bracket;


static double peak_level (const Peaked *p, double t) { return p->level(p->law, t); }

static double peak_inside (const Peaked *p, double t) {
  return t < p->low ? p->low : t > p->high ? p->high : t;
}

/* uphill in steps that double, from b->middle towards one side */
static void peak_climb (const Peaked *p, Bracket *b, double step) {
  for (int i = 0; i < 1100; i++, step *= 2) {
    double t = peak_inside(p, b->middle + step), level = peak_level(p, t);
    if (!(level > b->top)) {
      if (step > 0) b->right = t, b->at_right = level;
      else b->left = t, b->at_left = level;
      return;
    }
    if (step > 0) b->left = b->middle, b->at_left = b->top;
    else b->right = b->middle, b->at_right = b->top;
    b->middle = t;
    b->top = level;
  }
}

/* halves the lower side */
static void peak_narrow (const Peaked *p, Bracket *b) {
  int right = b->at_right < b->at_left;
  double t = b->middle + 0.5 * ((right ? b->right : b->left) - b->middle);
  double level = peak_level(p, t);
  if (level > b->top) {
    if (right) b->left = b->middle, b->at_left = b->top;
    else b->right = b->middle, b->at_right = b->top;
    b->middle = t;
    b->top = level;
  } else if (right) b->right = t, b->at_right = level;
  else b->left = t, b->at_left = level;
}

/* about the peak, with levels that are not far below it */
static Bracket peak_bracket (const Peaked *p, double start, double step) {
  static const double NEAR = 2;
  double level = peak_level(p, start);
  Bracket b = {start, start, start, level, level, level};
  peak_climb(p, &b, step);
  if (b.left == b.middle) peak_climb(p, &b, -step);
  for (int i = 0; i < 200; i++) {
    if (!(b.top - fmin(b.at_left, b.at_right) > NEAR)) break;
    peak_narrow(p, &b);
  }
  return b;
}


/* adds a panel, if it fits or must; returns how well it fits, at most 1 if so */
static double peak_panel (const Peaked *p, double from, double width, int is_last, PeakSums *s) {
  static const double even[LEGENDRE / 2] = {
    0.016918664744985238, -0.058217912866737982, 0.11080824735649402, -0.16826484704337843,
    0.22532652462560162, -0.27732373364576511, 0.32017083149630795, -0.35048195720784646,
    0.36570526467693665, -0.36423545706976218, 0.3454850467549064, -0.30990414515460325,
    0.25894452156378629, -0.19496828961306247, 0.12110549915521715, -0.041068257773079439
  }, odd[LEGENDRE / 2] = {
    0.0086215998406119491, -0.030018067051679857, 0.058369186475427515, -0.091465491326121721,
    0.12775577180410585, -0.16592934543535494, 0.20479935229863132, -0.2432643149470776,
    0.28029835373680275, -0.31495372174003292, 0.34636890819891398, -0.37377902811804034,
    0.39652668542718511, -0.41407220426735943, 0.42600250546331438, -0.43203813831871824
  };
  double level[LEGENDRE], f[LEGENDRE], part[PEAK_PARTS][LEGENDRE], factor[PEAK_PARTS];
  double high = 0, last = 0;
  for (int i = 0; i < LEGENDRE; i++) {
    level[i] = peak_level(p, fma(width, legendre_node[i], from));
    f[i] = vexp(fmin(level[i] - s->top, LEVEL_MOST));
  }
  for (int i = 0; i < LEGENDRE / 2; i++) {
    high = fma(even[i], f[i] + f[LEGENDRE - 1 - i], high);
    last = fma(odd[i], f[i] - f[LEGENDRE - 1 - i], last);
  }
  double size = fabs(width), mass = size * legendre_sum(f);
  double tolerance = fmin(TOLERANCE + p->noise + ROUNDING * fabs(s->top), TOLERANCE_MOST);
  double misfit = size * (fabs(high) + fabs(last)) / (tolerance * (s->sum[0] + mass));
  if (misfit > 1 && !is_last) return misfit;
  s->sum[0] += mass;
  for (int i = 0; p->n > 0 && i < LEGENDRE; i++) {
    int counts = f[i] > LEAST;
    if (counts) p->factors(p->law, fma(width, legendre_node[i], from), level[i], factor);
    for (int k = 0; k < p->n; k++) part[k][i] = counts ? f[i] * factor[k] : 0;
  }
  for (int k = 0; k < p->n; k++) s->sum[k + 1] += size * legendre_sum(part[k]);
  return is_last ? fmin(misfit, 1) : misfit;
}

/* from t outwards; the first panel is `width`, which is negative towards the left */
static void peak_march (const Peaked *p, double t, double width, PeakSums *s) {
  double end = width > 0 ? p->high : p->low, least = s->top - LEGENDRE_DEPTH;
  for (int i = 0, refusals = 0; i < PANELS && width != 0; i++) {
    double rest = end - t, w = fabs(width) < fabs(rest) ? width : rest;
    int is_last = t + 0x1p-6 * w == t || refusals == REFUSALS;
    double misfit = peak_panel(p, t, w, is_last, s);
    if (misfit > 1) {
      width = 0.5 * w;
      refusals++;
      continue;
    }
    t = w == rest ? end : t + w;
    if (t == end || !(peak_level(p, t) > least)) return;
    width = misfit < 1e-3 ? 8 * w : 2 * w;
  }
}

PeakSums peak_integral (const Peaked *p, double start, double step) {
  Bracket b = peak_bracket(p, start, step);
  PeakSums s = {.top = b.top};
  if (!(b.top > -HUGE_VAL && b.top < HUGE_VAL)) return s;
  peak_march(p, b.middle, 2 * (b.right - b.middle), &s);
  peak_march(p, b.middle, 2 * (b.left - b.middle), &s);
  return s;
}
