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

static void peak_levels (const Peaked *p, const double t[], double level[]) {
  if (p->levels) p->levels(p->law, t, level);
  else for (int i = 0; i < LEGENDRE; i++) level[i] = peak_level(p, t[i]);
}

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


/* in units of the peak */
static double peak_height (const Peaked *p, double t, const PeakSums *s) {
  return vexp(clamp(peak_level(p, t) - s->top, -HUGE_VAL, LEVEL_MOST));
}

/* how far a panel's polynomial is from the function at its ends, where a step may lie beyond its
   outermost points */
static double peak_edges (const double f[LEGENDRE], double at_from, double at_end) {
  static const double extrapolate[LEGENDRE] = {
    1.6005132325049532, -1.0596854701732159, 0.84136601941274752, -0.71371733890940359,
    0.62589259244137276, -0.55951827075880444, 0.50616479768183637, -0.46136884534592819,
    0.42252958773055651, -0.38802475814158314, 0.35679047089074123, -0.32810236409514832,
    0.30145324795014482, -0.27648073534285885, 0.25292242367364578, -0.23058706617783498,
    0.20933543696738280, -0.18906730113159259, 0.16971236524749146, -0.15122391169399919,
    0.13357430880776139, -0.11675189084920809, 0.10075890023303459, -0.085610329086566593,
    0.071333623239134434, -0.057969354790475797, 0.045573184941051082, -0.034219847414346185,
    0.024010810053594634, -0.015089785374850940, 0.0076788798133872035, -0.0021926123030189867
  };
  double from = -at_from, end = -at_end;
  for (int i = 0; i < LEGENDRE; i++) {
    end = fma(extrapolate[i], f[i], end);
    from = fma(extrapolate[i], f[LEGENDRE - 1 - i], from);
  }
  return fabs(from) + fabs(end);
}

/* adds a panel, if it fits or must; returns how well it fits, at most 1 if so */
static double peak_panel (const Peaked *p, double from, double width, double at_from, double at_end,
                          int is_last, PeakSums *s) {
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
  double t[LEGENDRE], level[LEGENDRE], f[LEGENDRE], part[PEAK_PARTS][LEGENDRE], factor[PEAK_PARTS];
  double high = 0, last = 0, top = s->top;
  EVERY for (int i = 0; i < LEGENDRE; i++) t[i] = fma(width, legendre_node[i], from);
  peak_levels(p, t, level);
  EVERY for (int i = 0; i < LEGENDRE; i++) f[i] = vexp(clamp(level[i] - top, -HUGE_VAL, LEVEL_MOST));
  for (int i = 0; i < LEGENDRE / 2; i++) {
    high = fma(even[i], f[i] + f[LEGENDRE - 1 - i], high);
    last = fma(odd[i], f[i] - f[LEGENDRE - 1 - i], last);
  }
  double size = fabs(width), mass = size * legendre_sum(f);
  double tolerance = fmin(TOLERANCE + p->noise + ROUNDING * fabs(s->top), TOLERANCE_MOST);
  double doubt = fabs(high) + fabs(last) + peak_edges(f, at_from, at_end);
  double misfit = size * doubt / (tolerance * (s->sum[0] + mass));
  if (misfit > 1 && !is_last) return misfit;
  s->sum[0] += mass;
  for (int i = 0; p->n > 0 && i < LEGENDRE; i++) {
    int counts = f[i] > LEAST;
    if (counts) p->factors(p->law, t[i], level[i], factor);
    for (int k = 0; k < p->n; k++) part[k][i] = counts ? f[i] * factor[k] : 0;
  }
  for (int k = 0; k < p->n; k++) s->sum[k + 1] += size * legendre_sum(part[k]);
  return is_last ? fmin(misfit, 1) : misfit;
}

/* from t outwards; the first panel is `width`, which is negative towards the left */
static void peak_march (const Peaked *p, double t, double width, PeakSums *s) {
  double end = width > 0 ? p->high : p->low, height = 1, least = vexp(-LEGENDRE_DEPTH);
  for (int i = 0, refusals = 0; i < PANELS && width != 0; i++) {
    double rest = end - t, w = fabs(width) < fabs(rest) ? width : rest;
    double next = w == rest ? end : t + w, at_next = peak_height(p, next, s);
    int is_last = t + 0x1p-6 * w == t || refusals == REFUSALS;
    double misfit = peak_panel(p, t, w, height, at_next, is_last, s);
    if (misfit > 1) {
      width = 0.5 * w;
      refusals++;
      continue;
    }
    t = next;
    height = at_next;
    if (t == end || !(height > least)) return;
    width = misfit < 1e-3 ? 8 * w : 2 * w;
  }
}

/* as wide as the bracket, with factors as at the peak */
static void peak_alone (const Peaked *p, Bracket b, PeakSums *s) {
  double factor[PEAK_PARTS] = {0};
  if (p->n > 0) p->factors(p->law, b.middle, b.top, factor);
  s->sum[0] = b.right - b.left;
  for (int k = 0; k < p->n; k++) s->sum[k + 1] = s->sum[0] * factor[k];
}

PeakSums peak_integral (const Peaked *p, double start, double step) {
  static const double BLURRED = 0x1p51;   /* a level that is rounded by a quarter: no panel would fit */
  Bracket b = peak_bracket(p, start, step);
  PeakSums s = {.top = b.top};
  if (!(b.top > -HUGE_VAL && b.top < HUGE_VAL)) return s;
  if (b.top < -BLURRED && b.left < b.right) {
    peak_alone(p, b, &s);
    return s;
  }
  peak_march(p, b.middle, 2 * (b.right - b.middle), &s);
  peak_march(p, b.middle, 2 * (b.left - b.middle), &s);
  return s;
}
