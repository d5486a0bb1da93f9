/*
** noise.c - streams of standard uniform, normal and exponential numbers
**
** Words of Philox blocks in a small buffer, in the order of elements, then one
** vectorised loop over them; uniform numbers are made before words leave registers.
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


enum { BUFFER_ELEMENTS = 256, GROUP = 8 };  /* of the buffer; of four blocks */
enum { NORMAL_LANES = 1 << 30 };     /* a normal uses both words of a block: no one else's */
enum { PAIRS = 16 };                 /* blocks at a time, for elements here and there */

/* n numbers, a multiple of GROUP, of n/2 blocks from `position` on, in the order of elements;
   the positions have the same upper half */
typedef void Stream (const uint32_t key[2], uint32_t lane, uint64_t position, size_t n,
                     double *out);


/* {=====================================================
** Words: fill_words as a Stream gives numbers; fill_units the uniform numbers of these words
** ====================================================== */

#if defined(__AVX2__)

enum { TOGETHER = 3 };   /* groups at a time: their latencies overlap, and registers suffice */

/* four blocks, a word of 32 bits in each 64-bit place; what stands above it is ignored */
typedef struct PhiloxBlocks { __m256i c0, c1, c2, c3; } PhiloxBlocks;

typedef __m256i Keys[10][2];   /* of the rounds */

static inline void expand_key (const uint32_t key[2], Keys keys) {
  __m256i k0 = _mm256_set1_epi64x(key[0]), k1 = _mm256_set1_epi64x(key[1]);
  for (int round = 0; round < 10; round++) {
    keys[round][0] = k0;
    keys[round][1] = k1;
    k0 = _mm256_add_epi32(k0, _mm256_set1_epi64x(PHILOX_WEYL[0]));
    k1 = _mm256_add_epi32(k1, _mm256_set1_epi64x(PHILOX_WEYL[1]));
  }
}

/* c ^ k, in a form that compilers do not regroup: it must not wait for the next product */
static inline __m256i mix (__m256i c, __m256i k) {
  return _mm256_castps_si256(_mm256_xor_ps(_mm256_castsi256_ps(c), _mm256_castsi256_ps(k)));
}

static inline __m256i product (__m256i c, int which) {
  return _mm256_mul_epu32(c, _mm256_set1_epi64x(PHILOX_MULTIPLIER[which]));
}

static inline PhiloxBlocks blocks_round (PhiloxBlocks b, const __m256i k[2]) {
  __m256i p0 = product(b.c0, 0), p1 = product(b.c2, 1);
  return (PhiloxBlocks) {
    _mm256_xor_si256(_mm256_srli_epi64(p1, 32), mix(b.c1, k[0])), p1,
    _mm256_xor_si256(_mm256_srli_epi64(p0, 32), mix(b.c3, k[1])), p0
  };
}

/* no code, but compilers finish one group's round before the next one's: mixed, they spill */
static inline void settle (PhiloxBlocks *b) {
  __asm__ ("" : "+x" (b->c0), "+x" (b->c1), "+x" (b->c2), "+x" (b->c3));
}

/* the low half of p, above the high half ^ c ^ k: two words of 32 bits as one of 64 */
static inline __m256i join (__m256i p, __m256i c, __m256i k) {
  __m256i low = _mm256_blend_epi32(mix(c, k), _mm256_setzero_si256(), 0xAA);
  return _mm256_xor_si256(_mm256_shuffle_epi32(p, 0xB1), low);
}

typedef enum Form { WORDS, UNITS } Form;

/* four words, or philox_unit of each */
static inline void put (__m256i word, Form form, uint64_t *to) {
  __m256i b = _mm256_or_si256(_mm256_srli_epi64(word, 12), _mm256_set1_epi64x(PHILOX_ONE));
  __m256d unit = _mm256_sub_pd(_mm256_castsi256_pd(b), _mm256_set1_pd(PHILOX_BELOW_ONE));
  _mm256_storeu_si256((__m256i *) to, form == UNITS ? _mm256_castpd_si256(unit) : word);
}

/* first words, then second words */
static inline void last_round (PhiloxBlocks b, const __m256i k[2], Form form, uint64_t *to) {
  __m256i p0 = product(b.c0, 0), p1 = product(b.c2, 1);
  put(join(p1, b.c1, k[0]), form, to);
  put(join(p0, b.c3, k[1]), form, to + 4);
}

/* groups of four blocks each, at positions given by their halves; inlined where `high` is the
   same for all, because then half of the first rounds is the same for all as well */
