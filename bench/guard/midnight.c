/*
** midnight.c - a clock that stands still, for the process that counts: Lua seeds the hashes of
** its strings with the time, and how they collide shows in the counts; loops are cut into slices
** by the time they take
*/
#define _GNU_SOURCE
#include <time.h>

time_t time (time_t *now) {
  if (now != NULL) *now = 0;
  return 0;
}

int clock_gettime (clockid_t clock, struct timespec *now) {
  (void)clock;
  *now = (struct timespec) {0};
  return 0;
}
