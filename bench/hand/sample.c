/*
** sample.c - the streams of src/random straight into the result, then one
** pass over each piece while it is in the cache
*/
#include "hand.h"
#include "random/noise.h"

#define PIECE 512

typedef void Noise (const Philox *g, uint32_t lane, uint64_t first, size_t n, double *out);

static void draw (size_t n, int threads, double *out, Noise *noise, double loc, double scale) {
  Philox g = philox_seed(1);
#pragma omp parallel for num_threads(threads)
  for (size_t first = 0; first < n; first += PIECE) {
    size_t length = n - first < PIECE ? n - first : PIECE;
    double *restrict to = out + first;
    noise(&g, 0, first, length, to);
    for (size_t i = 0; i < length; i++) to[i] = loc + scale * to[i];
  }
}

static void normal (size_t n, int threads, double *const in[], double *out) {
  draw(n, threads, out, noise_normal, in[0][0], in[1][0]);
}

static void uniform (size_t n, int threads, double *const in[], double *out) {
  draw(n, threads, out, noise_uniform, in[0][0], in[1][0]);
}

static void exponential (size_t n, int threads, double *const in[], double *out) {
  draw(n, threads, out, noise_exponential, 0, in[1][0]);
}

const Workload workloads[] = {
  {"Normal",      1000000, normal},
  {"Uniform",     1000000, uniform},
  {"Exponential", 1000000, exponential},
  {NULL, 0, NULL}
};
