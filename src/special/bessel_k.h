/*
** bessel_k.h - modified Bessel functions of the second kind K0 and K1, scaled
**
**   k0e(x) = e^x K0(x),   k1e(x) = e^x K1(x),   x >= 0
**
** Up to 1 the series in y = x^2/4; from 1 to 3 and from 3 on polynomials in 1/x, near-minimax in
** relative error (error 2^-58), for sqrt(x) k0e(x), sqrt(x) k1e(x) and x^(3/2) (k1e(x) - k0e(x)).
** All are computed and one is selected, so loops over these functions vectorise.
*/
#ifndef PERILUNE_BESSEL_K_H
#define PERILUNE_BESSEL_K_H

#include "special/vector.h"
#include "special/vmath.h"


/* I0(x), y = x^2/4 up to 1/4 */
VECTOR double k_i0 (double y) {
  double sum = 7.5940584281266233059e-14;
  sum = fma(sum, y, 7.5940584281266233059e-12);
  sum = fma(sum, y, 6.1511873267825648778e-10);
  sum = fma(sum, y, 3.9367598891408415218e-8);
  sum = fma(sum, y, 1.9290123456790123457e-6);
  sum = fma(sum, y, 0.000069444444444444444444);
  sum = fma(sum, y, 0.0017361111111111111111);
  sum = fma(sum, y, 0.027777777777777777778);
  sum = fma(sum, y, 0.25);
  sum = fma(sum, y, 1.0);
  sum = fma(sum, y, 1.0);
  return sum;
}

/* sum of (1 + 1/2 + ... + 1/k) y^k/k!^2, y = x^2/4 up to 1/4 */
VECTOR double k_h0 (double y) {
  double sum = 2.2242756054762939135e-13;
  sum = fma(sum, y, 2.1483350211950276805e-11);
  sum = fma(sum, y, 1.6718048413148328114e-9);
  sum = fma(sum, y, 1.0207455998272324803e-7);
  sum = fma(sum, y, 4.7260802469135802469e-6);
  sum = fma(sum, y, 0.00015856481481481481481);
  sum = fma(sum, y, 0.0036168981481481481481);
  sum = fma(sum, y, 0.050925925925925925926);
  sum = fma(sum, y, 0.375);
  sum = fma(sum, y, 1.0);
  sum = fma(sum, y, 0.0);
  return sum;
}

/* 2 I1(x)/x, y = x^2/4 up to 1/4 */
VECTOR double k_i1 (double y) {
  double sum = 6.9036894801151120963e-15;
  sum = fma(sum, y, 7.5940584281266233059e-13);
  sum = fma(sum, y, 6.8346525853139609753e-11);
  sum = fma(sum, y, 4.9209498614260519022e-9);
  sum = fma(sum, y, 2.7557319223985890653e-7);
  sum = fma(sum, y, 0.000011574074074074074074);
  sum = fma(sum, y, 0.00034722222222222222222);
  sum = fma(sum, y, 0.0069444444444444444444);
  sum = fma(sum, y, 0.083333333333333333333);
  sum = fma(sum, y, 0.5);
  sum = fma(sum, y, 1.0);
  return sum;
}

/* sum of (psi(k + 1) + psi(k + 2)) y^k/(k! (k + 1)!), y = x^2/4 up to 1/4 */
VECTOR double k_h1 (double y) {
  double sum = 3.309914735250272068e-14;
  sum = fma(sum, y, 3.4959287296928819208e-12);
  sum = fma(sum, y, 3.0020487465891878859e-10);
  sum = fma(sum, y, 2.0452860035938779413e-8);
  sum = fma(sum, y, 1.0715459140911808686e-6);
  sum = fma(sum, y, 0.000041422476892711430696);
  sum = fma(sum, y, 0.0011153594919665281061);
  sum = fma(sum, y, 0.019182189839330562121);
  sum = fma(sum, y, 0.18157516696085563434);
  sum = fma(sum, y, 0.67278433509846713939);
  sum = fma(sum, y, -0.15443132980306572121);
  return sum;
}

