/*
** watch.c - the clock of a watch
*/
#include <time.h>

#include "driver/watch.h"

#define PERIOD 1000000   /* nanoseconds between two questions */


uint64_t watch_clock (void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void watch_look (Watch *watch, uint64_t now) {
  if (watch->asking || watch_stopped(watch) || now - watch->asked < PERIOD) return;
  watch->asking = true;
  if (watch->ask(watch)) atomic_store(&watch->stopped, true);
  watch->asking = false;
  watch->asked = watch_clock();
}
