/*
** binding.h - what a Lua function made of a kernel knows
**
** core.bind(file, name, who, arguments, operands) makes a function out of a
** kernel. `arguments` names the arguments of the call, `operands` says where
** each operand comes from: an argument, or a field of one. The density of
** Normal is bound with {"self", "x"} and {"x", "self.loc", "self.scale"}.
*/
#ifndef PERILUNE_BINDING_H
#define PERILUNE_BINDING_H

#include "api/api.h"
#include "driver/rows.h"

typedef struct Binding {
  const Kernel *kernel;
  const Kernel *noise;                  /* that feeds a sampler, or NULL */
  State *state;
  const char *who;                      /* for messages; upvalue 2 keeps it alive */
  int detached;                         /* results are never recorded */
  int is_recorded;                      /* unless they are, or have no derivative */
  int in_order;                         /* the operands are the arguments */
  int is_operator;                      /* of tensors: an object on the right may have its own */
  int takes_empty;                      /* events without elements: no operand is a parameter of a law */
  unsigned objects;                     /* arguments that have fields, as a set of bits */
  int arguments;                        /* of the call */
  int operands;
  unsigned char argument[KERNEL_MAX_IN];
  unsigned char is_field[KERNEL_MAX_IN];
  Signature signature[];                /* one of a row kernel */
} Binding;

/* A kernel's operands as tensors, and room for those that are numbers. */
typedef struct Operands {
  const Tensor *in[KERNEL_MAX_IN];
  double number[KERNEL_MAX_IN];
  Tensor header[KERNEL_MAX_IN];
  int base, rank;                       /* once they were looked at: the first one's place on
                                           the stack, and the largest rank */
} Operands;

/* Of the function that is running. */
const Binding *binding_of (lua_State *L);
const char *binding_who (lua_State *L);
const char *binding_name (lua_State *L, int k);   /* of operand k */

/* Puts nil for arguments that were left out; refuses more than there are. */
static inline void binding_arguments (lua_State *L, const Binding *b) {
  int n = lua_gettop(L);
  if (n == b->arguments) return;
  if (n > b->arguments) host_arguments(L, b->who, b->arguments);
  lua_settop(L, b->arguments);
}

/* What the operands turn out to be. */
typedef enum Look {
  LOOK_NUMBERS,    /* numbers, all of them: they are in operands->number, and only there */
  LOOK_READY,      /* tensors with elements, and numbers */
  LOOK_OTHER       /* something waits; or is no tensor, and NULL */
} Look;

/* Pushes the operands and says what they are. */
Look binding_push (lua_State *L, const Binding *b, Operands *operands);

/* The operands on top of the stack, which were looked at, all as tensors. */
void binding_complete (lua_State *L, const Binding *b, Operands *operands);

/* Pushes them and has them as tensors; returns whether they are all numbers. */
int binding_read (lua_State *L, const Binding *b, Operands *operands);

/* Operands first, first+1, ... of a signature, on top of the stack, with
   contiguous events: a copy replaces one that has none. (rows.c) */
void api_row_operands (lua_State *L, const Signature *signature, int first, int n,
                       Operands *operands);

/* Refuses events without elements of operands first, first+1, ... of a signature, unless the kernel
   takes them. (rows.c) */
void api_check_events (lua_State *L, const Binding *b, int first, const Operands *operands);

/* The call as it is: kernel and operands, which were looked at. (Written field by field to where it is used: a
   copy reads in one piece what was written in several, which a processor waits for.) */
static inline void binding_call (Recording *r, const Binding *b, NodeKind kind, const Operands *o) {
  r->state = b->state;
  r->who = b->who;
  r->kind = kind;
  r->kernel = b->kernel;
  r->n = b->operands;
  r->base = o->base;
  r->in = o->in;
  r->dimensions = 0;
  r->loop = NULL;
  r->source = NULL;
  r->always = false;
}

/* The operands that are recorded of a call of a kernel without partials: all of them for a flat
   one within a trace, else none. Raises, if one is tracked and should have a derivative. */
int binding_recorded_operands (lua_State *L, const Binding *b, const Operands *operands);

/* What is recorded of a result of the operands. */
static inline void binding_recording (lua_State *L, Recording *r, const Binding *b, NodeKind kind,
                                      const Operands *o) {
  binding_call(r, b, kind, o);
  if (!b->is_recorded) r->n = binding_recorded_operands(L, b, o);
}

/* The functions that are bound: apply.c, sample.c, rows.c. */
int bound_apply (lua_State *L);
int bound_sum (lua_State *L);
int bound_partials (lua_State *L);
int bound_predicate (lua_State *L);
int bound_sample (lua_State *L);
int bound_rows (lua_State *L);
int bound_adjoint (lua_State *L);
int bound_rows_sample (lua_State *L);

#endif
