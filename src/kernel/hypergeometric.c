/*
** hypergeometric.c - Hypergeometric(population, successes, draws): draws without replacement
**
**   P(x) = C(K, x) C(N - K, n - x)/C(N, n)
**
** The four cells x, n - x, K - x, N - K - n + x of a table with rows n, N - n and columns K, N - K
** all differ from their expectations by the same |x - nK/N|. By Stirling's formula, with mu its
** error (C. Loader's form, 2000), log P is
**
**   log sqrt(rows columns/(2 pi N cells)) + mu(rows) + mu(columns) - mu(N) - mu(cells) - D
**
** D = sum of c log(c/e) + e - c over cells c and their expectations e: nothing cancels.
** The parameters are integers: there are no partials.
*/
#include "kernel/repeated.h"
#include "kernel/kernel.h"
#include "kernel/discrete_quantile.h"
#include "random/noise.h"
#include "random/rejection.h"
#include "special/constants.h"
#include "special/verf.h"
#include "special/vgamma.h"

/* of N there are K successes; n are drawn */
typedef struct Population { double N, K, n; } Population;


VECTOR double first_of (Population a) { return a.n > a.N - a.K ? a.n - (a.N - a.K) : 0; }
VECTOR double last_of (Population a) { return a.n < a.K ? a.n : a.K; }
VECTOR double mean_of (Population a) { return a.n * a.K / a.N; }

/* floor((n + 1)(K + 1)/(N + 2)), the rounded quotient put right by its remainder */
VECTOR double mode_of (Population a) {
  double x = floor((a.n + 1) * (a.K + 1) / (a.N + 2));
  Pair s = exact_product(a.n + 1, a.K + 1), t = exact_product(x, a.N);
  double rest = ((s.hi - t.hi) + (s.lo - t.lo)) - 2 * x;
  return clamp(x + floor(rest / (a.N + 2)), first_of(a), last_of(a));
}

VECTOR double variance_of (Population a) {
  double others = a.N > 1 ? a.N - 1 : 1;
  return mean_of(a) * ((a.N - a.K) / a.N) * ((a.N - a.n) / others);
}

/* the law of n - X: the other colour */
static Population mirrored (Population a) { return (Population) {a.N, a.N - a.K, a.n}; }


/* {=====================================================
** Probabilities
** ====================================================== */

/* c! = sqrt(size) e^mu c^c e^-c, also for c = 0 */
VECTOR double size (double c) { return c == 0 ? 1 : TWO_PI * c; }
VECTOR double mu (double c) { return c == 0 ? 0 : stirlerr_above(c < 0.5 ? 0.5 : c); }

/* c log(c/e) + e - c, given d = e - c without cancellation */
VECTOR double deviance (double c, double e, double d) {
  double near = -c * vlog1pmx(d / c), far = fma(c, vlog_ratio(c, e), d);
  double value = fabs(d) <= 0.5 * c + 0.5 * e ? near : far;
  return c == 0 ? e : value;
}

/* x - nK/N */
VECTOR double offset (double x, Population a) {
  Pair s = exact_product(x, a.N), t = exact_product(a.n, a.K);
  return ((s.hi - t.hi) + (s.lo - t.lo)) / a.N;
}

/* log P(x) inside the support, between outcomes too; d = x - nK/N */
VECTOR double log_mass (double x, double d, Population a) {
  double left = a.N - a.n, blank = a.N - a.K;
  double c1 = x, c2 = a.n - x, c3 = a.K - x, c4 = (blank - a.n) + x;
  double r = a.n / a.N, s = left / a.N;
  double D = (deviance(c1, r * a.K, -d) + deviance(c4, s * blank, -d))
           + (deviance(c2, r * blank, d) + deviance(c3, s * a.K, d));
  double margins = (mu(a.n) + mu(left)) + (mu(a.K) + mu(blank)) - mu(a.N);
  double cells = (mu(c1) + mu(c2)) + (mu(c3) + mu(c4));
  double above = size(a.n) * size(left) * size(a.K) * size(blank);
  double below = size(a.N) * size(c1) * size(c2) * size(c3) * size(c4);
  return fma(0.5, vlog(above / below), margins - cells) - D;
}

/* the same of one outcome */
ONE_COPY double log_mass_at (double x, double d, Population a) { return log_mass(x, d, a); }

