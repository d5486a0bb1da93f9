/*
** noise.c - the streams that samplers are made of, as kernels
*/
#include "kernel/kernel.h"
#include "random/noise.h"


const Kernel perilune_noise[] = {
  {.name = "uniform",     .draw = noise_uniform},
  {.name = "normal",      .draw = noise_normal},
  {.name = "exponential", .draw = noise_exponential},
  {.name = NULL}
};
