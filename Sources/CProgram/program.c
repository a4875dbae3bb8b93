#define _GNU_SOURCE
#include "CProgram.h"

#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#ifndef __GLIBC__
#error "only glibc hands argc and argv to constructors"
#endif

static int argument_count;
static char **arguments;

__attribute__((constructor)) static void keep_arguments(int argc, char **argv) {
    argument_count = argc;
    arguments = argv;
    /* Blocks of a MiB and more go back to the kernel when they are freed. By itself glibc learns from the first such block to keep those
       up to 32 MiB within its heaps, where arrays that grow leave holes: an import of many small conversations had 147 MB where 98 were
       in use (mallopt(3), M_MMAP_THRESHOLD). */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

int sillok_argument_count(void) { return argument_count; }

const char *sillok_argument(int index) { return index >= 0 && index < argument_count ? arguments[index] : NULL; }

/* Everything below runs in a process that is broken: no locks, no allocation, one write(2). */

static const char *program_name = "";

/* Set by the linker: where this program begins and ends in memory. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

struct line {
    char text[2048];
    size_t count;
};

static void add(struct line *line, const char *text) {
    size_t count = strlen(text);
    if (count > sizeof line->text - line->count) count = sizeof line->text - line->count;
    memcpy(line->text + line->count, text, count);
    line->count += count;
}

/* In the program: as the offset that addr2line(1) wants; elsewhere as it is, with an `@` before it. */
static void add_address(struct line *line, uintptr_t address) {
    char digits[24];
    size_t at = sizeof digits;
    uintptr_t start = (uintptr_t)__ehdr_start;
    int is_ours = address >= start && address < (uintptr_t)_end;
    digits[--at] = 0;
    uintptr_t rest = is_ours ? address - start : address;
    do {
        digits[--at] = "0123456789abcdef"[rest & 15];
        rest >>= 4;
    } while (rest != 0);
    add(line, is_ours ? " 0x" : " @0x");
    add(line, digits + at);
}

struct walk {
    struct line *line;
    int left;
};

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *argument) {
    struct walk *walk = argument;
    uintptr_t address = _Unwind_GetIP(context);
    if (address == 0 || walk->left-- == 0) return _URC_END_OF_STACK;
    add_address(walk->line, address);
    return _URC_NO_REASON;
}

static const char *signal_name(int signal) {
    switch (signal) {
    case SIGILL: return "SIGILL (illegal instruction: a check of the program failed)";
    case SIGTRAP: return "SIGTRAP (a check of the program failed)";
    case SIGABRT: return "SIGABRT (the program gave up)";
    case SIGBUS: return "SIGBUS (a mapped file could not be read)";
    case SIGFPE: return "SIGFPE (arithmetic)";
    default: return "SIGSEGV (memory that is not there)";
    }
}

static void report(int signal, siginfo_t *information, void *context) {
    (void)information;
    struct line line = {.count = 0};
    add(&line, program_name);
    add(&line, ": crashed: ");
    add(&line, signal_name(signal));
    add(&line, "   [E_CRASH] at");
    const ucontext_t *state = context;
#if defined(__x86_64__)
    add_address(&line, (uintptr_t)state->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    add_address(&line, (uintptr_t)state->uc_mcontext.pc);
#else
    (void)state;
#endif
    /* Said before the stack is walked: a broken stack ends us there. */
    ssize_t written = write(STDERR_FILENO, line.text, line.count);
    line.count = 0;
    add(&line, " frames");
    struct walk walk = {&line, 48};
    _Unwind_Backtrace(add_frame, &walk);
    if (line.count >= sizeof line.text) line.count = sizeof line.text - 1;
    add(&line, "\n");
    written = write(STDERR_FILENO, line.text, line.count);
    (void)written;
    /* The disposition is the default again (SA_RESETHAND): it strikes when this returns. */
    raise(signal);
}

void sillok_report_crashes(const char *program) {
    static const int signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
    static char stack[64 << 10] __attribute__((aligned(16)));
    program_name = program;
    /* A stack of its own for the main thread, whose stack may be what has run out. */
    stack_t aside = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&aside, NULL);
    struct sigaction action = {.sa_sigaction = report, .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    /* Whoever started us may have had them blocked. */
    sigset_t wanted;
    sigemptyset(&wanted);
    for (size_t index = 0; index < sizeof signals / sizeof *signals; index++) {
        struct sigaction before;
        /* A sanitizer's or the Swift runtime's own reports are better. */
        if (sigaction(signals[index], NULL, &before) != 0 || before.sa_handler != SIG_DFL) continue;
        sigaction(signals[index], &action, NULL);
        sigaddset(&wanted, signals[index]);
    }
    sigprocmask(SIG_UNBLOCK, &wanted, NULL);
}
