/*
** multivariatenormal.c - KL(MultivariateNormal || q)
**
** To MultivariateNormal, with  z = L2^-1 (m1 - m2)  and  E = L2^-1 (L1 - L2) = L2^-1 L1 - 1:
**
**   KL = |z|^2/2 + |E|^2/2 + sum_i (e_i - log(1 + e_i)),    e_i = E_ii = L1_ii/L2_ii - 1
**
** Every term is a square or an excess, so nothing cancels when p is near q.
**
** z and E are found together, as d rows (z_i, E_i0, ..., E_ii). Small ones are solved for
** PAIRS_AT_ONCE pairs side by side, large ones one after the other (triangles.h).
*/
#include "kernel/kernel.h"
#include "kernel/kl/triangles.h"

enum { PAIRS_AT_ONCE = 8, SMALL_DIM = 16 };

typedef double PairLanes[PAIRS_AT_ONCE];


/* {=====================================================
** Several pairs side by side: the rows of L2, and of (z, E), follow one another without gaps
** ====================================================== */

/* the pair at r, or the last one, which fills up */
static size_t pair_at (const Batch *b, size_t r) { return r < b->n ? r : b->n - 1; }

/* fetches matrices of a later pair while others are worked on */
static void look_ahead (const Batch *b, size_t r) {
  size_t size = b->dims[0] * b->dims[0];
  const double *l1 = event(b, 1, r), *l2 = event(b, 3, r);
  for (size_t i = 0; i < size; i += 8) {
    __builtin_prefetch(l1 + i);
    __builtin_prefetch(l2 + i);
  }
}

/* m1 - m2 and L1 - L2, and L2, of pairs from `first` on */
static void gather (const Batch *b, size_t first, PairLanes l[], PairLanes e[]) {
  size_t d = b->dims[0];
  for (size_t k = 0; k < PAIRS_AT_ONCE; k++) {
    size_t r = pair_at(b, first + k);
    const double *m1 = event(b, 0, r), *m2 = event(b, 2, r);
    const double *l1 = event(b, 1, r), *l2 = event(b, 3, r);
    double *to = e[0] + k, *copy = l[0] + k;
    look_ahead(b, pair_at(b, first + k + PAIRS_AT_ONCE));
    for (size_t i = 0; i < d; i++, l1 += d, l2 += d) {
      *to = m1[i] - m2[i];
      to += PAIRS_AT_ONCE;
      for (size_t j = 0; j <= i; j++, to += PAIRS_AT_ONCE, copy += PAIRS_AT_ONCE) {
        *to = l1[j] - l2[j];
        *copy = l2[j];
      }
    }
  }
}

static void subtract_product (const double *restrict a, const double *restrict x,
                              double *restrict y) {
  for (size_t r = 0; r < PAIRS_AT_ONCE; r++) y[r] = fma(-a[r], x[r], y[r]);
}

/* row e of (z, E), whose last element is e_i; adds its squares and its excess */
static void finish_row (size_t n, const double *restrict pivot, PairLanes e[],
                        double *restrict square, double *restrict kl, double *restrict odd) {
  PairLanes inverse;
  for (size_t r = 0; r < PAIRS_AT_ONCE; r++) inverse[r] = 1 / pivot[r];
  for (size_t c = 0; c < n; c++)
    for (size_t r = 0; r < PAIRS_AT_ONCE; r++) {
      double x = e[c][r] * inverse[r];
      e[c][r] = x;
      square[r] = fma(x, x, square[r]);
    }
  const double *last = e[n - 1];
  for (size_t r = 0; r < PAIRS_AT_ONCE; r++) {
    kl[r] += vexcess(1 + last[r], last[r]);
    odd[r] = (plain(pivot[r]) & (last[r] > -0.99) & (last[r] < 0x1p500)) ? odd[r] : 1;
  }
}

/* KL of pairs from `first` on, and which of them need more care */
static void side_by_side (const Batch *b, size_t first, PairLanes kl, PairLanes odd) {
  size_t d = b->dims[0];
  PairLanes *l = (PairLanes *)b->scratch, *e = l + d * (d + 1) / 2, *row = e, square = {0};
  memset(kl, 0, sizeof(PairLanes));
  memset(odd, 0, sizeof(PairLanes));
  gather(b, first, l, e);
  for (size_t i = 0; i < d; i++, l += i, row += i + 1) {
    const PairLanes *above = e;
    for (size_t k = 0; k < i; k++, above += k + 1)
      for (size_t c = 0; c <= k + 1; c++) subtract_product(l[k], above[c], row[c]);
    finish_row(i + 2, l[i], row, square, kl, odd);
  }
  for (size_t r = 0; r < PAIRS_AT_ONCE; r++) kl[r] = fma(0.5, square[r], kl[r]);
}

