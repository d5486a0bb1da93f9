/*
** loop.c - broadcasting, ordering and collapsing of dimensions; gathering
*/
#include <string.h>

#include "driver/loop.h"



/* Extent of dimension d of the broadcast (of rank `rank`) in tensor t. */
static ptrdiff_t extent_of (const Tensor *t, int rank, int d) {
  int own = d - (rank - t->rank);
  return own < 0 ? 1 : t->shape[own];
}

static ptrdiff_t step (const Tensor *t, int rank, int d) {
  int own = d - (rank - t->rank);
  return own < 0 || t->shape[own] == 1 ? 0 : t->stride[own];
}


const char *loop_broadcast (int n, const Tensor *const in[],
                            int *rank, ptrdiff_t shape[], size_t *size) {
  int r = 0;
  for (int k = 0; k < n; k++)
    if (in[k]->rank > r) r = in[k]->rank;
  for (int d = 0; d < r; d++) {
    shape[d] = 1;
    for (int k = 0; k < n; k++) {
      ptrdiff_t e = extent_of(in[k], r, d);
      if (e == 1) continue;
      if (shape[d] != 1 && shape[d] != e) return "do not broadcast";
      shape[d] = e;
    }
  }
  *rank = r;
  return tensor_count(r, shape, size) ? NULL : "broadcast to too many elements";
}


/*
** Ordering. Dimension a goes outside dimension b when the first operand that
** tells them apart takes larger steps along a; ties keep the given order.
*/
static bool outside (const Loop *loop, int a, int b) {
  for (int k = 0; k < loop->n; k++) {
    ptrdiff_t sa = loop->stride[k][a], sb = loop->stride[k][b];
    if (sa == 0 || sb == 0 || sa == sb) continue;
    return sa > sb;
  }
  return true;
}

/* Insertion sort of the dimensions, outermost first. */
static void order_dimensions (const Loop *loop, int order[]) {
  for (int d = 0; d < loop->out_rank; d++) {
    int at = d;
    while (at > 0 && !outside(loop, order[at - 1], d)) {
      order[at] = order[at - 1];
      at--;
    }
    order[at] = d;
  }
}

/* Strides of a result whose memory runs in the given order of dimensions. */
static void result_strides (Loop *loop, const int order[]) {
  ptrdiff_t s = 1;
  for (int i = loop->out_rank - 1; i >= 0; i--) {
    ptrdiff_t extent = loop->out_shape[order[i]];
    loop->out_stride[order[i]] = s;
    s *= extent > 0 ? extent : 1;
  }
}

/* May dimension d be joined to the collapsed dimension `at` outside it? */
static bool joins (const Loop *loop, ptrdiff_t strides[][TENSOR_MAX_RANK],
                   int at, int d) {
  for (int k = 0; k < loop->n; k++)
    if (loop->stride[k][at] != strides[k][d] * loop->out_shape[d]) return false;
  return true;
}

/* Rewrites shape and strides in loop order, neighbours joined, ones dropped. */
static void collapse (Loop *loop, const int order[]) {
  ptrdiff_t strides[LOOP_MAX_IN][TENSOR_MAX_RANK];
  memcpy(strides, loop->stride, (size_t)loop->n * sizeof strides[0]);
  int at = -1;
  for (int i = 0; i < loop->out_rank; i++) {
    int d = order[i];
    if (loop->out_shape[d] == 1) continue;
    if (at >= 0 && joins(loop, strides, at, d))
      loop->shape[at] *= loop->out_shape[d];
    else
      loop->shape[++at] = loop->out_shape[d];
    for (int k = 0; k < loop->n; k++) loop->stride[k][at] = strides[k][d];
  }
  loop->rank = at + 1;
}

static Feed classify (const Loop *loop, int k) {
  ptrdiff_t linear = 1;
  bool is_linear = true, is_constant = true;
  for (int d = loop->rank - 1; d >= 0; d--) {
    if (loop->stride[k][d] != linear) is_linear = false;
    if (loop->stride[k][d] != 0) is_constant = false;
    linear *= loop->shape[d];
  }
  return is_constant ? FEED_CONSTANT : is_linear ? FEED_LINEAR : FEED_GATHERED;
}


