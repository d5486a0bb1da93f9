/*
** discreteuniform.c - DiscreteUniform(low, high), all integers of [low, high] equally likely
**
**   P(k) = 1/n,   P(X <= k) = (k - low + 1)/n,   n = high - low + 1
**
** The ends are integers: there are no partials.
*/
#include "kernel/kernel.h"
#include "kernel/discrete_quantile.h"
#include "random/noise.h"
#include "special/vmath.h"


VECTOR double outcomes (double low, double high) { return high - low + 1; }

VECTOR double log_mass (const double v[]) {
  double x = v[0], low = v[1], high = v[2];
  double level = -vlog(outcomes(low, high)), off = x == x ? -HUGE_VAL : x;
  int hit = (x >= low) & (x <= high) & (floor(x) == x);
  return hit ? level : off;
}

/* the part of all outcomes up to x, or above x */
VECTOR double tail (const double v[], int upper) {
  double x = floor(v[0]), low = v[1], high = v[2];
  return clamp((upper ? high - x : x - low + 1) / outcomes(low, high), 0, 1);
}

VECTOR double log_tail (const double v[], int upper) {
  double part = tail(v, upper), other = tail(v, !upper);
  return part < 0.5 ? vlog(part) : vlog1p(-other);
}

/*
** The smallest outcome that reaches p, or an upper tail p: of the smaller tail so many
** outcomes, give or take what rounding does to their number.
*/
VECTOR double quantile (const double v[], int upper) {
  double p = v[0], low = v[1], high = v[2], n = outcomes(low, high);
  Level level = level_of(p, upper, 2 * DBL_EPSILON);
  double count = n * level.p, slack = n * level.slack;
  slack = slack < 0.25 ? slack : 0.25;
  double from_low = low + (ceil(count - slack) - 1), from_high = high - floor(count + slack);
  double k = clamp(level.upper ? from_high : from_low, low, high);
  return ((p >= 0) & (p <= 1)) ? k : (double)NAN;
}

static const SidedLaw law = {
  .operands = 3, .log_density = log_mass, .tail = tail, .log_tail = log_tail, .quantile = quantile
};

#include "kernel/density_kernels.h"
#include "kernel/sided_kernels.h"


static void entropy (size_t n, const double *const in[], double *out) {
  const double *low = in[0], *high = in[1];
  EVERY for (size_t i = 0; i < n; i++) out[i] = vlog(outcomes(low[i], high[i]));
}


/*
** low + floor(n u). A second lane gives u 52 further bits, so that no outcome is favoured
**, however many there are.
*/
static void sample (const Philox *g, uint64_t first, size_t n, const double *const in[],
                    double *out) {
  const double *low = in[0], *high = in[1];
  double coarse[KERNEL_DRAW_MAX], fine[KERNEL_DRAW_MAX];
  noise_uniform(g, 0, first, n, coarse);
  noise_uniform(g, 1, first, n, fine);
  EVERY for (size_t i = 0; i < n; i++) {
    double count = outcomes(low[i], high[i]);
    Pair u = exact_product(count, coarse[i]);
    u = exact_sum(u.hi, fma(count * 0x1p-52, fine[i] - 0.5, u.lo));
    double k = floor(u.hi);
    k = ((k == u.hi) & (u.lo < 0)) ? k - 1 : k;
    out[i] = low[i] + clamp(k, 0, count - 1);
  }
}


const Kernel perilune_discreteuniform[] = {
  {.name = "log_prob", .n_in = 3, .value = log_prob},
  {.name = "cdf",      .n_in = 3, .value = cdf},
  {.name = "sf",       .n_in = 3, .value = sf},
  {.name = "log_cdf",  .n_in = 3, .value = log_cdf},
  {.name = "log_sf",   .n_in = 3, .value = log_sf},
  {.name = "icdf",     .n_in = 3, .value = icdf, .flat = 1},
  {.name = "isf",      .n_in = 3, .value = isf, .flat = 1},
  {.name = "entropy",  .n_in = 2, .value = entropy},
  {.name = "sample", .n_in = 3, .integer = 1, .sampler = &(const Sampler) {.draw = sample}},
  {.name = NULL}
};
