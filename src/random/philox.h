/*
** philox.h - the generator Philox4x32-10, one block at a time
**
** J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as
** 1, 2, 3", SC 2011. A block is a pure function of a 64-bit key and a 128-bit
** counter, so any draw can be computed without those before it.
**
** The four words of the counter:
**   0, 1   the block's position, low word first
**   2      the lane (noise.h)
**   3      the purpose: 0 for numbers, 1 for the keys of child generators
**
** A block is two 64-bit words: outputs 0, 1 and outputs 2, 3, low half first.
*/
#ifndef PERILUNE_PHILOX_H
#define PERILUNE_PHILOX_H

#include <stdint.h>
#include <string.h>


static const uint32_t PHILOX_MULTIPLIER[2] = {0xD2511F53, 0xCD9E8D57};
static const uint32_t PHILOX_WEYL[2] = {0x9E3779B9, 0xBB67AE85};


/* `position` is the next unused element of the stream; only its owner moves it */
typedef struct Philox {
  uint32_t key[2];
  uint64_t position;
} Philox;


/* the ten rounds; `out` may be `counter` */
static inline void philox_block (const uint32_t key[2], const uint32_t counter[4],
                                 uint32_t out[4]) {
  uint32_t k0 = key[0], k1 = key[1];
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  for (int round = 0; round < 10; round++) {
    uint64_t p0 = (uint64_t) PHILOX_MULTIPLIER[0] * c0;
    uint64_t p1 = (uint64_t) PHILOX_MULTIPLIER[1] * c2;
    c0 = (uint32_t) (p1 >> 32) ^ c1 ^ k0;
    c1 = (uint32_t) p1;
    c2 = (uint32_t) (p0 >> 32) ^ c3 ^ k1;
    c3 = (uint32_t) p0;
    k0 += PHILOX_WEYL[0];
    k1 += PHILOX_WEYL[1];
  }
  out[0] = c0; out[1] = c1; out[2] = c2; out[3] = c3;
}

/* the block at `position` in a lane, as two 64-bit words */
static inline void philox_words (const uint32_t key[2], uint64_t position, uint32_t lane,
                                 uint64_t words[2]) {
  uint32_t block[4] = {(uint32_t) position, (uint32_t) (position >> 32), lane, 0};
  philox_block(key, block, block);
  words[0] = block[0] | (uint64_t) block[1] << 32;
  words[1] = block[2] | (uint64_t) block[3] << 32;
}

#define PHILOX_ONE       0x3ff0000000000000       /* the bits of 1.0 */
#define PHILOX_BELOW_ONE 0.99999999999999988898   /* 1 - 2^-53 */

/*
** (k + 1/2) 2^-52 with k the top 52 bits: exact, strictly inside (0, 1) and symmetric
** about 1/2. (A 53rd bit would let the largest value round to 1.)
*/
static inline double philox_unit (uint64_t word) {
  uint64_t b = (word >> 12) | PHILOX_ONE;
  double x;
  memcpy(&x, &b, sizeof x);
  return x - PHILOX_BELOW_ONE;
}

static inline Philox philox_seed (uint64_t seed) {
  return (Philox) {.key = {(uint32_t) seed, (uint32_t) (seed >> 32)}, .position = 0};
}

#endif
