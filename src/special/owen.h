/*
** owen.h - the part of a normal tail that Owen's T function leaves
**
**   T(h, a) = 1/(2 pi) int_0^a e^(-h^2 (1 + x^2)/2)/(1 + x^2) dx
**
** the probability that X > h and 0 < Y < a X for two standard normal numbers
** (D. B. Owen, Annals of Mathematical Statistics 27 (1956), 1075-1090). T(h, inf) = Phi(-h)/2.
*/
#ifndef PERILUNE_OWEN_H
#define PERILUNE_OWEN_H

/* 2 T(h, inf) - 2 T(h, a), for h, a >= 0: mass e^-(h^2/2 + depth), which may underflow */
typedef struct OwenTail { double mass, depth; } OwenTail;

OwenTail special_owen_tail (double h, double a);

#endif
