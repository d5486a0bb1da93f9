/*
** result.c - what functions return: numbers, or tensors
*/
#include "api/api.h"


int api_return (lua_State *L, const Tensor *t, const Kernel *kernel) {
  if (t->rank > 0 || is_tracked(t)) return 1;
  double value = t->data[0];
  if (kernel != NULL && kernel->integer && value > -0x1p53 && value < 0x1p53)
    lua_pushinteger(L, (lua_Integer)value);
  else host_push_number(L, value);
  return 1;
}

Tensor *api_new_copy (lua_State *L, const char *who, int index) {
  const Tensor *from = engine_tensor(L, index);
  Recording r = {.state = host_state(L), .who = who, .kind = NODE_ELEMENTWISE, .n = 1,
                 .kernel = host_kernel(L, "identity", "identity"),
                 .base = lua_absindex(L, index), .in = &from};
  Tensor *copy = engine_new_recorded(L, &r, from->rank, from->shape, NULL);
  host_copy(L, copy, from);
  return copy;
}
