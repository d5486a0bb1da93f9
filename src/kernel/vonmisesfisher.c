/*
** vonmisesfisher.c - VonMisesFisher(mean_direction m, concentration k), the bell curve of
** directions in d dimensions
**
**   log p(x) = k m.x + log C(k) = -k |x - m|^2/2 + [k + log C(k)],    |x| = |m| = 1
**   log C(k) = v log k - (v + 1) log(2 pi) - log I_v(k),    v = d/2 - 1
**
** A(k) = I_(v+1)(k)/I_v(k) is the mean of w = m.x, A'(k) its variance, and A(k)/k the variance
** of a coordinate across m. An x whose length is further than TOLERANCE from 1 has no density.
*/
#include "kernel/kernel.h"
#include "random/gammas.h"
#include "random/noise.h"
#include "special/bessel_order.h"
#include "special/constants.h"
#include "special/legendre.h"
#include "special/vtrig.h"


static const double TOLERANCE = 1e-6;


static double dot (Stop stop, size_t d, const double *x, const double *y) {
  double sum = 0;
  for (size_t i = 0, end; (end = part_end(stop, i, d)) > i; )
    for (; i < end; i++) sum = fma(x[i], y[i], sum);
  return sum;
}

/* |x - y|^2 for side = -1, |x + y|^2 for side = 1 */
static double distance (Stop stop, size_t d, const double *x, const double *y, double side) {
  double sum = 0;
  for (size_t i = 0, end; (end = part_end(stop, i, d)) > i; )
    for (; i < end; i++) {
      double gap = fma(side, y[i], x[i]);
      sum = fma(gap, gap, sum);
    }
  return sum;
}

static BesselOrder bessel_at (size_t d, double concentration) {
  return bessel_order(0.5 * (double)d - 1, concentration);
}

/* k + log C(k): the logarithm of the density at m */
static double log_peak (size_t d, BesselOrder bessel) {
  return fma(-0.5 * (double)d, LOG_2PI, -bessel.log_scaled);
}


/* {=====================================================
** Density
** ====================================================== */

/* 1 on the sphere, 0 elsewhere, NaN for NaN */
static double inside (Stop stop, size_t d, const double *x) {
  double length = sqrt(dot(stop, d, x, x));
  return length != length ? length : fabs(length - 1) <= TOLERANCE;
}

static double density (Stop stop, size_t d, const double *x, const double *m, double k,
                       double peak) {
  double in = inside(stop, d, x);
  if (in != 1) return in == 0 ? -INFINITY : in;
  return fma(-0.5 * k, distance(stop, d, x, m, -1), peak);
}

static void log_prob (const Batch *b, double *out) {
  const double *seen = NULL;
  double peak = 0;
  for (size_t r = 0; r < b->n; r++) {
    const double *k = event(b, 2, r);
    if (k != seen) peak = log_peak(b->dims[0], bessel_at(b->dims[0], *k));   /* once if shared */
    seen = k;
    out[r] = density(b->stop, b->dims[0], event(b, 0, r), event(b, 1, r), *k, peak);
  }
}

/* k (m - x),  k (x - m),  (1 - A) - |x - m|^2/2 */
static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t n = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    const double *x = event(b, 0, r), *m = event(b, 1, r), k = *event(b, 2, r);
    double in = inside(b->stop, n, x), up = in == 0 ? 0 : upstream[r] * in;
    for (size_t i = 0, end; (end = part_end(b->stop, i, n)) > i; )
      EVERY for (; i < end; i++) {
        double pull = up == 0 ? 0 : up * k * (m[i] - x[i]);
        d[0][r * n + i] = pull;
        d[1][r * n + i] = -pull;
      }
    double slope = fma(-0.5, distance(b->stop, n, x, m, -1), bessel_at(n, k).deficit);
    d[2][r] = up == 0 ? 0 : up * slope;
  }
}

/* }====================================================== */


/* {=====================================================
** Moments and entropy
** ====================================================== */

