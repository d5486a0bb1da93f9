/*
** embed.h - what the files of this folder share
**
** This room is not part of the module that `require` loads from disk: it is what a host links
** beside it, and the other side of include/perilune.h.
*/
#ifndef PERILUNE_EMBED_H
#define PERILUNE_EMBED_H

#include "api/api.h"

/* The files of lua/perilune, in the order of their names; generated (embed/pack.lua). */
typedef struct EmbeddedFile {
  const char *name;      /* of the module: "perilune.distributions.Normal" */
  const char *chunk;     /* text or bytecode */
  size_t size;
} EmbeddedFile;

extern const EmbeddedFile perilune_files[];
extern const size_t perilune_file_count;

/* border.c: makes what gives lent memory back, once in a state */
void embed_open_border (lua_State *L);

#endif
