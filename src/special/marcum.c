/*
** marcum.c - gamma variables with a noncentrality (marcum.h)
**
** With w = 2 sqrt(a y) and r = sqrt(v^2 + w^2) Debye's expansion of I_v (bessel_order.h) gives
**
**   log g = v (log(1 + d) - d) - a d^2 - log(2 pi r)/2 + T,   1 + d = 2 y/(v + r)
**
** in which nothing cancels. A tail is an integral over s = sqrt(y), in which g is much like a bell
** curve; or where that expansion does not hold, with terms that are all positive,
**
**   P   = y^m e^(-y - a)/Gamma(m + 1) sum_j (a y)^j/(j! (m + 1)_j) M_j
**   M_j = 1 + y/(m + j + 1) M_(j+1)
**
**   Q   = y^(m-1) e^(-y - a)/Gamma(m) sum_j (a y)^j/(j! (m)_j) U_j
**   U_j = 1 + (m + j - 1)/y U_(j-1),   U_0 = Q(m, y) Gamma(m) y^(1-m) e^y
*/
#include "special/marcum.h"

#include "special/bessel_order.h"
#include "special/incgamma.h"
#include "special/incgamma_parts.h"
#include "special/legendre.h"
#include "special/peak.h"
#include "special/verf.h"
#include "special/vgamma.h"
#include "special/vmath.h"

enum { SERIES_TERMS = 512 };

static const double SERIES_MOST = 150;   /* of y and of sqrt(a y), for the sum */


/* {=====================================================
** Density
** ====================================================== */

/* log(y^v e^-y/Gamma(v + 1)), v >= 0 */
static double log_gamma_density (double v, double y) {
  if (y == 0) return v == 0 ? 0 : -HUGE_VAL;
  if (v < 8) return fma(v, vlog(y), -y) - vlgamma_pos(v + 1);
  return -vbd0(v, y) - vstirlerr(v) - fma(0.5, vlog(v), HALF_LOG_2PI);
}

/* by Debye's expansion, given its sum t */
VECTOR double log_density_debye (double v, double a, double y, double r, double t) {
  double ratio = 2 * (y / (v + r)), d = fma(2.0, y, -(v + r)) / (v + r);
  double order = v == 0 ? 0.0 : v * (ratio < 0.25 ? vlog(ratio) - d : vlog1pmx(d));
  return order - a * d * d - fma(0.5, vlog(r), HALF_LOG_2PI) + t;
}

/* for v >= 0 */
static double log_density (double v, double a, double y) {
  double w = 2 * sqrt(a) * sqrt(y), r = bessel_radius(v, w);
  if (!(y < HUGE_VAL)) return y == y ? -HUGE_VAL : y;
  if (w == 0) return log_gamma_density(v, y) - a;
  if (r < DEBYE_FROM) {
    double gap = sqrt(y) - sqrt(a), power = v == 0 ? 0.0 : v * vlog(2 * y);
    return (power + bessel_order(v, w).log_scaled) - gap * gap;
  }
  return log_density_debye(v, a, y, r, debye_sum(v / r * (v / r), 1 / r).value);
}

/* From here on the law is normal: mean m + a, variance m + 2 a */
static const double NORMAL_FROM = 1e26;

static double normal_score (double m, double a, double y) {
  return ((y - m) - a) / sqrt(m + 2 * a);
}

/* of order below 0 by g_m = (a g_(m+2) + m g_(m+1))/y */
double marcum_log_density (double m, double a, double y) {
  if (m + a > NORMAL_FROM) {
    double z = normal_score(m, a, y);
    return fma(-0.5 * z, z, -fma(0.5, vlog(m + 2 * a), HALF_LOG_2PI));
  }
  if (m >= 1) return log_density(m - 1, a, y);
  if (y == 0) return HUGE_VAL;
  double one = log_density(m, a, y), two = a > 0 ? log_density(m + 1, a, y) + vlog(a) : -HUGE_VAL;
  return vlogaddexp(one + vlog(m), two) - vlog(y);
}

/* g_(m+1)/g_m */
static double next_ratio (double m, double a, double y) {
  if (m + a > NORMAL_FROM) return 1 + normal_score(m, a, y) / sqrt(m + 2 * a);
  if (m >= 1) return 2 * y * bessel_order(m - 1, 2 * sqrt(a) * sqrt(y)).share;
  return vexp(marcum_log_density(m + 1, a, y) - marcum_log_density(m, a, y));
}

MarcumSlopes marcum_log_density_slopes (double m, double a, double y) {
  double ratio = next_ratio(m, a, y);
  return (MarcumSlopes) {fma(a / y, ratio, (m - 1) / y) - 1, ratio - 1};
}

