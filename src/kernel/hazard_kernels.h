/*
** hazard_kernels.h - the kernels of a transformed waiting time (hazard.h)
**
** To be included once by a family's file, below its `static const HazardLaw law`. A family
** lists in its table those that it has functions for.
*/
#include "kernel/hazard.h"


static inline void log_prob (size_t n, const double *const in[], double *out) {
  pointwise_value(law.operands, n, in, out, law.log_density);
}

static inline void log_prob_partials (size_t n, const double *const in[], double *const d[]) {
  hazard_density_partials(law.operands, n, in, d, law.log_density_slopes);
}


VECTOR void tail_value (size_t n, const double *const in[], double *out, OfPair *tail) {
  hazard_value(law.operands, n, in, out, law.hazard, tail);
}

VECTOR void tail_partials (size_t n, const double *const in[], double *const d[],
                           OfPair *tail_slope) {
  hazard_partials(law.operands, n, in, d, law.hazard, law.hazard_slopes, tail_slope);
}

static inline void cdf (size_t n, const double *const in[], double *out) {
  tail_value(n, in, out, law.falls ? waiting : arrived);
}

static inline void cdf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, law.falls ? waiting_slope : arrived_slope);
}

static inline void sf (size_t n, const double *const in[], double *out) {
  tail_value(n, in, out, law.falls ? arrived : waiting);
}

static inline void sf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, law.falls ? arrived_slope : waiting_slope);
}

static inline void log_cdf (size_t n, const double *const in[], double *out) {
  tail_value(n, in, out, law.falls ? log_waiting : log_arrived);
}

static inline void log_cdf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, law.falls ? log_waiting_slope : log_arrived_slope);
}

static inline void log_sf (size_t n, const double *const in[], double *out) {
  tail_value(n, in, out, law.falls ? log_arrived : log_waiting);
}

static inline void log_sf_partials (size_t n, const double *const in[], double *const d[]) {
  tail_partials(n, in, d, law.falls ? log_arrived_slope : log_waiting_slope);
}


VECTOR void quantile_value (size_t n, const double *const in[], double *out, OfNumber *wait) {
  hazard_quantile(law.operands, n, in, out, law.quantile, wait);
}

VECTOR void quantile_partials (size_t n, const double *const in[], double *const d[],
                               OfNumber *wait, OfNumber *wait_slope) {
  hazard_quantile_partials(law.operands, n, in, d, law.quantile_slopes, wait, wait_slope);
}

static inline void icdf (size_t n, const double *const in[], double *out) {
  quantile_value(n, in, out, law.falls ? wait_above : wait_below);
}

static inline void icdf_partials (size_t n, const double *const in[], double *const d[]) {
  quantile_partials(n, in, d, law.falls ? wait_above : wait_below,
                    law.falls ? wait_above_slope : wait_below_slope);
}

static inline void isf (size_t n, const double *const in[], double *out) {
  quantile_value(n, in, out, law.falls ? wait_below : wait_above);
}

static inline void isf_partials (size_t n, const double *const in[], double *const d[]) {
  quantile_partials(n, in, d, law.falls ? wait_below : wait_above,
                    law.falls ? wait_below_slope : wait_above_slope);
}

static inline void rsample (size_t n, const double *const in[], double *out) {
  quantile_value(n, in, out, wait_given);
}

static inline void rsample_partials (size_t n, const double *const in[], double *const d[]) {
  quantile_partials(n, in, d, wait_given, wait_given_slope);
}


static inline void mean (size_t n, const double *const in[], double *out) {
  pointwise_value(law.operands - 1, n, in, out, law.mean);
}

static inline void mean_partials (size_t n, const double *const in[], double *const d[]) {
  pointwise_partials(law.operands - 1, n, in, d, law.mean_slopes);
}

static inline void stddev (size_t n, const double *const in[], double *out) {
  pointwise_value(law.operands - 1, n, in, out, law.stddev);
}

static inline void stddev_partials (size_t n, const double *const in[], double *const d[]) {
  pointwise_partials(law.operands - 1, n, in, d, law.stddev_slopes);
}

static inline void entropy (size_t n, const double *const in[], double *out) {
  pointwise_value(law.operands - 1, n, in, out, law.entropy);
}

static inline void entropy_partials (size_t n, const double *const in[], double *const d[]) {
  pointwise_partials(law.operands - 1, n, in, d, law.entropy_slopes);
}