/* of many outcomes */
ONE_COPY void log_masses (size_t n, const double *const in[], double *restrict out) {
  const double *x = in[0], *N = in[1], *K = in[2], *draws = in[3];
  EVERY for (size_t i = 0; i < n; i++) {
    Population a = {N[i], K[i], draws[i]};
    out[i] = log_mass(x[i], offset(x[i], a), a);
  }
}

/* P(x + 1)/P(x), P(x - 1)/P(x); 0 at the ends of the support */
static double ratio_up (double x, Population a) {
  return ((a.n - x) / (x + 1)) * ((a.K - x) / ((a.N - a.K - a.n) + x + 1));
}

static double ratio_down (double x, Population a) {
  return (x / (a.n - x + 1)) * (((a.N - a.K - a.n) + x) / (a.K - x + 1));
}

/* }====================================================== */


/* {=====================================================
** Tails: P(X <= x), x below the mean, as e^log_head sum. Outcomes are added while they are
** few. Else, by the Euler-Maclaurin formula about x + 1/2, with f = e^L,
**   sum of f up to x = integral of f up to x + 1/2 - f'/24 + 7 f'''/5760 - ...
** f changing by less than 1 in 100 from one outcome to the next, what is left out is 1e-16.
** ====================================================== */

typedef struct TailSum { double log_head, sum; } TailSum;

enum { MAX_SUMMED = 4096, PANELS = 8, NODES = 16, TAIL_POINTS = PANELS * NODES };

static const double TAIL_DEPTH = 50;   /* e^-50 of the head is where tails end */

/* Gauss-Legendre, 16 nodes: the positive half on [-1, 1] */
static const double NODE[] = {
  0.095012509837637440185, 0.28160355077925891323, 0.45801677765722738634,
  0.61787624440264374845, 0.75540440835500303390, 0.86563120238783174388,
  0.94457502307323257608, 0.98940093499164993260
};
static const double WEIGHT[] = {
  0.18945061045506849629, 0.18260341504492358887, 0.16915651939500253819,
  0.14959598881657673208, 0.12462897125553387205, 0.095158511682492784810,
  0.062253523938647892863, 0.027152459411754094852
};

static TailSum tail_by_summing (double x, Population a) {
  double sum = 0, term = 1;
  for (int i = 0; i < 2 * MAX_SUMMED && term > 1e-18 * sum; i++, x -= 1) {
    sum += term;
    term *= ratio_down(x, a);
  }
  return (TailSum) {0, sum};
}

/* the integral of e^(L(x - s) - L(x)) over s from 0 to `reach`; d = x - nK/N */
static double integral (double x, double d, Population a, double reach) {
  double value[TAIL_POINTS], head = log_mass_at(x, d, a), half = 0.5 * reach / PANELS, sum = 0;
  for (int i = 0; i < TAIL_POINTS; i++) {
    int k = i % NODES;
    value[i] = half * (2 * (i / NODES) + 1 + (k < 8 ? NODE[k] : -NODE[k - 8]));
  }
  for (int i = 0; i < TAIL_POINTS; i++)
    value[i] = vexp(log_mass_at(x - value[i], d - value[i], a) - head);
  for (int i = TAIL_POINTS - 1; i >= 0; i--) sum = fma(WEIGHT[i % 8], value[i], sum);
  return half * sum;
}

/* `slope` is L' at x + 1/2 */
static TailSum tail_by_integral (double x, Population a, double slope) {
  double middle = x + 0.5, d = offset(x, a) + 0.5;
  double bend = 1 / middle + 1 / (a.n - middle) + 1 / (a.K - middle)
              + 1 / ((a.N - a.K - a.n) + middle);   /* -L'' */
  double reach = 2 * TAIL_DEPTH / (slope + sqrt(fma(slope, slope, 2 * TAIL_DEPTH * bend)));
  double third = slope * fma(slope, slope, -3 * bend);
  double sum = integral(middle, d, a, fmin(reach, middle - first_of(a)));
  return (TailSum) {log_mass_at(middle, d, a), sum + fma(third, 7.0 / 5760, -slope / 24)};
}

static TailSum tail_down (double x, Population a) {
  if (x < first_of(a)) return (TailSum) {0, 0};
  double slope = vlog(ratio_up(x, a));
  double outcomes = fmin(9 * sqrt(variance_of(a)), TAIL_DEPTH / fabs(slope));
  if (outcomes > MAX_SUMMED) return tail_by_integral(x, a, slope);
  TailSum t = tail_by_summing(x, a);
  t.log_head = log_mass_at(x, offset(x, a), a);
  return t;
}

/* P(X > x) */
static TailSum tail_up (double x, Population a) { return tail_down((a.n - x) - 1, mirrored(a)); }