/* for v >= 0: log(2 y/(v + r)) and what Bessel's function leaves beside it */
static double log_density_by_v (double v, double a, double y) {
  double w = 2 * sqrt(a) * sqrt(y), r = bessel_radius(v, w), d = fma(2.0, y, -(v + r)) / (v + r);
  double ratio = 2 * (y / (v + r)), rest = bessel_order_rest(v, w);
  if (r == 0) return vlog(y) - vdigamma_pos(1);
  if (y < 1e-290) return vlog(y) - vlog(0.5 * (v + r)) + rest;   /* the ratio may underflow */
  return (ratio < 0.25 ? vlog(ratio) : vlog1p(d)) + rest;
}

/* of order below 0 as the density: each part has its share of it */
double marcum_log_density_by_m (double m, double a, double y) {
  if (m + a > NORMAL_FROM) {
    double sd = sqrt(m + 2 * a), z = normal_score(m, a, y);
    return (z + 0.5 * (z - 1) * (z + 1) / sd) / sd;
  }
  if (m >= 1) return log_density_by_v(m - 1, a, y);
  double one = log_density(m, a, y) + vlog(m), two = -HUGE_VAL, slope = 0;
  if (a > 0) {
    two = log_density(m + 1, a, y) + vlog(a);
    slope = log_density_by_v(m + 1, a, y);
  }
  double share = 1 / (1 + vexp(two - one));
  return share * (1 / m + log_density_by_v(m, a, y)) + (1 - share) * slope;
}

/* 2 y B(w), B the share of bessel_order.h, w = 2 sqrt(a y) */
MarcumRatio marcum_ratio (double m, double a, double y) {
  double w = 2 * sqrt(a) * sqrt(y), share = bessel_order(m - 1, w).share;
  double by_m = marcum_log_density_by_m(m + 1, a, y) - marcum_log_density_by_m(m, a, y);
  return (MarcumRatio) {2 * y * share, fma(w, bessel_bend(m - 1, w).share, 2 * share),
                        2 * y * share * by_m};
}

/* }====================================================== */


/* {=====================================================
** Tails
** ====================================================== */

static const double ENOUGH = 1e-18;   /* terms that are smaller than this part of a sum */

/* M_j: its terms rise and then fall */
static double lower_mean (double m, double y, int j) {
  double sum = 1, term = 1;
  for (double k = m + j + 1; term > ENOUGH * sum; k++) {
    term *= y / k;
    sum += term;
  }
  return sum;
}

/* log P by the sum over j; M_j is known from the next */
static double log_lower_series (double m, double a, double y) {
  double weight[SERIES_TERMS], h = a * y, term = 1, sum = 0, total = 0;
  int last = -1;
  while (last + 1 < SERIES_TERMS) {   /* until weights vanish */
    weight[++last] = term;
    sum += term;
    double next = (last + 1.0) * (m + last + 1);
    term *= h / next;
    if (next > h && term < ENOUGH * sum) break;
  }
  double mean = lower_mean(m, y, last);
  for (int j = last; j >= 0; j--) {
    total = fma(weight[j], mean, total);
    mean = fma(y / (m + j), mean, 1.0);
  }
  return (log_gamma_density(m, y) - a) + vlog(total);
}

/* U_0: where m is tiny it no longer depends on it */
static double upper_start (double m, double y) {
  GammaTail t = incgamma_tail(fmax(m, 1e-280), (Pair) {y, 0});
  if (t.upper) return y * (t.m / t.d);
  return y * (1 - incgamma_scaled_exp(t.m, t.e)) / incgamma_scaled_exp(t.d, t.e);
}

/* log Q by the sum over j, for y >= m + a; weights are m times those above */
static double log_upper_series (double m, double a, double y) {
  double h = a * y, inner = upper_start(m, y), weight = h, total = m * inner, before = 0, term = total;
  for (int j = 1; j < SERIES_TERMS && !(term < ENOUGH * total && term < before); j++) {
    inner = fma((m + j - 1) / y, inner, 1.0);
    before = term;
    term = weight * inner;
    total += term;
    weight *= h / ((j + 1.0) * (m + j));
  }
  return (log_gamma_density(m, y) - vlog(y) - a) + vlog(total);
}

/* log(2 s g(s^2)) */
static double log_height (double m, double a, double s) {
  return vlog(2 * s) + marcum_log_density(m, a, s * s);
}

