/*
** bessel_order.h - the modified Bessel function I of order v >= 0, and the ratio
** A(x) = I_(v+1)(x)/I_v(x), x >= 0, for all sizes of v and x
**
** Where r = sqrt(v^2 + x^2) is large, Debye's expansion, which in powers of 1/r is good for
** any mixture of v and x: with p = v/r, q = p^2,
**
**   log I_v(x) = r + v log(x/(v + r)) - log(2 pi r)/2 + T,    T = sum_k P_k(q) r^-k
**
** P_k from the recurrence of the polynomials U_k, exactly, and the logarithm of their series
** (NIST Handbook of Mathematical Functions, 10.41). Elsewhere the power series
**
**   I_v(x) = (x/2)^v/Gamma(v + 1) sum_k w_k,    w_k = h^k/(k! (v + 1)_k),    h = x^2/4
**
** Its terms are the weights of a random k, in whose mean and variance
**
**   A(x)/x = E[k]/(2 h),    A'(x) = (Var[k] - E[k]/2)/h
*/
#ifndef PERILUNE_BESSEL_ORDER_H
#define PERILUNE_BESSEL_ORDER_H

#include "special/constants.h"
#include "special/vgamma.h"
#include "special/vmath.h"

enum { DEBYE_TERMS = 12, BESSEL_STEPS = 400 };

static const double DEBYE_FROM = 40;   /* r from here on; error 2^-54 */

/* log(x^-v e^-x I_v(x)), A(x)/x, 1 - A(x) and A'(x), each to its own last digits */
typedef struct BesselOrder { double log_scaled, share, deficit, slope; } BesselOrder;

/* coefficients of P_1, P_2, ... from that of q^0 on */
static const double debye_coefficient[DEBYE_TERMS][DEBYE_TERMS + 1] = {
  {0.125, -0.20833333333333333333},
  {0.0625, -0.375, 0.3125},
  {0.065104166666666666667, -0.8296875, 1.7265625, -0.95920138888888888889},
  {0.1015625, -2.21875, 8.296875, -10.59375, 4.4140625},
  {0.2095703125, -6.9822823660714285714, 40.542751736111111111, -87.693359375, 80.8837890625,
   -26.961263020833333333},
  {0.53645833333333333333, -25.3125, 209.625, -673.625, 1021.640625, -737.8125,
   204.94791666666666667},
  {1.6380658830915178571, -103.975921630859375, 1160.829437255859375, -5140.211273193359375,
   11304.659503173828125, -13184.767364501953125, 7824.899444580078125, -1863.0712963285900298},
  {5.809814453125, -477.615234375, 6904.2763671875, -40090.447265625, 119071.95263671875,
   -198321.806640625, 187801.9013671875, -94603.037109375, 19708.966064453125},
  {23.475127749972873264, -2427.2885336442427202, 44069.785812377929688, -323875.5657704671224,
   1240124.8821487426758, -2752869.2114181518555, 3683609.1391855875651,
   -2935198.3014678955078, 1284393.7849998474121, -237850.70092589766891},
  {106.467822265625, -13526.99560546875, 301187.023681640625, -2727462.591796875,
   13026405.79736328125, -36852414.7869140625, 65112147.79541015625, -72748886.005859375,
   50027742.520751953125, -19350359.06982421875, 3225059.844970703125},
  {535.6405195106159557, -82046.565798667760996, 2197624.7506718158722, -24011994.284158945084,
   139535179.17249059677, -487422412.27094021298, 1088470361.2907013893,
   -1594676024.6768589973, 1528592829.647337887, -924445055.34248709679, 320384038.82623314857,
   -48543036.185792901299},
  {2960.7397867838541667, -538164.052734375, 17067704.537109375, -221216118.06429036458,
   1533944655.2274169922, -6461280179.630859375, 17683879971.178710938, -32540336002.749023438,
   40681628863.233032227, -34134822577.796875, 18421426618.901367188, -5782944462.4145507813,
   803186730.89090983073}
};


/* T, and the sums of its terms c q^j r^-k times (k + 2j) to the powers 1, 2, 3 */
typedef struct DebyeSum { double value, first, second, third; } DebyeSum;

static inline DebyeSum debye_sum (double q, double t) {
  DebyeSum sum = {0, 0, 0, 0};
  for (int k = DEBYE_TERMS; k >= 1; k--) {
    double value = 0, first = 0, second = 0, third = 0;
    for (int j = k; j >= 0; j--) {
      double c = debye_coefficient[k - 1][j], n = k + 2 * j;
      value = fma(value, q, c);
      first = fma(first, q, n * c);
      second = fma(second, q, n * n * c);
      third = fma(third, q, n * n * n * c);
    }
    sum.value = t * (sum.value + value);
    sum.first = t * (sum.first + first);
    sum.second = t * (sum.second + second);
    sum.third = t * (sum.third + third);
  }
  return sum;
}

