// The recorder: loaded with LD_PRELOAD, it writes down in order all that a process does to the files below a folder,
// and when it hands an answer to a Unix socket. It can let chosen calls fail, and show inodes and a boot id as they were.
//
// CRASH_ROOT     the folder; files whose names end in "-shm" are left out
// CRASH_RECORD   where records are appended; without it nothing is recorded
// CRASH_FAULTS   "operation:name pattern:n:error:how;…": from the n-th such call on that matches. Operation: write, sync,
//                range, open, name (rename, unlink, link, mkdir), size, change (all of them); error: EIO, ENOSPC, EROFS,
//                EINTR, SHORT (half is written); how: once, always, each (every n-th)
// CRASH_ARM      calls count for faults only while this file exists
// CRASH_KILL     "n:file": the process that is about to do the n-th change is killed; the file counts those of all processes
// CRASH_SYNC_US  how long a sync takes. It does not reach the disk: what would be there is computed from the record
// CRASH_INODES   "real:shown,…": inodes that are shown as others
// CRASH_INODE_OFFSET  is added to the inodes of all other regular files on the device of CRASH_ROOT
// CRASH_BOOT_ID  a file that is read in the place of /proc/sys/kernel/random/boot_id
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum operation { WRITE = 1, SYNC = 2, RANGE = 4, OPEN = 8, NAME = 16, SIZE = 32, CHANGE = 63 };
enum { SHORT = 10000 };

struct fault {
  int operation, error;
  char how, pattern[64];
  long n, seen;
};

// A record: this head, then two pieces of bytes. disk.py reads the same.
struct head {
  uint32_t kind, thread;
  uint64_t inode;
  int64_t a, b;
  uint32_t first, second;
};

static char root[PATH_MAX];
static size_t root_length;
static dev_t root_device;
static const char *arm, *boot_id;
static int output = -1;
static long sync_us;
static uint64_t inode_offset;
static struct { uint64_t real, shown; } inodes[256];
static int inode_count;
static struct fault faults[16];
static int fault_count;
static int64_t kill_at, *changes;
static int64_t sync_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int raw_open(int folder, const char *path, int flags, mode_t mode) { return syscall(SYS_openat, folder, path, flags, mode); }
static int raw_stat(int folder, const char *path, struct stat *into, int flags) { return syscall(SYS_newfstatat, folder, path, into, flags); }

static void record(uint32_t kind, uint64_t inode, int64_t a, int64_t b, const void *first, size_t first_length, const void *second,
                   size_t second_length) {
  if (output < 0) return;
  struct head head = {kind, (uint32_t)syscall(SYS_gettid), inode, a, b, (uint32_t)first_length, (uint32_t)second_length};
  struct iovec parts[3] = {{&head, sizeof head}, {(void *)first, first_length}, {(void *)second, second_length}};
  int saved = errno;
  if (syscall(SYS_writev, output, parts, 3) != (ssize_t)(sizeof head + first_length + second_length)) abort();
  errno = saved;
}

static int error_named(const char *name) {
  static const struct { const char *name; int error; } errors[] = {
    {"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EROFS", EROFS}, {"EINTR", EINTR}, {"SHORT", SHORT}};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (!strcmp(name, errors[i].name)) return errors[i].error;
  abort();
}

static int operation_named(const char *name) {
  static const struct { const char *name; int operation; } operations[] = {
    {"write", WRITE}, {"sync", SYNC}, {"range", RANGE}, {"open", OPEN}, {"name", NAME}, {"size", SIZE}, {"change", CHANGE}};
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
    if (!strcmp(name, operations[i].name)) return operations[i].operation;
  abort();
}

