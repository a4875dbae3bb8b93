#pragma once
/* What a program needs of its own start and of its own death, and Swift does not give. */

/* The words of the command line as the kernel handed them over, the program's own name first. Swift reads
   /proc/self/cmdline, which is empty or missing in a chroot, and then there are none. */
int sillok_argument_count(void);
const char *sillok_argument(int index);

/* From here on SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE and SIGSEGV write one line to standard error before they end the
   process as ever: the signal, and the addresses of the frames. `program` must live as long as the process. */
void sillok_report_crashes(const char *program);
