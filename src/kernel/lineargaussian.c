/*
** lineargaussian.c - LinearGaussian: a hidden state that moves linearly, seen through normal noise
**
**   z_1 ~ N(m, P),   z_t+1 = A z_t + N(0, Q),   x_t = C z_t + N(0, R)
**
** The Kalman filter goes from the mean m and covariance P of z_t given x before t to those of
** z_t+1:
**
**   v = x_t - C m,  B = C P,  S = B C' + R,      log p(x_t | before) = log N(v; 0, S)
**   m+ = m + B' S^-1 v,  P+ = P - B' S^-1 B,     given x_t as well
**   m  = A m+,           P  = A P+ A' + Q        of the next time
**
** Derivatives are those of these steps, backwards. Neither P nor Q is inverted: they may be
** singular. The smoother is that of de Jong (1989), for the same reason.
*/
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernel/gaussian.h"
#include "kernel/kernel.h"
#include "linalg/triangle.h"

enum { X, A, Q, C, R, MEAN, COVARIANCE };   /* operands */


/* {=====================================================
** Matrices
** ====================================================== */

/* element (i, j) is at i row + j column */
typedef struct Matrix { const double *x; size_t row, column; } Matrix;

static Matrix plain (const double *x, size_t columns) { return (Matrix) {x, columns, 1}; }
static Matrix turned (const double *x, size_t columns) { return (Matrix) {x, 1, columns}; }

/* adds k a b to out, a being l by m and b m by n */
static void add_product (size_t l, size_t m, size_t n, double k, Matrix a, Matrix b, double *out) {
  for (size_t i = 0; i < l; i++)
    for (size_t p = 0; p < m; p++) {
      double factor = k * a.x[i * a.row + p * a.column];
      for (size_t j = 0; j < n; j++)
        out[i * n + j] = fma(factor, b.x[p * b.row + j * b.column], out[i * n + j]);
    }
}

static void zero (size_t n, double *x) { memset(x, 0, n * sizeof *x); }

static void set_product (size_t l, size_t m, size_t n, Matrix a, Matrix b, double *out) {
  zero(l * n, out);
  add_product(l, m, n, 1, a, b, out);
}

static void copy (size_t n, const double *from, double *to) { memcpy(to, from, n * sizeof *to); }

static void make_symmetric (size_t n, double *a) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++) a[i * n + j] = a[j * n + i] = 0.5 * (a[i * n + j] + a[j * n + i]);
}

/* out = a p a' + q, for a symmetric p; `room` for as many elements as a has */
static void carry (size_t l, size_t n, Matrix a, const double *p, const double *q, double *room,
                   double *out) {
  set_product(l, n, n, a, plain(p, n), room);
  if (q == NULL) zero(l * l, out);
  else copy(l * l, q, out);
  add_product(l, n, l, 1, plain(room, n), (Matrix) {a.x, a.column, a.row}, out);
  make_symmetric(l, out);
}

/* the columns of b, d by n, solved by a triangle; and by its transpose */
static void solve_columns (size_t d, size_t n, const double *l, double *b) {
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < n; j++) {
      double sum = b[i * n + j];
      for (size_t k = 0; k < i; k++) sum = fma(-l[i * d + k], b[k * n + j], sum);
      b[i * n + j] = sum / l[i * d + i];
    }
}

static void solve_columns_transposed (size_t d, size_t n, const double *l, double *b) {
  for (size_t i = d; i-- > 0; )
    for (size_t j = 0; j < n; j++) {
      double sum = b[i * n + j];
      for (size_t k = i + 1; k < d; k++) sum = fma(-l[k * d + i], b[k * n + j], sum);
      b[i * n + j] = sum / l[i * d + i];
    }
}

/* }====================================================== */


/* {=====================================================
** The filter
** ====================================================== */

typedef struct Model {
  size_t steps, d, n;
  const double *x, *a, *q, *c, *r, *mean, *covariance;
  Stop stop;
} Model;

static Model model_of (const Batch *b, size_t e) {
  return (Model) {
    b->dims[0], b->dims[1], b->dims[2], event(b, X, e), event(b, A, e), event(b, Q, e),
    event(b, C, e), event(b, R, e), event(b, MEAN, e), event(b, COVARIANCE, e), b->stop};
}

/* What is known at one time: m and P before x is seen; the rest follows from x. */
typedef struct Time {
  double *m, *p;          /* n, n n */
  double *b, *g, *h;      /* d n: B, S^-1 B, L^-1 B with S = L L' */
  double *s, *l;          /* d d */
  double *v, *w;          /* d: v, S^-1 v */
  double *m_after, *p_after;
  double *room;           /* as many as the largest matrix has */
} Time;

