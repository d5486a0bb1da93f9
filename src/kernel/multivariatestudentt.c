/*
** multivariatestudentt.c - MultivariateStudentT(df, loc, scale_tril L), heavy-tailed vectors
**
** With L z = x - loc, q = |z|^2, a = df/2, b = d/2, h = b/a and mu of vstirlerr:
**
**   log p(x) = c(df) - (df + d)/2 log(1 + q/df) - sum_i log L_ii - d/2 log(2 pi)
**   c(df)    = log(Gamma(a + b)/(Gamma(a) a^b))
**            = a (log(1 + h) - h) + (b - 1/2) log(1 + h) + mu(a + b) - mu(a)
**
** c tends to 0 for large df, and the law to MultivariateNormal. A draw is loc + L e/s with
** e standard normal and s^2 a gamma variable of shape a, over a.
*/
#include "kernel/betalaw.h"
#include "kernel/gaussian.h"
#include "random/gammas.h"
#include "random/noise.h"

enum { SHORT = 16 };   /* the longest row of those whose gamma variables are drawn together */

static const double HUGE_SQUARE = 1e300;   /* beyond, |z|^2 may have overflowed */

/* beyond 1e100 what depends on df alone no longer changes */
VECTOR double limited (double df) {
  return df > 1e100 ? 1e100 : df;
}


/* {=====================================================
** What depends on df alone
** ====================================================== */

VECTOR double log_constant (double df, double d) {
  double a = 0.5 * limited(df), b = 0.5 * d, h = b / a;
  double rest = fma(b - 0.5, vlog1p(h), vstirlerr(a + b) - vstirlerr(a));
  return fma(a, vlog1pmx(h), rest);
}

/* (psi(a + b) - log(a + b)) - (psi(a) - log a) */
VECTOR double digamma_gap (double a, double b) {
  double r = 1 / a, s = 1 / (a + b);
  double far = fma(0.5 * b * r, s, digamma_far(r * r) - digamma_far(s * s));
  double near = digamma_rest(a + b) - digamma_rest(a);
  return a < 2.25 ? near : far;
}

/* dc/d df = (psi(a + b) - psi(a) - b/a)/2 */
VECTOR double constant_slope (double df, double d) {
  double a = 0.5 * limited(df), b = 0.5 * d;
  return 0.5 * (vlog1pmx(b / a) + digamma_gap(a, b));
}

/* }====================================================== */


/* {=====================================================
** Density
** ====================================================== */

/* (df + d)/2 log(1 + q/df), q/2 in the limit */
VECTOR double log_spread (double q, double df, double d) {
  double s = q / df, limit = 0.5 * q * (1 + d / df), value = 0.5 * (df + d) * vlog1p(s);
  return s < 0x1p-60 ? limit : value;
}

/* |z|, without overflow or underflow on the way */
static double length (size_t d, const double *z) {
  double sum = 0, scaled = 0;
  for (size_t i = 0; i < d; i++) sum = fma(z[i], z[i], sum);
  if (!(sum < 1e-280) && !(sum > HUGE_SQUARE)) return sqrt(sum);
  double scale = sum < 1 ? 0x1p600 : 0x1p-600;
  for (size_t i = 0; i < d; i++) scaled = fma(scale * z[i], scale * z[i], scaled);
  return sqrt(scaled) / scale;
}

/* log_spread for q = r^2 that is too large to compute */
static double far_spread (double r, double df, double d) {
  double s = r * (r / df), root = r / sqrt(df);
  if (root > 1e50) return (df + d) * vlog(root);
  return s > 0 ? 0.5 * (df + d) * vlog1p(s) : 0.5 * r * r;   /* s = 0 for infinite df alone */
}

/* log p of a row that is too far away for the plain formula */
static double far_log_prob (const Batch *b, size_t row, double df, double constant) {
  size_t d = b->dims[0];
  if (constant == constant && infinitely_far(d, event(b, 0, row), event(b, 2, row)))
    return -INFINITY;
  standardise(b, 2, row, b->scratch);
  return constant - far_spread(length(d, b->scratch), df, (double)d);
}

static void log_prob (const Batch *b, double *out) {
  size_t d = b->dims[0];
  double square[SIDE], df[SIDE], constant[SIDE];
  const double *seen = NULL;
  double log_det = 0;
  for (size_t r = 0, rows; r < b->n; r += rows) {
    const double *l = event(b, 3, r);
    rows = rows_sharing(b->n, r, b->step[3]);
    distances(b, 2, r, rows, square);
    if (l != seen) log_det = log_diagonal(d, l) + half_log_2pi(d);
    if (r == 0 || l != seen || b->step[1] != 0)
      for (size_t k = 0; k < rows; k++) {
        df[k] = *event(b, 1, r + k);
        constant[k] = log_constant(df[k], (double)d) - log_det;
      }
    seen = l;
    for (size_t k = 0; k < rows; k++)
      out[r + k] = constant[k] - log_spread(square[k], df[k], (double)d);
    for (size_t k = 0; k < rows; k++)
      if (!(square[k] < HUGE_SQUARE)) out[r + k] = far_log_prob(b, r + k, df[k], constant[k]);
  }
}

