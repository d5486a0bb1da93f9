/*
** gamma.c - Gamma(concentration, rate), the waiting time for several events
**
**   log p(x) = a log(rate) + (a - 1) log x - rate x - log Gamma(a),   a = concentration
**
** t = rate x is a unit gamma variable; everything else follows in gammalaw.h.
*/
#include "kernel/gamma.h"
#include "kernel/gammalaw.h"
#include "random/gammas.h"

enum { EXPONENT = 1 };

#include "kernel/gammalaw_kernels.h"


/* the root comes in twice, so that a tiny draw underflows only if the result does */
static void rsample (const Philox *g, uint64_t first, size_t n, const double *const in[],
                     double *out) {
  const double *a = in[0], *rate = in[1];
  double depth[GAMMAS_BLOCK];
  int deep = gammas(g, 0, first, n, a, out, depth);
  if (!deep) EVERY for (size_t i = 0; i < n; i++) out[i] /= rate[i];
  else EVERY for (size_t i = 0; i < n; i++) {
    double root = vexp(-0.5 * depth[i]);
    out[i] = root * out[i] / rate[i] * root;
  }
}


const Kernel perilune_gamma[] = {
  [GAMMA_LOG_PROB] = {.name = "log_prob", .n_in = 3, .value = log_prob,
                      .partials = log_prob_partials},
  [GAMMA_CDF]      = {.name = "cdf", .n_in = 3, .value = cdf, .partials = cdf_partials},
  [GAMMA_SF]       = {.name = "sf", .n_in = 3, .value = sf, .partials = sf_partials},
  [GAMMA_LOG_CDF]  = {.name = "log_cdf", .n_in = 3, .value = log_cdf, .partials = log_cdf_partials},
  [GAMMA_LOG_SF]   = {.name = "log_sf", .n_in = 3, .value = log_sf, .partials = log_sf_partials},
  [GAMMA_ICDF]     = {.name = "icdf", .n_in = 3, .value = icdf, .partials = icdf_partials},
  [GAMMA_ISF]      = {.name = "isf", .n_in = 3, .value = isf, .partials = isf_partials},
  [GAMMA_ENTROPY]  = {.name = "entropy", .n_in = 2, .value = entropy, .partials = entropy_partials},
  [GAMMA_RSAMPLE]  = {.name = "rsample", .n_in = 3, .partials = rsample_partials,
   .sampler = &(const Sampler) {.draw = rsample}},
  [GAMMA_KERNELS]  = {.name = NULL}
};
