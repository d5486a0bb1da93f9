/*
** incgamma.c - the regularised incomplete gamma functions, their logarithms and inverses
**
**   P(a,x) = 1/Gamma(a) int_0^x t^(a-1) e^-t dt,    Q = 1 - P
**
** One function, `tail`, gives the smaller of P and Q, as m e^E with E a double-double,
** so that neither an exponent of -700 nor an underflow costs digits. With mu = (x - a)/a:
**
**   a < 1, x < 1, Q small   1 - x^a/Gamma(1+a) (1 + a sum_(n>0) (-x)^n/(n! (a+n)))
**   a >= 40, |mu| <= 1/2    Temme's uniform expansion (SIAM J. Math. Anal. 10, 1979)
**   x < a                   P = x^a e^-x/Gamma(a+1) sum x^n/((a+1)...(a+n))
**   else                    Q = x^a e^-x/Gamma(a) 1/(x+1-a- 1(1-a)/(x+3-a- 2(2-a)/(x+5-a- ...
**
** The inverses run Halley's iteration for log(tail) as a function of log x, which is
** concave, on whichever tail is at most 1/2. Starting values: the leading term of the series
** for small x, else Temme's inversion (Math. Comp. 58, 1992).
*/
#include "special/incgamma.h"

#include "special/verf.h"
#include "special/vgamma.h"
#include "special/vmath.h"


/* m e^E is P or, if `upper`, Q; d e^E is x times the density */
typedef struct Tail { Pair e; double m, d; int upper; } Tail;

/* T = sum C_k(eta) a^-k and its partial derivatives */
typedef struct Uniform { double t, dt_deta, dt_da; } Uniform;

/* h is the continued fraction of the upper tail or the series of the lower, dh its derivative in a */
typedef struct Dual { double h, dh; } Dual;

static const double SQRT_2PI = 2.5066282746310005024;
static const double SQRT_HALF = 0.70710678118654752440;

enum { MAX_TERMS = 500, MAX_STEPS = 20 };


/* {=====================================================
** Double-double pieces
** ====================================================== */

static Pair pair_sum (Pair a, Pair b) {
  Pair s = exact_sum(a.hi, b.hi);
  return fast_sum(s.hi, s.lo + (a.lo + b.lo));
}

static Pair pair_scaled (Pair a, double b) {
  double p = a.hi * b;
  return (Pair) {p, fma(a.hi, b, -p) + a.lo * b};
}

static Pair pair_divided (Pair a, Pair b) {
  double q = a.hi / b.hi;
  return (Pair) {q, (fma(-q, b.hi, a.hi) + fma(-q, b.lo, a.lo)) / b.hi};
}

/* atanh(s)/s - 1 = s^2 (1/3 + s^2/5 + s^4/7 + ...) for |s| <= 0.172, relative error 2^-62 */
static Pair atanh_series (Pair s) {
  Pair w = pair_product(s, s);
  double z = w.hi, r = 1.0 / 27;
  for (int n = 25; n > 3; n -= 2) r = fma(r, z, 1.0 / n);
  Pair third = fast_sum(0.33333333333333333333, fma(r, z, 1.8503717077085942e-17));
  return pair_product(w, third);
}

/* log(1 - q) for 0 <= q <= 1/2 */
static Pair log1m_pair (double q) {
  if (q > 0.25) {
    Pair p = exact_sum(1, -q);
    return pair_sum(log_pair(p.hi), (Pair) {p.lo / p.hi, 0});
  }
  Pair s = pair_divided((Pair) {-2 * q, 0}, exact_sum(2, -q));
  Pair half = {0.5 * s.hi, 0.5 * s.lo};
  return pair_sum(s, pair_product(s, atanh_series(half)));
}

/* }====================================================== */


/* {=====================================================
** The factor x^a e^-x / Gamma(a+1)
** ====================================================== */

/* 1/Gamma(1+b) - 1 for |b| <= 1/2: the Maclaurin series, 2^-58 */
static double reciprocal_gamma1pm1 (double b) {
  static const double c[] = {
    0.57721566490153286061, -0.65587807152025388108, -0.042002635034095235529,
    0.1665386113822914895, -0.042197734555544336748, -0.0096219715278769735621,
    0.0072189432466630995424, -0.0011651675918590651121, -0.00021524167411495097282,
    0.00012805028238811618615, -0.000020134854780788238656, -1.2504934821426706573e-6,
    1.1330272319816958824e-6, -2.0563384169776071035e-7, 6.1160951044814158179e-9,
    5.0020076444692229301e-9, -1.1812745704870201446e-9, 1.0434267116911005105e-10,
    7.782263439905071254e-12
  };
  double r = c[18];
  for (int i = 17; i >= 0; i--) r = fma(r, b, c[i]);
  return r * b;
}

