/* Preloaded into a program, it kills it (SIGKILL, as a power switch would) at the operation on files
   number $KILL_AT, counted in each process: before it, or, for a write, after half of it. Without
   the variable it counts, and leaves the number in the file $KILL_COUNT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long g_done;
static long g_kill_at = -1;

static ssize_t (*real_write)(int, const void*, size_t);
static ssize_t (*real_pwrite)(int, const void*, size_t, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_rename)(const char*, const char*);
static int (*real_ftruncate)(int, off_t);

__attribute__((constructor)) static void start(void) {
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_rename = dlsym(RTLD_NEXT, "rename");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  if (getenv("KILL_AT")) g_kill_at = atol(getenv("KILL_AT"));
}

__attribute__((destructor)) static void stop(void) {
  const char* path = getenv("KILL_COUNT");
  FILE* out = path ? fopen(path, "w") : NULL;
  if (!out) return;
  fprintf(out, "%ld\n", (long)g_done);
  fclose(out);
}

static int due(void) { return atomic_fetch_add(&g_done, 1) + 1 == g_kill_at; }
static void die(void) { kill(getpid(), SIGKILL); }

ssize_t write(int file, const void* data, size_t size) {
  if (file > 2 && due()) {
    real_write(file, data, size / 2);
    die();
  }
  return real_write(file, data, size);
}

ssize_t pwrite64(int file, const void* data, size_t size, off_t at) {
  if (due()) {
    real_pwrite(file, data, size / 2, at);
    die();
  }
  return real_pwrite(file, data, size, at);
}

int fsync(int file) {
  if (due()) die();
  return real_fsync(file);
}

int fdatasync(int file) {
  if (due()) die();
  return real_fdatasync(file);
}

int rename(const char* from, const char* to) {
  if (due()) die();
  return real_rename(from, to);
}

int ftruncate64(int file, off_t size) {
  if (due()) die();
  return real_ftruncate(file, size);
}

int ftruncate(int file, off_t size) { return ftruncate64(file, size); }