static void mean (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += d) {
    const double *m = event(b, 0, r), k = *event(b, 1, r);
    double length = k * bessel_at(d, k).share;
    for (size_t i = 0, end; (end = part_end(b->stop, i, d)) > i; )
      for (; i < end; i++) out[i] = length * m[i];
  }
}

static void mean_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t n = b->dims[0];
  for (size_t r = 0; r < b->n; r++, upstream += n) {
    const double *m = event(b, 0, r), k = *event(b, 1, r);
    BesselOrder bessel = bessel_at(n, k);
    for (size_t i = 0, end; (end = part_end(b->stop, i, n)) > i; )
      EVERY for (; i < end; i++) d[0][r * n + i] = k * bessel.share * upstream[i];
    d[1][r] = bessel.slope * dot(b->stop, n, m, upstream);
  }
}

/* of each coordinate: A'(k) m_i^2 + (1 - m_i^2) A(k)/k */
static void variance (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++, out += d) {
    const double *m = event(b, 0, r);
    BesselOrder bessel = bessel_at(d, *event(b, 1, r));
    for (size_t i = 0, end; (end = part_end(b->stop, i, d)) > i; )
      for (; i < end; i++)
        out[i] = fma(bessel.slope * m[i], m[i], bessel.share * ((1 - m[i]) * (1 + m[i])));
  }
}

static void variance_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t n = b->dims[0];
  for (size_t r = 0; r < b->n; r++, upstream += n) {
    const double *m = event(b, 0, r), k = *event(b, 1, r);
    BesselOrder bessel = bessel_at(n, k);
    BesselBend bend = bessel_bend(0.5 * (double)n - 1, k);
    double sum = 0;
    for (size_t i = 0, end; (end = part_end(b->stop, i, n)) > i; )
      for (; i < end; i++) {
        double across = (1 - m[i]) * (1 + m[i]);
        d[0][r * n + i] = 2 * upstream[i] * m[i] * (bessel.slope - bessel.share);
        sum = fma(upstream[i], fma(bend.slope * m[i], m[i], bend.share * across), sum);
      }
    d[1][r] = sum;
  }
}

/* k (1 - A) - [k + log C]; m is there for d and its batch alone */
static void entropy (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++) {
    double k = *event(b, 1, r);
    BesselOrder bessel = bessel_at(b->dims[0], k);
    out[r] = fma(k, bessel.deficit, -log_peak(b->dims[0], bessel));
  }
}

static void entropy_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t n = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    double k = *event(b, 1, r);
    for (size_t i = 0, end; (end = part_end(b->stop, i, n)) > i; )
      EVERY for (; i < end; i++) d[0][r * n + i] = 0;
    d[1][r] = -upstream[r] * k * bessel_at(n, k).slope;
  }
}

/* }====================================================== */


/* {=====================================================
** Draws of 1 - w
** ====================================================== */

/* lanes of one attempt, and how many attempts there are; lane 0 has the normal numbers */
enum { GAMMA1_LANE = 1, GAMMA2_LANE = GAMMA1_LANE + GAMMAS_LANES,
       ACCEPT_LANE = GAMMA2_LANE + GAMMAS_LANES, ATTEMPT_LANES, ATTEMPTS = 100 };

/* g1/(g2 + b g1) for two gamma variables */
static double gamma_ratio (const Philox *g, uint32_t lane, uint64_t element, double shape,
                           double b) {
  double size1, size2, depth1, depth2;
  gammas(g, lane + GAMMA1_LANE, element, 1, &shape, &size1, &depth1);
  gammas(g, lane + GAMMA2_LANE, element, 1, &shape, &size2, &depth2);
  double gap = depth1 - depth2, less = vexp(-fabs(gap));
  double part1 = gap > 0 ? less : 1, part2 = gap > 0 ? 1 : less;
  return size1 * part1 / fma(b * size1, part1, size2 * part2);
}