/* 1/Gamma(1+a) for 0 <= a < 10, every shift by 1 exact */
static double reciprocal_gamma1p (double a) {
  double product = 1;
  while (a > 0.5) {
    product *= a;
    a -= 1;
  }
  return (1 + reciprocal_gamma1pm1(a)) / product;
}

/* log Gamma(1+a), relative accuracy for a -> 0 */
static double log_gamma1p (double a) {
  if (a <= 0.5) return -vlog1p(reciprocal_gamma1pm1(a));
  if (a < 10) return -vlog(reciprocal_gamma1p(a));
  return fma(a, vlog(a) - 1, vlog(SQRT_2PI * vsqrt(a)) + vstirlerr(a));
}

/* -a (mu - log(1 + mu)); with s = (x-a)/(x+a) that is -(x-a) s + 2 a (atanh(s) - s) */
static Pair deviance_exponent (double a, double x) {
  Pair d = exact_sum(x, -a);
  if (fabs(d.hi) < 0.29 * a) {
    Pair s = pair_divided((Pair) {0.5 * d.hi, 0.5 * d.lo}, exact_sum(0.5 * x, 0.5 * a));
    Pair twice = {2 * s.hi, 2 * s.lo};
    Pair cubic = pair_scaled(pair_product(twice, atanh_series(s)), a);
    Pair square = pair_product(d, s);
    return pair_sum((Pair) {-square.hi, -square.lo}, cubic);
  }
  Pair ratio = log_pair(x), log_a = log_pair(a);
  ratio = pair_sum(ratio, (Pair) {-log_a.hi, -log_a.lo});
  double plain = a * ratio.hi - d.hi;
  if (!(fabs(plain) < 1e290)) return (Pair) {plain, 0};
  return pair_sum(pair_scaled(ratio, a), (Pair) {-d.hi, -d.lo});
}

/* E and d of the tail: x^a e^-x/Gamma(a) = d e^E, by Stirling's formula from a = 10 on */
static Tail density (double a, double x) {
  Tail t = {.m = 0};
  if (a < 10) {
    t.e = pair_sum(pair_scaled(log_pair(x), a), (Pair) {-x, 0});
    t.d = a * reciprocal_gamma1p(a);
  } else {
    t.e = deviance_exponent(a, x);
    t.d = vsqrt(a) * (vexp(-vstirlerr(a)) / SQRT_2PI);
  }
  return t;
}

/* }====================================================== */


/* {=====================================================
** The four expansions
** ====================================================== */

/* sum x^n/((a+1)...(a+n)) and its derivative in a at fixed x */
static Dual lower_series (double a, double x) {
  double term = 1, slope = 0;
  Dual s = {1, 0};
  for (int n = 1; n < MAX_TERMS; n++) {
    double r = 1 / (a + n);
    term *= x * r;
    slope += r;
    s.h += term;
    s.dh -= term * slope;
    if (term * slope <= 1e-17 * fabs(s.dh)) break;
  }
  return s;
}

/* the continued fraction by Steed's method: its approximants' differences are summed */
static Dual upper_fraction (double a, double x) {
  double b = x + 1 - a, r = 1 / b, dr = r * r;
  Dual delta = {r, dr}, f = {r, dr};
  for (int n = 1; n < MAX_TERMS; n++) {
    double c = n * (a - n), last = r;
    b += 2;
    r = 1 / fma(c, last, b);
    dr = -r * r * (fma(n, last, c * dr) - 1);
    double ratio = fma(b, r, -1);
    delta.dh = fma(ratio, delta.dh, delta.h * fma(b, dr, -r));
    delta.h *= ratio;
    f.h += delta.h;
    f.dh += delta.dh;
    if (fabs(delta.h) <= 1e-17 * f.h && fabs(delta.dh) <= 1e-17 * fabs(f.dh)) break;
  }
  return f;
}

