/*
** scan.h - a recurrence: the nodes of one step, run over and over
**
** A NODE_SCAN has all states in its result, T + 1 rows of each, the first of which is where it
** began, and all outputs, T rows of each. Its inputs are those first states, the tensors whose
** rows the steps get, and whatever else the nodes of a step read. These nodes, and the leaves
** that stand for state and input of a step, belong to the scan alone.
**
** What lies between two states is kept for the way back if there is not much of it, and else
** computed once more from the state before. What flows back to a state is added to the gradient
** of its row in the result, so that the step before finds it there.
*/
#ifndef PERILUNE_SCAN_H
#define PERILUNE_SCAN_H

#include "autograd/number.h"
#include "driver/threads.h"

/* What elements are moved to or from, unless it is one of the inputs. */
enum { SCAN_RESULT = -1, SCAN_HISTORY = -2 };

/* n elements within a step, and where they are in step t: at + t step + i stride, i < n, of the
   whole. */
typedef struct ScanMove {
  Node *node;                   /* that has them within the step, or NULL: the same in all steps */
  double *value, *slope;        /* there: the elements, and what flows back to them */
  size_t n;
  ptrdiff_t at, step, stride;
  int whole;                    /* an input of the scan, its result or its history */
  double *values, *slopes;      /* during a run: what `at` counts from; no slopes where none are
                                   wanted */
} ScanMove;

typedef struct ScanMoves {
  ScanMove *first, *end;
} ScanMoves;

/* What it takes to run a node. Results of single numbers, unless another kind of node reads them,
   are in `numbers` of the scan. */
typedef struct ScanOp {
  NumberOp number;              /* of other nodes only what is said of operands and results */
  bool is_block;
  size_t size;                  /* elements of a block */
  Node *node;
} ScanOp;

/* The slope of an input that is one number, summed up over all steps. */
typedef struct ScanSum {
  const Tensor *tensor;
  double slope;
} ScanSum;

typedef struct Scan {
  size_t steps, pause;          /* steps after which a watch is asked */
  size_t n, fixed;              /* nodes, each after those below it; the first ones are the same
                                   in all steps */
  Node **node;
  size_t leaves;                /* that stand for states and inputs of a step */
  Node **leaf;
  double *slopes;               /* what flows back to the elements of nodes, then of leaves, */
  size_t fixed_slopes, all_slopes;   /* so many to fixed nodes, and in all */
  ScanMoves begun;              /* what the first step gets of the inputs: states */
  ScanMoves taken, given;       /* what a step gets, states first, and what it leaves */
  size_t states;                /* so many moves */
  ScanMoves kept;               /* what is kept of each step; */
  double *history;              /* NULL if that would be too much */
  double *numbers;              /* results of single numbers */
  ScanOp *op;                   /* one for each node */
  size_t sums;
  ScanSum *sum;
} Scan;

/* Is it done by one call of its kernel, on operands as they lie? */
bool scan_is_block (const Node *node);

/* Gives the nodes of a step their memory for slopes; forgets passes that have met them. */
void scan_lend_slopes (const Scan *scan);
void scan_claim (const Scan *scan);

/* Doubles of scratch that both ways need. */
size_t scan_scratch (const Node *node, const Pool *pool);

/* What forward_step and adjoint_step are for other kinds. */
void scan_forward (const Node *node, const Kernel *sum, Pool *pool, double *scratch);
void scan_back (Node *node, const Kernel *sum, Pool *pool, double *scratch);

/* Has no pass but this one met nodes of a scan's steps since scan_back began? (Of other nodes,
   true.) */
bool scan_is_ours (const Node *node);

#endif
