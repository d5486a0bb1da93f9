/*
** incomplete.c - regularised incomplete gamma and beta functions, inverses
**
** Derivatives with respect to a shape come from the implicit function
** theorem: where special_..._dx gives dx/da at fixed probability, dP/da is
** -(dx/da) dP/dx.
*/
#include "kernel/kernel.h"
#include "special/constants.h"
#include "special/incbeta.h"
#include "special/incgamma.h"
#include "special/vgamma.h"


/* x^(a-1) at x = 0 */
static double power_at_zero (double a) { return a < 1 ? HUGE_VAL : a == 1 ? 1 : 0; }

/* a density times dx/da: 0 at the ends, where either may be 0 and the other infinite */
static double product (double density, double slope) {
  return ((slope == 0) | (density == 0)) ? 0 : density * slope;
}

/* dP/dx = x^(a-1) e^-x / Gamma(a), in Loader's form: x and a may be large */
static double gamma_density (double a, double x) {
  if (x == 0) return power_at_zero(a);
  double log_density = -vbd0(a, x) - vstirlerr(a);
  return sqrt(a * INV_TWO_PI) * vexp(log_density) / x;
}

/* dI/dx = x^(a-1) (1-x)^(b-1) / B(a, b) */
static double beta_density (double a, double b, double x) {
  double n = a + b, y = 1 - x;
  if (x == 0) return b * power_at_zero(a);
  if (y == 0) return a * power_at_zero(b);
  double log_density = vstirlerr(n) - vstirlerr(a) - vstirlerr(b)
                     - vbd0(a, n * x) - vbd0(b, n * y);
  return sqrt(a * b / n * INV_TWO_PI) * vexp(log_density) / (x * y);
}


/*@ peri.gammainc(a, x) -> number or Tensor
 * The regularised lower incomplete gamma function: P(X <= x) for a Gamma(a, 1).
 * > gammainc(3, 2)
 * 0.32332358381694 */
static void gammainc (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = special_gammainc(in[0][i], in[1][i]);
}

static void gammainc_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    double a = in[0][i], x = in[1][i], density = gamma_density(a, x);
    d[0][i] = -product(density, special_gamma_dx_da(a, x));
    d[1][i] = density;
  }
}

/*@ peri.gammaincc(a, x) -> number or Tensor
 * 1 - gammainc(a, x), without loss of digits in the upper tail.
 * > gammaincc(3, 100)
 * 1.8976107553682e-40 */
static void gammaincc (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = special_gammaincc(in[0][i], in[1][i]);
}

static void gammaincc_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    double a = in[0][i], x = in[1][i], density = gamma_density(a, x);
    d[0][i] = product(density, special_gamma_dx_da(a, x));
    d[1][i] = -density;
  }
}


/*@ peri.gammaincinv(a, p) -> number or Tensor
 * x with gammainc(a, x) = p.
 * > gammaincinv(3, 0.5)
 * 2.6740603137236 */
static void gammaincinv (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = special_gammaincinv(in[0][i], in[1][i]);
}

static void gammaincinv_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    double a = in[0][i], x = special_gammaincinv(a, in[1][i]);
    d[0][i] = special_gamma_dx_da(a, x);
    d[1][i] = 1 / gamma_density(a, x);
  }
}

/*@ peri.gammainccinv(a, p) -> number or Tensor
 * x with gammaincc(a, x) = p.
 * > gammainccinv(3, 1e-20)
 * 53.349774071025 */
static void gammainccinv (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = special_gammainccinv(in[0][i], in[1][i]);
}

static void gammainccinv_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    double a = in[0][i], x = special_gammainccinv(a, in[1][i]);
    d[0][i] = special_gamma_dx_da(a, x);
    d[1][i] = -1 / gamma_density(a, x);
  }
}


/*@ peri.betainc(a, b, x) -> number or Tensor
 * The regularised incomplete beta function: P(X <= x) for a Beta(a, b).
 * > betainc(2, 5, 0.25)
 * 0.466064453125 */
static void betainc (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = special_betainc(in[0][i], in[1][i], in[2][i]);
}

static void betainc_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double a = in[0][i], b = in[1][i], x = in[2][i], da, db;
    double density = beta_density(a, b, x);
    special_beta_dx(a, b, x, &da, &db);
    d[0][i] = -product(density, da);
    d[1][i] = -product(density, db);
    d[2][i] = density;
  }
}

/*@ peri.betaincinv(a, b, p) -> number or Tensor
 * x with betainc(a, b, x) = p.
 * > betaincinv(2, 5, 0.5)
 * 0.26444998329566 */
static void betaincinv (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++)
    out[i] = special_betaincinv(in[0][i], in[1][i], in[2][i]);
}

static void betaincinv_partials (size_t n, const double *const in[], double *const d[]) {
  for (size_t i = 0; i < n; i++) {
    double a = in[0][i], b = in[1][i], da, db;
    double x = special_betaincinv(a, b, in[2][i]);
    special_beta_dx(a, b, x, &da, &db);
    d[0][i] = da;
    d[1][i] = db;
    d[2][i] = 1 / beta_density(a, b, x);
  }
}


const Kernel perilune_op_incomplete[] = {
  {.name = "gammainc",     .n_in = 2, .value = gammainc,     .partials = gammainc_partials},
  {.name = "gammaincc",    .n_in = 2, .value = gammaincc,    .partials = gammaincc_partials},
  {.name = "gammaincinv",  .n_in = 2, .value = gammaincinv,  .partials = gammaincinv_partials},
  {.name = "gammainccinv", .n_in = 2, .value = gammainccinv, .partials = gammainccinv_partials},
  {.name = "betainc",      .n_in = 3, .value = betainc,      .partials = betainc_partials},
  {.name = "betaincinv",   .n_in = 3, .value = betaincinv,   .partials = betaincinv_partials,
   .slow = 1},
  {.name = NULL}
};