/*
** Coefficients of eta^n in C_k(eta), from C_0 = 1/mu - 1/eta and
** C_k = C_(k-1)'/eta + (-1)^k g_k/mu, where Gamma(a) ~ (Stirling) sum g_k a^-k:
** exact rationals, cut where C_k a^-k changes by less than 2^-58 at a = 40, |eta| = 0.63
*/
static const double TEMME[] = {
  /* C_0 */
  -0.33333333333333333333, 0.083333333333333333333, -0.014814814814814814815,
  0.0011574074074074074074, 0.00035273368606701940035, -0.0001787551440329218107,
  0.000039192631785224377817, -2.1854485106799921615e-6, -1.8540622107151599607e-6,
  8.296711340953086005e-7, -1.7665952736826079304e-7, 6.7078535434014985804e-9,
  1.0261809784240308043e-8, -4.3820360184533531866e-9, 9.1476995822367902342e-10,
  -2.5514193994946249767e-11, -5.8307721325504250675e-11, 2.4361948020667416244e-11,
  -5.0276692801141755891e-12, 1.1004392031956134771e-13, 3.3717632624009853788e-13,
  -1.3923887224181620659e-13,
  /* C_1 */
  -0.0018518518518518518519, -0.0034722222222222222222, 0.0026455026455026455026,
  -0.00099022633744855967078, 0.00020576131687242798354, -4.0187757201646090535e-7,
  -0.000018098550334489977837, 7.6491609160811100846e-6, -1.6120900894563446004e-6,
  4.6471278028074343423e-9, 1.3786334469157209593e-7, -5.752545603517704964e-8,
  1.1951628599778147324e-8, -1.7543241719747647624e-11, -1.0091543710600412627e-9,
  4.1627929918425826362e-10, -8.5639070264929806381e-11, 6.0672151016047586151e-14,
  7.1624989648114853901e-12, -2.9331866437714371174e-12,
  /* C_2 */
  0.0041335978835978835979, -0.0026813271604938271605, 0.00077160493827160493827,
  2.0093878600823045267e-6, -0.00010736653226365160522, 0.000052923448829120125416,
  -0.000012760635188618727713, 3.4235787340961380742e-8, 1.3721957309062933206e-6,
  -6.2989921383800550229e-7, 1.4280614206064241792e-7, -2.0477098421990866015e-10,
  -1.4092529910867521053e-8, 6.2289740849220220336e-9, -1.3670488396617113499e-9,
  9.4283561590146781955e-13, 1.287225240008931806e-10, -5.5645956134363321147e-11,
  1.1975935546366981004e-11,
  /* C_3 */
  0.00064943415637860082305, 0.00022947209362139917695, -0.00046918949439525571213,
  0.00026772063206283885296, -0.000075618016718839764107, -2.3965051138672966519e-7,
  0.000011082654115347302361, -5.6749528269915965675e-6, 1.4230900732435883915e-6,
  -2.7861080291528142241e-11, -1.695840409193027729e-7, 8.0994649053880823634e-8,
  -1.9111168485973654061e-8, 2.3928620439808117969e-12, 2.0620131815488798437e-9,
  -9.4604966618551321738e-10, 2.1541049775774907838e-10,
  /* C_4 */
  -0.0008618882909167116986, 0.00078403922172006662747, -0.00029907248030319017973,
  -1.4638452578843418178e-6, 0.000066414982154651221867, -0.000039683650471794346644,
  0.000011375726970678419098, 2.5074972262375328017e-10, -1.6954149536558306015e-6,
  8.9075075322053096888e-7, -2.2929348340008048706e-7, 2.956794137544049047e-11,
  2.886582974270878363e-8, -1.4189739437803219389e-8, 3.4463580499464897066e-9,
  /* C_5 */
  -0.00033679855336635815031, -0.000069728137583658577743, 0.00027727532449593920787,
  -0.000199325705161888477, 0.000067977804779372078388, 1.4190629206439670148e-7,
  -0.000013594048189768693278, 8.0184702563342015397e-6, -2.2914811765080951704e-6,
  -3.2524735512984539517e-10, 3.4652846491085264956e-7, -1.8447187191171343277e-7,
  4.8240967037894180756e-8,
  /* C_6 */
  0.00053130793646399222317, -0.00059216643735369388286, 0.00027087820967180448277,
  7.9023532326603278721e-7, -0.000081539693675619687509, 0.0000561168275310624965,
  -0.000018329116582843375567, -3.0796134506033047826e-9, 3.4651553688036090867e-6,
  -2.0291327396058603727e-6,
  /* C_7 */
  0.00034436760689237767125, 0.000051717909082605921934, -0.00033493161081142236312,
  0.00028126951547632370227, -0.00010976582244684731024, -1.2741009095484485379e-7,
  0.000027744451511563644157, -0.000018263488805711332661,
  /* C_8 */
  -0.00065262391859530941892, 0.00083949872067208727999, -0.00043829709854172100506,
  -6.9690914584205519714e-7, 0.00016644846642067547837, -0.00012783517679769218585,
  /* C_9 */
  -0.00059676129019274625012
};
enum { TEMME_ROWS = 10 };
static const int TEMME_LENGTH[TEMME_ROWS] = {22, 20, 19, 17, 15, 13, 10, 8, 6, 1};