static inline BesselOrder bessel_order_debye (double v, double x, double r) {
  double t = 1 / r, p = v * t, g = x * t, p1 = 1 + p;
  DebyeSum s = debye_sum(p * p, t);
  double root = fma(0.5, vlog(r), HALF_LOG_2PI);
  double half = 0.5 + s.first, past = fma(2 * g, g, -1), curve = fma(g * g, s.second, half * past);
  return (BesselOrder) {
    .log_scaled = fma(-v, vlog(v + r), v * (v / (x + r))) - (root - s.value),
    .share      = t * (1 / p1 - t * half),
    .deficit    = fma(g * t, half, fma(p, p / (1 + g), p) / p1),
    .slope      = t * (p / p1 + t * curve),
  };
}

/* moments of k about a whole number near its mean; terms w_k/h stay while h vanishes */
static inline BesselOrder bessel_order_series (double v, double x, double r) {
  double h = 0.25 * x * x, middle = floor(0.5 * (r - v)), w = 1 / (v + 1);
  double sum = 0, first = 0, second = 0;
  for (int k = 1; k < BESSEL_STEPS && (k <= middle || w * k * k > 1e-18 * sum); k++) {
    double away = k - middle;
    sum += w;
    first = fma(away, w, first);
    second = fma(away * away, w, second);
    w *= h / ((k + 1) * (v + 1 + k));
  }
  double total = fma(h, sum, 1), back = middle > 0 ? middle / h : 0;   /* w_0/h = 1/h */
  double shift = (first - back) / total, mean = back + shift;
  double variance = fma(-h * shift, shift, fma(back, middle, second) / total);
  double start = fma(v, LN2, vlgamma_pos(v + 1));
  return (BesselOrder) {
    .log_scaled = vlog1p(h * sum) - x - start,
    .share      = 0.5 * mean,
    .deficit    = fma(-0.5 * x, mean, 1),
    .slope      = fma(-0.5, mean, variance),
  };
}

static inline double bessel_radius (double v, double x) {
  return x < 1e150 ? sqrt(fma(x, x, v * v)) : x;
}

static inline BesselOrder bessel_order (double v, double x) {
  double r = bessel_radius(v, x);
  return r < DEBYE_FROM ? bessel_order_series(v, x, r) : bessel_order_debye(v, x, r);
}


/*
** What is left of d log I_v(x)/dv beside log(x/(v + r)): in Debye's expansion -v/(2 r^2) + dT/dv,
** and of the series log((v + r)/2) - E[psi(v + 1 + k)]
*/
static inline double bessel_order_rest (double v, double x) {
  double r = bessel_radius(v, x), t = 1 / r, p = v * t, q = p * p;
  if (r < DEBYE_FROM) {
    double h = 0.25 * x * x, w = 1, total = 0, sum = 0, harmonic = 0;
    for (int k = 0; k < BESSEL_STEPS && (k <= 0.5 * (r - v) + 2 || w * k > 1e-18 * total); k++) {
      total += w;
      sum = fma(w, harmonic, sum);
      harmonic += 1 / (v + 1 + k);
      w *= h / ((k + 1) * (v + 1 + k));
    }
    return vlog(0.5 * (v + r)) - vdigamma_pos(v + 1) - sum / total;
  }
  double by_q = 0, by_t = 0, g = x * t;
  for (int k = DEBYE_TERMS; k >= 1; k--) {
    double value = 0, slope = 0;
    for (int j = k; j >= 0; j--) {
      slope = fma(slope, q, value);
      value = fma(value, q, debye_coefficient[k - 1][j]);
    }
    by_q = t * (by_q + slope);
    by_t = fma(t, by_t, k * value);
  }
  return p * t * (fma(-t, by_t, 2 * g * g * by_q) - 0.5);
}


/* the slopes of A(x)/x and of A'(x) */
typedef struct BesselBend { double share, slope; } BesselBend;

/* the slope of bessel_order_debye's slope */
static inline double bessel_bend_debye (double v, double x, double r) {
  double t = 1 / r, p = v * t, g = x * t, p1 = 1 + p, g2 = g * g, past = fma(2 * g, g, -1);
  DebyeSum s = debye_sum(p * p, t);
  double half = 0.5 + s.first, curve = fma(g2, s.second, half * past);
  double rest = fma(-g2, s.third, fma(2 * p * p - past, s.second, 4 * p * p * half)) - 2 * curve;
  return g * t * t * fma(t, rest, -(p / p1) * (1 + 1 / p1));
}

/* B = A/x = 1/(2v + 2 + x^2 B1), B1 that of the next order, has the slope -x B^2 (B1 + A1') */
static inline BesselBend bessel_bend (double v, double x) {
  BesselOrder own = bessel_order(v, x), next = bessel_order(v + 1, x);
  double share = -x * own.share * own.share * (next.share + next.slope), r = bessel_radius(v, x);
  double slope = r < DEBYE_FROM ? fma(-2 * x * own.share, own.slope, -(2 * v + 1) * share)
                                : bessel_bend_debye(v, x, r);
  return (BesselBend) {share, slope};
}

#endif