/* where an integrand of this slope, and a curve of 1, has fallen by DEPTH */
static double reach (double slope) {
  double depth = 2 * LEGENDRE_DEPTH, d = fmax(slope, 0);
  return depth / (d + sqrt(fma(d, d, depth)));
}

typedef double Panel[LEGENDRE];

/* T at all points: loops run along these */
static void debye_sums (double v, const Panel r, Panel sum) {
  Panel q, value;
  for (int i = 0; i < LEGENDRE; i++) {
    q[i] = v / r[i] * (v / r[i]);
    sum[i] = 0;
  }
  for (int k = DEBYE_TERMS; k >= 1; k--) {
    for (int i = 0; i < LEGENDRE; i++) value[i] = debye_coefficient[k - 1][k];
    for (int j = k - 1; j >= 0; j--)
      for (int i = 0; i < LEGENDRE; i++) value[i] = fma(value[i], q[i], debye_coefficient[k - 1][j]);
    for (int i = 0; i < LEGENDRE; i++) sum[i] = (sum[i] + value[i]) / r[i];
  }
}

/* adds e^shift g_(v+1)(s^2) 2 s^(1 - power), where Debye's expansion holds */
static void add_heights (double v, double a, const Panel s, double shift, double power, Panel f) {
  Panel r, t;
  double root = 2 * sqrt(a);
  for (int i = 0; i < LEGENDRE; i++) r[i] = bessel_radius(v, root * s[i]);
  debye_sums(v, r, t);
  for (int i = 0; i < LEGENDRE; i++) {
    double log_g = log_density_debye(v, a, s[i] * s[i], r[i], t[i]);
    f[i] += vexp(fma(1 - power, vlog(s[i]), log_g) + (shift + LN2));
  }
}

/* for v >= 0, where Debye's expansion holds at all y */
static int debye_densities (double v, double a, const double y[], double log_g[]) {
  double r[LEGENDRE], t[LEGENDRE], root = 2 * sqrt(a), least = HUGE_VAL, most = 0;
  for (int i = 0; i < LEGENDRE; i++) {
    r[i] = bessel_radius(v, root * sqrt(y[i]));
    least = fmin(least, fmin(r[i], y[i] > 0 ? HUGE_VAL : 0));
    most = fmax(most, r[i]);
  }
  if (!(least >= DEBYE_FROM && most < 1e150)) return 0;
  debye_sums(v, r, t);
  EVERY for (int i = 0; i < LEGENDRE; i++) log_g[i] = log_density_debye(v, a, y[i], r[i], t[i]);
  return 1;
}

int marcum_log_densities (double m, double a, const double y[], double log_g[]) {
  double two[LEGENDRE], log_m = vlog(m), log_a = vlog(a);
  if (!(a > 0 && m + a <= NORMAL_FROM)) return 0;
  if (m >= 1) return debye_densities(m - 1, a, y, log_g);
  if (!debye_densities(m, a, y, log_g) || !debye_densities(m + 1, a, y, two)) return 0;
  EVERY for (int i = 0; i < LEGENDRE; i++)
    log_g[i] = vlogaddexp(log_g[i] + log_m, two[i] + log_a) - vlog(y[i]);
  return 1;
}

/* the integral between s and s + width, which may be negative: the peak is e^top */
static double panel (double m, double a, double s, double width, double top) {
  Panel f, at;
  double least = 2 * sqrt(a) * (width < 0 ? s + width : s);
  for (int i = 0; i < LEGENDRE; i++) {
    at[i] = fma(width, legendre_node[i], s);
    f[i] = 0;
  }
  if (bessel_radius(m < 1 ? m : m - 1, least) < DEBYE_FROM)
    for (int i = 0; i < LEGENDRE; i++) f[i] = vexp(log_height(m, a, at[i]) - top);
  else if (m >= 1) add_heights(m - 1, a, at, -top, 0, f);
  else {
    add_heights(m, a, at, vlog(m) - top, 2, f);
    add_heights(m + 1, a, at, vlog(a) - top, 2, f);
  }
  return legendre_sum(f) * fabs(width);
}

/* from s upwards or downwards to where nothing is left */
static double log_integral (double m, double a, double y, int upper) {
  double s = sqrt(y), peak = sqrt(fmax(m + a - 0.5, 0)), side = upper ? 1 : -1;
  MarcumSlopes d = marcum_log_density_slopes(m, a, y);
  double width = reach(-side * fma(2 * s, d.by_y, 1 / s)), top;
  if (side * (peak - s) > 0) width += fabs(peak - s);
  if (!upper && width > s) width = s;
  top = side * (peak - s) > 0 ? log_height(m, a, peak) : log_height(m, a, s);
  double w1 = 0.3 * width * side, w2 = 0.7 * width * side;
  return top + vlog(panel(m, a, s, w1, top) + panel(m, a, s + w1, w2, top));
}

