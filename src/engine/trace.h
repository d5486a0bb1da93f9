/*
** trace.h - what a function recorded, kept to be replayed
*/
#ifndef PERILUNE_TRACE_H
#define PERILUNE_TRACE_H

#include "autograd/number.h"
#include "engine/pass.h"

#define TRACE_MAGIC 0x7065726974726163u   /* "peritrac" */

/* A node to compute again, and to go back over. */
typedef struct TraceStep {
  Node *node;
  double *gradient;      /* memory for it; */
  bool cleared;          /* that is zero before a pass: single numbers add to it */
  size_t block;          /* elements of a node of a single block, or 0 */
  NumberOp number;       /* its inputs; and what to do, if these are single numbers */
  bool whole;            /* each input has as many elements as the block, */
  bool direct;           /* and all there is to do is to call its kernel */
  bool goes_back;        /* some input is tracked */
  bool looks;            /* hooks may run after it, */
  bool may_stop;         /* or have run during it, and ended the replay */
  double *value_after;   /* where a value goes that is computed after the backward pass, or NULL */
  const Kernel *noise;   /* that feeds a draw */
  size_t size;           /* elements that it goes through: see node_extent */
} TraceStep;

/* A parameter. */
typedef struct TraceLeaf {
  Node *node;
  double *gradient;      /* memory for it, where there is a grad already, */
  bool cleared;          /* or where that is zero before a pass */
  bool left_out;         /* its gradient is not wanted */
} TraceLeaf;

typedef struct Trace {
  uint64_t magic;
  const struct Trace *self;
  const Tensor *top;     /* the function's result */
  double *scratch;
  int threads;           /* for which that is enough; 0 for none */
  uint64_t released;     /* nothing has begun to wait since then */
  uint64_t pass;         /* number of the last backward pass */
  bool has_value_after;
  bool is_replayed;      /* at this moment */
  double *gradients;     /* of all nodes; */
  size_t cleared;        /* so many are zero before a pass */
  double unwanted;       /* what flows back to numbers that are no parameters */
  size_t n, leaves;
  TraceLeaf *leaf;       /* behind the steps */
  TraceStep step[];      /* the youngest first */
} Trace;

/* User values of a trace. */
enum { TRACE_TOP = 1, TRACE_GRADIENTS, TRACE_SCRATCH, TRACE_DRAWN };


/* replay.c: computes what waits for results and grads, before these change */
void replay_release (lua_State *L, const State *state, Trace *trace);

/* The trace at `index`, of which replay_gradient can be asked. */
Trace *replay_check (lua_State *L, int index, const char *who);

/* Whatever may raise, before replays of that trace with the parameter x; nothing must be allocated
   between this and them, but by calls of this for others. */
void replay_ready (lua_State *L, int index, State *state, Trace *trace, const Tensor *x);

/* The trace's number where x, a parameter of it, is u, and its gradient. Any thread may ask, if no
   other asks the same trace. */
double replay_gradient (State *state, Trace *trace, const Tensor *x, const double *u,
                        double *gradient);

/* Pushes the metatable of traces. */
void replay_push_metatable (lua_State *L);

#endif