/* by Horner's rule in eta within each C_k, then in 1/a over k */
static Uniform uniform_series (double a, double eta) {
  const double *c = TEMME + sizeof TEMME / sizeof TEMME[0];
  double u = 1 / a, t = 0, dt_deta = 0, dt_du = 0;
  for (int k = TEMME_ROWS - 1; k >= 0; k--) {
    double p = 0, dp = 0;
    for (int n = 0; n < TEMME_LENGTH[k]; n++) {
      dp = fma(dp, eta, p);
      p = fma(p, eta, *--c);
    }
    dt_du = fma(dt_du, u, t);
    t = fma(t, u, p);
    dt_deta = fma(dt_deta, u, dp);
  }
  return (Uniform) {t, dt_deta, -u * u * dt_du};
}

/* eta^2/2 = mu - log(1 + mu), with the sign of mu */
static double eta_of (double a, double x, Pair e) {
  return copysign(vsqrt(fmax(-2 * e.hi / a, 0)), x - a);
}

/* P or Q = (erfcx(|eta| sqrt(a/2))/2 -+ T/sqrt(2 pi a)) e^E */
static Tail uniform_tail (double a, double x) {
  Tail t = density(a, x);
  double eta = eta_of(a, x, t.e), root = vsqrt(a);
  double series = uniform_series(a, eta).t / (root * SQRT_2PI);
  t.upper = eta > 0;
  t.m = fma(0.5, verfcx(fabs(eta) * root * SQRT_HALF), t.upper ? series : -series);
  return t;
}

/* x^a/Gamma(1+a) = 1 + z;  Q = -z - (1 + z) a sum_(n>0) (-x)^n/(n! (a+n)) */
static Tail small_upper (double a, double x) {
  double g = a <= 0.5 ? reciprocal_gamma1pm1(a) : reciprocal_gamma1p(a) - 1;
  double z = fma(vexpm1(a * vlog(x)), 1 + g, g);
  double term = 1, sum = 0;
  for (int n = 1; n < MAX_TERMS; n++) {
    term *= -x / n;
    sum += term / (a + n);
    if (fabs(term) <= 1e-17 * fabs(sum)) break;
  }
  double q = -fma((1 + z) * a, sum, z);
  return (Tail) {.m = q, .d = a * (1 + z) * vexp(-x), .upper = 1};
}

/* for finite a > 0 and x > 0 */
static Tail tail (double a, double x) {
  if (a >= 40 && fabs(x - a) <= 0.5 * a) return uniform_tail(a, x);
  if (a < 1 && x < 1 && (x < 0.5 ? a * vlog(x) > -0.4 : a < 0.75 * x)) return small_upper(a, x);
  Tail t = density(a, x);
  t.upper = x >= 1 && x >= a;
  t.m = t.upper ? t.d * upper_fraction(a, x).h : t.d / a * lower_series(a, x).h;
  return t;
}

/* }====================================================== */


/* {=====================================================
** P, Q and their logarithms
** ====================================================== */

/* factor e^E; the halves of E cannot underflow before the product does */
static double scaled_exp (double factor, Pair e) {
  if (e.hi < -1600) return 0;
  double root = exp_pair(0.5 * e.hi, 0.5 * e.lo);
  return factor * root * root;
}

/* P and Q where no expansion is needed, NaN elsewhere */
static double edge (double a, double x, int upper) {
  double one = upper ? 0 : 1;
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == HUGE_VAL && x == HUGE_VAL)) return (double) NAN;
  return (a == 0 || x == HUGE_VAL) ? one : 1 - one;
}

