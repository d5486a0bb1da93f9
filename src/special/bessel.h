/*
** bessel.h - modified Bessel functions I0, I1, scaled, and their ratio
**
**   i0e(x) = exp(-|x|) I0(x),   i1e(x) = exp(-|x|) I1(x)
**   A(x)   = I1(x)/I0(x), the mean resultant length of von Mises(x)
**
** Below 16 the even series in u = (x/2)^2, all of whose leading terms are
** positive; from 16 on polynomials in t = 1/x for sqrt(x) i0e(x),
** sqrt(x) i1e(x) and x (1 - A(x)). Both sides are computed and one is
** selected, so loops over these functions vectorise.
**
** All polynomials are near-minimax in relative error (weighted least
** squares at Chebyshev nodes, 60 digits) and are summed as two Horner
** chains, even and odd powers.
*/
#ifndef PERILUNE_BESSEL_H
#define PERILUNE_BESSEL_H

#include "special/vector.h"
#include "special/vmath.h"


/* I0(x), u = x^2/4 in [0,64], error 2^-60 */
VECTOR double bessel_i0_small (double u) {
  double s = u * u;
  double even = -1.4377218354970013011e-37;
  even = fma(even, s, 1.7198608502905172725e-32);
  even = fma(even, s, 2.2427535018953428831e-27);
  even = fma(even, s, 1.3149764484784488911e-22);
  even = fma(even, s, 4.3583331271751378358e-18);
  even = fma(even, s, 7.5940569755631204963e-14);
  even = fma(even, s, 6.1511873143009758545e-10);
  even = fma(even, s, 1.9290123456486390805e-6);
  even = fma(even, s, 0.0017361111111109592215);
  even = fma(even, s, 0.24999999999999992072);
  even = fma(even, s, 0.99999999999999999959);
  double odd = 1.3195496769803506621e-39;
  odd = fma(odd, s, 1.2590369972770248453e-34);
  odd = fma(odd, s, 8.5384674871364902725e-30);
  odd = fma(odd, s, 5.8687031528766359196e-25);
  odd = fma(odd, s, 2.5791706439965625459e-20);
  odd = fma(odd, s, 6.2760916785662646495e-16);
  odd = fma(odd, s, 7.5940585837261158048e-12);
  odd = fma(odd, s, 3.9367598898728152670e-8);
  odd = fma(odd, s, 6.9444444444529701052e-5);
  odd = fma(odd, s, 0.027777777777777933927);
  odd = fma(odd, s, 1.0000000000000000147);
  return fma(odd, u, even);
}

/* I1(x)/(x/2), u = x^2/4 in [0,64], error 2^-58 */
VECTOR double bessel_i1_small (double u) {
  double s = u * u;
  double even = 2.8188664350354729423e-38;
  even = fma(even, s, 2.4523026947808894083e-33);
  even = fma(even, s, 1.4600634307020094512e-28);
  even = fma(even, s, 8.8061163165757971312e-24);
  even = fma(even, s, 3.3529559187117684376e-19);
  even = fma(even, s, 6.9037020355844054521e-15);
  even = fma(even, s, 6.8346527362921798740e-11);
  even = fma(even, s, 2.7557319229184033602e-7);
  even = fma(even, s, 0.00034722222222260083697);
  even = fma(even, s, 0.083333333333333637292);
  even = fma(even, s, 1.0000000000000000027);
  double odd = -3.1263987355370515777e-36;
  odd = fma(odd, s, 3.0086208940288398645e-31);
  odd = fma(odd, s, 3.5824516859066472889e-26);
  odd = fma(odd, s, 1.8408492613663883786e-21);
  odd = fma(odd, s, 5.2299923549276840374e-17);
  odd = fma(odd, s, 7.5940568376799395507e-13);
  odd = fma(odd, s, 4.9209498509196741930e-9);
  odd = fma(odd, s, 1.1574074073898852718e-5);
  odd = fma(odd, s, 0.0069444444444439660042);
  odd = fma(odd, s, 0.49999999999999992771);
  return fma(odd, u, even);
}

/* sqrt(x) exp(-x) I0(x), t = 1/x in [0,1/16], error 2^-59 */
VECTOR double bessel_i0_large (double t) {
  double s = t * t;
  double even = -2.0004128786411312077e+5;
  even = fma(even, s, -2550.2279156858253042);
  even = fma(even, s, -3.3240608986792373717);
  even = fma(even, s, 0.22555418457185297688);
  even = fma(even, s, 0.044741933956115685829);
  even = fma(even, s, 0.028050629087443004158);
  even = fma(even, s, 0.39894228040143267743);
  double odd = 6.3237187631838132190e+5;
  odd = fma(odd, s, 29894.017347069769526);
  odd = fma(odd, s, 157.72970989310984600);
  odd = fma(odd, s, 0.84338269680825488101);
  odd = fma(odd, s, 0.090638178281754522054);
  odd = fma(odd, s, 0.029219406633831796738);
  odd = fma(odd, s, 0.049867785050182263251);
  return fma(odd, t, even);
}