static inline __attribute__((always_inline))
void fill_groups (const Keys keys, uint32_t lane, const __m256i *low, const __m256i *high,
                  size_t groups, Form form, uint64_t *to) {
  PhiloxBlocks b[TOGETHER];
  for (size_t j = 0; j < groups; j++)
    b[j] = (PhiloxBlocks) {low[j], high[j], _mm256_set1_epi64x(lane), _mm256_setzero_si256()};
#pragma GCC unroll 9
  for (int round = 0; round < 9; round++)
    for (size_t j = 0; j < groups; j++) {
      b[j] = blocks_round(b[j], keys[round]);
      if (round > 1) settle(&b[j]);
    }
  for (size_t j = 0; j < groups; j++) last_round(b[j], keys[9], form, to + GROUP * j);
}

static inline __attribute__((always_inline))
void fill_form (const uint32_t key[2], uint32_t lane, uint64_t position, size_t n, Form form,
                uint64_t *to) {
  Keys keys;
  __m256i four = _mm256_set1_epi64x(4), upper = _mm256_set1_epi64x((int64_t) (position >> 32));
  __m256i low[TOGETHER + 1], high[TOGETHER] = {upper, upper, upper};
  size_t i = 0;
  expand_key(key, keys);
  low[0] = _mm256_add_epi64(_mm256_set1_epi64x((int64_t) position), _mm256_set_epi64x(3, 2, 1, 0));
  for (; i + TOGETHER * GROUP <= n; i += TOGETHER * GROUP) {
    for (size_t j = 0; j < TOGETHER; j++) low[j + 1] = _mm256_add_epi64(low[j], four);
    fill_groups(keys, lane, low, high, TOGETHER, form, to + i);
    low[0] = low[TOGETHER];
  }
  low[1] = _mm256_add_epi64(low[0], four);
  if (i + 2 * GROUP == n) fill_groups(keys, lane, low, high, 2, form, to + i);
  else if (i < n) fill_groups(keys, lane, low, high, 1, form, to + i);
}

static void fill_words (const uint32_t key[2], uint32_t lane, uint64_t position, size_t n,
                        uint64_t *word) {
  fill_form(key, lane, position, n, WORDS, word);
}

static void fill_units (const uint32_t key[2], uint32_t lane, uint64_t position, size_t n,
                        double *out) {
  fill_form(key, lane, position, n, UNITS, (uint64_t *) out);
}

/* the words of PAIRS blocks anywhere, those of four at a time */
static void fill_pairs (const uint32_t key[2], uint32_t lane, const uint64_t *position,
                        uint64_t *word) {
  Keys keys;
  __m256i low[2], high[2];
  expand_key(key, keys);
  for (size_t i = 0; i < PAIRS; i += 8) {
    for (size_t j = 0; j < 2; j++) {
      low[j] = _mm256_loadu_si256((const __m256i *) (position + i + 4 * j));
      high[j] = _mm256_srli_epi64(low[j], 32);
    }
    fill_groups(keys, lane, low, high, 2, WORDS, word + 2 * i);
  }
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

static void fill_units (const uint32_t key[2], uint32_t lane, uint64_t position, size_t n,
                        double *out) {
  uint64_t word[BUFFER_ELEMENTS];
  fill_words(key, lane, position, n, word);
  EVERY for (size_t i = 0; i < n; i++) out[i] = philox_unit(word[i]);
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

static void exponential (const uint32_t key[2], uint32_t lane, uint64_t position, size_t n,
                         double *restrict out) {
  uint64_t word[BUFFER_ELEMENTS];
  fill_words(key, lane, position, n, word);
  EVERY for (size_t i = 0; i < n; i++) out[i] = -log_unit(word[i]);
}

/* two loops, because both the logarithm and the square root wait for the divider */
static void normal (const uint32_t key[2], uint32_t lane, uint64_t position, size_t n,
                    double *restrict out) {
  uint64_t word[BUFFER_ELEMENTS];
  double square[BUFFER_ELEMENTS];
  fill_words(key, lane, position, n, word);
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

/* how many elements from `first` on are made of blocks whose positions have one upper half */
static uint64_t within_half (uint64_t first) {
  const uint64_t elements = (uint64_t) 1 << 33;
  return elements - first % elements;
}

/* whole groups go straight to `out`, a piece that starts or ends inside one by way of `z` */
static void fill (const Philox *g, uint32_t lane, uint64_t first, size_t n, double *out,
                  Stream *stream) {
  double z[BUFFER_ELEMENTS];
  while (n > 0) {
    size_t skip = first % GROUP, room = BUFFER_ELEMENTS - skip;
    size_t most = n < room ? n : room;
    size_t take = most < within_half(first) ? most : (size_t) within_half(first);
    size_t whole = (skip + take + GROUP - 1) / GROUP * GROUP;
    int direct = take == whole;
    stream(g->key, lane, (first - skip) / 2, whole, direct ? out : z);
    if (!direct) memcpy(out, z + skip, take * sizeof *out);
    first += take;
    out += take;
    n -= take;
  }
}

/* }====================================================== */


void noise_uniform (const Philox *g, uint32_t lane, uint64_t first, size_t n, double *out) {
  fill(g, lane, first, n, out, fill_units);
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