static size_t larger_of (size_t a, size_t b) { return a > b ? a : b; }

static size_t room_size (size_t d, size_t n) { return larger_of(n, d) * larger_of(n, d); }

static size_t time_size (size_t d, size_t n) {
  return 2 * (n + n * n) + 3 * d * n + 2 * d * d + 2 * d + room_size(d, n);
}

/* places them from `at` on */
static Time time_at (size_t d, size_t n, double *at) {
  Time k;
  k.m = at;
  k.p = k.m + n;
  k.m_after = k.p + n * n;
  k.p_after = k.m_after + n;
  k.b = k.p_after + n * n;
  k.g = k.b + d * n;
  k.h = k.g + d * n;
  k.s = k.h + d * n;
  k.l = k.s + d * d;
  k.v = k.l + d * d;
  k.w = k.v + d;
  k.room = k.w + d;
  return k;
}

/* log p(x_t | before); what x_t says of the state */
static double look (const Model *o, size_t t, Time *k) {
  size_t d = o->d, n = o->n;
  copy(d, o->x + t * d, k->v);
  add_product(d, n, 1, -1, plain(o->c, n), plain(k->m, 1), k->v);
  set_product(d, n, n, plain(o->c, n), plain(k->p, n), k->b);
  copy(d * d, o->r, k->s);
  add_product(d, n, d, 1, plain(k->b, n), turned(o->c, n), k->s);
  triangle_cholesky(o->stop, d, k->s, k->l, triangle_first(d));
  copy(d, k->v, k->w);
  triangle_solve(d, k->l, k->w);
  double square = 0;
  for (size_t i = 0; i < d; i++) square = fma(k->w[i], k->w[i], square);
  triangle_solve_transposed(d, k->l, k->w);
  copy(d * n, k->b, k->h);
  solve_columns(d, n, k->l, k->h);
  copy(n, k->m, k->m_after);
  add_product(n, d, 1, 1, turned(k->b, n), plain(k->w, 1), k->m_after);
  copy(n * n, k->p, k->p_after);
  add_product(n, d, n, -1, turned(k->h, n), plain(k->h, n), k->p_after);
  make_symmetric(n, k->p_after);
  return -0.5 * square - log_diagonal(d, k->l) - half_log_2pi(d);
}

/* m and P of the next time */
static void move (const Model *o, const Time *k, double *m, double *p) {
  set_product(o->n, o->n, 1, plain(o->a, o->n), plain(k->m_after, 1), m);
  carry(o->n, o->n, plain(o->a, o->n), k->p_after, o->q, k->room, p);
}

static void begin (const Model *o, double *m, double *p) {
  copy(o->n, o->mean, m);
  copy(o->n * o->n, o->covariance, p);
  make_symmetric(o->n, p);
}

static size_t cube (const Model *o) {
  size_t n = larger_of(o->n, o->d);
  return n * n * n;
}

/* Is an element infinite, and none NaN? */
static bool is_far (const Model *o) {
  bool far = false;
  for (size_t i = 0; i < o->steps * o->d; i++) {
    if (o->x[i] != o->x[i]) return false;
    far |= fabs(o->x[i]) == INFINITY;
  }
  return far;
}

static void log_prob (const Batch *b, double *out) {
  for (size_t e = 0; e < b->n; e++) {
    Model o = model_of(b, e);
    Time k = time_at(o.d, o.n, b->scratch);
    double sum = 0;
    begin(&o, k.m, k.p);
    for (size_t t = 0; t < o.steps && !stops_at(o.stop, t, cube(&o)); t++) {
      sum += look(&o, t, &k);
      move(&o, &k, k.m, k.p);
    }
    out[e] = sum != sum && is_far(&o) ? -INFINITY : sum;
  }
}

static size_t log_prob_scratch (const size_t dims[]) { return time_size(dims[1], dims[2]); }

/* }====================================================== */


/* {=====================================================
** Derivatives
** ====================================================== */

/* Memory of all times: m and P before x_t is seen, for each t. */
static size_t past_size (const size_t dims[]) { return dims[0] * (dims[2] + dims[2] * dims[2]); }

