/*
** border.c - elements of tensors for a host in C, and its memory as tensors
**
** Memory that a host lends is given back by the finalizer of a loan, a userdata that the tensor
** keeps alive. Finalizers of one collection run in an order that nobody knows, and another one may
** still use the tensor, or bring it back: so the first call of a loan's finalizer only asks for a
** second one, in a later collection, which comes if by then it is unreachable. When the state
** closes there is no second one: what is left then is given back by the finalizer of the lender,
** which was made when perilune was opened and runs after those of all that came later.
*/
#include <string.h>

#include "embed/embed.h"

static const char LENDER = 'L', LOANS = 'M';   /* registry keys: it, and the loans' metatable */

typedef struct Loan {
  uint64_t proof;               /* that a userdata is a loan */
  struct Loan *next, **link;    /* in the list of all; what points here, or NULL */
  double *data;
  perilune_Release release;
  void *argument;
  int condemned;                /* its finalizer has been called once */
} Loan;

typedef struct Lender {
  uint64_t proof;
  Loan *first;
} Lender;

static uint64_t proof_of (const void *block) {
  return 0x7065726c6f616e73u ^ (uintptr_t)block;   /* "perloans" */
}

/* The userdata at 1, if it is what a finalizer of ours is for. */
static void *proven (lua_State *L, size_t size) {
  uint64_t *block = lua_touserdata(L, 1);
  return block != NULL && lua_rawlen(L, 1) == size && *block == proof_of(block) ? block : NULL;
}


static void give_back (Loan *loan) {
  if (loan->link == NULL) return;
  *loan->link = loan->next;
  if (loan->next != NULL) loan->next->link = loan->link;
  loan->link = NULL;
  loan->release(loan->data, loan->argument);
}

static int finalize_loan (lua_State *L) {
  Loan *loan = proven(L, sizeof(Loan));
  if (loan == NULL) return 0;
  if (loan->condemned) give_back(loan);
  else if (lua_getmetatable(L, 1)) lua_setmetatable(L, 1);   /* to be called again */
  loan->condemned = 1;
  return 0;
}

static int finalize_lender (lua_State *L) {
  Lender *lender = proven(L, sizeof(Lender));
  while (lender != NULL && lender->first != NULL) give_back(lender->first);
  return 0;
}

/* Pushes a metatable with this finalizer. */
static void push_finalizer (lua_State *L, lua_CFunction finalizer) {
  lua_createtable(L, 0, 2);
  lua_pushcfunction(L, finalizer);
  lua_setfield(L, -2, "__gc");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
}

void embed_open_border (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &LENDER) == LUA_TNIL) {
    push_finalizer(L, finalize_loan);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &LOANS);
    Lender *lender = lua_newuserdatauv(L, sizeof *lender, 0);
    *lender = (Lender) {.proof = proof_of(lender)};
    push_finalizer(L, finalize_lender);
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &LENDER);
  }
  lua_pop(L, 1);
}

/* Pushes a loan that is in no list: its memory is still the host's. */
static Loan *new_loan (lua_State *L) {
  Loan *loan = lua_newuserdatauv(L, sizeof *loan, 0);
  *loan = (Loan) {.proof = proof_of(loan)};
  lua_rawgetp(L, LUA_REGISTRYINDEX, &LOANS);
  lua_setmetatable(L, -2);
  return loan;
}

static void begin_loan (lua_State *L, Loan *loan) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &LENDER);
  Lender *lender = lua_touserdata(L, -1);
  lua_pop(L, 1);
  loan->next = lender->first;
  loan->link = &lender->first;
  if (loan->next != NULL) loan->next->link = &loan->next;
  lender->first = loan;
}


int perilune_shape (lua_State *L, int index, size_t shape[PERILUNE_MAX_RANK]) {
  return api_border.shape(L, index, shape);
}

const double *perilune_data (lua_State *L, int index, size_t *n) {
  return api_border.data(L, index, n);
}

double *perilune_write (lua_State *L, int index, size_t *n) {
  return api_border.write(L, index, n);
}

double *perilune_newtensor (lua_State *L, int rank, const size_t shape[]) {
  return api_border.newtensor(L, rank, shape);
}

void perilune_wrap (lua_State *L, double *data, int rank, const size_t shape[], int owner) {
  ptrdiff_t extents[TENSOR_MAX_RANK];
  api_check_shape(L, "perilune_wrap", rank, shape, extents);
  if (owner == 0) lua_pushnil(L);
  else lua_pushvalue(L, owner);
  host_new_over(L, "perilune_wrap", data, rank, extents);
}

void perilune_lend (lua_State *L, double *data, int rank, const size_t shape[],
                    perilune_Release release, void *argument) {
  ptrdiff_t extents[TENSOR_MAX_RANK];
  api_check_shape(L, "perilune_lend", rank, shape, extents);
  if (release == NULL) host_fail(L, "perilune_lend", "release must be a function, got NULL");
  embed_open_border(L);
  Loan *loan = new_loan(L);
  host_new_over(L, "perilune_lend", data, rank, extents);
  loan->data = data;
  loan->release = release;
  loan->argument = argument;
  begin_loan(L, loan);       /* from here on nothing can raise */
}