/* sqrt(x) k0e(x), s = 3/x - 2 in [-1,1] */
VECTOR double k_k0_middle (double s) {
  double sum = -3.7794063718858228026e-13;
  sum = fma(sum, s, 1.1574223526508775419e-12);
  sum = fma(sum, s, -1.6995644291254019057e-12);
  sum = fma(sum, s, 5.4970430019413892904e-12);
  sum = fma(sum, s, -2.2082942250711167336e-11);
  sum = fma(sum, s, 7.274299695701023308e-11);
  sum = fma(sum, s, -2.3966672615936312635e-10);
  sum = fma(sum, s, 8.2497331726085800081e-10);
  sum = fma(sum, s, -2.9150559827215016156e-9);
  sum = fma(sum, s, 1.0585963795758202362e-8);
  sum = fma(sum, s, -3.9742564957227266822e-8);
  sum = fma(sum, s, 1.5518228438339545101e-7);
  sum = fma(sum, s, -6.3519258372096742114e-7);
  sum = fma(sum, s, 2.7553839927882669845e-6);
  sum = fma(sum, s, -0.000012867992137189122927);
  sum = fma(sum, s, 0.000066281130919953308903);
  sum = fma(sum, s, -0.00039210613470015954456);
  sum = fma(sum, s, 0.0028787579183320187119);
  sum = fma(sum, s, -0.031642077546885219264);
  sum = fma(sum, s, 1.1735628484887856978);
  return sum;
}

/* sqrt(x) k0e(x), s = 6/x - 1 in [-1,1] */
VECTOR double k_k0_far (double s) {
  double sum = -1.6564093096514595806e-12;
  sum = fma(sum, s, 3.4373686049096134214e-12);
  sum = fma(sum, s, 1.8458080232014325244e-12);
  sum = fma(sum, s, -3.2475804706406214886e-12);
  sum = fma(sum, s, -1.6161247515219154062e-11);
  sum = fma(sum, s, 3.6495046595018093218e-11);
  sum = fma(sum, s, -5.5912847347671311716e-11);
  sum = fma(sum, s, 1.4421968224112046005e-10);
  sum = fma(sum, s, -4.0762653294107765949e-10);
  sum = fma(sum, s, 1.1053253937341327906e-9);
  sum = fma(sum, s, -3.1131043029241391899e-9);
  sum = fma(sum, s, 9.2455705321039099637e-9);
  sum = fma(sum, s, -2.8994019534464959258e-8);
  sum = fma(sum, s, 9.6831413549021618823e-8);
  sum = fma(sum, s, -3.4849031706164044613e-7);
  sum = fma(sum, s, 1.3728451291164506516e-6);
  sum = fma(sum, s, -6.0513425591022170881e-6);
  sum = fma(sum, s, 0.000030837645717216846233);
  sum = fma(sum, s, -0.00019150896374970715943);
  sum = fma(sum, s, 0.0015954291670278719723);
  sum = fma(sum, s, -0.022179857583287278082);
  sum = fma(sum, s, 1.2293085913278638377);
  return sum;
}

