/*
** binding.c - the operands of a bound function, read from its arguments
*/
#include "api/binding.h"


/* Upvalues of a bound function: the binding, who it is, and for each operand
   its field or its name. */
const Binding *binding_of (lua_State *L) {
  return lua_touserdata(L, lua_upvalueindex(1));
}

const char *binding_who (lua_State *L) { return binding_of(L)->who; }

static int name_upvalue (int k) { return lua_upvalueindex(3 + k); }

const char *binding_name (lua_State *L, int k) { return lua_tostring(L, name_upvalue(k)); }


static void check_objects (lua_State *L, const Binding *b) {
  for (int argument = 1; b->objects >> argument != 0; argument++) {
    if (!(b->objects >> argument & 1) || lua_istable(L, argument)) continue;
    lua_pushfstring(L, "argument %d", argument);
    host_fail_type(L, b->who, lua_tostring(L, -1), "a distribution", argument);
  }
}

/* Pushes operand k. */
static void push_operand (lua_State *L, const Binding *b, int k) {
  if (b->is_field[k]) {
    lua_pushvalue(L, name_upvalue(k));
    lua_gettable(L, b->argument[k]);
  } else lua_pushvalue(L, b->argument[k]);
}

/* Pushes the operands, unless they are there already; returns where they begin. */
static int push_operands (lua_State *L, const Binding *b) {
  int top = lua_gettop(L);
  if (b->in_order && top == b->operands) return 1;
  check_objects(L, b);
  for (int k = 0; k < b->operands; k++) push_operand(L, b, k);
  return top + 1;
}

Look binding_push (lua_State *L, const Binding *b, Operands *o) {
  int base = push_operands(L, b), n = b->operands, numbers = 0, other = 0, rank = 0;
  for (int k = 0; k < n; k++) {
    o->in[k] = host_header(L, base + k);
    if (o->in[k] != NULL) {
      other |= o->in[k]->data == NULL;
      if (o->in[k]->rank > rank) rank = o->in[k]->rank;
    } else if (lua_type(L, base + k) == LUA_TNUMBER) {
      o->number[k] = lua_tonumber(L, base + k);
      o->in[k] = &o->header[k];
      numbers++;
    } else other = 1;
  }
  o->base = base;
  o->rank = rank;
  if (numbers == n) return LOOK_NUMBERS;
  for (int k = 0; numbers > 0 && k < n; k++)
    if (o->in[k] == &o->header[k]) tensor_scalar(&o->header[k], &o->number[k]);
  return other ? LOOK_OTHER : LOOK_READY;
}

void binding_complete (lua_State *L, const Binding *b, Operands *o) {
  for (int k = 0; k < b->operands; k++)
    if (o->in[k] == NULL || o->in[k]->data == NULL)
      o->in[k] = engine_operand(L, o->base + k, b->who, binding_name(L, k), &o->header[k],
                                &o->number[k]);
}

int binding_read (lua_State *L, const Binding *b, Operands *o) {
  Look look = binding_push(L, b, o);
  if (look == LOOK_OTHER) binding_complete(L, b, o);
  for (int k = 0; look == LOOK_NUMBERS && k < b->operands; k++)
    tensor_scalar(&o->header[k], &o->number[k]);
  return look == LOOK_NUMBERS;
}


int binding_recorded_operands (lua_State *L, const Binding *b, const Operands *o) {
  const State *state = b->state;
  if (b->detached) engine_check_untraced(L, state, b->who, b->operands, o->in);
  else if (b->kernel->flat) return state->tracing ? b->operands : 0;
  else if (engine_is_tracked(state, b->operands, o->in))
    host_fail(L, b->who, "has no derivative; detach() what should have no gradient here");
  return 0;
}
