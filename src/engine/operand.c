/*
** operand.c - Lua values as operands: tensors with their elements there
*/
#include "engine/engine.h"


Tensor *engine_tensor (lua_State *L, int index) {
  Tensor *t = host_header(L, index);
  if (t != NULL && t->data == NULL) engine_force(L, index);
  return t;
}

Tensor *engine_check_argument (lua_State *L, int index, const char *who, const char *name) {
  Tensor *t = engine_tensor(L, index);
  if (t == NULL) host_fail_type(L, who, name, "a tensor", index);
  return t;
}

Tensor *engine_check_tensor (lua_State *L, int index, const char *who) {
  return engine_check_argument(L, index, who, "self");
}

const Tensor *engine_operand (lua_State *L, int index, const char *who,
                              const char *name, Tensor *header, double *number) {
  switch (lua_type(L, index)) {
    case LUA_TNUMBER:
      *number = lua_tonumber(L, index);
      return tensor_scalar(header, number);
    case LUA_TTABLE:
      if (host_table_kind(L, index) == TABLE_OBJECT) break;
      host_from_table(L, index, who, name);
      lua_replace(L, index);
      return engine_tensor(L, index);
    default: {
      const Tensor *t = engine_tensor(L, index);
      if (t != NULL) return t;
    }
  }
  host_fail_type(L, who, name, "a number, a table of numbers or a tensor", index);
  return NULL;
}