/* Is t row-major, of the shape of `whole`? */
static bool lies_like (const Tensor *t, const Tensor *whole) {
  ptrdiff_t linear = 1;
  if (t->rank != whole->rank) return false;
  for (int d = t->rank - 1; d >= 0; d--) {
    if (t->shape[d] != whole->shape[d]) return false;
    if (t->stride[d] != linear && t->shape[d] != 1) return false;
    linear *= t->shape[d];
  }
  return true;
}

/* The operand with most elements; of those, the one with most dimensions. */
static const Tensor *largest (int n, const Tensor *const in[]) {
  const Tensor *found = in[0];
  for (int k = 1; k < n; k++)
    if (in[k]->size > found->size
        || (in[k]->size == found->size && in[k]->rank > found->rank)) found = in[k];
  return found;
}

/* The common case, without any of the above: every operand is a single
   element or a row-major tensor of the whole shape. */
static bool plan_plain (Loop *loop, int n, const Tensor *const in[]) {
  if (n == 0) return false;
  const Tensor *whole = largest(n, in);
  for (int k = 0; k < n; k++) {
    bool constant = in[k]->size == 1 && whole->size != 1;
    if (constant ? in[k]->rank > whole->rank
                 : in[k]->size != 1 && !lies_like(in[k], whole)) return false;
    loop->feed[k] = constant ? FEED_CONSTANT : FEED_LINEAR;
    loop->data[k] = in[k]->data;
  }
  loop->n = n;
  loop->size = whole->size;
  loop->straight = true;
  loop->out_rank = whole->rank;
  for (int d = 0; d < whole->rank; d++) loop->out_shape[d] = whole->shape[d];
  tensor_row_major(loop->out_rank, loop->out_shape, loop->out_stride);
  return true;
}

static void plan_strided (Loop *loop, const Tensor *const in[], bool row_major) {
  int order[TENSOR_MAX_RANK] = {0};
  for (int k = 0; k < loop->n; k++)
    for (int d = 0; d < loop->out_rank; d++)
      loop->stride[k][d] = step(in[k], loop->out_rank, d);
  for (int d = 0; d < loop->out_rank; d++) order[d] = d;
  if (!row_major) order_dimensions(loop, order);
  result_strides(loop, order);
  collapse(loop, order);
  loop->straight = true;
  for (int k = 0; k < loop->n; k++) {
    loop->feed[k] = classify(loop, k);
    if (loop->feed[k] == FEED_GATHERED) loop->straight = false;
  }
}

const char *loop_plan (Loop *loop, int n, const Tensor *const in[]) {
  if (plan_plain(loop, n, in)) return NULL;
  const char *why = loop_broadcast(n, in, &loop->out_rank, loop->out_shape,
                                   &loop->size);
  if (why != NULL) return why;
  loop->n = n;
  for (int k = 0; k < n; k++) loop->data[k] = in[k]->data;
  plan_strided(loop, in, false);
  return NULL;
}

const char *loop_plan_shaped (Loop *loop, int rank, const ptrdiff_t shape[],
                              int n, const Tensor *const in[]) {
  if (!tensor_count(rank, shape, &loop->size)) return "has too many elements";
  loop->n = n;
  loop->out_rank = rank;
  for (int d = 0; d < rank; d++) loop->out_shape[d] = shape[d];
  for (int k = 0; k < n; k++) {
    loop->data[k] = in[k]->data;
    if (in[k]->rank > rank) return "has too few dimensions";
    for (int d = 0; d < rank; d++) {
      ptrdiff_t e = extent_of(in[k], rank, d);
      if (e != 1 && e != shape[d]) return "does not fit";
    }
  }
  plan_strided(loop, in, true);
  return NULL;
}


