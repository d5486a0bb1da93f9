/*
** reduce.c - lines of blocks, merged as a balanced tree
**
** The tree grows like a binary counter: after 2^k leaves the last 2^k have been merged into one
** state. Leaves are blocks; chunks of a fixed number of blocks are subtrees, which threads may
** compute separately.
*/
#include <string.h>

#include "driver/reduce.h"

#define CHUNK  (64 * LOOP_BLOCK)   /* elements; a power of two of blocks */
#define ROUND  64                  /* chunks computed before they are merged */
#define LEVELS 64

typedef double ReduceState[KERNEL_MAX_WIDTH];

typedef struct Tree {
  const Kernel *kernel;
  size_t leaves;
  int depth;
  ReduceState states[LEVELS];
} Tree;

static void tree_plant (Tree *tree, const Kernel *kernel) {
  tree->kernel = kernel;
  tree->leaves = 0;
  tree->depth = 0;
}

static void tree_merge_top (Tree *tree) {
  tree->depth--;
  tree->kernel->reduction->merge(tree->states[tree->depth - 1], tree->states[tree->depth]);
}

/* A leaf has been written to states[depth]. */
static void tree_grow (Tree *tree) {
  tree->depth++;
  tree->leaves++;
  for (size_t bit = 1; (tree->leaves & bit) == 0; bit <<= 1) tree_merge_top(tree);
}

static void tree_finish (Tree *tree, double *state) {
  while (tree->depth > 1) tree_merge_top(tree);
  memcpy(state, tree->states[0], sizeof(ReduceState));
}


typedef struct ReduceJob {
  const Kernel *kernel;
  const Kernel *map;     /* whose values are folded, or NULL: those of the loop */
  bool total;            /* the map gives sums of its values */
  const Loop *loop;
  size_t count;          /* elements of a line */
  double *out;
  size_t start, end;     /* the part of a line being cut into chunks */
  Pool *pool;            /* to be asked within a chunk, or NULL */
  ReduceState *chunks;
} ReduceJob;

static void fold_block (const ReduceJob *job, size_t n, const double *const in[], double *state) {
  LoopBlock mapped;
  double sums[KERNEL_MAX_IN];
  if (job->total) {
    job->map->shortcuts->block_sums(n, in, sums);
    state[0] = sums[0];
    return;
  }
  if (job->map != NULL) job->map->value(n, in, mapped);
  job->kernel->reduction->fold(n, job->map != NULL ? mapped : in[0], state);
}

/* State of elements first .. last-1, at least one, by blocks. */
static void fold_range (const ReduceJob *job, size_t first, size_t last, double *state) {
  Tree tree;
  Blocks blocks;
  tree_plant(&tree, job->kernel);
  loop_start(job->loop, &blocks);
  for (; first < last; first += LOOP_BLOCK) {
    size_t n = last - first < LOOP_BLOCK ? last - first : LOOP_BLOCK;
    loop_block(job->loop, first, n, &blocks);
    fold_block(job, n, blocks.in, tree.states[tree.depth]);
    tree_grow(&tree);
    if (loop_stops(job->pool, first, n)) return;
  }
  tree_finish(&tree, state);
}

static void fold_chunks (void *data, size_t first, size_t last) {
  const ReduceJob *job = data;
  for (; first < last; first++) {
    size_t from = job->start + first * CHUNK;
    size_t to = job->end - from < CHUNK ? job->end : from + CHUNK;
    fold_range(job, from, to, job->chunks[first]);
  }
}