__attribute__((constructor)) static void start(void) {
  const char *value = getenv("CRASH_ROOT");
  if (!value) return;
  snprintf(root, sizeof root, "%s", value);
  root_length = strlen(root);
  struct stat status;
  if (!raw_stat(AT_FDCWD, root, &status, 0)) root_device = status.st_dev;
  if ((value = getenv("CRASH_RECORD"))) {
    int opened = raw_open(AT_FDCWD, value, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    // High, so that the process finds the numbers that it would have without this library.
    output = opened < 0 ? -1 : fcntl(opened, F_DUPFD_CLOEXEC, 700);
    if (output < 0) abort();
    syscall(SYS_close, opened);
  }
  char counter[PATH_MAX];
  if ((value = getenv("CRASH_KILL"))) {
    if (sscanf(value, "%ld:%4095s", &kill_at, counter) != 2) abort();
    int opened = raw_open(AT_FDCWD, counter, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (opened < 0 || syscall(SYS_ftruncate, opened, sizeof *changes)) abort();
    changes = mmap(NULL, sizeof *changes, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    if (changes == MAP_FAILED) abort();
    syscall(SYS_close, opened);
  }
  arm = getenv("CRASH_ARM");
  boot_id = getenv("CRASH_BOOT_ID");
  if ((value = getenv("CRASH_SYNC_US"))) sync_us = atol(value);
  if ((value = getenv("CRASH_INODE_OFFSET"))) inode_offset = strtoull(value, NULL, 10);
  for (value = getenv("CRASH_INODES"); value && *value && inode_count < 256; inode_count++) {
    char *end;
    inodes[inode_count].real = strtoull(value, &end, 10);
    inodes[inode_count].shown = strtoull(end + 1, &end, 10);
    value = *end ? end + 1 : end;
  }
  char operation[16], error[16], how[16];
  for (value = getenv("CRASH_FAULTS"); value && *value && fault_count < 16; fault_count++) {
    struct fault *fault = &faults[fault_count];
    if (sscanf(value, "%15[^:]:%63[^:]:%ld:%15[^:]:%15[^;]", operation, fault->pattern, &fault->n, error, how) != 5) abort();
    fault->operation = operation_named(operation);
    fault->error = error_named(error);
    fault->how = how[0];
    value = strchr(value, ';') ? strchr(value, ';') + 1 : "";
  }
  record('P', 0, getpid(), 0, NULL, 0, NULL, 0);
}

// The absolute path, or 0 where it lies outside of the folder or does not concern the disk.
static int below(int folder, const char *path, char full[PATH_MAX]) {
  if (!root_length) return 0;
  if (path[0] == '/') {
    snprintf(full, PATH_MAX, "%s", path);
  } else {
    char link[64];
    snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, full, PATH_MAX - 1);
    if (length < 0) return 0;
    snprintf(full + length, PATH_MAX - length, "/%s", path);
  }
  char *to = full;
  for (const char *from = full; *from; from++) {
    if (from[0] == '/' && from[1] == '/') continue;
    if (from[0] == '/' && from[1] == '.' && (from[2] == '/' || !from[2])) { from++; continue; }
    *to++ = *from;
  }
  *to = 0;
  if (strncmp(full, root, root_length) || (full[root_length] && full[root_length] != '/')) return 0;
  size_t length = strlen(full);
  return length < 4 || strcmp(full + length - 4, "-shm");
}

// What a descriptor is: of a file or folder below the root, of a Unix socket, or neither.
enum what { OTHER, STORED, SOCKET };
static enum what what(int descriptor, struct stat *status, char full[PATH_MAX]) {
  if (!root_length || syscall(SYS_fstat, descriptor, status)) return OTHER;
  if (S_ISSOCK(status->st_mode)) {
    struct sockaddr address;
    socklen_t length = sizeof address;
    return !getsockname(descriptor, &address, &length) && address.sa_family == AF_UNIX ? SOCKET : OTHER;
  }
  if (status->st_dev != root_device || !(S_ISREG(status->st_mode) || S_ISDIR(status->st_mode))) return OTHER;
  char link[64], seen[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, seen, PATH_MAX - 1);
  if (length < 0) return OTHER;
  seen[length] = 0;
  return below(AT_FDCWD, seen, full) ? STORED : OTHER;
}

// The error with which this call is to fail; 0 for none.
static int fault(enum operation operation, const char *full) {
  if (changes && __atomic_add_fetch(changes, 1, __ATOMIC_SEQ_CST) == kill_at) syscall(SYS_kill, getpid(), SIGKILL);
  if (!fault_count || (arm && syscall(SYS_faccessat, AT_FDCWD, arm, F_OK))) return 0;
  const char *name = strrchr(full, '/') ? strrchr(full, '/') + 1 : full;
  for (int i = 0; i < fault_count; i++) {
    struct fault *fault = &faults[i];
    if (!(fault->operation & operation) || fnmatch(fault->pattern, name, 0)) continue;
    long seen = __atomic_add_fetch(&fault->seen, 1, __ATOMIC_SEQ_CST);
    if (fault->how == 'o' ? seen == fault->n : fault->how == 'a' ? seen >= fault->n : seen % fault->n == 0) {
      record('F', operation, fault->error, seen, full, strlen(full), NULL, 0);
      return fault->error;
    }
  }
  return 0;
}

static int failed(int error) {
  errno = error;
  return -1;
}

// Opening

static int opening(int folder, const char *path, int flags, mode_t mode) {
  char full[PATH_MAX];
  if (boot_id && !strcmp(path, "/proc/sys/kernel/random/boot_id")) path = boot_id;
  int changes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
  if (!changes || !below(folder, path, full)) return raw_open(folder, path, flags, mode);
  int error = fault(OPEN, full);
  if (error) return failed(error);
  pthread_mutex_lock(&lock);
  struct stat status;
  int existed = !raw_stat(folder, path, &status, 0);
  int opened = raw_open(folder, path, flags, mode);
  int saved = errno;
  if (opened >= 0 && !syscall(SYS_fstat, opened, &status) && S_ISREG(status.st_mode)) {
    if (!existed) record('C', status.st_ino, status.st_mode, 0, full, strlen(full), NULL, 0);
    else if (flags & O_TRUNC) record('T', status.st_ino, 0, 0, NULL, 0, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  errno = saved;
  return opened;
}

static mode_t mode_after(int flags, va_list arguments) { return flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0; }

#define OPENING(name, parameters, folder)            \
  EXPORT int name parameters {                       \
    va_list arguments;                               \
    va_start(arguments, flags);                      \
    mode_t mode = mode_after(flags, arguments);      \
    va_end(arguments);                               \
    return opening(folder, path, flags, mode);       \
  }
OPENING(open, (const char *path, int flags, ...), AT_FDCWD)
OPENING(open64, (const char *path, int flags, ...), AT_FDCWD)
OPENING(openat, (int folder, const char *path, int flags, ...), folder)
OPENING(openat64, (int folder, const char *path, int flags, ...), folder)
EXPORT int creat(const char *path, mode_t mode) { return opening(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
EXPORT int creat64(const char *path, mode_t mode) { return creat(path, mode); }

// Writing

static ssize_t raw_write(int descriptor, const struct iovec *parts, int count, off_t offset) {
  if (offset < 0) return syscall(SYS_writev, descriptor, parts, count);
  return syscall(SYS_pwritev, descriptor, parts, count, (long)offset, (long)0);
}

static char *joined(const struct iovec *parts, int count, size_t *length) {
  *length = 0;
  for (int i = 0; i < count; i++) *length += parts[i].iov_len;
  char *bytes = malloc(*length + 1), *end = bytes;
  if (!bytes) abort();
  for (int i = 0; i < count; i++) end = mempcpy(end, parts[i].iov_base, parts[i].iov_len);
  return bytes;
}

// An answer counts from before the call: the kernel may have handed it over when the power goes.
static void answering(int descriptor, const struct iovec *parts, int count) {
  size_t length;
  char *bytes = joined(parts, count, &length);
  pthread_mutex_lock(&lock);
  record('K', 0, descriptor, getpid(), bytes, length, NULL, 0);
  pthread_mutex_unlock(&lock);
  free(bytes);
}
static ssize_t answered(int descriptor, ssize_t sent) {
  pthread_mutex_lock(&lock);
  record('N', 0, descriptor, getpid(), &sent, sizeof sent, NULL, 0);
  pthread_mutex_unlock(&lock);
  return sent;
}

static ssize_t writing(int descriptor, const struct iovec *parts, int count, off_t offset) {
  struct stat status;
  char full[PATH_MAX];
  enum what kind = what(descriptor, &status, full);
  if (kind == OTHER) return raw_write(descriptor, parts, count, offset);
  if (kind == SOCKET) {
    answering(descriptor, parts, count);
    return answered(descriptor, raw_write(descriptor, parts, count, offset));
  }
  int error = fault(WRITE, full);
  if (error && error != SHORT) return failed(error);
  size_t length;
  char *bytes = joined(parts, count, &length);
  struct iovec whole = {bytes, error == SHORT ? (length + 1) / 2 : length};
  pthread_mutex_lock(&lock);
  ssize_t written = raw_write(descriptor, &whole, 1, offset);
  int saved = errno;
  if (written > 0) {
    if (offset < 0) offset = syscall(SYS_lseek, descriptor, 0, SEEK_CUR) - written;
    record('W', status.st_ino, offset, 0, bytes, written, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  free(bytes);
  errno = saved;
  return written;
}

EXPORT ssize_t write(int descriptor, const void *bytes, size_t count) { return writing(descriptor, &(struct iovec){(void *)bytes, count}, 1, -1); }
EXPORT ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  return writing(descriptor, &(struct iovec){(void *)bytes, count}, 1, offset);
}
EXPORT ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off_t offset) { return pwrite(descriptor, bytes, count, offset); }
EXPORT ssize_t writev(int descriptor, const struct iovec *parts, int count) { return writing(descriptor, parts, count, -1); }
EXPORT ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset) { return writing(descriptor, parts, count, offset); }
EXPORT ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off_t offset) { return writing(descriptor, parts, count, offset); }

EXPORT ssize_t sendto(int descriptor, const void *bytes, size_t count, int flags, const struct sockaddr *to, socklen_t length) {
  struct stat status;
  char full[PATH_MAX];
  int is_answer = what(descriptor, &status, full) == SOCKET;
  if (is_answer) answering(descriptor, &(struct iovec){(void *)bytes, count}, 1);
  ssize_t sent = syscall(SYS_sendto, descriptor, bytes, count, flags, to, length);
  return is_answer ? answered(descriptor, sent) : sent;
}
EXPORT ssize_t send(int descriptor, const void *bytes, size_t count, int flags) { return sendto(descriptor, bytes, count, flags, NULL, 0); }
EXPORT ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags) {
  struct stat status;
  char full[PATH_MAX];
  int is_answer = what(descriptor, &status, full) == SOCKET;
  if (is_answer) answering(descriptor, message->msg_iov, message->msg_iovlen);
  ssize_t sent = syscall(SYS_sendmsg, descriptor, message, flags);
  return is_answer ? answered(descriptor, sent) : sent;
}

static int sizing(int descriptor, char kind, int64_t a, int64_t b, int mode) {
  struct stat status;
  char full[PATH_MAX];
  int stored = what(descriptor, &status, full) == STORED;
  int error = stored ? fault(SIZE, full) : 0;
  if (error) return failed(error);
  pthread_mutex_lock(&lock);
  int result = kind == 'T' ? syscall(SYS_ftruncate, descriptor, a) : syscall(SYS_fallocate, descriptor, mode, a, b);
  int saved = errno;
  if (!result && stored) record(kind, status.st_ino, a, b, &mode, sizeof mode, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return result;
}
EXPORT int ftruncate(int descriptor, off_t size) { return sizing(descriptor, 'T', size, 0, 0); }
EXPORT int ftruncate64(int descriptor, off_t size) { return ftruncate(descriptor, size); }
EXPORT int fallocate(int descriptor, int mode, off_t offset, off_t length) { return sizing(descriptor, 'A', offset, length, mode); }
EXPORT int fallocate64(int descriptor, int mode, off_t offset, off_t length) { return fallocate(descriptor, mode, offset, length); }
EXPORT int posix_fallocate(int descriptor, off_t offset, off_t length) { return fallocate(descriptor, 0, offset, length) ? errno : 0; }
EXPORT int posix_fallocate64(int descriptor, off_t offset, off_t length) { return posix_fallocate(descriptor, offset, length); }
EXPORT int truncate(const char *path, off_t size) {
  int descriptor = open(path, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  int result = ftruncate(descriptor, size), saved = errno;
  syscall(SYS_close, descriptor);
  errno = saved;
  return result;
}
EXPORT int truncate64(const char *path, off_t size) { return truncate(path, size); }

// Syncing. Begin and end are recorded: what is written between them is not covered.

static int syncing(int descriptor, int number) {
  struct stat status;
  char full[PATH_MAX];
  if (what(descriptor, &status, full) != STORED) return syscall(number, descriptor);
  int folder = S_ISDIR(status.st_mode);
  pthread_mutex_lock(&lock);
  int64_t id = ++sync_count;
  record('S', status.st_ino, id, folder, full, strlen(full), NULL, 0);
  pthread_mutex_unlock(&lock);
  if (sync_us) usleep(sync_us);
  int error = fault(SYNC, full);
  pthread_mutex_lock(&lock);
  record('E', status.st_ino, id, error, full, strlen(full), NULL, 0);
  pthread_mutex_unlock(&lock);
  return error ? failed(error) : 0;
}
EXPORT int fsync(int descriptor) { return syncing(descriptor, SYS_fsync); }
EXPORT int fdatasync(int descriptor) { return syncing(descriptor, SYS_fdatasync); }
EXPORT int sync_file_range(int descriptor, off64_t offset, off64_t length, unsigned flags) {
  struct stat status;
  char full[PATH_MAX];
  if (what(descriptor, &status, full) != STORED) return syscall(SYS_sync_file_range, descriptor, offset, length, flags);
  int error = fault(RANGE, full);
  return error ? failed(error) : 0;
}
static void everything(void) {
  pthread_mutex_lock(&lock);
  record('G', 0, 0, 0, NULL, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
}
EXPORT int syncfs(int descriptor) {
  struct stat status;
  char full[PATH_MAX];
  if (what(descriptor, &status, full) != STORED) return syscall(SYS_syncfs, descriptor);
  everything();
  return 0;
}
EXPORT void sync(void) { everything(); }

// Names

static int naming(char kind, int from_folder, const char *from, int to_folder, const char *to, long flags) {
  char source[PATH_MAX] = "", target[PATH_MAX] = "";
  int stored = below(from_folder, from, source);
  if (to && below(to_folder, to, target)) stored = 1;
  int error = stored ? fault(NAME, to ? target : source) : 0;
  if (error) return failed(error);
  pthread_mutex_lock(&lock);
  int result = -1;
  switch (kind) {
    case 'R': result = syscall(SYS_renameat2, from_folder, from, to_folder, to, flags); break;
    case 'L': result = syscall(SYS_linkat, from_folder, from, to_folder, to, flags); break;
    case 'U': result = syscall(SYS_unlinkat, from_folder, from, flags); break;
    case 'M': result = syscall(SYS_mkdirat, from_folder, from, flags); break;
    case 'H': result = syscall(SYS_fchmodat, from_folder, from, flags); break;
  }
  int saved = errno;
  if (!result && stored) {
    struct stat status = {0};
    raw_stat(AT_FDCWD, to ? target : source, &status, AT_SYMLINK_NOFOLLOW);
    record(kind, status.st_ino, kind == 'M' || kind == 'H' ? status.st_mode : 0, flags, source, strlen(source), target, strlen(target));
  }
  pthread_mutex_unlock(&lock);
  errno = saved;
  return result;
}
EXPORT int rename(const char *from, const char *to) { return naming('R', AT_FDCWD, from, AT_FDCWD, to, 0); }
EXPORT int renameat(int f, const char *from, int t, const char *to) { return naming('R', f, from, t, to, 0); }
EXPORT int renameat2(int f, const char *from, int t, const char *to, unsigned flags) { return naming('R', f, from, t, to, flags); }
EXPORT int link(const char *from, const char *to) { return naming('L', AT_FDCWD, from, AT_FDCWD, to, 0); }
EXPORT int linkat(int f, const char *from, int t, const char *to, int flags) { return naming('L', f, from, t, to, flags); }
EXPORT int unlink(const char *path) { return naming('U', AT_FDCWD, path, AT_FDCWD, NULL, 0); }
EXPORT int unlinkat(int folder, const char *path, int flags) { return naming('U', folder, path, AT_FDCWD, NULL, flags); }
EXPORT int rmdir(const char *path) { return naming('U', AT_FDCWD, path, AT_FDCWD, NULL, AT_REMOVEDIR); }
EXPORT int remove(const char *path) {
  struct stat status;
  int folder = !raw_stat(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) && S_ISDIR(status.st_mode);
  return unlinkat(AT_FDCWD, path, folder ? AT_REMOVEDIR : 0);
}
EXPORT int mkdir(const char *path, mode_t mode) { return naming('M', AT_FDCWD, path, AT_FDCWD, NULL, mode); }
EXPORT int mkdirat(int folder, const char *path, mode_t mode) { return naming('M', folder, path, AT_FDCWD, NULL, mode); }
EXPORT int chmod(const char *path, mode_t mode) { return naming('H', AT_FDCWD, path, AT_FDCWD, NULL, mode); }
EXPORT int fchmod(int descriptor, mode_t mode) {
  struct stat status;
  char full[PATH_MAX];
  int result = syscall(SYS_fchmod, descriptor, mode), saved = errno;
  if (!result && what(descriptor, &status, full) == STORED) {
    pthread_mutex_lock(&lock);
    record('H', status.st_ino, status.st_mode, 0, full, strlen(full), NULL, 0);
    pthread_mutex_unlock(&lock);
  }
  errno = saved;
  return result;
}

// Inodes

static int shown(int result, struct stat *status) {
  if (result || !root_length || !S_ISREG(status->st_mode)) return result;
  for (int i = 0; i < inode_count; i++)
    if (inodes[i].real == status->st_ino && status->st_dev == root_device) {
      status->st_ino = inodes[i].shown;
      return result;
    }
  if (status->st_dev == root_device) status->st_ino += inode_offset;
  return result;
}
EXPORT int fstat(int descriptor, struct stat *into) { return shown(syscall(SYS_fstat, descriptor, into), into); }
EXPORT int stat(const char *path, struct stat *into) { return shown(raw_stat(AT_FDCWD, path, into, 0), into); }
EXPORT int lstat(const char *path, struct stat *into) { return shown(raw_stat(AT_FDCWD, path, into, AT_SYMLINK_NOFOLLOW), into); }
EXPORT int fstatat(int folder, const char *path, struct stat *into, int flags) { return shown(raw_stat(folder, path, into, flags), into); }
EXPORT int fstat64(int descriptor, struct stat64 *into) { return fstat(descriptor, (struct stat *)into); }
EXPORT int stat64(const char *path, struct stat64 *into) { return stat(path, (struct stat *)into); }
EXPORT int lstat64(const char *path, struct stat64 *into) { return lstat(path, (struct stat *)into); }
EXPORT int fstatat64(int folder, const char *path, struct stat64 *into, int flags) { return fstatat(folder, path, (struct stat *)into, flags); }
EXPORT int statx(int folder, const char *path, int flags, unsigned mask, struct statx *into) {
  int result = syscall(SYS_statx, folder, path, flags, mask, into);
  if (result || !S_ISREG(into->stx_mode)) return result;
  struct stat status = {.st_mode = into->stx_mode, .st_ino = into->stx_ino,
                        .st_dev = ((dev_t)0 | ((dev_t)into->stx_dev_major & 0xfffff000) << 32 | (into->stx_dev_major & 0xfff) << 8 |
                                   ((dev_t)into->stx_dev_minor & 0xffffff00) << 12 | (into->stx_dev_minor & 0xff))};
  shown(0, &status);
  into->stx_ino = status.st_ino;
  return 0;
}