bool loop_runs_along (const Loop *loop, const Tensor *t) {
  if (t->rank != loop->out_rank) return false;
  for (int d = 0; d < t->rank; d++)
    if (t->stride[d] != loop->out_stride[d]) return false;
  return true;
}


static void fill (double *out, size_t n, double value) {
  for (size_t i = 0; i < n; i++) out[i] = value;
}

/* What to do with a run of elements `by` apart, and their place in a block. */
typedef void Run (double *block, size_t n, double *at, ptrdiff_t by);

static void gather_run (double *block, size_t n, double *at, ptrdiff_t by) {
  if (by == 1) memcpy(block, at, n * sizeof *block);
  else if (by == 0) fill(block, n, *at);
  else for (size_t i = 0; i < n; i++) block[i] = at[(ptrdiff_t)i * by];
}

static void scatter_run (double *block, size_t n, double *at, ptrdiff_t by) {
  if (by == 1) memcpy(at, block, n * sizeof *block);
  else for (size_t i = 0; i < n; i++) at[(ptrdiff_t)i * by] = block[i];
}

static double sum_few (const double *block, size_t n) {
  double s = 0;
  for (size_t i = 0; i < n; i++) s += block[i];
  return s;
}

static double sum (const double *block, size_t n) {
  double lane[16];
  size_t whole = n & ~(size_t)15;
  if (whole == 0) return sum_few(block, n);
  memcpy(lane, block, sizeof lane);
  for (size_t i = 16; i < whole; i += 16)
    for (size_t j = 0; j < 16; j++) lane[j] += block[i + j];
  for (size_t j = 0; j < 8; j++) lane[j] += lane[j + 8];
  return ((lane[0] + lane[4]) + (lane[2] + lane[6]))
       + ((lane[1] + lane[5]) + (lane[3] + lane[7])) + sum_few(block + whole, n - whole);
}

static void add_run (double *block, size_t n, double *at, ptrdiff_t by) {
  if (by == 1) for (size_t i = 0; i < n; i++) at[i] += block[i];
  else if (by == 0) *at += sum(block, n);
  else for (size_t i = 0; i < n; i++) at[(ptrdiff_t)i * by] += block[i];
}

/* Visits elements first .. first+n-1 of what lies as operand k does, from `at` on,
   run by run along the innermost dimension. */
static inline void visit_runs (const Loop *loop, int k, double *at, size_t first, size_t n,
                               double *block, Run *run) {
  const ptrdiff_t *stride = loop->stride[k];
  size_t index[TENSOR_MAX_RANK];
  int last = loop->rank - 1;
  for (int d = last; d >= 0; d--) {
    index[d] = first % (size_t)loop->shape[d];
    first /= (size_t)loop->shape[d];
    at += (ptrdiff_t)index[d] * stride[d];
  }
  while (n > 0) {
    size_t length = (size_t)loop->shape[last] - index[last];
    if (length > n) length = n;
    run(block, length, at, stride[last]);
    block += length;
    n -= length;
    at -= (ptrdiff_t)index[last] * stride[last];   /* back to the run's start */
    index[last] = 0;
    for (int d = last - 1; d >= 0; d--) {          /* and on to the next one */
      at += stride[d];
      if (++index[d] < (size_t)loop->shape[d]) break;
      at -= loop->shape[d] * stride[d];
      index[d] = 0;
    }
  }
}


/* Fills a block with one repeated element, unless it is still there. */
static void repeat (Blocks *blocks, int k, const double *element) {
  if (blocks->repeated[k] != element)
    fill(blocks->scratch[k], LOOP_BLOCK, *element);
  blocks->repeated[k] = element;
  blocks->in[k] = blocks->scratch[k];
}

void loop_start (const Loop *loop, Blocks *blocks) {
  for (int k = 0; k < loop->n; k++) {
    blocks->repeated[k] = NULL;
    if (loop->feed[k] != FEED_CONSTANT) continue;
    size_t n = loop->size < LOOP_BLOCK ? loop->size : LOOP_BLOCK;
    fill(blocks->scratch[k], n, loop->data[k][0]);
    blocks->in[k] = blocks->scratch[k];
  }
}