/*
** With r = |z|, u = z/r, L^T w = u:
**   d/dx = -pull w,   d/dloc = pull w,   d/dL = pull r w u^T - 1/diagonal
**   pull = (df + d)/(df/r + r),   s = q/df
**   d/d df = c' - (log(1 + s) - s/(1 + s))/2 + d/(2 df) s/(1 + s)
*/
static double df_slope (double r, double df, double d) {
  double s = r * (r / df), share = r / (df / r + r);
  double near = fma(s, share, vlog1pmx(s));
  double far = (s < 1e100 ? vlog1p(s) : 2 * vlog(r / sqrt(df))) - share;
  return constant_slope(df, d) + 0.5 * (share * (d / df) - (s < 1 ? near : far));
}

static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0];
  double *u = b->scratch, *w = u + side;
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 3, r);
    double df = *event(b, 1, r), up = upstream[r];
    standardise(b, 2, r, u);
    double radius = length(side, u);
    double pull = (1 + (double)side / df) / (1 / radius + radius / df);
    for (size_t i = 0; i < side; i++) u[i] = radius == 0 ? 0 : u[i] / radius;
    memcpy(w, u, side * sizeof *w);
    triangle_solve_transposed(side, l, w);
    for (size_t i = 0; i < side; i++) {
      d[0][r * side + i] = -up * pull * w[i];
      d[2][r * side + i] = up * pull * w[i];
    }
    d[1][r] = up * df_slope(radius, df, (double)side);
    outer_triangle(side, up * pull * radius, w, u, up, l, d[3] + r * side * side);
  }
}

/* }====================================================== */


/* (a + b)(psi(a + b) - psi(a)) - c + d/2 log(2 pi) + sum_i log L_ii; loc is there for its batch */
static void entropy (const Batch *b, double *out) {
  size_t d = b->dims[0];
  double half = 0.5 * (double)d;
  for (size_t r = 0; r < b->n; r++) {
    double a = 0.5 * limited(*event(b, 0, r)), gap = vlog1p(half / a) + digamma_gap(a, half);
    out[r] = fma(a + half, gap, -log_constant(2 * a, (double)d))
           + (log_diagonal(d, event(b, 2, r)) + half_log_2pi(d));
  }
}

/* d/d df = ((a + b)(psi'(a + b) - psi'(a)) + b/a)/2 */
static double entropy_slope (double df, double d) {
  double a = 0.5 * limited(df), b = 0.5 * d, h = b / a;
  if (a < 1) return 0.5 * fma(a + b, vtrigamma_pos(a + b) - vtrigamma_pos(a), h);
  return 0.5 * fma(-h, trigamma_rest(a), trigamma_gap(a, b));
}

static void entropy_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0];
  memset(d[1], 0, b->n * side * sizeof *d[1]);
  memset(d[2], 0, b->n * side * side * sizeof *d[2]);
  for (size_t r = 0; r < b->n; r++) {
    const double *l = event(b, 2, r);
    d[0][r] = upstream[r] * entropy_slope(*event(b, 0, r), (double)side);
    for (size_t i = 0; i < side; i++)
      d[2][(r * side + i) * side + i] = upstream[r] / l[i * side + i];
  }
}


/* {=====================================================
** Draws
** ====================================================== */

/*
** 1/s for `rows` rows, the gamma variables being those of their first elements. For short
** rows it is quicker to draw those of all elements at once than each alone.
*/
static void stretches (const Philox *g, uint64_t first, const Batch *b, size_t r, size_t rows,
                       double *factor) {
  double shape[GAMMAS_BLOCK] = {0}, size[GAMMAS_BLOCK], depth[GAMMAS_BLOCK];
  size_t d = b->dims[0], at_once = d <= SHORT ? GAMMAS_BLOCK / SHORT : 1;
  for (size_t k = 0; k < rows; k += at_once) {
    size_t n = ((rows - k < at_once ? rows - k : at_once) - 1) * d + 1;
    EVERY for (size_t i = 0; i < n; i++) shape[i] = 0.5 * limited(*event(b, 0, r + k + i / d));
    gammas(g, 0, first + (r + k) * d, n, shape, size, depth);
    for (size_t i = 0; i < n; i += d)
      factor[k + i / d] = sqrt(shape[i] / size[i]) * vexp(0.5 * depth[i]);
  }
}