static double tail_value (TailSum t) { return vexp(t.log_head) * t.sum; }
static double tail_log (TailSum t) { return t.log_head + vlog(t.sum); }

static Population law_at (const double v[]) { return (Population) {v[1], v[2], v[3]}; }

static double off_support (double k, Population a, int upper) {
  return upper ? k < last_of(a) : k >= last_of(a);
}

/* from the side without the mean */
static double tail (const double v[], int upper) {
  Population a = law_at(v);
  double k = floor(v[0]);
  if (!(k >= first_of(a) && k < last_of(a))) return k == k ? off_support(k, a, upper) : v[0];
  int above = !(k < mean_of(a));
  double value = tail_value(above ? tail_up(k, a) : tail_down(k, a));
  return above == upper ? value : 1 - value;
}

static double log_tail (const double v[], int upper) {
  Population a = law_at(v);
  double k = floor(v[0]);
  if (!(k >= first_of(a) && k < last_of(a))) return vlog(tail(v, upper));
  int above = !(k < mean_of(a));
  TailSum t = above ? tail_up(k, a) : tail_down(k, a);
  return above == upper ? fmin(tail_log(t), 0) : vlog1p(-tail_value(t));
}

/* }====================================================== */


/* log P(x) of an outcome that is more likely than not: from all the others */
static double log_likely (double x, Population a) {
  return vlog1p(-(tail_value(tail_down(x - 1, a)) + tail_value(tail_up(x, a))));
}

static int is_likely (double log) { return log > -LN2 && log < 1; }

static void log_prob (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *N = in[1], *K = in[2], *draws = in[3];
  log_masses(n, in, out);
  EVERY for (size_t i = 0; i < n; i++) {
    Population a = {N[i], K[i], draws[i]};
    double first = first_of(a), last = last_of(a), off = x[i] == x[i] ? -HUGE_VAL : x[i];
    int hit = (x[i] >= first) & (x[i] <= last) & (floor(x[i]) == x[i]);
    out[i] = hit ? out[i] : off;
  }
  EVERY for (size_t i = 0; i < n; i++)
    if (is_likely(out[i])) out[i] = log_likely(x[i], (Population) {N[i], K[i], draws[i]});
}


static double quantile (const double v[], int upper) {
  Population a = law_at(v);
  double p = v[0], z = vndtri(clamp(p, 1e-300, 1 - 0x1p-53));
  Stairs stairs = {tail, NULL, first_of(a), last_of(a), 4, v};
  if (!(p >= 0 && p <= 1)) return (double)NAN;
  if (p == (upper ? 0 : 1)) return last_of(a);
  double start = mean_of(a) + sqrt(variance_of(a)) * (upper ? -z : z);
  return outcome_quantile(&stairs, start, level_of(p, upper, quantile_log_slack(p)));
}

static const SidedLaw law = {
  .operands = 4, .tail = tail, .log_tail = log_tail, .quantile = quantile
};

#include "kernel/sided_kernels.h"


/*
** The sum of -P log P over steps of half a standard deviation: the trapezoidal rule misses
** e^-79 of such a sum. (Outcomes are sums of independent throws of coins, so the ends of the
** support are at least as many standard deviations off as there are outcomes in one.)
*/
static double entropy_of (Population a) {
  double sd = sqrt(variance_of(a)), step = sd < 32 ? 1 : floor(0.5 * sd), sum = 0;
  double first = fmax(first_of(a), floor(mean_of(a) - 10 * sd - 20));
  double last = fmin(last_of(a), mean_of(a) + 10 * sd + 20), steps = floor((last - first) / step);
  for (double j = 0; j <= steps; j++) {
    double x = first + j * step, log = log_mass_at(x, offset(x, a), a);
    log = is_likely(log) ? log_likely(x, a) : log;
    sum = fma(-log, vexp(log), sum);
  }
  return step * sum;
}

static void entropy (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = entropy_of((Population) {in[0][i], in[1][i], in[2][i]});
}

static void mode (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = mode_of((Population) {in[0][i], in[1][i], in[2][i]});
}


/* {=====================================================
** Draws: with a small variance by inversion, the outcomes taken in turn from either side of
** the mode; else by the ratio of uniforms (E. Stadlober, "The ratio of uniforms approach for
** generating discrete random variates", 1990).
** ====================================================== */

enum { SEARCH_STEPS = 1000, RETRY = 2 };
static const double REJECTION_VARIANCE = 16;   /* below it, by inversion */

