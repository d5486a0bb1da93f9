/*
** lowrankmultivariatenormal.c - KL(LowRankMultivariateNormal || q)
**
** To LowRankMultivariateNormal. With S = W W^T + D, L2 the Cholesky factor of S2, and
**
**   G = L2^-1 (S1 - S2) L2^-T,    (1 + F) (1 + F)^T = 1 + G,    z = L2^-1 (m1 - m2)
**
** F a lower triangle with diagonal f_i:
**
**   KL = |z|^2/2 + |F|^2/2 + sum_i (f_i - log(1 + f_i))
**
** When p is near q, S1 - S2 = (W1 - W2) W1^T + W2 (W1 - W2)^T + (D1 - D2) and F have all their
** digits. Where S1 is so much smaller than S2 that 1 + G has lost digits, F = L2^-1 L1 - 1. Ranks
** may differ: the missing columns are zeros.
**
** That costs O(d^3). Unless p is near q and its terms cancel, O(d k^2) is enough: with
** V = D^-1/2 W, R R^T = 1 + V^T V, P = V2 R2^-T, U = D2^-1/2 W1, y = D2^-1/2 (m1 - m2) and
** r_i = D1_i/D2_i
**
**   KL = sum_i [excess(r_i) - r_i |P_i|^2]/2 + (|U|^2 - |P^T U|^2 + |y|^2 - |P^T y|^2)/2
**      + log det R2 - log det R1
*/
#include "kernel/kernel.h"
#include "kernel/kl/triangles.h"
#include "linalg/low_rank.h"

enum { M1, W1, D1, M2, W2, D2 };   /* operands */

static const double LEAST_PIVOT = -0.99;     /* pivots of 1 + G, less 1 */
static const double CANCELS = 1e-3;    /* what is left of the terms of the quick form */

/* W, as many columns as it has, and D */
typedef struct Cover { size_t d, rank; const double *w, *diagonal; } Cover;


static Cover cover_at (const Batch *b, size_t r, int w) {
  return (Cover) {b->dims[0], b->dims[w == W1 ? 1 : 2], event(b, w, r), event(b, w + 1, r)};
}

static double element (Cover c, size_t i, size_t k) { return k < c.rank ? c.w[i * c.rank + k] : 0; }

/* {=====================================================
** The quick form
** ====================================================== */

/* a sum, and that of the sizes of its terms */
typedef struct Sum { double value, size; } Sum;

static void add (Sum *s, double term) {
  s->value += term;
  s->size += fabs(term);
}

/* v = V in units of the diagonal of q, and R of 1 + v^T v; room holds rank rank numbers */
static void factor_cover (Stop stop, Cover c, const double *diagonal, double *v, double *r,
                          double *room) {
  size_t k = c.rank;
  for (size_t i = 0; i < k * k; i++) room[i] = i % (k + 1) == 0;
  for (size_t i = 0; i < c.d && !stops(stop); i++, v += k) {
    double unit = 1 / sqrt(diagonal[i]);
    for (size_t j = 0; j < k; j++) v[j] = c.w[i * k + j] * unit;
    for (size_t j = 0; j < k; j++)
      for (size_t m = 0; m < k; m++) room[j * k + m] = fma(v[j], v[m], room[j * k + m]);
  }
  triangle_cholesky(stop, k, room, r, triangle_first(k));
}

static void add_log_diagonal (size_t k, const double *r, double sign, Sum *s) {
  for (size_t j = 0; j < k; j++) add(s, sign * vlog(r[j * k + j]));
}

/* adds (|u|^2 - |P^T u|^2)/2 for a column u of d numbers, `step` apart */
static void add_left (Cover q, const double *p, const double *u, size_t step, double *inner,
                      Sum *s) {
  size_t k = q.rank;
  double square = 0, along = 0;
  memset(inner, 0, k * sizeof *inner);
  for (size_t i = 0; i < q.d; i++) {
    square = fma(u[i * step], u[i * step], square);
    for (size_t j = 0; j < k; j++) inner[j] = fma(p[i * k + j], u[i * step], inner[j]);
  }
  for (size_t j = 0; j < k; j++) along = fma(inner[j], inner[j], along);
  add(s, 0.5 * square);
  add(s, -0.5 * along);
}