/* the filter, whose m and P are kept in `past` */
static void run_forward (const Model *o, Time k, double *past) {
  size_t n = o->n, size = n + n * n;
  for (size_t t = 0; t < o->steps && !stops_at(o->stop, t, cube(o)); t++) {
    if (t == 0) begin(o, past, past + n);
    copy(size, past + t * size, k.m);   /* P lies behind m */
    look(o, t, &k);
    if (t + 1 < o->steps) move(o, &k, past + (t + 1) * size, past + (t + 1) * size + n);
  }
}

/* Derivatives, along the operands and along m and P of the time at hand. */
typedef struct Slopes { double *x, *a, *q, *c, *r, *m, *p, *b, *s, *room; } Slopes;

/* back over `move`: along m and P of the next time to those after x_t was seen */
static void back_move (const Model *o, const Time *k, Slopes *g) {
  size_t n = o->n;
  add_product(n, 1, n, 1, plain(g->m, 1), plain(k->m_after, n), g->a);
  set_product(n, n, n, plain(g->p, n), plain(o->a, n), g->room);
  add_product(n, n, n, 2, plain(g->room, n), plain(k->p_after, n), g->a);
  for (size_t i = 0; i < n * n; i++) g->q[i] += g->p[i];
  copy(n, g->m, k->room);
  set_product(n, n, 1, turned(o->a, n), plain(k->room, 1), g->m);
  set_product(n, n, n, turned(o->a, n), plain(g->room, n), g->p);
  make_symmetric(n, g->p);
}

/* S^-1 of this time, d by d, into `out` */
static void invert (size_t d, const Time *k, double *out) {
  zero(d * d, out);
  for (size_t i = 0; i < d; i++) out[i * d + i] = 1;
  solve_columns(d, d, k->l, out);
  solve_columns_transposed(d, d, k->l, out);
}

/* along S: up (w w' - S^-1)/2 + G P G' - (y w' + w y')/2, where y = S^-1 B m, and m and P are the
   derivatives along what they were after x_t */
static void slope_of_s (const Model *o, const Time *k, const double *y, double up, Slopes *g) {
  size_t d = o->d, n = o->n;
  set_product(d, n, n, plain(k->g, n), plain(g->p, n), g->room);
  invert(d, k, g->s);
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++)
      g->s[i * d + j] = 0.5 * up * (k->w[i] * k->w[j] - g->s[i * d + j])
                      - 0.5 * (y[i] * k->w[j] + k->w[i] * y[j]);
  add_product(d, n, d, 1, plain(g->room, n), turned(k->g, n), g->s);
}

/* back over `look`, with derivative `up` along its result */
static void back_look (const Model *o, Time *k, size_t t, double up, Slopes *g) {
  size_t d = o->d, n = o->n;
  double *y = k->v, *dv = g->x + t * d;
  copy(d * n, k->h, k->g);
  solve_columns_transposed(d, n, k->l, k->g);
  set_product(d, n, 1, plain(k->g, n), plain(g->m, 1), y);           /* S^-1 B m */
  slope_of_s(o, k, y, up, g);
  set_product(d, 1, n, plain(k->w, 1), plain(g->m, n), g->b);        /* along B: w m' - 2 G P */
  add_product(d, n, n, -2, plain(k->g, n), plain(g->p, n), g->b);
  for (size_t i = 0; i < d; i++) dv[i] = y[i] - up * k->w[i];
  add_product(d, 1, n, -1, plain(dv, 1), plain(k->m, n), g->c);      /* v = x - C m */
  add_product(n, d, 1, -1, turned(o->c, n), plain(dv, 1), g->m);
  add_product(d, n, n, 1, plain(g->b, n), plain(k->p, n), g->c);     /* B = C P */
  add_product(n, d, n, 1, turned(o->c, n), plain(g->b, n), g->p);
  add_product(d, d, n, 2, plain(g->s, d), plain(k->b, n), g->c);     /* S = C P C' + R */
  set_product(d, d, n, plain(g->s, d), plain(o->c, n), g->room);
  add_product(n, d, n, 1, turned(o->c, n), plain(g->room, n), g->p);
  for (size_t i = 0; i < d * d; i++) g->r[i] += g->s[i];
  make_symmetric(n, g->p);
}

static bool is_finite (size_t n, const double *x) {
  for (size_t i = 0; i < n; i++)
    if (!(fabs(x[i]) < INFINITY)) return false;
  return true;
}