static double log_mode (Population a) {
  double mode = mode_of(a);
  return log_mass_at(mode, offset(mode, a), a);
}

/* by inversion; p is the probability of the mode */
static double search (double u, Population a, double p) {
  double mode = mode_of(a), sum = p, up = p, down = p;
  if (u <= sum) return mode;
  for (int i = 0; i < SEARCH_STEPS && up + down > 1e-19; i++) {
    up *= ratio_up(mode + i, a);
    sum += up;
    if (u <= sum) return mode + i + 1;
    down *= ratio_down(mode - i, a);
    sum += down;
    if (u <= sum) return mode - i - 1;
  }
  return mode;   /* the 2^-53 that rounding may leave over */
}

static int same (Population a, Population b) { return a.N == b.N && a.K == b.K && a.n == b.n; }

/* log_mode of each law; most often there is but one */
static void log_modes (size_t n, const double *const in[], double *restrict log) {
  const double *N = in[0], *K = in[1], *draws = in[2];
  size_t differing = all_same(n, N) && all_same(n, K) && all_same(n, draws) ? 1 : n;
  for (size_t i = 0; i < differing; i++) log[i] = log_mode((Population) {N[i], K[i], draws[i]});
  for (size_t i = differing; i < n; i++) log[i] = log[0];
}

/* NaN where a proposal lies off the support */
static void propose (size_t n, const double *const in[], const double *u, const double *v,
                     double *restrict out) {
  const double *N = in[0], *K = in[1], *draws = in[2];
  EVERY for (size_t i = 0; i < n; i++) {
    Population a = {N[i], K[i], draws[i]};
    double width = fma(1.7155277699214135, sqrt(variance_of(a) + 0.5), 0.8989161620588988);
    double x = floor(mean_of(a) + 0.5 + width * (v[i] - 0.5) / u[i]);
    double first = first_of(a), last = last_of(a);
    out[i] = ((x >= first) & (x <= last)) ? x : (double)NAN;
  }
}

static void attempt (size_t n, const double *const in[], const double *u, const double *v,
                     double *restrict out) {
  double top[REJECTION_BLOCK], mass[REJECTION_BLOCK];
  log_modes(n, in, top);
  propose(n, in, u, v, out);
  log_masses(n, (const double *[]) {out, in[0], in[1], in[2]}, mass);
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = 2 * vlog(u[i]) <= mass[i] - top[i] ? out[i] : (double)NAN;
}

static double draw_quantile (double u, const double *params) {
  return quantile((double[]) {u, params[0], params[1], params[2]}, 0);
}

static const Rejection BY_REJECTION = {.n_in = 3, .attempt = attempt, .quantile = draw_quantile};

static void sample (const Philox *g, uint64_t first, size_t n, const double *const in[],
                    double *out) {
  double u[REJECTION_BLOCK], v[REJECTION_BLOCK], p = 0;
  Population last = {(double)NAN, 0, 0};
  noise_uniform(g, 0, first, n, u);
  noise_uniform(g, 1, first, n, v);
  for (size_t i = 0; i < n; i++) {
    Population a = {in[0][i], in[1][i], in[2][i]};
    int small = variance_of(a) < REJECTION_VARIANCE;
    if (small && !same(a, last)) p = vexp(log_mode(last = a));
    out[i] = small ? search(u[i], a, p) : (double)NAN;
  }
  rejection(&BY_REJECTION, g, RETRY, first, n, in, u, v, out);
}

/* }====================================================== */


const Kernel perilune_hypergeometric[] = {
  {.name = "log_prob", .n_in = 4, .value = log_prob},
  {.name = "cdf",      .n_in = 4, .slow = 1, .value = cdf},
  {.name = "sf",       .n_in = 4, .slow = 1, .value = sf},
  {.name = "log_cdf",  .n_in = 4, .slow = 1, .value = log_cdf},
  {.name = "log_sf",   .n_in = 4, .slow = 1, .value = log_sf},
  {.name = "icdf",     .n_in = 4, .slow = 1, .value = icdf, .flat = 1},
  {.name = "isf",      .n_in = 4, .slow = 1, .value = isf, .flat = 1},
  {.name = "entropy",  .n_in = 3, .slow = 1, .value = entropy},
  {.name = "mode",     .n_in = 3, .value = mode, .flat = 1},
  {.name = "sample", .n_in = 4, .integer = 1, .sampler = &(const Sampler) {.draw = sample}},
  {.name = NULL}
};