/* excess(r_i) and P_i; v becomes P */
static void add_diagonals (Cover p, Cover q, const double *r2, double *v, Sum *s) {
  size_t k = q.rank;
  for (size_t i = 0; i < p.d; i++, v += k) {
    double square = 0;
    triangle_solve(k, r2, v);
    for (size_t j = 0; j < k; j++) square = fma(v[j], v[j], square);
    add(s, 0.5 * vexcess_wide(p.diagonal[i], q.diagonal[i]));
    add(s, -0.5 * (p.diagonal[i] / q.diagonal[i]) * square);
  }
}

static Sum quickly (const Batch *b, size_t r, double *room) {
  Cover p = cover_at(b, r, W1), q = cover_at(b, r, W2);
  size_t d = p.d, k = p.rank, l = q.rank, most = k > l ? k : l;
  double *u = room, *v = u + d * k, *y = v + d * l, *factor = y + d, *rest = factor + most * most;
  Sum s = {0, 0};
  factor_cover(b->stop, p, p.diagonal, u, factor, rest);
  add_log_diagonal(k, factor, -1, &s);
  factor_cover(b->stop, q, q.diagonal, v, factor, rest);
  add_log_diagonal(l, factor, 1, &s);
  add_diagonals(p, q, factor, v, &s);
  for (size_t i = 0; i < d; i++) {
    double unit = 1 / sqrt(q.diagonal[i]);
    y[i] = (event(b, M1, r)[i] - event(b, M2, r)[i]) * unit;
    for (size_t j = 0; j < k; j++) u[i * k + j] = p.w[i * k + j] * unit;
  }
  add_left(q, v, y, 1, rest, &s);
  for (size_t j = 0; j < k && !stops(b->stop); j++) add_left(q, v, u + j, k, rest, &s);
  return s;
}

static size_t quick_size (const size_t dims[]) {
  size_t most = dims[1] > dims[2] ? dims[1] : dims[2];
  return dims[0] * (dims[1] + dims[2] + 1) + 2 * most * most;
}

/* }====================================================== */


/* {=====================================================
** The careful form
** ====================================================== */

/* S */
static void fill_covariance (Stop stop, Cover c, double *s) {
  for (size_t i = 0; i < c.d && !stops(stop); i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = i == j ? c.diagonal[i] : 0;
      for (size_t k = 0; k < c.rank; k++)
        sum = fma(element(c, i, k), element(c, j, k), sum);
      s[i * c.d + j] = s[j * c.d + i] = sum;
    }
}

/* S1 - S2 */
static void fill_gap (Stop stop, Cover p, Cover q, double *s) {
  size_t ranks = p.rank > q.rank ? p.rank : q.rank, d = p.d;
  for (size_t i = 0; i < d && !stops(stop); i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = i == j ? p.diagonal[i] - q.diagonal[i] : 0;
      for (size_t k = 0; k < ranks; k++) {
        double left = element(p, i, k) - element(q, i, k);
        double right = element(p, j, k) - element(q, j, k);
        sum = fma(left, element(p, j, k), fma(element(q, i, k), right, sum));
      }
      s[i * d + j] = s[j * d + i] = sum;
    }
}

/* G = L2^-1 g L2^-T in place: rows first, then the rows of what that makes, turned */
static void whiten (Stop stop, size_t d, const double *l2, double *g) {
  for (size_t i = 0; i < d && !stops(stop); i++) triangle_solve(d, l2, g + i * d);
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < i; j++) {
      double above = g[j * d + i];
      g[j * d + i] = g[i * d + j];
      g[i * d + j] = above;
    }
  for (size_t i = 0; i < d && !stops(stop); i++) triangle_solve(d, l2, g + i * d);
}

