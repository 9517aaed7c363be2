/* Preloaded into a program, it moves the clock of the wall with every look at it: a year back, a year
   forth. Clocks that only run forward stay as they are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>

static atomic_long g_looks;

static time_t jump(void) {
  const long year = 365L * 24 * 3600;
  return atomic_fetch_add(&g_looks, 1) % 2 == 0 ? -year : year;
}

int clock_gettime(clockid_t clock, struct timespec* at) {
  static int (*real)(clockid_t, struct timespec*);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  const int result = real(clock, at);
  if (result == 0 && clock == CLOCK_REALTIME) at->tv_sec += jump();
  return result;
}

time_t time(time_t* at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval* restrict at, void* restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}
