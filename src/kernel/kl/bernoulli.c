/*
** bernoulli.c - KL(Bernoulli || q)
**
** To Bernoulli, on logits (odds.h).
*/
#include "kernel/kernel.h"
#include "kernel/odds.h"


static void to_bernoulli (size_t n, const double *const in[], double *out) {
  const double *a = in[0], *b = in[1];
  EACH (i, n) out[i] = odds_divergence(a[i], b[i]);
}

/* -p (1 - p)(b - a), and the rise of p; 0 for a coin that is certain */
static void to_bernoulli_partials (size_t n, const double *const in[], double *const d[]) {
  const double *a = in[0], *b = in[1];
  double *da = d[0], *db = d[1];
  EACH (i, n) {
    double spread = vsigmoid(a[i]) * vsigmoid(-a[i]), slope = spread * (a[i] - b[i]);
    da[i] = spread == 0 ? 0 : slope;
    db[i] = odds_rise(a[i], b[i]);
  }
}


const Kernel perilune_kl_bernoulli[] = {
  {.name = "Bernoulli", .n_in = 2, .value = to_bernoulli, .partials = to_bernoulli_partials},
  {.name = NULL}
};
