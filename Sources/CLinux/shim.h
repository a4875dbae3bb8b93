#pragma once
/* Linux calls that the Glibc module does not export. Declared by hand where including the header under
   _GNU_SOURCE would give other modules a second definition of its types. */
#include <elf.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <time.h>

extern int prctl(int option, ...);
extern int pthread_setname_np(unsigned long thread, const char *name);
extern int flock(int fd, int operation);
static inline void sillok_name_this_thread(const char *name) { prctl(15 /* PR_SET_NAME */, name, 0, 0, 0); }
extern int memfd_create(const char *name, unsigned int flags);
extern int malloc_trim(size_t pad);
extern int sync_file_range(int fd, long offset, long count, unsigned int flags);
/* Bytes a second that a TCP connection has lately passed, as the kernel measures it (tcp_info.tcpi_delivery_rate of
   linux/tcp.h, after 160 bytes; in glibc's structure it is missing); 0 if it is not known. */
extern int getsockopt(int fd, int level, int name, void *value, unsigned int *size);
static inline unsigned long sillok_delivery_rate(int fd) {
    unsigned long info[32] = {0};
    unsigned int size = sizeof info;
    if (getsockopt(fd, 6 /* IPPROTO_TCP */, 11 /* TCP_INFO */, info, &size) != 0 || size < 168) return 0;
    return info[20];
}
/* Lets go of the pages of the program's text, and its libraries', that were mapped so far: what is used again the kernel maps again, from
   memory. Only what is never written to, relocations neither. */
struct sillok_object {
    unsigned long base;
    const char *name;
    const Elf64_Phdr *parts;
    unsigned short count;
};
extern int madvise(void *start, size_t length, int advice);
extern int dl_iterate_phdr(int (*body)(struct sillok_object *object, size_t size, void *context), void *context);
static inline int sillok_unmap_text_of(struct sillok_object *object, size_t size, void *context) {
    (void)size, (void)context;
    for (int i = 0; i < object->count; i++) {
        const Elf64_Phdr *part = &object->parts[i];
        unsigned long start = (object->base + part->p_vaddr + 4095) & ~4095ul, end = (object->base + part->p_vaddr + part->p_memsz) & ~4095ul;
        if (part->p_type == PT_LOAD && !(part->p_flags & PF_W) && end > start) madvise((void *)start, end - start, 4 /* MADV_DONTNEED */);
    }
    return 0;
}
static inline void sillok_unmap_text(void) { dl_iterate_phdr(sillok_unmap_text_of, NULL); }
/* Asks the processor for the cache lines of so many bytes and does not wait for them. */
static inline void sillok_prefetch(const void *start, size_t count) {
    for (size_t line = 0; line < count; line += 64) __builtin_prefetch((const char *)start + line);
}
extern int sched_getaffinity(int pid, size_t size, void *mask);
/* On how many processors this process may run; at least 1. */
static inline int sillok_processor_count(void) {
    unsigned long mask[128] = {0};
    int count = 0;
    if (sched_getaffinity(0, sizeof mask, mask) != 0) return 1;
    for (size_t word = 0; word < sizeof mask / sizeof *mask; word++) count += __builtin_popcountl(mask[word]);
    return count > 0 ? count : 1;
}
