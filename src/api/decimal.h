/*
** decimal.h - doubles as decimal text, and back
**
** Reading rounds correctly, as strtod does in the C locale, whatever the locale of the host.
*/
#ifndef PERILUNE_DECIMAL_H
#define PERILUNE_DECIMAL_H

#include <stddef.h>

enum { DECIMAL_ROOM = 32 };   /* bytes for any double as text */

/* Reads [sign] digits [point digits] [e [sign] digits] at s, or inf, infinity, nan in any case;
   `end` is where the text ends. Returns where the number ends, or NULL if there is none. */
const char *decimal_read (const char *s, const char *end, char point, double *x);

/* Writes the shortest of %.15g, %.16g and %.17g that reads back as x; how many bytes. */
size_t decimal_write (double x, char point, char text[DECIMAL_ROOM]);

#endif
