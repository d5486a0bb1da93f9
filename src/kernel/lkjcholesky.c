/*
** lkjcholesky.c - LKJCholesky(dim d, concentration eta), the Cholesky factor L of a random
** correlation matrix with density proportional to its determinant to the power eta - 1
**
** Row i = 0, ..., d - 1 of L is a unit vector, independent of the others. With
**
**   b_i = eta + (d - 1 - i)/2,    h_i = i/2,    a = b_i + h_i = eta + (d - 1)/2
**
** the squares of its elements are Dirichlet(1/2, ..., 1/2, b_i), signs left of the diagonal are
** + or - with probability 1/2, and as a density of the elements below the diagonal
**
**   log p(L) = sum_i [2 (b_i - 1) log L_ii - h_i log(pi) + log Gamma(a) - log Gamma(b_i)]
**
** D. Lewandowski, D. Kurowicka, H. Joe, "Generating random correlation matrices based on
** vines and extended onion method", J. Multivariate Analysis 100 (2009), 1989-2001.
**
** The last operand is a row of d numbers, of which only the size d is read.
*/
#include "kernel/lkj.h"


static const double TOLERANCE = 1e-6;    /* of the length of a row */



/* {=====================================================
** Density
** ====================================================== */

/* 2 (b_i - 1) */
static double power_of (size_t d, size_t i, double eta) {
  return fma(2, eta - 1, (double)(d - 1 - i));
}

static int is_factor (size_t d, const double *l) {
  int good = 1;
  for (size_t i = 0; i < d && good; i++, l += d) {
    uint64_t above = 0;
    for (size_t j = i + 1; j < d; j++) above |= bits_of(l[j]) << 1;   /* all but the sign */
    good = above == 0 && l[i] > 0 && fabs(sqrt(lkj_squares(i + 1, l)) - 1) <= TOLERANCE;
  }
  return good;
}

/* 1 for a factor of a correlation matrix, 0 for anything else, NaN where there is one */
static double inside (size_t d, const double *l) {
  if (is_factor(d, l)) return 1;
  for (size_t k = 0; k < d * d; k++)
    if (l[k] != l[k]) return l[k];
  return 0;
}

static double density (size_t d, const double *l, double eta, double peak) {
  double in = inside(d, l), sum = 0;
  if (in != 1) return in == 0 ? -INFINITY : in;
  for (size_t i = 1; i < d; i++) sum = fma(power_of(d, i, eta), vlog(l[i * d + i]), sum);
  return sum + peak;
}

static void log_prob (const Batch *b, double *out) {
  size_t d = b->dims[0];
  const double *seen = NULL;
  double peak = 0;
  for (size_t r = 0; r < b->n; r++) {
    const double *eta = event(b, 1, r);
    if (eta != seen) peak = lkj_log_peak(d, *eta);   /* once where it is shared */
    seen = eta;
    out[r] = density(d, event(b, 0, r), *eta, peak);
  }
}

/* 2 (b_i - 1)/L_ii on the diagonal;  sum_i [2 log L_ii + psi(a) - psi(b_i)] */
static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0];
  lkj_zero(b->n * side * side, d[0]);
  lkj_zero(b->n * side, d[2]);
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 0, r), eta = *event(b, 1, r);
    double in = inside(side, l), up = in == 0 ? 0 : upstream[r] * in, sum = 0;
    for (size_t i = 1; up != 0 && i < side; i++) {
      double diagonal = l[i * side + i];
      d[0][(r * side + i) * side + i] = up * power_of(side, i, eta) / diagonal;
      sum += fma(2, vlog(diagonal), lkj_digamma_gap(lkj_shape(side, i, eta), 0.5 * (double)i));
    }
    d[1][r] = up == 0 ? 0 : up * sum;
  }
}

/* }====================================================== */


/* {=====================================================
** Moments. Left of the diagonal E L_ij = 0 and E L_ij^2 = 1/(2a); on it E L_ii^2 = b_i/a and
** E L_ii = sqrt(Q(b_i)/Q(a)), where
**
**   Q(b) = [Gamma(b + 1/2)/Gamma(b)]^2 = b - 1/4 + G(b),   G(b) = 1/(32 b) + ...
**   G(b) = [b^2 G(b + 1) + 1/16]/(b + 1/2)^2
** ====================================================== */

