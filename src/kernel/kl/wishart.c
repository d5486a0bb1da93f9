/*
** wishart.c - KL(Wishart || q), which is that of InverseWishart too
**
** To Wishart, with E = L2^-1 L1 - 1 (triangles.h), r_i = L1_ii/L2_ii, a_i = (df - i)/2 for
** i = 0, ..., d - 1, and C of vshape.h:
**
**   KL = sum_i [a2_i excess(s_i) + C(a1_i, a2_i) + i/2 excess(r_i^2)] + df1/2 sum_i>j E_ij^2
**   s_i = a1_i r_i^2/a2_i,   excess(s) = s - 1 - log s
**
** the divergences of Bartlett's triangle, element by element: no term is negative.
*/
#include "kernel/kernel.h"
#include "kernel/kl/triangles.h"
#include "special/vshape.h"


/* excess(1 + e); a/c is 1 + e, for where e tells too little */
static double excess_of (double e, double a, double c) {
  int usual = (e > -0.9) & (e < 0x1p500);
  return usual ? vexcess(1 + e, e) : vexcess_wide(a, c);
}

/* the terms of element i of the diagonal, e being r - 1 */
static double diagonal_term (double i, double df1, double df2, double e, double l1, double l2) {
  double a1 = 0.5 * (df1 - i), a2 = 0.5 * (df2 - i), r = l1 / l2;
  double twice = e * (2 + e), s = fma(a1, twice, 0.5 * (df1 - df2)) / a2;   /* r^2 - 1, s - 1 */
  double shapes = shape_wide(a1, a2, 0.5 * (df2 - df1));
  double scales = i > 0 ? 0.5 * i * (e * e + 2 * excess_of(e, l1, l2)) : 0;
  return fma(a2, excess_of(s, a1 * (r * r), a2), shapes + scales);
}

static void to_wishart (const Batch *b, double *out) {
  size_t d = b->dims[0], wide = wide_for(d);
  double *e = b->scratch, *inverse = e + d * wide;
  for (size_t r = 0; r < b->n; r++) {
    Triangles t = {.d = d, .l1 = event(b, 1, r), .l2 = event(b, 3, r), .stop = b->stop};
    double df1 = *event(b, 0, r), df2 = *event(b, 2, r), sum = 0, square = 0;
    solve(t, inverse, e);
    for (size_t i = 0; i < d; i++) {
      const double *row = e + i * wide + 1;
      for (size_t j = 0; j < i; j++) square = fma(row[j], row[j], square);
      sum += diagonal_term((double)i, df1, df2, row[i], t.l1[i * d + i], t.l2[i * d + i]);
    }
    out[r] = fma(0.5 * df1, square, sum);
  }
}

/*
** by df1: tr(N)/2 + (df1 - df2)/4 sum_i psi'(a1_i)
** by df2: sum_i [(psi(a2_i) - psi(a1_i))/2 - log r_i]
*/
static void df_slopes (Triangles t, double df1, double df2, const double *e, double *by1,
                       double *by2) {
  size_t d = t.d, wide = wide_for(d);
  double trace = squares(d * wide, e), curve = 0, gap = 0;
  for (size_t i = 0; i < d; i++) {
    double a1 = 0.5 * (df1 - (double)i), a2 = 0.5 * (df2 - (double)i), own = e[i * wide + i + 1];
    trace = fma(2, own, trace);
    curve += vtrigamma_pos(a1);
    gap += 0.5 * (vdigamma_pos(a2) - vdigamma_pos(a1));
    gap -= vlog_ratio(t.l1[i * d + i], t.l2[i * d + i]);
  }
  *by1 = fma(0.25 * (df1 - df2), curve, 0.5 * trace);
  *by2 = gap;
}

/*
**   d/dL1 = df1 L2^-T E + (df1 e_i + df1 - df2)/L1_ii on the diagonal
**   d/dL2 = -df1 L2^-T N - (df1 - df2)/L2_ii on the diagonal,    N = (1 + E) (1 + E)^T - 1
*/
static void to_wishart_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  size_t side = b->dims[0], wide = wide_for(side), size = side * side;
  double *e = b->scratch, *n = e + side * wide, *diagonal = n + size;
  for (size_t r = 0; r < b->n; r++) {
    Triangles t = {.d = side, .l1 = event(b, 1, r), .l2 = event(b, 3, r), .stop = b->stop};
    double df1 = *event(b, 0, r), df2 = *event(b, 2, r), up = upstream[r], by1, by2;
    double *dl1 = d[1] + r * size, *dl2 = d[3] + r * size;
    solve(t, diagonal, e);
    df_slopes(t, df1, df2, e, &by1, &by2);
    fill_inner(b->stop, side, e, n);
    for (size_t i = 0; i < side; i++) diagonal[i] = fma(df1, e[i * wide + i + 1], df1 - df2);
    solve_transposed(b->stop, side, t.l2, wide, e);
    solve_transposed(b->stop, side, t.l2, side, n);
    put_triangle(side, up * df1, e + 1, wide, dl1);
    put_triangle(side, -up * df1, n, side, dl2);
    for (size_t i = 0; i < size; i += side + 1) {
      dl1[i] += up * diagonal[i / side] / t.l1[i];
      dl2[i] -= up * (df1 - df2) / t.l2[i];
    }
    d[0][r] = up * by1;
    d[2][r] = up * by2;
  }
}


static size_t for_value (const size_t dims[]) { return dims[0] * (wide_for(dims[0]) + 1); }

static size_t for_adjoint (const size_t dims[]) {
  return dims[0] * (wide_for(dims[0]) + dims[0] + 1);
}

const Kernel perilune_kl_wishart[] = {
  {.name = "Wishart", .n_in = 4,
   .rows = &(const RowKernel) {
     .signature = "(),(d,d),(),(d,d)->()", .run = to_wishart, .scratch = for_value,
     .adjoint = to_wishart_adjoint, .adjoint_scratch = for_adjoint}},
  {.name = NULL}
};
