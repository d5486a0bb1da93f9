/*
** noise.c - streams of standard uniform, normal and exponential numbers
**
** Words of Philox blocks in a small buffer, in the order of elements, then one
** vectorised loop over them.
**
** Normal: with u from the first word of a block, r = sqrt(-2 log u). The second word is
** an angle: 52 bits are y in (-1/8, 1/8) turns, bit 62 reflects about the diagonal (swaps
** sine and cosine), bit 63 turns by a half (changes both signs); together uniform on the
** circle.
*/
#include "random/noise.h"
#include "special/vmath.h"
#include "special/vtrig.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif


enum { ELEMENTS = 256, GROUP = 8 };  /* of the buffer; of four blocks */
enum { NORMAL_LANES = 1 << 30 };     /* a normal uses both words of a block: no one else's */
enum { PAIRS = 16 };                 /* blocks at a time, for elements here and there */

/* from n words, a multiple of GROUP, to n numbers */
typedef void Transform (size_t n, const uint64_t *word, double *out);


/* {=====================================================
** Words
** ====================================================== */

#if defined(__AVX2__)

/* four blocks, a word of 32 bits in each 64-bit place; what stands above it is ignored */
typedef struct Blocks { __m256i c0, c1, c2, c3; } Blocks;

static inline __m256i four_from (uint64_t position) {
  return _mm256_add_epi64(_mm256_set1_epi64x((int64_t) position), _mm256_set_epi64x(3, 2, 1, 0));
}

/* blocks at four positions after the first round; p1 comes from the lane alone */
static inline Blocks blocks_at (__m256i p, uint64_t p1, __m256i k0, __m256i k1) {
  __m256i p0 = _mm256_mul_epu32(p, _mm256_set1_epi64x(PHILOX_MULTIPLIER[0]));
  __m256i high = _mm256_xor_si256(_mm256_set1_epi64x((int64_t) (p1 >> 32)), k0);
  return (Blocks) {
    _mm256_xor_si256(_mm256_srli_epi64(p, 32), high), _mm256_set1_epi64x((int64_t) p1),
    _mm256_xor_si256(_mm256_srli_epi64(p0, 32), k1), p0
  };
}

static inline Blocks blocks_round (Blocks b, __m256i k0, __m256i k1) {
  __m256i p0 = _mm256_mul_epu32(b.c0, _mm256_set1_epi64x(PHILOX_MULTIPLIER[0]));
  __m256i p1 = _mm256_mul_epu32(b.c2, _mm256_set1_epi64x(PHILOX_MULTIPLIER[1]));
  return (Blocks) {
    _mm256_xor_si256(_mm256_srli_epi64(p1, 32), _mm256_xor_si256(k0, b.c1)), p1,
    _mm256_xor_si256(_mm256_srli_epi64(p0, 32), _mm256_xor_si256(k1, b.c3)), p0
  };
}

/* first words, then second words */
static inline void store_words (Blocks b, uint64_t *word) {
  __m256i first = _mm256_blend_epi32(b.c0, _mm256_slli_epi64(b.c1, 32), 0xAA);
  __m256i second = _mm256_blend_epi32(b.c2, _mm256_slli_epi64(b.c3, 32), 0xAA);
  _mm256_storeu_si256((__m256i *) word, first);
  _mm256_storeu_si256((__m256i *) (word + 4), second);
}

/* `groups` groups of four blocks each; several at a time fill the multiplier's latency */
static inline __attribute__((always_inline))
void fill_groups (const uint32_t key[2], uint32_t lane, const __m256i *position, size_t groups,
                  uint64_t *word) {
  uint64_t p1 = (uint64_t) PHILOX_MULTIPLIER[1] * lane;
  __m256i k0 = _mm256_set1_epi64x(key[0]), k1 = _mm256_set1_epi64x(key[1]);
  Blocks b[4];
  for (size_t j = 0; j < groups; j++) b[j] = blocks_at(position[j], p1, k0, k1);
#pragma GCC unroll 9
  for (int round = 1; round < 10; round++) {
    k0 = _mm256_add_epi32(k0, _mm256_set1_epi64x(PHILOX_WEYL[0]));
    k1 = _mm256_add_epi32(k1, _mm256_set1_epi64x(PHILOX_WEYL[1]));
    for (size_t j = 0; j < groups; j++) b[j] = blocks_round(b[j], k0, k1);
  }
  for (size_t j = 0; j < groups; j++) store_words(b[j], word + GROUP * j);
}

static void fill_words (const uint32_t key[2], uint32_t lane, uint64_t position, size_t n,
                        uint64_t *word) {
  __m256i p[4];
  size_t i = 0;
  for (; i + 4 * GROUP <= n; i += 4 * GROUP) {
    for (size_t j = 0; j < 4; j++) p[j] = four_from(position + i / 2 + 4 * j);
    fill_groups(key, lane, p, 4, word + i);
  }
  for (; i < n; i += GROUP) {
    p[0] = four_from(position + i / 2);
    fill_groups(key, lane, p, 1, word + i);
  }
}