/* F in place of G; were all pivots large enough? */
static int factor_gap (Stop stop, size_t d, double *g) {
  int all = 1;
  for (size_t i = 0; i < d && !stops(stop); i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = g[i * d + j];
      for (size_t k = 0; k < j; k++) sum = fma(-g[i * d + k], g[j * d + k], sum);
      all &= i != j || sum > LEAST_PIVOT;
      g[i * d + j] = i == j ? sum / (1 + sqrt(1 + sum)) : sum / (1 + g[j * d + j]);
    }
  return all;
}

static double from_gap (size_t d, const double *f) {
  double square = 0, sum = 0;
  for (size_t i = 0; i < d; i++) {
    double own = f[i * d + i];
    for (size_t j = 0; j <= i; j++) square = fma(f[i * d + j], f[i * d + j], square);
    sum += vexcess(1 + own, own);
  }
  return fma(0.5, square, sum);
}

/* L; in the rounding of S a small D would be lost. room holds factor_size numbers */
static void factor (Stop stop, Cover c, double *l, double *room) {
  low_rank_factor(stop, c.d, c.rank, c.w, c.diagonal, l, room);
}

static size_t factor_size (const size_t dims[]) {
  return low_rank_room(dims[0], dims[1] > dims[2] ? dims[1] : dims[2]);
}

/* by L1 itself; e and l1 hold d (wide + 1), or what a factor needs, and d d numbers */
static double from_triangles (Stop stop, Cover p, const double *l2, double *l1, double *e) {
  size_t d = p.d, size = d * wide_for(d);
  factor(stop, p, l1, e);
  Triangles t = {.d = d, .l1 = l1, .l2 = l2, .stop = stop};
  solve(t, e + size, e);
  return fma(0.5, squares(size, e), excesses(t, e, e + size));
}

/* z, and |z|^2/2 */
static double shift_cost (const Batch *b, size_t r, const double *l2, double *z) {
  const double *m1 = event(b, M1, r), *m2 = event(b, M2, r);
  double square = 0;
  for (size_t i = 0; i < b->dims[0]; i++) z[i] = m1[i] - m2[i];
  triangle_solve(b->dims[0], l2, z);
  for (size_t i = 0; i < b->dims[0]; i++) square = fma(z[i], z[i], square);
  return 0.5 * square;
}

static double carefully (const Batch *b, size_t r) {
  size_t d = b->dims[0];
  double *l2 = b->scratch, *g = l2 + d * d, *room = g + d * d;
  Cover p = cover_at(b, r, W1);
  factor(b->stop, cover_at(b, r, W2), l2, room);
  double shift = shift_cost(b, r, l2, room);
  fill_gap(b->stop, p, cover_at(b, r, W2), g);
  whiten(b->stop, d, l2, g);
  return shift + (factor_gap(b->stop, d, g) ? from_gap(d, g)
                                            : from_triangles(b->stop, p, l2, g, room));
}

/* }====================================================== */


static void to_lowrankmultivariatenormal (const Batch *b, double *out) {
  for (size_t r = 0; r < b->n; r++) {
    Sum s = quickly(b, r, b->scratch);
    out[r] = s.value > CANCELS * s.size ? s.value : carefully(b, r);
  }
}


/* s = S^-1 from its factor, which is lost */
static void invert (Stop stop, size_t d, double *l, double *s) {
  triangle_inverse(stop, d, l, l);
  triangle_inner(stop, d, l, 0, s);
}

/* out = 2 up s W and its diagonal up s_ii: from slopes in S to those in W and D */
static void put_cover (Stop stop, Cover c, double up, const double *s, double *dw, double *dd) {
  for (size_t i = 0; i < c.d && !stops(stop); i++) {
    for (size_t k = 0; k < c.rank; k++) {
      double sum = 0;
      for (size_t j = 0; j < c.d; j++) sum = fma(s[i * c.d + j], element(c, j, k), sum);
      dw[i * c.rank + k] = 2 * up * sum;
    }
    dd[i] = up * s[i * c.d + i];
  }
}

