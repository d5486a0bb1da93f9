/*
** incbeta_integral.c - a tail of the beta distribution by Gauss-Legendre quadrature
**
** The lower tail seen from x in steps r: with t = x (1 - y r),
**   F = int_0^(1/y) exp(-g(r)) dr,
**   g(r) = slope r - (a-1) log1pmx(-y r) - (b-1) log1pmx(x r)
** and slope = (a-1) y - (b-1) x; a > 1. g is convex for b >= 1.
*/
#include "special/incbeta_parts.h"
#include "special/vmath.h"


/* the 32-point Gauss-Legendre rule on (-1,1), from the far end to the near one */
static const double gauss_node[32] = {
  0.99726386184948156354, 0.98561151154526833540, 0.96476225558750643077,
  0.93490607593773968917, 0.89632115576605212397, 0.84936761373256997013,
  0.79448379596794240696, 0.73218211874028968039, 0.66304426693021520098,
  0.58771575724076232904, 0.50689990893222939002, 0.42135127613063534536,
  0.33186860228212764978, 0.23928736225213707454, 0.14447196158279649349,
  0.048307665687738316235, -0.048307665687738316235, -0.14447196158279649349,
  -0.23928736225213707454, -0.33186860228212764978, -0.42135127613063534536,
  -0.50689990893222939002, -0.58771575724076232904, -0.66304426693021520098,
  -0.73218211874028968039, -0.79448379596794240696, -0.84936761373256997013,
  -0.89632115576605212397, -0.93490607593773968917, -0.96476225558750643077,
  -0.98561151154526833540, -0.99726386184948156354
};

static const double gauss_weight[32] = {
  0.0070186100094700966004, 0.016274394730905670605, 0.025392065309262059456,
  0.034273862913021433103, 0.042835898022226680657, 0.050998059262376176196,
  0.058684093478535547145, 0.065822222776361846838, 0.072345794108848506225,
  0.078193895787070306472, 0.083311924226946755222, 0.087652093004403811143,
  0.091173878695763884713, 0.093844399080804565639, 0.095638720079274859419,
  0.096540088514727800567, 0.096540088514727800567, 0.095638720079274859419,
  0.093844399080804565639, 0.091173878695763884713, 0.087652093004403811143,
  0.083311924226946755222, 0.078193895787070306472, 0.072345794108848506225,
  0.065822222776361846838, 0.058684093478535547145, 0.050998059262376176196,
  0.042835898022226680657, 0.034273862913021433103, 0.025392065309262059456,
  0.016274394730905670605, 0.0070186100094700966004
};

typedef struct Descent { double a1, b1, x, y, slope; } Descent;

static Descent descent_from (Point s) {
  return (Descent) {.a1 = s.a - 1.0, .b1 = s.b - 1.0, .x = s.x.hi, .y = s.y.hi,
                    .slope = s.lambda.hi - s.y.hi + s.x.hi};
}

VECTOR double descent (Descent d, double r) {
  double curved = fma(d.a1, vlog1pmx(-d.y * r), d.b1 * vlog1pmx(d.x * r));
  return fma(d.slope, r, -curved);
}

/*
** an r beyond which exp(-g) may be neglected, g(r) >= 40: the root of the
** parabola that touches g at 0, then Newton, which overshoots (g is convex);
** for b < 1, from g(r) >= (a-1) y r
*/
static double descent_end (Descent d) {
  const double depth = 40.0;
  if (d.b1 < 0.0) return fmin(depth / (d.a1 * d.y), 1.0 / d.y);
  double curvature = fma(d.a1 * d.y, d.y, d.b1 * d.x * d.x);
  double root = sqrt(fma(d.slope, d.slope, 2.0 * depth * curvature));
  double r = (d.slope > 0.0) ? 2.0 * depth / (root + d.slope) : (root - d.slope) / curvature;
  for (int i = 0; i < 3; i++) {
    r = fmin(r, 0.999 / d.y);
    double u = d.y * r, v = d.x * r;
    double rate = d.slope + (d.a1 * d.y * (u / (1.0 - u)) + d.b1 * d.x * (v / (1.0 + v)));
    r += (depth - descent(d, r)) / rate;
  }
  return fmin(r, 1.0 / d.y);
}

double incbeta_integral (Point s) {
  Descent d = descent_from(s);
  double half = 0.5 * descent_end(d), sum = 0.0, term[32];
  for (int i = 0; i < 32; i++)
    term[i] = gauss_weight[i] * vexp(-descent(d, half * (1.0 + gauss_node[i])));
  for (int i = 0; i < 32; i++)
    sum += term[i];
  return half * sum;
}

/* the derivatives bring log(1 - y r) and log(1 + x r) under the integral */
Integral incbeta_integral_partials (Point s) {
  Descent d = descent_from(s);
  Integral f = {.half = 0.5 * descent_end(d)};
  double weight[32], log_a[32], log_b[32];
  for (int i = 0; i < 32; i++) {
    double r = f.half * (1.0 + gauss_node[i]);
    weight[i] = gauss_weight[i] * vexp(-descent(d, r));
    log_a[i] = vlog1p(-d.y * r);
    log_b[i] = vlog1p(d.x * r);
  }
  for (int i = 0; i < 32; i++) {
    f.sum += weight[i];
    f.sum_a = fma(weight[i], log_a[i], f.sum_a);
    f.sum_b = fma(weight[i], log_b[i], f.sum_b);
  }
  return f;
}
