/*
** api.h - what the files of this folder share
**
** Here arguments are checked and converted, and results returned. What is recorded, waits or is
** differentiated is the engine's business (engine/engine.h).
*/
#ifndef PERILUNE_API_H
#define PERILUNE_API_H

#include "engine/engine.h"
#include "perilune.h"

/* result.c: to be returned by a function that leaves its result, the tensor t, on top of the stack.
   If t has rank 0 and no gradient, a Lua number replaces it: an integer, if the kernel (or NULL)
   gives integers. */
int api_return (lua_State *L, const Tensor *t, const Kernel *kernel);

/* Pushes a row-major copy of the tensor at `index`, recorded if it is tracked. */
Tensor *api_new_copy (lua_State *L, const char *who, int index);

/* gradient.c: t.grad = value (t, the name and the value are on the stack) */
int api_set_grad (lua_State *L);

/* integers.c: a number with an integer value; a non-negative one; a dimension, from 0 on */
lua_Integer api_integer (lua_State *L, int index, const char *who,
                         const char *name);
ptrdiff_t api_extent (lua_State *L, int index, const char *who);
void api_push_shape_table (lua_State *L, int rank, const ptrdiff_t shape[]);
ptrdiff_t api_dimension (lua_State *L, int index, const char *who, int rank);

/* Reads a shape: integers at `first` to `last` on the stack, or one table of them. Unless
   `open` is NULL one may be -1: that is its place (-1 for none), and it counts as 1. */
int api_shape (lua_State *L, int first, int last, const char *who, ptrdiff_t shape[],
               int *open);

/* The same for dimensions, each named at most once: in order, and as a set of bits. */
int api_dimensions (lua_State *L, int first, int last, const char *who, int rank,
                    int dims[], unsigned *set);

/* views.c: a position in a dimension, and the view that it selects */
ptrdiff_t api_position (lua_State *L, int index, const char *who,
                        const Tensor *t, int dim);
Tensor *api_select (lua_State *L, int base, const Tensor *from, int dim, ptrdiff_t at);

/* Pushes a view with a new dimension of one element at this place. */
Tensor *api_unsqueeze (lua_State *L, int base, const char *who, const Tensor *from, int dim);

/* index.c: raises if the elements of a tensor are not its user's to change; and what is done
   before they are, after which nothing must be allocated until they were */
void api_check_writable (lua_State *L, const char *who, const Tensor *to);
void api_begin_write (lua_State *L, Tensor *to);

/* border.c: what C outside of the core may do with tensors; and a shape from there, checked */
extern const perilune_Border api_border;
void api_check_shape (lua_State *L, const char *who, int rank, const size_t shape[],
                      ptrdiff_t extents[]);

/* random.c: the generator at `index`, or the state's own for nil */
Philox *api_generator (lua_State *L, int index, const char *who);

/* Each file adds its functions to the table on top of the stack. */
void api_open_names    (lua_State *L);
void api_open_counted  (lua_State *L);
void api_open_tensor   (lua_State *L);
void api_open_integers (lua_State *L);
void api_open_construct (lua_State *L);
void api_open_views    (lua_State *L);
void api_open_index    (lua_State *L);
void api_open_bind     (lua_State *L);
void api_open_objects  (lua_State *L);
void api_open_gradient (lua_State *L);
void api_open_join     (lua_State *L);
void api_open_reduce   (lua_State *L);
void api_open_optim    (lua_State *L);
void api_open_random   (lua_State *L);
void api_open_csv      (lua_State *L);
void api_open_json     (lua_State *L);
void api_open_store    (lua_State *L);
void api_open_lines    (lua_State *L);
void api_open_words    (lua_State *L);
void api_open_border   (lua_State *L);

#endif