/*
** A. Wood, "Simulation of the von Mises-Fisher distribution", Communications in Statistics 23
** (1994), 157-164. With n = d - 1 and b = n/(2k + sqrt(4k^2 + n^2)), two gamma variables of
** shape n/2 and y = g1/(g2 + b g1), the proposal 1 - w = 2 b y is accepted with probability
** (t e^(1 - t))^n, t = (1 + b) (1 + (1 - b) y)/2: nothing cancels, for any k. As good as never is
** the last attempt reached, which is taken.
*/
static double draw_gap (const Philox *g, uint64_t element, double n, double k) {
  double root = k < 1e150 ? sqrt(fma(4 * k, k, n * n)) : 2 * k, b = n / fma(2, k, root), y = 0;
  for (uint32_t attempt = 0; attempt < ATTEMPTS; attempt++) {
    double u;
    y = gamma_ratio(g, attempt * ATTEMPT_LANES, element, 0.5 * n, b);
    noise_uniform(g, attempt * ATTEMPT_LANES + ACCEPT_LANE, element, 1, &u);
    double excess = fma(0.5 * (1 + b), fma(1 - b, y, 1), -1);   /* t - 1 */
    if (vlog(u) <= n * vlog1pmx(excess)) break;
  }
  return 2 * b * y;
}

/* for d = 3 the quantile function: 1 - w = -log(1 - u (1 - e^(-2k)))/k */
static double gap_in_space (double u, double k) {
  return k > 1e-300 ? -vlog1p(u * vexpm1(-2 * k)) / k : 2 * u;
}

/* }====================================================== */


/* {=====================================================
** Draws of x
** ====================================================== */

/*
** x = w m + sqrt(1 - w^2) times a direction across m: made for m = (1, 0, ..., 0), from normal
** numbers in x[1], x[2], ..., and reflected along (1, 0, ..., 0) - m
*/
static void finish_row (Stop stop, size_t d, double gap, const double *m, double *x) {
  double across = dot(stop, d - 1, m + 1, m + 1), rest = m[0] > 0 ? across / (1 + m[0]) : 1 - m[0];
  double length = sqrt(gap * (2 - gap) / dot(stop, d - 1, x + 1, x + 1));
  for (size_t i = 1, end; (end = part_end(stop, i, d)) > i; )
    for (; i < end; i++) x[i] *= length;
  x[0] = 1 - gap;
  if (!(rest > 1e-280)) return;   /* m is the first axis, to the last digit */
  double along = x[0] - dot(stop, d - 1, m + 1, x + 1) / rest;
  x[0] = fma(-rest, along, x[0]);
  for (size_t i = 1, end; (end = part_end(stop, i, d)) > i; )
    for (; i < end; i++) x[i] = fma(m[i], along, x[i]);
}

static void rsample (const Philox *g, uint64_t first, const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t i = 0, end; (end = part_end(b->stop, i, b->n * d)) > i; i = end)
    noise_normal(g, 0, first + i, end - i, out + i);
  for (size_t r = 0; r < b->n; r++, out += d, first += d) {
    double k = *event(b, 1, r), u;
    if (d == 3) noise_uniform(g, 1, first, 1, &u);
    finish_row(b->stop, d, d == 3 ? gap_in_space(u, k) : draw_gap(g, first, (double)d - 1, k),
               event(b, 0, r), out);
  }
}

/* }====================================================== */


/* {=====================================================
** Slopes of draws. The angle t from m has density proportional to exp(k cos t) sin(t)^(d-2);
** at fixed rank, with the integral to whichever end the integrand keeps its sign,
**
**   dt/dk = -| int_t^end (cos s - A) exp(k (cos s - cos t)) (sin s/sin t)^(d-2) ds |
** ====================================================== */

/*
** an angle from the nearer of m and -m, its sine, k and 1 - A as seen from there, d - 2, and
** where to integrate: inwards (-1) or outwards (1), over how much
*/
typedef struct ThetaSide { double angle, sine, k, deficit, power, way, room; } ThetaSide;

/* the logarithm of the density a step away, over that at the angle */
VECTOR double change (const ThetaSide *at, double step) {
  double half = vsin(0.5 * step), middle = vsin(fma(0.5 * at->way, step, at->angle));
  double sine = vsin(fma(at->way, step, at->angle)) / at->sine;
  double log_sine = vlog(sine > 0 ? sine : 0), by_sine = at->power > 0 ? at->power * log_sine : 0;
  return fma(-2 * at->k * at->way * half, middle, by_sine);
}