/* out = (s - s a s)/2 for symmetric matrices; room is another */
static void curve (Stop stop, size_t d, const double *s, const double *a, double *room,
                   double *out) {
  for (size_t i = 0; i < d * d; i++) room[i] = 0, out[i] = 0.5 * s[i];
  for (size_t i = 0; i < d && !stops(stop); i++)
    for (size_t k = 0; k < d; k++)
      for (size_t j = 0; j < d; j++)
        room[i * d + j] = fma(s[i * d + k], a[k * d + j], room[i * d + j]);
  for (size_t i = 0; i < d && !stops(stop); i++)
    for (size_t k = 0; k < d; k++)
      for (size_t j = 0; j < d; j++)
        out[i * d + j] = fma(-0.5 * room[i * d + k], s[k * d + j], out[i * d + j]);
}

/*
** With y = m1 - m2:  d/dm1 = S2^-1 y,  d/dS1 = (S2^-1 - S1^-1)/2,
** d/dS2 = (S2^-1 - S2^-1 (S1 + y y^T) S2^-1)/2
*/
static void to_lowrankmultivariatenormal_adjoint (const Batch *b, const double *upstream,
                                                  double *const d[]) {
  size_t side = b->dims[0], size = side * side, k1 = side * b->dims[1], k2 = side * b->dims[2];
  double *s1 = b->scratch, *inverse1 = s1 + size, *inverse2 = inverse1 + size;
  double *room = inverse2 + size, *slope = room + size, *y = slope + size, *more = y + side;
  for (size_t r = 0; r < b->n; r++) {
    Cover p = cover_at(b, r, W1), q = cover_at(b, r, W2);
    double up = upstream[r], *dm1 = d[M1] + r * side, *dm2 = d[M2] + r * side;
    fill_covariance(b->stop, p, s1);
    factor(b->stop, p, room, more);
    invert(b->stop, side, room, inverse1);
    factor(b->stop, q, room, more);
    invert(b->stop, side, room, inverse2);
    for (size_t i = 0; i < side; i++) y[i] = event(b, M1, r)[i] - event(b, M2, r)[i];
    for (size_t i = 0; i < size; i++) {
      slope[i] = 0.5 * (inverse2[i] - inverse1[i]);
      s1[i] = fma(y[i / side], y[i % side], s1[i]);
    }
    put_cover(b->stop, p, up, slope, d[W1] + r * k1, d[D1] + r * side);
    curve(b->stop, side, inverse2, s1, room, slope);
    put_cover(b->stop, q, up, slope, d[W2] + r * k2, d[D2] + r * side);
    for (size_t i = 0; i < side; i++) {
      double sum = 0;
      for (size_t j = 0; j < side; j++) sum = fma(inverse2[i * side + j], y[j], sum);
      dm2[i] = -(dm1[i] = up * sum);
    }
  }
}


static size_t for_value (const size_t dims[]) {
  size_t d = dims[0], gap = d * (wide_for(d) + 1), factors = factor_size(dims);
  size_t careful = 2 * d * d + (gap > factors ? gap : factors), quick = quick_size(dims);
  return careful > quick ? careful : quick;
}

static size_t for_adjoint (const size_t dims[]) {
  return dims[0] * (5 * dims[0] + 1) + factor_size(dims);
}

const Kernel perilune_kl_lowrankmultivariatenormal[] = {
  {.name = "LowRankMultivariateNormal", .n_in = 6,
   .rows = &(const RowKernel) {
     .signature = "(d),(d,k),(d),(d),(d,l),(d)->()", .run = to_lowrankmultivariatenormal,
     .scratch = for_value, .adjoint = to_lowrankmultivariatenormal_adjoint,
     .adjoint_scratch = for_adjoint}},
  {.name = NULL}
};