static double log_lower (double m, double a, double y) {
  if (y <= SERIES_MOST && a * y <= SERIES_MOST * SERIES_MOST) return log_lower_series(m, a, y);
  return log_integral(m, a, y, 0);
}

static double log_upper (double m, double a, double y) {
  if (bessel_radius(m - 1, 2 * sqrt(a) * sqrt(y)) < DEBYE_FROM) return log_upper_series(m, a, y);
  return log_integral(m, a, y, 1);
}

static double log_other (double l) { return l < 0 ? vlog1mexp(l) : -HUGE_VAL; }

double marcum_log_tail (double m, double a, double y, int upper) {
  if (!(y >= 0 && m > 0 && a >= 0)) return (double)NAN;
  if (y == 0 || y == HUGE_VAL) return (y == 0) == upper ? 0 : -HUGE_VAL;
  if (m + a > NORMAL_FROM) return vlog_ndtr((upper ? -1 : 1) * normal_score(m, a, y));
  if (a == 0) return upper ? special_log_gammaincc(m, y) : special_log_gammainc(m, y);
  int is_upper = y >= m + a;
  double small = fmin(is_upper ? log_upper(m, a, y) : log_lower(m, a, y), 0);
  return upper == is_upper ? small : log_other(small);
}

/* }====================================================== */


/* the power of y/(m + a) that is much like a normal variable (Sankaran 1963), which has z here */
static double normal_power (double m, double a, double z) {
  double mean = m + a, wide = m + 2 * a, h = 1 - mean / wide * ((m + 3 * a) / wide) / 1.5;
  double spread = wide / mean / mean / 2, bend = (h - 1) * (1 - 3 * h);
  double centre = fma(h * spread, h - 1 - 0.5 * (2 - h) * bend * spread, 1.0);
  double power = fma(z, h * sqrt(2 * spread) * fma(0.5 * bend, spread, 1.0), centre);
  return power > 0 ? mean * vexp(vlog(power) / h) : 0;
}

double marcum_near (double m, double a, double p, int upper) {
  double z = upper ? -vndtri(p) : vndtri(p);
  if (m + a > 1e15) return fmax(fma(z, sqrt(m + 2 * a), m + a), 0);
  double y = normal_power(m, a, z), level = upper ? vlog1p(-p) : vlog(p);
  double first = vexp((level + a + vlgamma_pos(m + 1)) / m);   /* by the first term of P */
  if (first * (1 + a) < 0.1 * (1 + m)) return fmax(first, 0x1p-1074);
  return y > 0 ? y : fmin(first, m + a);
}


typedef struct Marcum { double m, a, y; } Marcum;

static const double TINY = 1e-290;   /* of y, and of what it is multiplied with */

double marcum_dy_da (double m, double a, double y) { return y > 0 ? next_ratio(m, a, y) : 0; }

/* at y e^t, below as above y; where that is next to nothing, e^-a times the gamma law */
static double log_share (const void *at, double t) {
  const Marcum *p = at;
  double y = p->y * vexp(t);
  if (y < TINY) return fma(p->m, vlog(p->y) + t, -p->a) - vlgamma_pos(p->m);
  return marcum_log_density(p->m, p->a, y) + vlog(p->y) + t;
}

static void share_by_m (const void *at, double t, double level, double f[]) {
  const Marcum *p = at;
  (void)level;
  double y = p->y * vexp(t);
  f[0] = y < TINY ? vlog(p->y) + t - vdigamma_pos(p->m) : marcum_log_density_by_m(p->m, p->a, y);
}

/* -P_m/g by the smaller tail, an integral over log y */
double marcum_dy_dm (double m, double a, double y) {
  if (!(y > 0 && y < HUGE_VAL)) return 0;
  if (m + a > NORMAL_FROM) return 1 + 0.5 * normal_score(m, a, y) / sqrt(m + 2 * a);
  if (a == 0) return special_gamma_dx_da(m, y);
  Marcum at = {m, a, y};
  int upper = y >= m + a;
  Peaked p = {&at, log_share, share_by_m, 1,
              upper ? 0 : -HUGE_VAL, upper ? HUGE_VAL : 0,
              MARCUM_NOISE * sqrt(m + a), NULL};
  PeakSums s = peak_integral(&p, 0, (upper ? 1 : -1) / sqrt(1 + m + a));
  double sum = y * vexp(s.top - log_share(&at, 0)) * s.sum[1];
  return upper ? sum : -sum;
}
