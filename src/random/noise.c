/*
** noise.c - streams of standard uniform, normal and exponential numbers
**
** Blocks of Philox words in a small buffer, then one vectorised loop over them.
**
** Normal: with u from the even word, r = sqrt(-2 log u). The odd word is an angle:
** 52 bits are y in (-1/8, 1/8) turns, bit 62 reflects about the diagonal (swaps sine
** and cosine), bit 63 turns by a half (changes both signs); together uniform on the circle.
*/
#include "random/noise.h"
#include "special/vmath.h"
#include "special/vtrig.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif


enum { BLOCKS = 128 };  /* a multiple of 8 */

/* from the words of `n` blocks to 2n numbers */
typedef void Transform (size_t n, const uint64_t *even, const uint64_t *odd, double *out);


/* {=====================================================
** Words
** ====================================================== */

#if defined(__AVX2__)

/* four blocks, a word of 32 bits in each 64-bit place; what stands above it is ignored */
typedef struct Blocks { __m256i c0, c1, c2, c3; } Blocks;

static inline Blocks blocks_at (uint64_t position) {
  __m256i p = _mm256_set1_epi64x((int64_t) position);
  p = _mm256_add_epi64(p, _mm256_set_epi64x(3, 2, 1, 0));
  __m256i zero = _mm256_setzero_si256();
  return (Blocks) {p, _mm256_srli_epi64(p, 32), zero, zero};
}

static inline Blocks blocks_round (Blocks b, __m256i k0, __m256i k1) {
  __m256i p0 = _mm256_mul_epu32(b.c0, _mm256_set1_epi64x(PHILOX_MULTIPLIER[0]));
  __m256i p1 = _mm256_mul_epu32(b.c2, _mm256_set1_epi64x(PHILOX_MULTIPLIER[1]));
  return (Blocks) {
    _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), k0), b.c1), p1,
    _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), k1), b.c3), p0
  };
}

static inline void store_words (Blocks b, uint64_t *even, uint64_t *odd) {
  __m256i e = _mm256_blend_epi32(b.c0, _mm256_slli_epi64(b.c1, 32), 0xAA);
  __m256i o = _mm256_blend_epi32(b.c2, _mm256_slli_epi64(b.c3, 32), 0xAA);
  _mm256_storeu_si256((__m256i *) even, e);
  _mm256_storeu_si256((__m256i *) odd, o);
}

/* two groups of four at a time, to fill the multiplier's latency; n is rounded up to 8 */
static void fill_words (const uint32_t key[2], uint64_t position, size_t n,
                        uint64_t *even, uint64_t *odd) {
  for (size_t i = 0; i < n; i += 8) {
    Blocks a = blocks_at(position + i), b = blocks_at(position + i + 4);
    __m256i k0 = _mm256_set1_epi64x(key[0]), k1 = _mm256_set1_epi64x(key[1]);
    for (int round = 0; round < 10; round++) {
      a = blocks_round(a, k0, k1);
      b = blocks_round(b, k0, k1);
      k0 = _mm256_add_epi32(k0, _mm256_set1_epi64x(PHILOX_WEYL[0]));
      k1 = _mm256_add_epi32(k1, _mm256_set1_epi64x(PHILOX_WEYL[1]));
    }
    store_words(a, even + i, odd + i);
    store_words(b, even + i + 4, odd + i + 4);
  }
}

#else

static void fill_words (const uint32_t key[2], uint64_t position, size_t n,
                        uint64_t *even, uint64_t *odd) {
  for (size_t i = 0; i < n; i++) {
    uint64_t words[2];
    philox_words(key, position + i, 0, words);
    even[i] = words[0];
    odd[i] = words[1];
  }
}

#endif

/* }====================================================== */


/* {=====================================================
** Numbers
** ====================================================== */

/* log of a uniform number: finite, never subnormal */
static inline double log_unit (uint64_t word) {
  return log_assemble(log_reduce(philox_unit(word), 1.0));
}

static void uniform (size_t n, const uint64_t *even, const uint64_t *odd, double *restrict out) {
  for (size_t i = 0; i < n; i++) {
    out[2 * i] = philox_unit(even[i]);
    out[2 * i + 1] = philox_unit(odd[i]);
  }
}

static void exponential (size_t n, const uint64_t *even, const uint64_t *odd,
                         double *restrict out) {
  for (size_t i = 0; i < n; i++) {
    out[2 * i] = -log_unit(even[i]);
    out[2 * i + 1] = -log_unit(odd[i]);
  }
}

/* two loops, because both the logarithm and the square root wait for the divider */
static void normal (size_t n, const uint64_t *even, const uint64_t *odd, double *restrict out) {
  double square[BLOCKS];
  for (size_t i = 0; i < n; i++) square[i] = -2.0 * log_unit(even[i]);
  for (size_t i = 0; i < n; i++) {
    double y = fma(0.25, philox_unit(odd[i] << 2), -0.125);
    double w = y * y;
    double s = sin_turn(y, w), c = cos_turn(w);
    uint64_t swap = odd[i] & 0x4000000000000000;
    double r = double_of(bits_of(vsqrt(square[i])) ^ (odd[i] & SIGN_BIT));
    out[2 * i] = r * (swap == 0 ? c : s);
    out[2 * i + 1] = r * (swap == 0 ? s : c);
  }
}

/* whole blocks go straight to `out`, a piece that starts or ends inside one by way of `z` */
static void fill (const Philox *g, uint64_t first, size_t n, double *out, Transform *transform) {
  uint64_t even[BLOCKS], odd[BLOCKS];
  double z[2 * BLOCKS];
  while (n > 0) {
    size_t skip = first % 2;
    size_t take = n < 2 * BLOCKS - skip ? n : 2 * BLOCKS - skip;
    size_t blocks = (skip + take + 1) / 2;
    int whole = take == 2 * blocks;
    fill_words(g->key, first / 2, blocks, even, odd);
    transform(blocks, even, odd, whole ? out : z);
    if (!whole) memcpy(out, z + skip, take * sizeof *out);
    first += take;
    out += take;
    n -= take;
  }
}

/* }====================================================== */


void noise_uniform (const Philox *g, uint64_t first, size_t n, double *out) {
  fill(g, first, n, out, uniform);
}

void noise_normal (const Philox *g, uint64_t first, size_t n, double *out) {
  fill(g, first, n, out, normal);
}

void noise_exponential (const Philox *g, uint64_t first, size_t n, double *out) {
  fill(g, first, n, out, exponential);
}