enum { FAR_FROM = 16, FAR_TERMS = 8 };   /* the series of G, and where it serves */

/* at some b: Q and its root, G, 1/4 - G without cancellation, Q'/Q and G' */
typedef struct Root { double q, root, g, rest, pull, g_slope; } Root;

/* a moment and its slope in eta */
typedef struct DiagonalMoment { double value, slope; } DiagonalMoment;

typedef DiagonalMoment Diagonal (double b, double h);


/* in powers of 1/(b - 1/4); error 2^-57 */
static Root root_far (double b) {
  static const double c[FAR_TERMS] = {
    -8.9744764271629259, 1.6832527896040119, -0.42431696690618992, 0.15119826793670654,
    -0.081745147705078125, 0.07470703125, -0.140625, 1
  };
  double t = 1 / (b - 0.25), z = t * t, sum = 0, slope = 0;
  for (int k = 0; k < FAR_TERMS; k++) {
    sum = fma(sum, z, c[k]);
    slope = fma(slope, z, (2 * (FAR_TERMS - k) - 1) * c[k]);
  }
  return (Root) {.g = 0.03125 * t * sum, .g_slope = -0.03125 * z * slope};
}

/* G at b from that at b + 1 */
static Root root_down (double b, Root up) {
  double middle = b + 0.5, square = middle * middle, lost = fma(b, up.g, -0.125) / middle;
  return (Root) {.g = fma(b * b, up.g, 0.0625) / square,
                 .g_slope = fma(b * b, up.g_slope, lost) / square};
}

static Root root_above_1 (double b) {
  int steps = b > 0 && b < FAR_FROM ? FAR_FROM - (int)b : 0;
  Root root = root_far(b + steps);
  while (steps-- > 0) root = root_down(b + steps, root);
  root.q = (b - 0.25) + root.g;
  root.root = sqrt(root.q);
  root.pull = (1 + root.g_slope) / root.q;
  root.rest = 0.25 - root.g;
  return root;
}

/* below 1 from b + 1: Q(b) = Q(b + 1) (b/(b + 1/2))^2 */
static Root root_of (double b) {
  if (!(b < 1)) return root_above_1(b);
  Root up = root_above_1(b + 1);
  double middle = b + 0.5, part = b / middle, root = part * up.root, q = root * root;
  double rest = part * fma(b, up.rest, 0.25) / middle, pull = up.pull + 1 / (b * middle);
  return (Root) {q, root, 0.25 - rest, rest, pull, fma(root * pull, root, -1)};
}

/* Q(b)/Q(a) has the slope [Q'(b) Q(a) - Q(b) Q'(a)]/Q(a)^2 */
static DiagonalMoment mean_at (double b, double h) {
  Root low = root_of(b), high = root_of(b + h);
  double value = low.root / high.root;
  double cross = fma(low.g_slope, high.q, -low.q * high.g_slope) + (h + (high.g - low.g));
  double slope = b < 1 ? value * (low.pull - high.pull) : cross / high.q / high.q / value;
  return (DiagonalMoment) {value, 0.5 * slope};
}

/* b/a - Q(b)/Q(a) = [h (1/4 - G(b)) + b (G(a) - G(b))]/(a Q(a)) */
static DiagonalMoment variance_at (double b, double h) {
  Root low = root_of(b), high = root_of(b + h);
  double a = b + h, sink = high.g - low.g;
  double value = fma(h, low.rest, b * sink) / a / high.q;
  double top = fma(-h, low.g_slope, fma(b, high.g_slope - low.g_slope, sink));
  return (DiagonalMoment) {value, top / a / high.q - value * (1 / a + high.pull)};
}

/* `below`/a left of the diagonal, moments on it */
static void triangle (const Batch *b, Diagonal *diagonal, double first, double below,
                      double *out) {
  size_t d = b->dims[0];
  lkj_zero(b->n * d * d, out);
  for (size_t r = 0; r < b->n; r++, out += d * d) {
    double eta = *event(b, 0, r), a = lkj_shape(d, 0, eta);
    out[0] = first;
    for (size_t i = 1; i < d; i++) {
      for (size_t j = 0; j < i; j++) out[i * d + j] = below / a;
      out[i * d + i] = diagonal(lkj_shape(d, i, eta), 0.5 * (double)i).value;
    }
  }
}

