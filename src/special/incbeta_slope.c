/*
** incbeta_slope.c - derivatives of a beta quantile with respect to the shapes
**
** With I = D F and density D/(x y), at fixed I:
**   dx/da = -x y (F (log x + psi(a+b) - psi(a)) + dF/da)
**   dx/db = -x y (F (log y + psi(a+b) - psi(b)) + dF/db)
** where neither sum cancels as long as x is on its own side of the mean.
*/
#include "special/incbeta.h"
#include "special/incbeta_parts.h"
#include "special/vmath.h"


typedef struct Slopes { double da, db; } Slopes;

/*
** psi(z+h) - psi(z) - log(1 + h/z) for z >= 16, from
** psi(z) = log z - 1/(2z) - sum B_2k/(2k z^2k)
*/
static double digamma_rest (double z, double h) {
  static const double coefficient[] = {  /* B_2k / 2k */
    0.083333333333333333333, -0.0083333333333333333333, 0.0039682539682539682540,
    -0.0041666666666666666667, 0.0075757575757575757576, -0.021092796092796092796
  };
  double r = 1.0 / z, q = 1.0 / (z + h), r2 = r * r, q2 = q * q;
  double power = 1.0, bundle = 1.0, sum = 0.0;
  for (int k = 0; k < 6; k++) {
    sum = fma(coefficient[k], bundle, sum);
    power *= q2;
    bundle = fma(bundle, r2, power);
  }
  return h * r * q * fma(r + q, sum, 0.5);
}

/* psi(z+h) - psi(z), z > 0, h >= 0 */
static double digamma_difference (double z, double h) {
  double sum = 0.0;
  for (; z < 16.0; z += 1.0)
    sum += h / (z + h) / z;
  return sum + (vlog1p(h / z) + digamma_rest(z, h));
}

/* log x + psi(a+b) - psi(a); near the mean through log(x/x0), x/x0 = 1 - lambda/a */
static double log_excess (Point s) {
  double u = -s.lambda.hi / s.a;
  if (s.a < 16.0) {
    double log_x = (s.x.hi > 0.5) ? vlog1p(-s.y.hi) : vlog(s.x.hi);
    return log_x + digamma_difference(s.a, s.b);
  }
  double ratio = (u < -0.5) ? vlog(s.x.hi * ((s.a + s.b) / s.a)) : vlog1p(u);
  return ratio + digamma_rest(s.a, s.b);
}

/*
** For a > 1: F = (1/a) sum c_n, c_n = prod x (a+b+k-1)/(a+k): all terms
** positive. The 1/a in dF/da is joined with psi(a), which leaves psi(1+a).
*/
static Slopes series_slopes (Point s) {
  double a = s.a, b = s.b, x = s.x.hi, n = a + b;
  double c = 1.0, sum = 1.0, e = 0.0, f = 0.0, sum_e = 0.0, sum_f = 0.0;
  for (int k = 1; k <= 2000 && c > 1e-18 * sum; k++) {
    double up = 1.0 / (n + (k - 1.0)), down = 1.0 / (a + k);
    c *= x * (n + (k - 1.0)) * down;
    f += up;
    e += (1.0 - b) * up * down;
    sum += c;
    sum_e = fma(c, e, sum_e);
    sum_f = fma(c, f, sum_f);
  }
  double excess_a = vlog(x) + (digamma_difference(1.0 + a, b) - 1.0 / n);
  double scale = -x * (s.y.hi / a);
  return (Slopes) {scale * fma(sum, excess_a, sum_e),
                   scale * fma(sum, log_excess(mirrored(s)), sum_f)};
}

/*
** For a <= 1: I = x^a G/(a B), G = 1 + a S with the S of power_series, whose
** terms c_n/(a+n) give dS/db through c_n' = dc_n/db. Every part of dI/db is
** of the order of a, as it must be for small a.
*/
static Slopes power_slopes (Point s) {
  double a = s.a, b = s.b, x = s.x.hi, n = a + b;
  double c = 1.0, c_b = 0.0, sum = 0.0, sum_a = 0.0, sum_b = 0.0;
  for (int k = 1; k <= 1000 && fabs(c) + fabs(c_b) > 1e-18; k++) {
    double step = x / k, r = 1.0 / (a + k);
    c_b = (c_b * (k - b) - c) * step;
    c *= (k - b) * step;
    sum = fma(c, r, sum);
    sum_a = fma(c, k * r * r, sum_a);
    sum_b = fma(c_b, r, sum_b);
  }
  double g = fma(a, sum, 1.0), scale = -x * vexp((1.0 - b) * vlog1p(-x));
  double excess_a = vlog(x) + (digamma_difference(1.0 + a, b) - 1.0 / n);
  return (Slopes) {scale * (fma(g, excess_a, sum_a) / a),
                   scale * fma(g, digamma_difference(b, a) / a, sum_b)};
}

static Slopes integral_slopes (Point s) {
  Integral f = incbeta_integral_partials(s);
  double scale = -s.x.hi * s.y.hi * f.half;
  return (Slopes) {scale * fma(f.sum, log_excess(s), f.sum_a),
                   scale * fma(f.sum, log_excess(mirrored(s)), f.sum_b)};
}

static Slopes slopes_of_mirrored (Slopes m) {
  return (Slopes) {-m.db, -m.da};
}

/*
** Both shapes large: the integral over the smaller tail. Else, counted from
** the nearer end, the series, until the tail below x is nearly everything.
*/
static Slopes slopes_at (Point s) {
  int large = s.a > 40.0 && s.b > 40.0;
  if (large ? s.lambda.hi < 0.0 : s.x.hi > s.y.hi)
    return slopes_of_mirrored(slopes_at(mirrored(s)));
  if (large) return integral_slopes(s);
  if (-s.lambda.hi <= 2.5 + sqrt(s.a))
    return (s.a <= 1.0) ? power_slopes(s) : series_slopes(s);
  return slopes_of_mirrored(integral_slopes(mirrored(s)));
}

/* at the ends of the support, which only underflow reaches, x no longer moves */
void special_beta_dx (double a, double b, double x, double *da, double *db) {
  Slopes d = {NAN, NAN};
  int valid = a > 0.0 && b > 0.0 && a < HUGE_VAL && b < HUGE_VAL;
  if (valid && x > 0.0 && x < 1.0) d = slopes_at(point_at(a, b, x, 1.0 - x));
  else if (valid && (x == 0.0 || x == 1.0)) d = (Slopes) {0.0, 0.0};
  *da = d.da;
  *db = d.db;
}

double special_beta_dx_da (double a, double b, double x) {
  double da, db;
  special_beta_dx(a, b, x, &da, &db);
  return da;
}