static int is_edge (double a, double x) {
  return !(a > 0 && x > 0 && a < HUGE_VAL && x < HUGE_VAL);
}

static double value (double a, double x, int upper) {
  if (is_edge(a, x)) return edge(a, x, upper);
  Tail t = tail(a, x);
  double v = scaled_exp(t.m, t.e);
  return t.upper == upper ? v : 1 - v;
}

/* beyond x = 1e20 the factor m, which may underflow, no longer counts */
static double log_value (double a, double x, int upper) {
  if (is_edge(a, x)) return vlog(edge(a, x, upper));
  Tail t = tail(a, x);
  double v = scaled_exp(t.m, t.e);
  if (t.upper != upper) return 0.0 + vlog1p(-v);
  if (v > 1e-290) return vlog(v);
  return t.e.hi + (t.e.lo + vlog(fmax(t.m, 2.2250738585072014e-308)));
}

double special_gammainc (double a, double x) {
  return value(a, x, 0);
}

double special_gammaincc (double a, double x) {
  return value(a, x, 1);
}

double special_log_gammainc (double a, double x) {
  return log_value(a, x, 0);
}

/* Q is proportional to a for tiny a, which is so kept away from the subnormals */
double special_log_gammaincc (double a, double x) {
  if (a > 0 && a < 1e-280) return log_value(a * 0x1p200, x, 1) - 200 * LN2;
  return log_value(a, x, 1);
}

/* }====================================================== */


/* {=====================================================
** Inverses
** ====================================================== */

/* log x if x^a = p Gamma(1+a); the next term of log x is x/(a+1) */
static Pair leading_log (double a, Pair log_p) {
  Pair sum = pair_sum(log_p, (Pair) {log_gamma1p(a), 0});
  double v = sum.hi / a;
  return v < -800 ? (Pair) {v, 0} : pair_divided(sum, (Pair) {a, 0});
}

/* lambda with lambda - 1 - log lambda = eta^2/2, to start with: some digits */
static double lambda_of (double eta) {
  double h = 0.5 * eta * eta;
  double series = fma(fma(fma(fma(1.0 / 4320, eta, -1.0 / 270), eta, 1.0 / 36), eta, 1.0 / 3), eta, 1);
  double y = fma(series, eta, 1);
  if (fabs(eta) < 0.5) return y;
  if (eta < -1) y = vexp(-1 - h);
  if (eta > 2) y = 1 + h + vlog(1 + h);
  for (int i = 0; i < 3; i++) y -= (y - 1 - vlog(y) - h) * y / (y - 1);
  return y;
}

/* eta = eta_0 + log(eta_0/mu_0)/(a eta_0), where erfc(|eta_0| sqrt(a/2))/2 = t */
static double start_uniform (double a, double t, int upper) {
  double z = vndtri(t) / vsqrt(a);
  double eta = upper ? -z : z;
  double mu = lambda_of(eta) - 1;
  double shift = fabs(eta) < 1e-4 ? -1.0 / 3 : vlog(eta / mu) / eta;
  return a * lambda_of(eta + shift / a);
}

/* for a < 1: Gamma(a,x) ~ x^(a-1) e^-x (1 - (1-a)/x) at large x */
static double start_small_upper (double a, double log_t, double leading) {
  double y = vlog(a) - log_gamma1p(a) - log_t;
  if (leading < -1 || y < 0.5) {
    double x = vexp(fmin(leading, 0));
    return x * vexp(x / (1 + a));
  }
  double x = y - (1 - a) * vlog(1 + y);
  return fmax(x, 0.3);
}

/* log(tail/t) and its derivative's size |d log(tail)/d log x|, for the tail asked for */
static Dual residual (Tail s, Pair log_t, int upper) {
  if (s.upper == upper) {
    Pair log_tail = pair_sum(s.e, log_pair(s.m));
    return (Dual) {(log_tail.hi - log_t.hi) + (log_tail.lo - log_t.lo), s.d / s.m};
  }
  double other = 1 - scaled_exp(s.m, s.e);
  return (Dual) {vlog(other) - log_t.hi, scaled_exp(s.d, s.e) / other};
}

