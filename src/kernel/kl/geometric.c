/*
** geometric.c - KL(Geometric || q)
**
** To Geometric, on logits a of p and b of q: the divergence of one throw of the coin
** (bernoulli_kl.h) times the 1/p throws that it takes. For p below e^-600 the law is exponential,
**
**   KL = log(1 + e^b)/e^a - 1 - D,   D = b - a
*/
#include "kernel/kernel.h"
#include "kernel/bernoulli_kl.h"

static const double RARE = -600;


VECTOR double rare_divergence (double a, double b) {
  double gap = b - a, root = vexp(-0.5 * a);
  double ratio = b < -36 ? vexp(gap) : vsoftplus(b) * root * root;
  double near = gap * gap * bernoulli_kl_curve(gap), far = (ratio - 1) - gap;
  return fabs(gap) <= BERNOULLI_KL_NEAR ? near : far;
}

VECTOR double divergence (double a, double b) {
  double value = bernoulli_kl_divergence(a, b) / vsigmoid(a), rare = rare_divergence(a, b);
  return a < RARE ? rare : value;
}

static void to_geometric (size_t n, const double *const in[], double *out) {
  const double *a = in[0], *b = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = divergence(a[i], b[i]);
}

/* -(1 - p)(D + KL), and the rise of p over p */
static void to_geometric_partials (size_t n, const double *const in[], double *const d[]) {
  const double *a = in[0], *b = in[1];
  double *da = d[0], *db = d[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double rest = vsigmoid(-a[i]), slope = -rest * ((b[i] - a[i]) + divergence(a[i], b[i]));
    double rise = bernoulli_kl_rise(a[i], b[i]) / vsigmoid(a[i]);
    da[i] = rest == 0 ? 0 : slope;
    db[i] = a[i] < RARE ? vexpm1(b[i] - a[i]) : rise;
  }
}


const Kernel perilune_kl_geometric[] = {
  {.name = "Geometric", .n_in = 2, .value = to_geometric, .partials = to_geometric_partials},
  {.name = NULL}
};
