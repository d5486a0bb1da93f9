/*
** logvariance.h - the law of t = log(V/b) for V from Gamma(b, 1), the logarithm of an estimated
** variance
**
**   log w(t) = log(b/(2 pi))/2 - mu(b) - b (e^t - 1 - t)
**   d log w/db = log b - psi(b) - (e^t - 1 - t)
**
** t is measured from a centre c, which leaves small ones their digits:
** b (e^(c + t) - 1 - c - t) = level + rate t + weight (e^t - 1 - t).
*/
#ifndef PERILUNE_LOGVARIANCE_H
#define PERILUNE_LOGVARIANCE_H

#include "special/constants.h"
#include "special/incbeta.h"
#include "special/vdelay.h"
#include "special/vgamma.h"

typedef struct LogVariance { double b, centre, level, rate, weight, constant, psi; } LogVariance;

/* `weight` is b e^centre */
static inline LogVariance log_variance (double b, double centre, double weight, double psi) {
  int near = fabs(centre) < 2;
  double rate = near ? b * vexpm1(centre) : weight - b;
  return (LogVariance) {
    .b = b, .centre = centre, .weight = weight, .rate = rate, .psi = psi,
    .level = near ? b * vexp_surplus(centre) : rate - b * centre,
    .constant = fma(0.5, vlog(b), -HALF_LOG_2PI) - vstirlerr(b)
  };
}

/* b (e^t - 1 - t), t with its centre */
VECTOR double variance_surplus (const LogVariance *l, double t) {
  int far = fabs(t) > 1;
  double surplus = vexp_surplus(far ? l->centre + t : t);
  return far ? l->b * surplus : l->level + fma(l->rate, t, l->weight * surplus);
}

VECTOR double variance_log_density (const LogVariance *l, double t) {
  return l->constant - variance_surplus(l, t);
}

/* the slope of that in b; psi is psi(b) - log b */
static inline double variance_by_shape (const LogVariance *l, double t) {
  return -(l->psi + variance_surplus(l, t) / l->b);
}

/* the quantile of (Y/m)/(V/b), Y from Gamma(m, 1), or `upper` that of its upper tail */
static inline double gamma_quotient_quantile (double m, double b, double p, int upper) {
  double x, y;
  special_betaincinv_xy(m, b, p, upper, &x, &y);
  return b / m * (x / y);
}

#endif
