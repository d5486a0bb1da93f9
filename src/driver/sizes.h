/*
** sizes.h - all size thresholds
**
** They decide about time, not about values: changing one changes no bit of a result (except sums of
** stored log densities: see kernel.h, block_sums). What was measured, on AVX2 with one thread, is
** beside them; the others follow from the sizes of caches.
*/
#ifndef PERILUNE_SIZES_H
#define PERILUNE_SIZES_H

/* {=====================================================
** Blocks: what is read, computed and written stays in the L1 cache
** ====================================================== */

#define LOOP_BLOCK      512   /* of a loop: eight operands of 4 kB */
#define BACKWARD_BLOCK  256   /* of a backward step: operands, partials and gradients */
#define PROGRAM_BLOCK   256   /* of a formula in one pass: leaves, steps and result */

/* Blocks end with rows, unless rows are shorter than this. */
#define LOOP_SHORT_ROW  128

/* }====================================================== */


/* {=====================================================
** Threads and hooks
** ====================================================== */

/* Threads' shares of a loop, and the slices between which a watch is asked, are multiples of it. */
#define LOOP_GRAIN           4096

/* Work on fewer elements is not watched: reading the clock takes 25 ns, an element of a kernel that
   is not slow 0.3 to 30. */
#define WATCH_MIN_ELEMENTS   4096

/* Waking a worker takes 1 us when it still spins, 50 us when it sleeps: see table `threads` of
   bench/results.md. */
#define THREADS_MIN_ELEMENTS 16384

/* }====================================================== */


/* {=====================================================
** Results that wait
** ====================================================== */

/* Of a formula. KL(Normal || Normal) in Lua, ten operations, stored and waiting: 512 elements
   3.6 and 6.8 us, 2048 8.9 and 8.6, 4096 24 and 14, 16384 119 and 50. */
#define DEFER_MIN_ELEMENTS          4096

/* Recorded. log_prob and its sum, stored and waiting: 512 elements 1.2 and 1.0 us, 1024 2.9 and
   1.0, 4096 6.5 and 1.8; with the backward pass 4096 24 and 7. */
#define DEFER_RECORDED_MIN_ELEMENTS 512

/* Operations of a chain before it is computed in parts: a program has PROGRAM_MAX_STEPS. */
#define DEFER_MAX_DEPTH             12

/* The sum of at most so many stored elements is recorded as one of what they were computed from:
   then the backward pass has one node instead of two. */
#define SUM_SEES_THROUGH_MAX        64

/* Backward passes that also compute the loss, after a loss was read. */
#define SUM_PASSES               32

/* }====================================================== */


/* {=====================================================
** Row kernels
** ====================================================== */

#define ROWS_WORK_PER_ELEMENT 16        /* operations that an element of an event stands for, */
#define ROWS_SLICE            131072    /* those after which a watch may be asked: some 50 us, */
#define ROWS_LONG             1048576   /* and those of an event that asks by itself: side^3 of
                                           a matrix, k^2 of a vector */

/* }====================================================== */


/* {=====================================================
** Backward passes
** ====================================================== */

#define TAPE_FIRST_NODES  64       /* nodes that a pass holds without memory of its own */
#define NODES_PER_LOOK    256      /* small nodes after which hooks may run: some 10 us */
#define MOVES_PER_LOOK    4096     /* the same of moves when nodes are sorted */
#define ROWS_PER_LOOK     16       /* replays of a trace after which they may */
#define ARENA_MAX_FREE    64       /* blocks that wait to be used again */
#define ARENA_FIRST_CHUNK ((size_t)1 << 10)   /* doubles in the first chunk of memory; the next */
#define ARENA_DOUBLINGS   8        /* chunks are twice as large each, so many times */
#define SCAN_KEPT ((size_t)1 << 17)     /* doubles that a recurrence keeps besides its states: a
                                           megabyte, to be read back rather than computed again */

/* }====================================================== */

#endif