/* sqrt(x) k1e(x), s = 3/x - 2 in [-1,1] */
VECTOR double k_k1_middle (double s) {
  double sum = 4.4005628004070776678e-13;
  sum = fma(sum, s, -1.3541073419551226689e-12);
  sum = fma(sum, s, 2.0209969673924144606e-12);
  sum = fma(sum, s, -6.5775276413112051317e-12);
  sum = fma(sum, s, 2.6444209023988706107e-11);
  sum = fma(sum, s, -8.7781085688275902046e-11);
  sum = fma(sum, s, 2.9198230468770192467e-10);
  sum = fma(sum, s, -1.0150354525079448923e-9);
  sum = fma(sum, s, 3.6275030586554089116e-9);
  sum = fma(sum, s, -1.3350122241769173421e-8);
  sum = fma(sum, s, 5.0921883660060337793e-8);
  sum = fma(sum, s, -2.0270363309775381654e-7);
  sum = fma(sum, s, 8.4989019771723023422e-7);
  sum = fma(sum, s, -3.8028659149443062396e-6);
  sum = fma(sum, s, 0.000018520831062765542854);
  sum = fma(sum, s, -0.00010136956525630159284);
  sum = fma(sum, s, 0.00066123157845733232697);
  sum = fma(sum, s, -0.0058744316389153550054);
  sum = fma(sum, s, 0.11889162240532228764);
  sum = fma(sum, s, 1.5225610279225339719);
  return sum;
}

/* sqrt(x) k1e(x), s = 6/x - 1 in [-1,1] */
VECTOR double k_k1_far (double s) {
  double sum = 1.7988291021125078269e-12;
  sum = fma(sum, s, -3.7429943223052785979e-12);
  sum = fma(sum, s, -1.9598252028547191373e-12);
  sum = fma(sum, s, 3.4302362544995707833e-12);
  sum = fma(sum, s, 1.7775974396275790733e-11);
  sum = fma(sum, s, -4.0333679461725463955e-11);
  sum = fma(sum, s, 6.2858988356178665077e-11);
  sum = fma(sum, s, -1.6298494092784786896e-10);
  sum = fma(sum, s, 4.6223473097340624419e-10);
  sum = fma(sum, s, -1.2628868233570280677e-9);
  sum = fma(sum, s, 3.5891175286754611628e-9);
  sum = fma(sum, s, -1.077010314060106115e-8);
  sum = fma(sum, s, 3.4198843495461335323e-8);
  sum = fma(sum, s, -1.1598801292768590925e-7);
  sum = fma(sum, s, 4.2568152061845469239e-7);
  sum = fma(sum, s, -1.7206966930019055626e-6);
  sum = fma(sum, s, 7.8598874413267247958e-6);
  sum = fma(sum, s, -0.000042232037181488915301);
  sum = fma(sum, s, 0.00028634357559194374355);
  sum = fma(sum, s, -0.0028487178353976552483);
  sum = fma(sum, s, 0.071552727423340998164);
  sum = fma(sum, s, 1.3280543310079712771);
  return sum;
}

/* x^(3/2) (k1e(x) - k0e(x)), s = 3/x - 2 in [-1,1] */
VECTOR double k_gap_middle (double s) {
  double sum = -2.5242935350453325787e-12;
  sum = fma(sum, s, 7.5025778217785352986e-12);
  sum = fma(sum, s, -9.9182770521484083358e-12);
  sum = fma(sum, s, 3.0998238293850265771e-11);
  sum = fma(sum, s, -1.2504080732731497346e-10);
  sum = fma(sum, s, 3.9566306847872956724e-10);
  sum = fma(sum, s, -1.2413447157052508826e-9);
  sum = fma(sum, s, 4.0776365239516969183e-9);
  sum = fma(sum, s, -1.3697732043898193655e-8);
  sum = fma(sum, s, 4.7023141211927118892e-8);
  sum = fma(sum, s, -1.6584467015429347303e-7);
  sum = fma(sum, s, 6.0368268616044975991e-7);
  sum = fma(sum, s, -2.2810257686167070257e-6);
  sum = fma(sum, s, 9.0172998815480070175e-6);
  sum = fma(sum, s, -0.00003770934907954721683);
  sum = fma(sum, s, 0.000169585167758958431);
  sum = fma(sum, s, -0.00084212242407845863887);
  sum = fma(sum, s, 0.0048442579876293928923);
  sum = fma(sum, s, -0.035948084646999943995);
  sum = fma(sum, s, 0.52349726915062240871);
  return sum;
}