/* State of a whole line: rounds of chunks, merged in order. */
static void fold_line (Pool *pool, ReduceJob *job, size_t line, double *state) {
  Tree tree;
  ReduceState chunks[ROUND];
  size_t end = (line + 1) * job->count;
  tree_plant(&tree, job->kernel);
  job->chunks = chunks;
  for (size_t at = line * job->count; at < end; at = job->end) {
    job->start = at;
    job->end = end - at < ROUND * CHUNK ? end : at + ROUND * CHUNK;
    size_t n = (job->end - at + CHUNK - 1) / CHUNK;
    pool_run(pool, n, 1, 1, fold_chunks, job);
    if (pool_stopped(pool)) return;
    for (size_t c = 0; c < n; c++) {
      memcpy(tree.states[tree.depth], chunks[c], sizeof(ReduceState));
      tree_grow(&tree);
    }
  }
  tree_finish(&tree, state);
}

/* Lines first .. last-1, each within one chunk. */
static void reduce_lines (void *data, size_t first, size_t last) {
  const ReduceJob *job = data;
  ReduceState state;
  for (; first < last; first++) {
    size_t from = first * job->count;
    fold_range(job, from, from + job->count, state);
    job->out[first] = job->kernel->reduction->finish(job->count, state);
  }
}

static void append_dimension (Tensor *to, int *at, const Tensor *t, int d) {
  to->shape[*at] = t->shape[d];
  to->stride[(*at)++] = t->stride[d];
}

size_t reduce_line_up (StackTensor *lines, const Tensor *t, unsigned set, int *inner) {
  Tensor *to = tensor_on_stack(lines, t, t->rank);
  size_t count = 1;
  int at = 0;
  for (int d = 0; d < t->rank; d++)
    if (!(set >> d & 1)) append_dimension(to, &at, t, d);
  *inner = t->rank - at;
  for (int d = 0; d < t->rank; d++) {
    if (!(set >> d & 1)) continue;
    append_dimension(to, &at, t, d);
    count *= (size_t)t->shape[d];
  }
  return count;
}

void reduce (Pool *pool, const Kernel *kernel, const Tensor *t, int inner,
             size_t count, double *out) {
  Loop loop;
  ReduceState state = {0};
  ReduceJob job = {.kernel = kernel, .loop = &loop, .count = count, .out = out};
  size_t lines = 1;
  if (inner == t->rank && count > 0 && count <= LOOP_BLOCK && tensor_is_contiguous(t)) {
    kernel->reduction->fold(count, t->data, state);          /* a tree of one leaf */
    out[0] = kernel->reduction->finish(count, state);
    return;
  }
  for (int d = 0; d < t->rank - inner; d++) lines *= (size_t)t->shape[d];
  loop_plan_shaped(&loop, t->rank, t->shape, 1, &t);
  if (count == 0)
    for (size_t i = 0; i < lines; i++) out[i] = kernel->reduction->finish(0, state);
  else if (count <= CHUNK)
    pool_run(pool, lines, (CHUNK - 1) / count + 1, CHUNK / 8 / count + 1, reduce_lines, &job);
  else for (size_t i = 0; i < lines; i++) {
    fold_line(pool, &job, i, state);
    out[i] = kernel->reduction->finish(count, state);
  }
}

bool reduce_is_total (const Kernel *map, const Loop *loop) {
  for (int k = 1; k < loop->n; k++)
    if (loop->feed[k] != FEED_CONSTANT) return false;
  return kernel_has_block_sums(map);
}

double reduce_mapped (Pool *pool, const Kernel *kernel, const Kernel *map,
                      const Loop *loop) {
  ReduceState state = {0};
  ReduceJob job = {.kernel = kernel, .map = map, .loop = loop, .count = loop->size,
             .total = reduce_is_total(map, loop), .pool = pool};
  if (loop->size > 0) fold_line(pool, &job, 0, state);
  return kernel->reduction->finish(loop->size, state);
}

double reduce_states (const Kernel *kernel, size_t blocks, const double *states,
                      size_t count) {
  Tree tree;
  ReduceState state = {0};
  tree_plant(&tree, kernel);
  for (size_t i = 0; i < blocks; i++) {
    tree.states[tree.depth][0] = states[i];
    tree_grow(&tree);
  }
  if (blocks > 0) tree_finish(&tree, state);
  return kernel->reduction->finish(count, state);
}
