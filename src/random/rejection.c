/*
** rejection.c - draws by rejection, a block of elements at a time
*/
#include "random/rejection.h"
#include "random/noise.h"
#include "special/verf.h"
#include "special/vmath.h"


/* which of n <= 64 numbers are NaN, as bits */
static uint64_t which_nan (size_t n, const double *x) {
  uint64_t bits = 0;
  for (uint64_t i = 0; i < n; i++) bits |= (uint64_t)(x[i] != x[i]) << i;
  return bits;
}

/* the places where x is NaN; returns how many */
static size_t unsettled (size_t n, const double *x, size_t *place) {
  size_t count = 0;
  for (size_t i = 0; i < n; i += 64) {
    uint64_t left = which_nan(n - i < 64 ? n - i : 64, x + i);
    for (; left != 0; left &= left - 1) place[count++] = i + (size_t)__builtin_ctzll(left);
  }
  return count;
}

/* to[k] = from[place[k]]; `to` may be `from`, because place[k] >= k */
static void gather (size_t count, const size_t *place, const double *from, double *to) {
  for (size_t k = 0; k < count; k++) to[k] = from[place[k]];
}

/* draws go to their places; returns how many were rejected, with their places first */
static size_t settle (size_t count, size_t *place, const double *draw, double *out) {
  size_t left = 0;
  for (size_t k = 0; k < count; k++) {
    size_t i = place[k];
    out[i] = draw[k];
    place[left] = i;
    left += draw[k] != draw[k];
  }
  return left;
}

static void propose (const Rejection *law, const Philox *g, uint32_t lane, uint64_t first,
                     size_t count, const size_t *place, double *u, double *v) {
  noise_pairs(g, lane, first, count, place, u, v);
  if (!law->normal) return;
  for (size_t k = 0; k < count; k++) u[k] = vndtri(u[k]);
}

static void settle_by_quantiles (const Rejection *law, size_t count, const size_t *place,
                                 const double *const in[], const double *v, double *out) {
  double params[REJECTION_MAX_IN];
  for (size_t k = 0; k < count; k++) {
    for (int j = 0; j < law->n_in; j++) params[j] = in[j][place[k]];
    out[place[k]] = law->quantile(v[k], params);
  }
}

void rejection (const Rejection *law, const Philox *g, uint32_t lane, uint64_t first, size_t n,
                const double *const in[], double *u, double *v, double *out) {
  double params[REJECTION_MAX_IN][REJECTION_BLOCK], draw[REJECTION_BLOCK];
  const double *own[REJECTION_MAX_IN] = {params[0], params[1], params[2]};
  size_t place[REJECTION_BLOCK], count = unsettled(n, out, place);
  gather(count, place, u, u);
  gather(count, place, v, v);
  for (uint32_t fresh = 0; count > 0 && fresh < REJECTION_LANES; fresh++) {
    for (int j = 0; j < law->n_in; j++) gather(count, place, in[j], params[j]);
    law->attempt(count, own, u, v, draw);
    count = settle(count, place, draw, out);
    propose(law, g, lane + fresh, first, count, place, u, v);
  }
  settle_by_quantiles(law, count, place, in, v, out);
}