/* }====================================================== */


/* {=====================================================
** One pair after the other
** ====================================================== */

static int has_nan (size_t n, const double *x) {
  int found = 0;
  for (size_t i = 0; i < n; i++) found |= x[i] != x[i];
  return found;
}

static int lower_nan (size_t d, const double *l) {
  int found = 0;
  for (size_t i = 0; i < d; i++) found |= has_nan(i + 1, l + i * d);
  return found;
}

/* where numbers without NaN make z or E overflow, q is infinitely far */
static double unless_nan (const Batch *b, size_t r, double kl) {
  size_t d = b->dims[0];
  if (kl == kl) return kl;
  int found = has_nan(d, event(b, 0, r)) | lower_nan(d, event(b, 1, r))
            | has_nan(d, event(b, 2, r)) | lower_nan(d, event(b, 3, r));
  return found ? kl : INFINITY;
}

static Triangles triangles_at (const Batch *b, size_t r) {
  return (Triangles) {b->dims[0], event(b, 0, r), event(b, 1, r), event(b, 2, r), event(b, 3, r),
                      b->stop};
}

static double alone (const Batch *b, size_t r) {
  Triangles t = triangles_at(b, r);
  size_t size = t.d * wide_for(t.d);
  double *e = b->scratch, *inverse = e + size;
  solve(t, inverse, e);
  return unless_nan(b, r, fma(0.5, squares(size, e), excesses(t, e, inverse)));
}

/* }====================================================== */


static void to_multivariatenormal (const Batch *b, double *out) {
  size_t together = b->dims[0] <= SMALL_DIM ? PAIRS_AT_ONCE : 1;
  for (size_t first = 0; first < b->n; first += together) {
    PairLanes kl, odd = {1};
    if (together > 1) side_by_side(b, first, kl, odd);
    for (size_t k = 0; k < together && first + k < b->n; k++)
      out[first + k] = odd[k] == 0 && kl[k] < INFINITY ? kl[k] : alone(b, first + k);
  }
}


/*
**   d/dm1 = L2^-T z = -d/dm2,   d/dL1 = L2^-T E + e_i/L1_ii on the diagonal,   d/dL2 = -L2^-T N
*/
static void to_multivariatenormal_adjoint (const Batch *b, const double *upstream,
                                           double *const d[]) {
  size_t side = b->dims[0], wide = wide_for(side);
  double *e = b->scratch, *n = e + side * wide, *inverse = n + side * side;
  for (size_t r = 0; r < b->n; r++) {
    const double *l1 = event(b, 1, r), *l2 = event(b, 3, r);
    double up = upstream[r], *dl1 = d[1] + r * side * side;
    solve(triangles_at(b, r), inverse, e);
    fill_inner(b->stop, side, e, n);
    for (size_t i = 0; i < side; i++) inverse[i] = e[i * wide + i + 1] / l1[i * side + i];
    solve_transposed(b->stop, side, l2, wide, e);
    solve_transposed(b->stop, side, l2, side, n);
    put_triangle(side, up, e + 1, wide, dl1);
    put_triangle(side, -up, n, side, d[3] + r * side * side);
    for (size_t i = 0; i < side; i++) {
      d[0][r * side + i] = up * e[i * wide];
      d[2][r * side + i] = -up * e[i * wide];
      dl1[i * side + i] = fma(up, inverse[i], dl1[i * side + i]);
    }
  }
}


static size_t for_value (const size_t dims[]) {
  size_t d = dims[0];
  return d * (d <= SMALL_DIM ? PAIRS_AT_ONCE * (d + 2) : wide_for(d) + 1);
}

static size_t for_adjoint (const size_t dims[]) {
  return dims[0] * (wide_for(dims[0]) + dims[0] + 1);
}

const Kernel perilune_kl_multivariatenormal[] = {
  {.name = "MultivariateNormal", .n_in = 4,
   .rows = &(const RowKernel) {
     .signature = "(d),(d,d),(d),(d,d)->()", .run = to_multivariatenormal, .scratch = for_value,
     .adjoint = to_multivariatenormal_adjoint, .adjoint_scratch = for_adjoint}},
  {.name = NULL}
};