size_t loop_length (const Loop *loop, size_t first, size_t last) {
  size_t n = last - first < LOOP_BLOCK ? last - first : LOOP_BLOCK;
  if (loop->straight || loop->shape[loop->rank - 1] < LOOP_SHORT_ROW) return n;
  size_t row = (size_t)loop->shape[loop->rank - 1], left = row - first % row;
  return left < n ? left : n;
}

/* Where element `first` of operand k is, and how far its row goes on. */
static const double *locate (const Loop *loop, int k, size_t first, size_t *left) {
  const double *at = loop->data[k];
  *left = (size_t)loop->shape[loop->rank - 1]
        - first % (size_t)loop->shape[loop->rank - 1];
  for (int d = loop->rank - 1; d >= 0; d--) {
    at += (ptrdiff_t)(first % (size_t)loop->shape[d]) * loop->stride[k][d];
    first /= (size_t)loop->shape[d];
  }
  return at;
}

static void gather (const Loop *loop, int k, size_t first, size_t n, Blocks *blocks) {
  ptrdiff_t by = loop->stride[k][loop->rank - 1];
  size_t left;
  const double *at = locate(loop, k, first, &left);
  if (n <= left && by == 1) blocks->in[k] = at;
  else if (n <= left && by == 0) repeat(blocks, k, at);
  else {
    visit_runs(loop, k, (double *)loop->data[k], first, n, blocks->scratch[k], gather_run);
    blocks->repeated[k] = NULL;
    blocks->in[k] = blocks->scratch[k];
  }
}

void loop_block (const Loop *loop, size_t first, size_t n, Blocks *blocks) {
  for (int k = 0; k < loop->n; k++) {
    if (loop->feed[k] == FEED_LINEAR) blocks->in[k] = loop->data[k] + first;
    else if (loop->feed[k] == FEED_GATHERED) gather(loop, k, first, n, blocks);
  }
}

void loop_add (const Loop *loop, int k, double *to, size_t first, size_t n,
               const double *block) {
  if (loop->feed[k] == FEED_LINEAR) add_run((double *)block, n, to + first, 1);
  else if (loop->feed[k] == FEED_CONSTANT) add_run((double *)block, n, to, 0);
  else visit_runs(loop, k, to, first, n, (double *)block, add_run);
}

void loop_copy (Pool *pool, Tensor *to, const Tensor *from) {
  const Tensor *operands[2] = {from, to};
  Blocks blocks;
  Loop loop;
  loop_plan_shaped(&loop, to->rank, to->shape, 2, operands);
  loop.n = 1;                       /* only `from` is read */
  loop_start(&loop, &blocks);
  for (size_t first = 0, n; first < loop.size; first += n) {
    n = loop_length(&loop, first, loop.size);
    loop_block(&loop, first, n, &blocks);
    if (loop.rank == 0) to->data[0] = blocks.in[0][0];
    else visit_runs(&loop, 1, to->data, first, n, (double *)blocks.in[0], scatter_run);
    if (loop_stops(pool, first, n)) return;
  }
}


typedef struct Move {
  double *to;
  const double *from;
} Move;

static void move_range (void *data, size_t first, size_t last) {
  const Move *move = data;
  memcpy(move->to + first, move->from + first, (last - first) * sizeof *move->to);
}

static void clear_range (void *data, size_t first, size_t last) {
  memset((double *)data + first, 0, (last - first) * sizeof(double));
}

void loop_move (Pool *pool, double *to, const double *from, size_t n) {
  Move move = {to, from};
  pool_run(pool, n, POOL_ALONE, LOOP_GRAIN, move_range, &move);
}

void loop_clear (Pool *pool, double *to, size_t n) {
  pool_run(pool, n, POOL_ALONE, LOOP_GRAIN, clear_range, to);
}
