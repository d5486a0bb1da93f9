/*
** gamma.h - the kernels of Gamma by name, for families that are a special case
*/
#ifndef PERILUNE_KERNEL_GAMMA_H
#define PERILUNE_KERNEL_GAMMA_H

#include "kernel/kernel.h"

enum {
  GAMMA_LOG_PROB, GAMMA_CDF, GAMMA_SF, GAMMA_LOG_CDF, GAMMA_LOG_SF, GAMMA_ICDF, GAMMA_ISF,
  GAMMA_ENTROPY, GAMMA_RSAMPLE, GAMMA_KERNELS
};

extern const Kernel perilune_gamma[];

#endif
