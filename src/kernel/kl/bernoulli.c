/*
** bernoulli.c - KL(Bernoulli || q)
**
** To Bernoulli, on logits (bernoulli_kl.h).
*/
#include "kernel/kernel.h"
#include "kernel/bernoulli_kl.h"


static void to_bernoulli (size_t n, const double *const in[], double *out) {
  const double *a = in[0], *b = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = bernoulli_kl_divergence(a[i], b[i]);
}

/* -p (1 - p)(b - a), and the rise of p; 0 for a coin that is certain */
static void to_bernoulli_partials (size_t n, const double *const in[], double *const d[]) {
  const double *a = in[0], *b = in[1];
  double *da = d[0], *db = d[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double spread = vsigmoid(a[i]) * vsigmoid(-a[i]), slope = spread * (a[i] - b[i]);
    da[i] = spread == 0 ? 0 : slope;
    db[i] = bernoulli_kl_rise(a[i], b[i]);
  }
}


const Kernel perilune_kl_bernoulli[] = {
  {.name = "Bernoulli", .n_in = 2, .value = to_bernoulli, .partials = to_bernoulli_partials},
  {.name = NULL}
};
