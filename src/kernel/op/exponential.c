/*
** exponential.c - exp, log and their relatives, element by element
*/
#include "kernel/kernel.h"
#include "special/vmath.h"


/*@ peri.exp(x) -> number or Tensor
 * e to the power x.
 * > exp(1)
 * 2.718281828459 */
static void exponential (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vexp(in[0][i]);
}

static void exponential_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = vexp(in[0][i]);
}


/*@ peri.expm1(x) -> number or Tensor
 * exp(x) - 1, without loss of digits near 0.
 * > expm1(1e-10)
 * 1.00000000005e-10 */
static void expm1_value (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vexpm1(in[0][i]);
}


/*@ peri.log(x) -> number or Tensor
 * The natural logarithm: -inf at 0, NaN below.
 * > log(10)
 * 2.302585092994 */
static void logarithm (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vlog(in[0][i]);
}

static void logarithm_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = 1 / in[0][i];
}


/*@ peri.log1p(x) -> number or Tensor
 * log(1 + x), without loss of digits near 0.
 * > log1p(1e-10)
 * 9.9999999995e-11 */
static void log1p_value (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vlog1p(in[0][i]);
}

static void log1p_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = 1 / (1 + in[0][i]);
}


/*@ peri.log1mexp(x) -> number or Tensor
 * log(1 - exp(x)) for x <= 0, without loss of digits at either end: the logarithm of 1 - p,
 * given that of p.
 * > log1mexp(-1e-20)
 * -46.051701859881 */
/* log(1 - e^x), x < 0; slope -e^x/(1 - e^x) */
static void log1mexp (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vlog1mexp(in[0][i]);
}

static void log1mexp_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = -1 / vexpm1(-in[0][i]);
}


/*@ peri.logaddexp(x, y) -> number or Tensor
 * log(exp(x) + exp(y)), without overflow. (logsumexp takes many.)
 * > logaddexp(1000, 1000)
 * 1000.6931471806 */
static void logaddexp (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vlogaddexp(in[0][i], in[1][i]);
}

static void logaddexp_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *y = in[1];
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = vsigmoid(x[i] - y[i]);
  EVERY for (size_t i = 0; i < n; i++) d[1][i] = vsigmoid(y[i] - x[i]);
}


/*@ peri.softplus(x) -> number or Tensor
 * log(1 + exp(x)), without overflow.
 * > softplus(1000)
 * 1000.0 */
static void softplus (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vsoftplus(in[0][i]);
}

static void softplus_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = vsigmoid(in[0][i]);
}


/*@ peri.sigmoid(x) -> number or Tensor
 * 1/(1 + exp(-x)), from a logit to a probability.
 * > sigmoid(0)
 * 0.5 */
static void sigmoid (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vsigmoid(in[0][i]);
}

static void sigmoid_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = vsigmoid(in[0][i]) * vsigmoid(-in[0][i]);
}


/* log(x/(1 - x)), the inverse of sigmoid: odd about its zero 1/2, where it is
   -log1p((1 - 2x)/x), and log y - log1p(-y) in either tail */
/*@ peri.logit(x) -> number or Tensor
 * log(x/(1 - x)), from a probability to a logit: -inf at 0, inf at 1.
 * > logit(0.75)
 * 1.0986122886681 */
static void logit (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) {
    double x = in[0][i], y = x < 0.5 ? x : 1 - x;
    double tail = vlog(y) - vlog1p(-y);
    double middle = -vlog1p((1 - 2 * x) / x);
    double far = x < 0.5 ? tail : -tail;
    out[i] = y < 0.25 ? far : middle;
  }
}

static void logit_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = 1 / (in[0][i] * (1 - in[0][i]));
}


/*@ peri.tanh(x) -> number or Tensor
 * The hyperbolic tangent.
 * > tanh(0.5)
 * 0.46211715726001 */
static void tanh_value (size_t n, const double *const in[], double *out) {
  EVERY for (size_t i = 0; i < n; i++) out[i] = vtanh(in[0][i]);
}

/* 1 - tanh^2 = 4 e^-2|x| / (1 + e^-2|x|)^2 */
static void tanh_partials (size_t n, const double *const in[], double *const d[]) {
  EVERY for (size_t i = 0; i < n; i++) {
    double e = vexp(-2 * fabs(in[0][i]));
    d[0][i] = 4 * e / ((1 + e) * (1 + e));
  }
}


/* x log y and x log(1 + y), 0 where x is 0 and y is no NaN */
/*@ peri.xlogy(x, y) -> number or Tensor
 * x log(y), and 0 where x is 0, whatever y is (but NaN).
 * > xlogy(0, 0)
 * 0.0 */
static void xlogy (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double product = x[i] * vlog(y[i]);
    out[i] = ((x[i] == 0) & (y[i] == y[i])) ? 0 : product;
  }
}

static void xlogy_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *y = in[1];
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = vlog(y[i]);
  EVERY for (size_t i = 0; i < n; i++) {
    double slope = x[i] / y[i];
    d[1][i] = ((x[i] == 0) & (y[i] == y[i])) ? 0 : slope;
  }
}

/*@ peri.xlog1py(x, y) -> number or Tensor
 * x log(1 + y), and 0 where x is 0, whatever y is (but NaN).
 * > xlog1py(0, -1)
 * 0.0 */
static void xlog1py (size_t n, const double *const in[], double *out) {
  const double *x = in[0], *y = in[1];
  EVERY for (size_t i = 0; i < n; i++) {
    double product = x[i] * vlog1p(y[i]);
    out[i] = ((x[i] == 0) & (y[i] == y[i])) ? 0 : product;
  }
}

static void xlog1py_partials (size_t n, const double *const in[], double *const d[]) {
  const double *x = in[0], *y = in[1];
  EVERY for (size_t i = 0; i < n; i++) d[0][i] = vlog1p(y[i]);
  EVERY for (size_t i = 0; i < n; i++) {
    double slope = x[i] / (1 + y[i]);
    d[1][i] = ((x[i] == 0) & (y[i] == y[i])) ? 0 : slope;
  }
}


const Kernel perilune_op_exponential[] = {
  {.name = "exp",       .n_in = 1, .value = exponential, .partials = exponential_partials},
  {.name = "expm1",     .n_in = 1, .value = expm1_value, .partials = exponential_partials},
  {.name = "log",       .n_in = 1, .value = logarithm,   .partials = logarithm_partials},
  {.name = "log1p",     .n_in = 1, .value = log1p_value, .partials = log1p_partials},
  {.name = "log1mexp",  .n_in = 1, .value = log1mexp,    .partials = log1mexp_partials},
  {.name = "logaddexp", .n_in = 2, .value = logaddexp,   .partials = logaddexp_partials},
  {.name = "softplus",  .n_in = 1, .value = softplus,    .partials = softplus_partials},
  {.name = "sigmoid",   .n_in = 1, .value = sigmoid,     .partials = sigmoid_partials},
  {.name = "logit",     .n_in = 1, .value = logit,       .partials = logit_partials},
  {.name = "tanh",      .n_in = 1, .value = tanh_value,  .partials = tanh_partials},
  {.name = "xlogy",     .n_in = 2, .value = xlogy,       .partials = xlogy_partials},
  {.name = "xlog1py",   .n_in = 2, .value = xlog1py,     .partials = xlog1py_partials},
  {.name = NULL}
};