/* Halley's step in log x: the second derivative over the first is a - x -+ g */
static double improve (double a, double x, Pair log_t, int upper) {
  for (int i = 0; i < MAX_STEPS; i++) {
    Dual r = residual(tail(a, x), log_t, upper);
    double newton = upper ? r.h / r.dh : -r.h / r.dh;
    double bend = a - x + (upper ? r.dh : -r.dh);
    double step = newton / clamp(fma(0.5 * newton, bend, 1), 0.5, 2);
    double next = fma(x, vexpm1(clamp(step, -50, 50)), x);
    if (!(next > 0 && next < HUGE_VAL)) return x;
    int done = fabs(r.h) < 1e-6 || fabs(step) < 3e-16 || next == x;
    x = next;
    if (done) break;
  }
  return x;
}

/* x with P = t or, if `upper`, Q = t, for 0 < t <= 1/2 and finite a > 0; Q/a -> E_1(x) for tiny a */
static double inverse (double a, double t, int upper) {
  if (upper && a < 1e-280 && t < 1e-200) return inverse(a * 0x1p200, t * 0x1p200, upper);
  Pair log_t = log_pair(t);
  Pair leading = leading_log(a, upper ? log1m_pair(t) : log_t);
  double x0 = vexp(leading.hi), x;
  if (a < 10 && leading.hi < -20) return scaled_exp(1, (Pair) {leading.hi, leading.lo + x0 / (a + 1)});
  if (!upper && (a < 1 || x0 < 0.3 * (a + 1))) x = x0 * vexp(x0 / (a + 1));
  else if (a < 1) x = start_small_upper(a, log_t.hi, leading.hi);
  else x = start_uniform(a, t, upper);
  return improve(a, x, log_t, upper);
}

/* `zero` and `one` are the probabilities at x = 0 and x = inf; a = 0 and a = inf put all mass at a */
static double inverse_edge (double a, double p, double zero, double one) {
  if (!(a >= 0 && p >= 0 && p <= 1)) return (double) NAN;
  if (p == zero) return 0;
  return p == one ? HUGE_VAL : a;
}

static int is_inverse_edge (double a, double p) {
  return !(a > 0 && a < HUGE_VAL && p > 0 && p < 1);
}

double special_gammaincinv (double a, double p) {
  if (is_inverse_edge(a, p)) return inverse_edge(a, p, 0, 1);
  return p <= 0.5 ? inverse(a, p, 0) : inverse(a, 1 - p, 1);
}

double special_gammainccinv (double a, double q) {
  if (is_inverse_edge(a, q)) return inverse_edge(a, q, 1, 0);
  return q <= 0.5 ? inverse(a, q, 1) : inverse(a, 1 - q, 0);
}

/* }====================================================== */


/* {=====================================================
** Implicit reparameterisation
** ====================================================== */

/*
** The derivative of Temme's form: with y^2 = a eta^2/2, d(y^2)/da = -log(lambda) and
** d(eta)/da = -mu/(a eta). Near eta = 0 both quotients by eta tend to 1.
*/
static double uniform_dx_da (double a, double x) {
  Pair e = deviance_exponent(a, x);
  double eta = eta_of(a, x, e), mu = (x - a) / a;
  Uniform s = uniform_series(a, eta);
  double log_lambda = vlog1p(mu);
  double bracket = log_lambda * s.t - s.t / (2 * a) + s.dt_da;
  bracket += eta == 0 ? 1 - s.dt_deta / a : (log_lambda - s.dt_deta * mu / a) / eta;
  return (1 + mu) * vexp(vstirlerr(a)) * bracket;
}

/* from P = x^a e^-x/Gamma(a+1) h or Q = x^a e^-x/Gamma(a) h, divided by the density */
double special_gamma_dx_da (double a, double x) {
  if (!(a > 0 && x >= 0 && a < HUGE_VAL)) return (double) NAN;
  if (x == 0 || x == HUGE_VAL) return x;
  if (a >= 40 && fabs(x - a) <= 0.5 * a) return uniform_dx_da(a, x);
  if (x < 1 || x < a) {
    Dual s = lower_series(a, x);
    return -(x / a) * fma(s.h, vlog(x) - vdigamma_pos(a + 1), s.dh);
  }
  Dual f = upper_fraction(a, x);
  return x * fma(f.h, vlog(x) - vdigamma_pos(a), f.dh);
}

/* }====================================================== */