static void log_prob_adjoint (const Batch *b, const double *upstream, double *const d[]) {
  for (size_t e = 0; e < b->n; e++) {
    Model o = model_of(b, e);
    size_t n = o.n, size = n + n * n;
    Time k = time_at(o.d, n, b->scratch);
    double *past = b->scratch + time_size(o.d, n), *rest = past + o.steps * size;
    Slopes g = {
      d[X] + e * o.steps * o.d, d[A] + e * n * n, d[Q] + e * n * n, d[C] + e * o.d * n,
      d[R] + e * o.d * o.d, d[MEAN] + e * n, d[COVARIANCE] + e * n * n,
      rest, rest + o.d * n, rest + o.d * n + o.d * o.d};
    zero(o.steps * o.d, g.x), zero(n * n, g.a), zero(n * n, g.q), zero(o.d * n, g.c);
    zero(o.d * o.d, g.r), zero(n, g.m), zero(n * n, g.p);
    if (!is_finite(o.steps * o.d, o.x)) continue;
    run_forward(&o, k, past);
    for (size_t t = o.steps; t-- > 0 && !stops_at(o.stop, t, cube(&o)); ) {
      copy(size, past + t * size, k.m);
      look(&o, t, &k);
      if (t + 1 < o.steps) back_move(&o, &k, &g);
      back_look(&o, &k, t, upstream[e], &g);
    }
  }
}

static size_t adjoint_scratch (const size_t dims[]) {
  size_t d = dims[1], n = dims[2];
  return time_size(d, n) + past_size(dims) + d * n + d * d + room_size(d, n);
}

/* }====================================================== */


/* {=====================================================
** States, given a series: means of n and covariances of n by n, one after the other
** ====================================================== */

static void filter (const Batch *b, double *out, bool is_mean) {
  for (size_t e = 0; e < b->n; e++) {
    Model o = model_of(b, e);
    Time k = time_at(o.d, o.n, b->scratch);
    size_t size = is_mean ? o.n : o.n * o.n;
    begin(&o, k.m, k.p);
    for (size_t t = 0; t < o.steps && !stops_at(o.stop, t, cube(&o)); t++, out += size) {
      look(&o, t, &k);
      copy(size, is_mean ? k.m_after : k.p_after, out);
      move(&o, &k, k.m, k.p);
    }
  }
}

static void filter_mean (const Batch *b, double *out) { filter(b, out, true); }
static void filter_covariance (const Batch *b, double *out) { filter(b, out, false); }

/*
** With F = A - A K C, K = B' S^-1, backwards: r = C' S^-1 v + F' r and N = C' S^-1 C + F' N F;
** then m + P r and P - P N P.
*/
static void back_smooth (const Model *o, const Time *k, double *r, double *big_n, double *f,
                         double *room, bool is_last) {
  size_t d = o->d, n = o->n;
  copy(n * n, o->a, f);
  set_product(n, n, d, plain(o->a, n), turned(k->g, n), room);   /* A K */
  add_product(n, d, n, -1, plain(room, d), plain(o->c, n), f);
  if (is_last) zero(n, r), zero(n * n, big_n);
  copy(n, r, room);
  set_product(n, n, 1, turned(f, n), plain(room, 1), r);
  add_product(n, d, 1, 1, turned(o->c, n), plain(k->w, 1), r);
  copy(n * n, big_n, k->p_after);
  carry(n, n, turned(f, n), k->p_after, NULL, room, big_n);
  copy(d * n, o->c, room);
  solve_columns(d, n, k->l, room);
  add_product(n, d, n, 1, turned(room, n), plain(room, n), big_n);
}

static void smooth (const Batch *b, double *out, bool is_mean) {
  for (size_t e = 0; e < b->n; e++) {
    Model o = model_of(b, e);
    size_t n = o.n, size = n + n * n, each = is_mean ? n : n * n;
    Time k = time_at(o.d, n, b->scratch);
    double *past = b->scratch + time_size(o.d, n), *r = past + o.steps * size, *big_n = r + n;
    double *f = big_n + n * n, *room = f + n * n;
    run_forward(&o, k, past);
    for (size_t t = o.steps; t-- > 0 && !stops_at(o.stop, t, cube(&o)); ) {
      double *to = out + (e * o.steps + t) * each;
      copy(size, past + t * size, k.m);
      look(&o, t, &k);
      copy(o.d * n, k.h, k.g);
      solve_columns_transposed(o.d, n, k.l, k.g);
      back_smooth(&o, &k, r, big_n, f, room, t + 1 == o.steps);
      copy(each, is_mean ? k.m : k.p, to);
      if (is_mean) add_product(n, n, 1, 1, plain(k.p, n), plain(r, 1), to);
      else {
        carry(n, n, plain(k.p, n), big_n, NULL, room, f);
        for (size_t i = 0; i < n * n; i++) to[i] -= f[i];
      }
    }
  }
}