static void triangle_adjoint (const Batch *b, Diagonal *diagonal, double below,
                              const double *upstream, double *const d[]) {
  size_t side = b->dims[0];
  lkj_zero(b->n * side, d[1]);
  for (size_t r = 0; r < b->n; r++, upstream += side * side) {
    double eta = *event(b, 0, r), a = lkj_shape(side, 0, eta), sum = 0, left = 0;
    for (size_t i = 1; i < side; i++) {
      const double *up = upstream + i * side;
      for (size_t j = 0; j < i; j++) left += up[j];
      sum = fma(up[i], diagonal(lkj_shape(side, i, eta), 0.5 * (double)i).slope, sum);
    }
    d[0][r] = sum - below / a * (left / a);
  }
}

static void mean (const Batch *b, double *out) { triangle(b, mean_at, 1, 0, out); }
static void variance (const Batch *b, double *out) { triangle(b, variance_at, 0, 0.5, out); }

static void mean_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  triangle_adjoint(b, mean_at, 0, upstream, d);
}

static void variance_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  triangle_adjoint(b, variance_at, 0.5, upstream, d);
}


/* the sum of h log(pi) - log Gamma(a) + log Gamma(b) + (b - 1) (psi(a) - psi(b)) */
static void entropy (const Batch *b, double *out) {
  size_t d = b->dims[0];
  for (size_t r = 0; r < b->n; r++) {
    double eta = *event(b, 0, r), sum = 0;
    for (size_t i = 1; i < d; i++) {
      double gap = lkj_digamma_gap(lkj_shape(d, i, eta), 0.5 * (double)i);
      sum = fma(0.5 * power_of(d, i, eta), gap, sum);
    }
    out[r] = sum - lkj_log_peak(d, eta);
  }
}

/* (1 - b) (psi'(b) - psi'(a)) */
static void entropy_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0];
  lkj_zero(b->n * side, d[1]);
  for (size_t r = 0; r < b->n; r++) {
    double eta = *event(b, 0, r), sum = 0;
    for (size_t i = 1; i < side; i++) {
      double fall = lkj_trigamma_gap(lkj_shape(side, i, eta), 0.5 * (double)i);
      sum = fma(-0.5 * power_of(side, i, eta), fall, sum);
    }
    d[0][r] = upstream[r] * sum;
  }
}

/* }====================================================== */


/* {=====================================================
** Draws: row i is normal numbers left of the diagonal and the root of twice a gamma
** variable on it, brought to length 1
** ====================================================== */

static void rsample (const Philox *g, uint64_t first, const Batch *b, double *out) {
  lkj_draw(g, first, b, out);
}

static void rsample_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0], size = side * side;
  memcpy(d[0], upstream, b->n * size * sizeof *upstream);
  lkj_zero(b->n * side, d[2]);
  for (size_t r = 0; r < b->n; r++, upstream += size) {
    const double *l = event(b, 0, r), eta = *event(b, 1, r);
    double sum = 0;
    for (size_t i = 1; i < side; i++)
      sum += lkj_row_slope(i, lkj_shape(side, i, eta), l + i * side, upstream + i * side);
    d[1][r] = sum;
  }
}

/* }====================================================== */


const Kernel perilune_lkjcholesky[] = {
  {.name = "log_prob", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(d,d),(),(d)->()", .run = log_prob, .adjoint = log_prob_adjoint}},
  {.name = "mean", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(),(d)->(d,d)", .run = mean, .adjoint = mean_adjoint}},
  {.name = "variance", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(),(d)->(d,d)", .run = variance, .adjoint = variance_adjoint}},
  {.name = "entropy", .n_in = 2,
   .rows = &(const RowKernel) {
     .signature = "(),(d)->()", .run = entropy, .adjoint = entropy_adjoint}},
  {.name = "rsample", .n_in = 3,
   .rows = &(const RowKernel) {.signature = "(d,d),(),(d)->(d,d)", .adjoint = rsample_adjoint},
   .sampler = &(const Sampler) {.draw_rows = rsample}},
  {.name = NULL}
};
