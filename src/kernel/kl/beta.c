/*
** beta.c - KL(Beta || q)
**
** To Beta, with the gap of log Gamma above its tangent (vtangent.h):
**
**   KL = gap(a1, a2 - a1) + gap(b1, b2 - b1) - gap(a1 + b1, a2 + b2 - a1 - b1)
*/
#include "kernel/kernel.h"
#include "kernel/beta_kl.h"
#include "special/vgamma.h"


/* false for NaN */
VECTOR int plain (double a1, double b1, double a2, double b2) {
  int above = (a1 > BETA_KL_TINY) & (b1 > BETA_KL_TINY) & (a2 > BETA_KL_TINY) & (b2 > BETA_KL_TINY);
  return above & (a1 + b1 < BETA_KL_LARGE) & (a2 + b2 < BETA_KL_LARGE);
}

static void to_beta (size_t n, const double *const in[], double *out) {
  const double *a1 = in[0], *b1 = in[1], *a2 = in[2], *b2 = in[3];
  uint64_t odd = 0;
  EVERY for (size_t i = 0; i < n; i++) {
    double da = a2[i] - a1[i], db = b2[i] - b1[i];
    double parts = vtangent_gap(a1[i], a2[i], da) + vtangent_gap(b1[i], b2[i], db);
    out[i] = parts - vtangent_gap(a1[i] + b1[i], a2[i] + b2[i], da + db);
    odd |= !plain(a1[i], b1[i], a2[i], b2[i]);
  }
  for (size_t i = 0; odd && i < n; i++) {
    double p[] = {a1[i], b1[i]}, q[] = {a2[i], b2[i]};
    if (!plain(a1[i], b1[i], a2[i], b2[i]))
      out[i] = beta_kl_divergence(STOP_NEVER, 2, p, q);
  }
}

static void to_beta_partials (size_t n, const double *const in[], double *const d[]) {
  const double *a1 = in[0], *b1 = in[1], *a2 = in[2], *b2 = in[3];
  double *da1 = d[0], *db1 = d[1], *da2 = d[2], *db2 = d[3];
  EVERY for (size_t i = 0; i < n; i++) {
    double s1 = a1[i] + b1[i], s2 = a2[i] + b2[i], da = a2[i] - a1[i], db = b2[i] - b1[i];
    double whole = vtrigamma_pos(s1) * (da + db), rise = vdigamma_pos(s2) - vdigamma_pos(s1);
    da1[i] = fma(-vtrigamma_pos(a1[i]), da, whole);
    db1[i] = fma(-vtrigamma_pos(b1[i]), db, whole);
    da2[i] = (vdigamma_pos(a2[i]) - vdigamma_pos(a1[i])) - rise;
    db2[i] = (vdigamma_pos(b2[i]) - vdigamma_pos(b1[i])) - rise;
  }
}


const Kernel perilune_kl_beta[] = {
  {.name = "Beta", .n_in = 4, .value = to_beta, .partials = to_beta_partials},
  {.name = NULL}
};