static void rsample (const Philox *g, uint64_t first, const Batch *b, double *out) {
  size_t d = b->dims[0];
  double *e = b->scratch, factor[SIDE];
  noise_normal(g, GAMMAS_LANES, first, b->n * d, out);
  for (size_t r = 0, rows; r < b->n; r += rows) {
    rows = rows_sharing(b->n, r, b->step[2]);
    for (size_t k = 0; k < rows; k++)
      for (size_t i = 0; i < d; i++) e[i * SIDE + k] = out[(r + k) * d + i];
    stretches(g, first, b, r, rows, factor);
    for (size_t i = 0; i < d; i++) {
      double sum[SIDE] = {0};
      multiply_row(i, event(b, 2, r) + i * d, rows, e, sum);
      for (size_t k = 0; k < rows; k++)
        out[(r + k) * d + i] = fma(factor[k], sum[k], event(b, 1, r + k)[i]);
    }
  }
}

/*
** d log q/d df at fixed P(Q < q), for large df and v = q/df: the sum of u_nj v^j/df over n >= 2,
** j < n. With Y = d log q/d df, the density p of q obeys (q Y p)' + dp/d df = 0; powers of 1/df
** and q in it give, from u_n,n-1 = -(-1)^n/(n (n - 1)) down, u_1j = 0,
**
**   u_nj = 2/df ((b + j + 1) u_n,j+1 + j u_n-1,j),   u_n0 = 2/df ((b + 1) u_n1 - b u_n-1,0),
**
** and 2 b/df more for u_20.
*/
enum { SUM_TERMS = 16 };

static double series_slope (double v, double df, double b) {
  double u[SUM_TERMS + 1] = {0}, sum = 0, step = 2 / df, sign = -1;
  for (int n = 2; n <= SUM_TERMS; n++, sign = -sign) {
    double value = 0;
    for (int j = n - 1; j >= 0; j--) {
      double before = u[j], above = j < n - 1 ? (b + j + 1) * u[j + 1] : 0;
      double own = j > 0 ? j * before : b * ((n == 2) - before);
      u[j] = j == n - 1 ? sign / (n * (n - 1)) : step * (above + own);
      value = fma(value, v, u[j]);
    }
    sum += value;
  }
  return sum / df;
}

/* d log |z|/d df where the direction of z stays, |z|^2/d being F(d, df) */
static double radius_slope (double radius, double df, double d) {
  double da, db, v = radius * (radius / df);
  if (radius == 0 || radius == INFINITY) return 0;
  if (v + d / df < 0.08) return 0.5 * series_slope(v, df, 0.5 * d);
  beta_slopes(0.5 * d, 0.5 * df, odds_at(v, 2 * vlog(radius) - vlog(df)), &da, &db);
  return 0.5 * fma(0.5, db, 1 / df);
}

/* with u for upstream: u z^T below and on the diagonal, u . (x - loc) d log |z|/d df */
static void rsample_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0];
  double *z = b->scratch;
  memcpy(d[0], upstream, b->n * side * sizeof *upstream);
  memcpy(d[2], upstream, b->n * side * sizeof *upstream);
  for (size_t r = 0; r < b->n; r++, upstream += side) {
    const double *x = event(b, 0, r), *loc = event(b, 2, r);
    double *dl = d[3] + r * side * side, sum = 0;
    standardise(b, 2, r, z);
    double slope = radius_slope(length(side, z), *event(b, 1, r), (double)side);
    for (size_t i = 0; i < side; i++, dl += side) {
      for (size_t j = 0; j < side; j++) dl[j] = j <= i ? upstream[i] * z[j] : 0;
      sum = fma(upstream[i], slope == 0 ? 0 : slope * (x[i] - loc[i]), sum);
    }
    d[1][r] = sum;
  }
}

/* }====================================================== */


static size_t side (const size_t dims[]) { return SIDE * dims[0]; }
static size_t pair (const size_t dims[]) { return 2 * dims[0]; }

const Kernel perilune_multivariatestudentt[] = {
  {.name = "log_prob", .n_in = 4,
   .rows = &(const RowKernel) {
     .signature = "(d),(),(d),(d,d)->()", .run = log_prob, .side = SIDE, .scratch = side,
     .adjoint = log_prob_adjoint, .adjoint_scratch = pair}},
  {.name = "entropy", .n_in = 3,
   .rows = &(const RowKernel) {
     .signature = "(),(d),(d,d)->()", .run = entropy, .adjoint = entropy_adjoint}},
  {.name = "rsample", .n_in = 4,
   .rows = &(const RowKernel) {
     .signature = "(d),(),(d),(d,d)->(d)", .side = SIDE, .scratch = side,
     .adjoint = rsample_adjoint, .adjoint_scratch = pair},
   .sampler = &(const Sampler) {.draw_rows = rsample}},
  {.name = NULL}
};
