/*
** gammas.c - standard gamma variates by rejection
**
** G. Marsaglia, W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26
** (2000), 363-372. With a >= 1, d = a - 1/3, z normal and s = z/sqrt(9 d), the number
** d (1 + s)^3 is accepted with probability e^h,
**
**   h = 3 d (log(1 + s) - s + s^2/2 - s^3/3) = -3 d s^4 f(s),   f(s) = 1/4 - s/5 + s^2/6 - ...
**
** f is convex and falls: f <= 1/4 for s >= 0, and below the chord 1/4 - 0.34741 s on
** [-1/2, 0]. So u < 1 - 3 d s^4 (1/4 - 0.34741 min(s, 0)) accepts nearly all without a logarithm.
** For a < 1, a variate of shape a + 1 times u^(1/a).
**
** Lanes: normals, uniforms, exponentials for a < 1; from the fourth on those of rejection.h.
*/
#include "random/gammas.h"
#include "random/noise.h"
#include "random/rejection.h"
#include "special/incgamma.h"
#include "special/vmath.h"

enum { NORMAL_LANE, UNIFORM_LANE, EXPONENTIAL_LANE, RETRY_LANE };


VECTOR double raised (double shape) {
  return shape < 1 ? shape + 1 : shape;
}

VECTOR double cube (double s) {
  return (1 + s) * (1 + s) * (1 + s);
}

VECTOR double root_of (double shape) {
  return sqrt(9 * (raised(shape) - 1.0 / 3));
}

/* sizes, NaN where rejected */
static void attempt (size_t n, const double *const in[], const double *z, const double *u,
                     double *restrict size) {
  const double *shape = in[0];
  EVERY for (size_t i = 0; i < n; i++) {
    double d = raised(shape[i]) - 1.0 / 3, s = z[i] / root_of(shape[i]);
    double h = 3 * d * (vlog1pmx(s) + s * s * (0.5 - s * (1.0 / 3)));
    size[i] = ((s > -1) & (vlog(u[i]) < h)) ? d * cube(s) : (double)NAN;
  }
}

static double quantile (double u, const double *shape) {
  return special_gammaincinv(raised(*shape), u);
}

static const Rejection LAW = {
  .n_in = 1, .normal = 1, .attempt = attempt, .quantile = quantile
};

/* What is true of all shapes. */
typedef struct Shapes { int none_small, same; } Shapes;

static Shapes shapes_of (size_t n, const double *shape) {
  uint64_t small = 0, differ = n == 0;
  for (size_t i = 0; i < n; i++) {
    small |= shape[i] < 1;
    differ |= shape[i] != shape[0];
  }
  return (Shapes) {.none_small = small == 0, .same = differ == 0};
}

/* what depends on the shape alone and takes long is computed once where that is enough */
static void roots (size_t n, const double *shape, int same, double *restrict root) {
  double one = same ? root_of(shape[0]) : 0;
  if (same) EVERY for (size_t i = 0; i < n; i++) root[i] = one;
  else EVERY for (size_t i = 0; i < n; i++) root[i] = root_of(shape[i]);
}

/* from roots in `size` to sizes, NaN where the quick test does not accept */
static void quick (size_t n, const double *shape, const double *z, const double *u,
                   double *restrict size) {
  EVERY for (size_t i = 0; i < n; i++) {
    double d = raised(shape[i]) - 1.0 / 3, s = z[i] / size[i], s2 = s * s;
    double bound = 3 * d * s2 * s2 * (s < 0 ? fma(-0.34741, s, 0.25) : 0.25);
    int accept = (s > -0.5) & (u[i] < 1 - bound);
    size[i] = accept ? d * cube(s) : (double)NAN;
  }
}

static void depths (const Philox *g, uint32_t lane, uint64_t first, size_t n,
                    const double *shape, double *restrict depth) {
  noise_exponential(g, lane, first, n, depth);
  EVERY for (size_t i = 0; i < n; i++) depth[i] = shape[i] < 1 ? depth[i] / shape[i] : 0.0;
}

int gammas (const Philox *g, uint32_t lane, uint64_t first, size_t n, const double *shape,
            double *size, double *depth) {
  double z[GAMMAS_BLOCK], u[GAMMAS_BLOCK];
  Shapes all = shapes_of(n, shape);
  noise_normal(g, lane + NORMAL_LANE, first, n, z);
  noise_uniform(g, lane + UNIFORM_LANE, first, n, u);
  roots(n, shape, all.same, size);
  quick(n, shape, z, u, size);
  rejection(&LAW, g, lane + RETRY_LANE, first, n, &shape, z, u, size);
  if (all.none_small) EVERY for (size_t i = 0; i < n; i++) depth[i] = 0;
  else depths(g, lane + EXPONENTIAL_LANE, first, n, shape, depth);
  return !all.none_small;
}
