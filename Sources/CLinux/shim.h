#pragma once
/* Linux calls that the Glibc module does not export. Declared by hand where including the header under
   _GNU_SOURCE would give other modules a second definition of its types. */
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <time.h>

extern int prctl(int option, ...);
extern int pthread_setname_np(unsigned long thread, const char *name);
extern int flock(int fd, int operation);
static inline void sillok_name_this_thread(const char *name) { prctl(15 /* PR_SET_NAME */, name, 0, 0, 0); }
extern int malloc_trim(size_t pad);
extern int sync_file_range(int fd, long offset, long count, unsigned int flags);
