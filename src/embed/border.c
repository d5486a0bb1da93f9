/*
** border.c - elements of tensors for a host in C, and its memory as tensors
**
** Memory that a host lends is given back by the finalizer of a loan, a userdata that the tensor
** keeps alive. Finalizers of one collection run in an order that nobody knows, and another one may
** still use the tensor, or bring it back, any number of times. Whether it was reached by one is seen
** in a table of the loan's whose only key, a weak one, is the tensor: a weak key goes when nothing can
** reach it any more, not even a finalizer. Until it has, the loan's finalizer asks to be called in a
** later collection. When the state closes there is none: what is left then is given back by the
** finalizer of the lender, which was made when perilune was opened and runs after those of all that
** came later.
*/
#include <string.h>

#include "embed/embed.h"

/* Registry keys: the lender, and the metatables of loans and of their tables. */
static const char LENDER = 'L', LOANS = 'M', WEAK = 'W';

typedef struct Loan {
  uint64_t proof;               /* that a userdata is a loan */
  struct Loan *next, **link;    /* in the list of all; what points here, or NULL */
  double *data;
  perilune_Release release;
  void *argument;
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

/* Is there anything that can reach the tensor of the loan at 1? */
static int is_needed (lua_State *L) {
  lua_getiuservalue(L, 1, 1);
  lua_pushnil(L);
  return lua_next(L, -2);
}

static int finalize_loan (lua_State *L) {
  Loan *loan = proven(L, sizeof(Loan));
  if (loan == NULL) return 0;
  if (!is_needed(L)) give_back(loan);
  else if (lua_getmetatable(L, 1)) lua_setmetatable(L, 1);   /* to be called again */
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
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &WEAK);
    Lender *lender = lua_newuserdatauv(L, sizeof *lender, 0);
    *lender = (Lender) {.proof = proof_of(lender)};
    push_finalizer(L, finalize_lender);
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &LENDER);
  }
  lua_pop(L, 1);
}

/* Pushes a table for the tensor, and a loan that has it and is in no list: its memory is still the
   host's. */
static Loan *new_loan (lua_State *L) {
  lua_createtable(L, 0, 1);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &WEAK);
  lua_setmetatable(L, -2);
  Loan *loan = lua_newuserdatauv(L, sizeof *loan, 1);
  *loan = (Loan) {.proof = proof_of(loan)};
  lua_pushvalue(L, -2);
  lua_setiuservalue(L, -2, 1);
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
  lua_pushvalue(L, -1);
  lua_pushboolean(L, 1);
  lua_rawset(L, -4);
  lua_remove(L, -2);
  loan->data = data;
  loan->release = release;
  loan->argument = argument;
  begin_loan(L, loan);       /* from here on nothing can raise */
}