/* how far to go until the density has fallen by LEGENDRE_DEPTH, roughly */
static double reach (const ThetaSide *at) {
  double high = at->room, low;
  if (!(change(at, high) < -LEGENDRE_DEPTH)) return high;
  for (int k = 0; k < 100 && change(at, 0.5 * high) < -LEGENDRE_DEPTH; k++) high *= 0.5;
  low = 0.5 * high;
  for (int k = 0; k < 5; k++) {
    double middle = 0.5 * low + 0.5 * high;
    if (change(at, middle) < -LEGENDRE_DEPTH) high = middle; else low = middle;
  }
  return high;
}

static double angle_slope (const ThetaSide *at) {
  double f[LEGENDRE], width = reach(at);
  for (int i = 0; i < LEGENDRE; i++) {
    double step = width * legendre_node[i], half = vsin(0.5 * fma(at->way, step, at->angle));
    f[i] = fma(-2 * half, half, at->deficit) * vexp(change(at, step));
  }
  return -fabs(width * legendre_sum(f));
}

static ThetaSide side_of (size_t d, double near, double far, double k) {
  double deficit = bessel_at(d, k).deficit, sine = 0.5 * near * far;
  int front = near < far, above = 0.5 * near * near < deficit;   /* cos t > A */
  double angle = 2 * vatan(front ? near / far : far / near);
  return (ThetaSide) {.angle = angle, .sine = sine, .k = front ? k : -k,
                      .deficit = front ? deficit : 2 - deficit, .power = (double)d - 2,
                      .way = front == above ? -1 : 1, .room = front == above ? angle : PI - angle};
}

/* what the concentration does to x: dt/dk along the unit vector (x cos t - m)/sin t */
static double concentration_slope (Stop stop, size_t d, const double *x, const double *m,
                                   double k, const double *up) {
  double near = sqrt(distance(stop, d, x, m, -1)), far = sqrt(distance(stop, d, x, m, 1));
  double along = 0;
  if (near == 0 || far == 0) return 0;
  ThetaSide at = side_of(d, near, far, k);
  for (size_t i = 0, end; (end = part_end(stop, i, d)) > i; )
    for (; i < end; i++)
      along = fma(up[i], fma(-0.5 * near * near, x[i], x[i] - m[i]), along);
  return along / at.sine * angle_slope(&at);
}

/* as m turns, x turns with it: dx = (m.x) dm - (x.dm) m */
static void rsample_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t n = b->dims[0];
  memcpy(d[0], upstream, b->n * n * sizeof *upstream);
  for (size_t r = 0; r < b->n; r++, upstream += n) {
    const double *x = event(b, 0, r), *m = event(b, 1, r);
    double cosine = dot(b->stop, n, x, m), along = dot(b->stop, n, m, upstream);
    for (size_t i = 0, end; (end = part_end(b->stop, i, n)) > i; )
      EVERY for (; i < end; i++) d[1][r * n + i] = fma(cosine, upstream[i], -along * x[i]);
    d[2][r] = concentration_slope(b->stop, n, x, m, *event(b, 2, r), upstream);
  }
}

/* }====================================================== */


const Kernel perilune_vonmisesfisher[] = {
  {.name = "log_prob", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(d),(d),()->()", .run = log_prob, .adjoint = log_prob_adjoint}},
  {.name = "mean", .n_in = 2,
   .rows = &(const RowKernel) {.signature = "(d),()->(d)", .run = mean, .adjoint = mean_adjoint}},
  {.name = "variance", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(d),()->(d)", .run = variance, .adjoint = variance_adjoint}},
  {.name = "entropy", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(d),()->()", .run = entropy, .adjoint = entropy_adjoint}},
  {.name = "rsample", .n_in = 3,
   .rows = &(const RowKernel) {.signature = "(d),(d),()->(d)", .adjoint = rsample_adjoint},
   .sampler = &(const Sampler) {.draw_rows = rsample}},
  {.name = NULL}
};