/* sqrt(x) exp(-x) I1(x), t = 1/x in [0,1/16], error 2^-59 */
VECTOR double bessel_i1_large (double t) {
  double s = t * t;
  double even = 2.1253738583292029966e+5;
  even = fma(even, s, 2715.0188600431303024);
  even = fma(even, s, 3.3943387200241847011);
  even = fma(even, s, -0.26687607581544511229);
  even = fma(even, s, -0.057525402466621663690);
  even = fma(even, s, -0.046751048480995316250);
  even = fma(even, s, 0.39894228040143267849);
  double odd = -6.7147839739814893985e+5;
  odd = fma(odd, s, -31810.816505466557714);
  odd = fma(odd, s, -168.76472319370985402);
  odd = fma(odd, s, -0.96023603384511374305);
  odd = fma(odd, s, -0.11077477615052797183);
  odd = fma(odd, s, -0.040907168859098654627);
  odd = fma(odd, s, -0.14960335515054069771);
  return fma(odd, t, even);
}

/* x (1 - A(x)), t = 1/x in [0,1/16], error 2^-56 */
VECTOR double bessel_deficit_large (double t) {
  double s = t * t;
  double even = 2.9357663633075920015e+9;
  even = fma(even, s, 7.3085610198249191293e+7);
  even = fma(even, s, 3.1424705422731602667e+5);
  even = fma(even, s, 381.34940984157757287);
  even = fma(even, s, 3.3110399828242703088);
  even = fma(even, s, 0.40625543758489354718);
  even = fma(even, s, 0.12500000003920087588);
  even = fma(even, s, 0.50000000000000000377);
  double odd = -6.1675800839271230054e+9;
  odd = fma(odd, s, -6.0584578171269701126e+8);
  odd = fma(odd, s, -5.7493882835100274467e+6);
  odd = fma(odd, s, -11883.916674651247665);
  odd = fma(odd, s, 4.8399971170723000412);
  odd = fma(odd, s, 1.0469732671286384604);
  odd = fma(odd, s, 0.19531247979187240230);
  odd = fma(odd, s, 0.12499999999997009009);
  return fma(odd, t, even);
}


/*
** d log I0/du and d log (I1/x)/du to one digit: enough to put back the
** rounding error of u = h*h, which the slope (up to 8) would magnify
*/
VECTOR double bessel_i0_slope (double u) {
  return fma(fma(fma(fma(6.4e-8, u, -1.18e-5), u, 8.08e-4), u, -0.0261), u, 0.493);
}

VECTOR double bessel_i1_slope (double u) {
  return fma(fma(fma(-1.08e-6, u, 1.7e-4), u, -9.84e-3), u, 0.329);
}


VECTOR double vi0e (double x) {
  double a = fabs(x), h = 0.5 * a;
  double u = h * h, du = fma(h, h, -u);
  double p = bessel_i0_small(u);
  double small = vexp(-a) * fma(p, du * bessel_i0_slope(u), p);
  double large = bessel_i0_large(1.0 / a) / sqrt(a);
  return (a < 16.0) ? small : large;
}


VECTOR double vi1e (double x) {
  double a = fabs(x), h = 0.5 * a;
  double u = h * h, du = fma(h, h, -u);
  double p = bessel_i1_small(u);
  double small = vexp(-a) * fma(p, du * bessel_i1_slope(u), p) * h;
  double large = bessel_i1_large(1.0 / a) / sqrt(a);
  return copysign((a < 16.0) ? small : large, x);
}


/* A(x) = I1(x)/I0(x), odd */
VECTOR double vbessel_i1_over_i0 (double x) {
  double a = fabs(x), h = 0.5 * a, u = h * h, t = 1.0 / a;
  double small = h * (bessel_i1_small(u) / bessel_i0_small(u));
  double large = fma(-t, bessel_deficit_large(t), 1.0);
  return copysign((a < 16.0) ? small : large, x);
}


/* 1 - A(x), without cancellation from 16 on; at worst 32 eps below */
VECTOR double vbessel_ratio_c (double x) {
  double a = fabs(x), h = 0.5 * x, u = h * h, t = 1.0 / a;
  double i0 = bessel_i0_small(u);
  double small = fma(-h, bessel_i1_small(u), i0) / i0;
  double deficit = t * bessel_deficit_large(t);
  double large = (x < 0.0) ? 2.0 - deficit : deficit;
  return (a < 16.0) ? small : large;
}

#endif