static void smooth_mean (const Batch *b, double *out) { smooth(b, out, true); }
static void smooth_covariance (const Batch *b, double *out) { smooth(b, out, false); }

static size_t smooth_scratch (const size_t dims[]) {
  size_t d = dims[1], n = dims[2];
  return time_size(d, n) + past_size(dims) + n + 2 * n * n + room_size(d, n);
}

/* }====================================================== */


/* {=====================================================
** Draws
** ====================================================== */

/* l with l l' = a, which may be singular: a column without a pivot is zero */
static void root (size_t d, const double *a, double *l) {
  zero(d * d, l);
  for (size_t j = 0; j < d; j++) {
    for (size_t i = j; i < d; i++) {
      double sum = a[i * d + j], pivot = l[j * d + j];
      for (size_t k = 0; k < j; k++) sum = fma(-l[i * d + k], l[j * d + k], sum);
      if (i > j) l[i * d + j] = pivot > 0 ? sum / pivot : 0;
      else l[i * d + j] = sum > 0x1p-50 * a[j * d + j] ? sqrt(sum) : 0;
    }
  }
}

/* operands: normal noise of the state, (t, n), and of what is seen, (t, d); A Q C R m P */
static void draw (const Batch *b, double *out) {
  size_t steps = b->dims[0], n = b->dims[1], d = b->dims[2];
  double *q = b->scratch, *p = q + n * n, *r = p + n * n, *z = r + d * d, *next = z + n;
  for (size_t e = 0; e < b->n; e++) {
    const double *noise = event(b, 0, e), *seen = event(b, 1, e), *a = event(b, 2, e);
    const double *c = event(b, 4, e);
    root(n, event(b, 3, e), q);
    root(d, event(b, 5, e), r);
    root(n, event(b, 7, e), p);
    for (size_t t = 0; t < steps && !stops_at(b->stop, t, n * (n + d)); t++) {
      if (t == 0) copy(n, event(b, 6, e), next);
      else set_product(n, n, 1, plain(a, n), plain(z, 1), next);
      add_product(n, n, 1, 1, plain(t == 0 ? p : q, n), plain(noise + t * n, 1), next);
      copy(n, next, z);
      set_product(d, n, 1, plain(c, n), plain(z, 1), out);
      add_product(d, d, 1, 1, plain(r, d), plain(seen + t * d, 1), out);
      out += d;
    }
  }
}

static size_t draw_scratch (const size_t dims[]) {
  return 2 * dims[1] * dims[1] + dims[2] * dims[2] + 2 * dims[1];
}

/* }====================================================== */


const Kernel perilune_lineargaussian[] = {
  {.name = "log_prob", .n_in = 7,
   .rows = &(const RowKernel) {
     .signature = "(t,d),(n,n),(n,n),(d,n),(d,d),(n),(n,n)->()", .run = log_prob,
     .scratch = log_prob_scratch, .adjoint = log_prob_adjoint, .adjoint_scratch = adjoint_scratch}},
  {.name = "filter_mean", .n_in = 7,
   .rows = &(const RowKernel) {
     .signature = "(t,d),(n,n),(n,n),(d,n),(d,d),(n),(n,n)->(t,n)", .run = filter_mean,
     .scratch = log_prob_scratch}},
  {.name = "filter_covariance", .n_in = 7,
   .rows = &(const RowKernel) {
     .signature = "(t,d),(n,n),(n,n),(d,n),(d,d),(n),(n,n)->(t,n,n)", .run = filter_covariance,
     .scratch = log_prob_scratch}},
  {.name = "smooth_mean", .n_in = 7,
   .rows = &(const RowKernel) {
     .signature = "(t,d),(n,n),(n,n),(d,n),(d,d),(n),(n,n)->(t,n)", .run = smooth_mean,
     .scratch = smooth_scratch}},
  {.name = "smooth_covariance", .n_in = 7,
   .rows = &(const RowKernel) {
     .signature = "(t,d),(n,n),(n,n),(d,n),(d,d),(n),(n,n)->(t,n,n)", .run = smooth_covariance,
     .scratch = smooth_scratch}},
  {.name = "draw", .n_in = 8,
   .rows = &(const RowKernel) {
     .signature = "(t,n),(t,d),(n,n),(n,n),(d,n),(d,d),(n),(n,n)->(t,d)", .run = draw,
     .scratch = draw_scratch}},
  {.name = NULL}
};
