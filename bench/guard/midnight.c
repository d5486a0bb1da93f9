/*
** midnight.c - a clock that stands still, for the process that counts: Lua seeds the hashes of
** its strings with the time, and how they collide shows in the counts
*/
#include <time.h>

time_t time (time_t *now) {
  if (now != NULL) *now = 0;
  return 0;
}