/* the words of PAIRS blocks anywhere, those of four at a time */
static void fill_pairs (const uint32_t key[2], uint32_t lane, const uint64_t *position,
                        uint64_t *word) {
  __m256i p[PAIRS / 4];
  for (size_t j = 0; j < PAIRS / 4; j++)
    p[j] = _mm256_loadu_si256((const __m256i *) (position + 4 * j));
  fill_groups(key, lane, p, PAIRS / 4, word);
}

#else

static void fill_words (const uint32_t key[2], uint32_t lane, uint64_t position, size_t n,
                        uint64_t *word) {
  for (size_t i = 0; i < n; i += GROUP)
    for (size_t l = 0; l < 4; l++) {
      uint64_t words[2];
      philox_words(key, position + i / 2 + l, lane, words);
      word[i + l] = words[0];
      word[i + 4 + l] = words[1];
    }
}

static void fill_pairs (const uint32_t key[2], uint32_t lane, const uint64_t *position,
                        uint64_t *word) {
  for (size_t i = 0; i < PAIRS; i++) {
    uint64_t words[2];
    philox_words(key, position[i], lane, words);
    word[i / 4 * GROUP + i % 4] = words[0];
    word[i / 4 * GROUP + i % 4 + 4] = words[1];
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

static void uniform (size_t n, const uint64_t *word, double *restrict out) {
  for (size_t i = 0; i < n; i++) out[i] = philox_unit(word[i]);
}

static void exponential (size_t n, const uint64_t *word, double *restrict out) {
  for (size_t i = 0; i < n; i++) out[i] = -log_unit(word[i]);
}

/* two loops, because both the logarithm and the square root wait for the divider */
static void normal (size_t n, const uint64_t *word, double *restrict out) {
  double square[ELEMENTS];
  for (size_t i = 0; i < n; i += GROUP)
    for (size_t l = 0; l < 4; l++) square[i / 2 + l] = -2.0 * log_unit(word[i + l]);
  for (size_t i = 0; i < n; i += GROUP)
    for (size_t l = 0; l < 4; l++) {
      uint64_t angle = word[i + 4 + l];
      double y = fma(0.25, philox_unit(angle << 2), -0.125);
      double w = y * y;
      double s = sin_turn(y, w), c = cos_turn(w);
      uint64_t swap = angle & 0x4000000000000000;
      double r = double_of(bits_of(vsqrt(square[i / 2 + l])) ^ (angle & SIGN_BIT));
      out[i + l] = r * (swap == 0 ? c : s);
      out[i + 4 + l] = r * (swap == 0 ? s : c);
    }
}

/* whole groups go straight to `out`, a piece that starts or ends inside one by way of `z` */
static void fill (const Philox *g, uint32_t lane, uint64_t first, size_t n, double *out,
                  Transform *transform) {
  uint64_t word[ELEMENTS];
  double z[ELEMENTS];
  while (n > 0) {
    size_t skip = first % GROUP, room = ELEMENTS - skip;
    size_t take = n < room ? n : room;
    size_t whole = (skip + take + GROUP - 1) / GROUP * GROUP;
    int direct = take == whole;
    for (size_t i = 0; i < take; i += 8) __builtin_prefetch(out + i, 1);
    fill_words(g->key, lane, (first - skip) / 2, whole, word);
    transform(whole, word, direct ? out : z);
    if (!direct) memcpy(out, z + skip, take * sizeof *out);
    first += take;
    out += take;
    n -= take;
  }
}

/* }====================================================== */


void noise_uniform (const Philox *g, uint32_t lane, uint64_t first, size_t n, double *out) {
  fill(g, lane, first, n, out, uniform);
}

void noise_normal (const Philox *g, uint32_t lane, uint64_t first, size_t n, double *out) {
  fill(g, lane | NORMAL_LANES, first, n, out, normal);
}

void noise_exponential (const Philox *g, uint32_t lane, uint64_t first, size_t n, double *out) {
  fill(g, lane, first, n, out, exponential);
}

void noise_pairs (const Philox *g, uint32_t lane, uint64_t first, size_t n, const size_t *place,
                  double *u, double *v) {
  uint64_t position[PAIRS], word[2 * PAIRS];
  for (size_t done = 0; done < n; done += PAIRS) {
    size_t take = n - done < PAIRS ? n - done : PAIRS;
    for (size_t i = 0; i < PAIRS; i++) position[i] = first + place[done + (i < take ? i : 0)];
    fill_pairs(g->key, lane, position, word);
    for (size_t i = 0; i < take; i++) {
      u[done + i] = philox_unit(word[i / 4 * GROUP + i % 4]);
      v[done + i] = philox_unit(word[i / 4 * GROUP + i % 4 + 4]);
    }
  }
}