/* x^(3/2) (k1e(x) - k0e(x)), s = 6/x - 1 in [-1,1] */
VECTOR double k_gap_far (double s) {
  double sum = -2.0489898841436615607e-11;
  sum = fma(sum, s, 4.1221329312020420052e-11);
  sum = fma(sum, s, 2.8390936752591613672e-11);
  sum = fma(sum, s, -5.1224736108928523642e-11);
  sum = fma(sum, s, -1.763576671564961141e-10);
  sum = fma(sum, s, 3.7998099862546578286e-10);
  sum = fma(sum, s, -4.8173981590199145854e-10);
  sum = fma(sum, s, 1.1943708301250913193e-9);
  sum = fma(sum, s, -3.3369431850255143495e-9);
  sum = fma(sum, s, 8.5561107685124177716e-9);
  sum = fma(sum, s, -2.2605146659025960639e-8);
  sum = fma(sum, s, 6.2818477648623562755e-8);
  sum = fma(sum, s, -1.8296760129523987835e-7);
  sum = fma(sum, s, 5.6212477947479764584e-7);
  sum = fma(sum, s, -1.8390295351328171381e-6);
  sum = fma(sum, s, 6.4840605612133879693e-6);
  sum = fma(sum, s, -0.000025045312969323803464);
  sum = fma(sum, s, 0.00010851269297189745477);
  sum = fma(sum, s, -0.00054693079026955508306);
  sum = fma(sum, s, 0.0034140460263194605009);
  sum = fma(sum, s, -0.030078928040874988248);
  sum = fma(sum, s, 0.59247443808064464572);
  return sum;
}


/* K0 = sum of h y^k - (log(x/2) + Euler) I0; log 2 - Euler is 0.1159... */
VECTOR double k0_near (double x, double y) {
  return fma(-(vlog(x) - 0.11593151565841244881), k_i0(y), k_h0(y));
}

/* K1 = 1/x + log(x/2) I1 - x/4 sum */
VECTOR double k1_near (double x, double y) {
  return 1 / x + 0.5 * x * fma(vlog(0.5 * x), k_i1(y), -0.5 * k_h1(y));
}

VECTOR double k_select (double x, double near, double middle, double far) {
  double value = x <= 1 ? near : x <= 3 ? middle : far;
  return x < 0 ? (double)NAN : x == 0 ? HUGE_VAL : value;
}

VECTOR double vk0e (double x) {
  double u = x <= 1 ? x : 1.0, t = 1 / x, scale = 1 / sqrt(x);
  double near = k0_near(u, 0.25 * u * u) * vexp(u);
  double middle = k_k0_middle(fma(3.0, t, -2.0)), far = k_k0_far(fma(6.0, t, -1.0));
  return k_select(x, near, middle * scale, far * scale);
}

VECTOR double vk1e (double x) {
  double u = x <= 1 ? x : 1.0, t = 1 / x, scale = 1 / sqrt(x);
  double near = k1_near(u, 0.25 * u * u) * vexp(u);
  double middle = k_k1_middle(fma(3.0, t, -2.0)), far = k_k1_far(fma(6.0, t, -1.0));
  return k_select(x, near, middle * scale, far * scale);
}

/* k1e - k0e, in which nothing cancels */
VECTOR double vk_excess (double x) {
  double u = x <= 1 ? x : 1.0, t = 1 / x, scale = t / sqrt(x), y = 0.25 * u * u;
  double near = (k1_near(u, y) - k0_near(u, y)) * vexp(u);
  double middle = k_gap_middle(fma(3.0, t, -2.0)), far = k_gap_far(fma(6.0, t, -1.0));
  return k_select(x, near, middle * scale, far * scale);
}

/* 1 - K0/K1 */
VECTOR double vk_gap (double x) {
  double far = 0.5 / x;
  return x > 1e300 ? far : x == 0 ? 1.0 : vk_excess(x) / vk1e(x);
}

#endif
