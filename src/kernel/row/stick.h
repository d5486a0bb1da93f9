/*
** stick.h - a stick of size 1 that is broken k times
**
** Cut j takes a part of what is left, which x_j decides:
**
**   y_j = L_j a(x_j),   L_(j+1) = L_j b(x_j),   L_0 = 1,   y_k = L_k
**
** The inverse adds up pieces from the end, so that nothing cancels. What a piece is differs: parts
** of a sum (stick_breaking.c), or components of a unit vector (corr_cholesky.c).
*/
#ifndef PERILUNE_STICK_H
#define PERILUNE_STICK_H

#include "linalg/stop.h"
#include "special/vmath.h"


/* a, b and da/dx; d log b/dx is -a for both kinds */
typedef struct Cut { double taken, left, slope; } Cut;

/* dx_j/dy_j, and -dx_j/dy_m over w(y_m) for the pieces m > j */
typedef struct Uncut { double own, others; } Uncut;

/* `after` is k - j, the cuts from this one on; `rest` the size of all later pieces */
typedef struct Stick {
  Cut (*cut) (double x, double after);
  double (*log_det) (double x, double after);   /* of cut j: its share in all later pieces */
  double (*log_det_slope) (double x, double after);
  double (*uncut) (double y, double rest, double after);
  Uncut (*uncut_slopes) (double y, double rest);
  double (*join) (double y, double rest);       /* the size of a piece and all later ones */
  double (*weight) (double y);                  /* w: d size^p/dy, up to a factor */
} Stick;


static inline void stick_break (Stop stop, const Stick *s, size_t k, const double *x,
                                double *y) {
  double left = 1;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      Cut c = s->cut(x[j], (double)(k - j));
      y[j] = left * c.taken;
      left *= c.left;
    }
  y[k] = left;
}

/* dx_j = g_j L_j a' - a sum of g y over later pieces; dx keeps L_j on the way forth */
static inline void stick_break_adjoint (Stop stop, const Stick *s, size_t k,
                                        const double *x, const double *g, double *dx) {
  double left = 1;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      dx[j] = left;
      left *= s->cut(x[j], (double)(k - j)).left;
    }
  double later = g[k] * left;
  for (size_t i = 0, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) {
      size_t j = k - 1 - i;
      Cut c = s->cut(x[j], (double)(k - j));
      double mine = g[j] * dx[j];
      dx[j] = mine * c.slope - c.taken * later;
      later = fma(mine, c.taken, later);
    }
}

static inline void stick_join (Stop stop, const Stick *s, size_t k, const double *y,
                               double *x) {
  double rest = y[k];
  for (size_t i = 0, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) {
      size_t j = k - 1 - i;
      x[j] = s->uncut(y[j], rest, (double)(k - j));
      rest = s->join(y[j], rest);
    }
}

/* dy keeps the sizes of the rests on the way back */
static inline void stick_join_adjoint (Stop stop, const Stick *s, size_t k, const double *y,
                                       const double *g, double *dy) {
  double rest = y[k], before = 0;
  for (size_t i = 0, end; (end = part_end(stop, i, k)) > i; )
    for (; i < end; i++) {
      dy[k - 1 - i] = rest;
      rest = s->join(y[k - 1 - i], rest);
    }
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) {
      Uncut u = s->uncut_slopes(y[j], dy[j]);
      dy[j] = g[j] * u.own - s->weight(y[j]) * before;
      before = fma(g[j], u.others, before);
    }
  dy[k] = -s->weight(y[k]) * before;
}

static inline double stick_log_det (Stop stop, const Stick *s, size_t k, const double *x) {
  double sum = 0;
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) sum += s->log_det(x[j], (double)(k - j));
  return sum;
}

static inline void stick_log_det_adjoint (Stop stop, const Stick *s, size_t k,
                                          const double *x, double g, double *dx) {
  for (size_t j = 0, end; (end = part_end(stop, j, k)) > j; )
    for (; j < end; j++) dx[j] = g * s->log_det_slope(x[j], (double)(k - j));
}


static inline void fill (Stop stop, size_t n, double *out, double value) {
  for (size_t i = 0, end; (end = part_end(stop, i, n)) > i; )
    EVERY for (; i < end; i++) out[i] = value;
}

#endif
