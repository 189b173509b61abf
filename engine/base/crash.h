/* The last words of a rank that a signal kills, or that calls exit() in the middle: rank, signal or code,
 * point; and, on SIGUSR2, what the rank is doing. */
#ifndef BASE_CRASH_H
#define BASE_CRASH_H

#include <stdint.h>

/* From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU and SIGXFSZ write one line to stderr, remove
 * what `leftovers_watch` says, and then kill as before. SIGUSR2 only writes a line, with the calls of the
 * main thread. */
void crash_watch(int rank);

/* From now on an exit() or _exit() of this process writes a line to stderr: whoever calls it, in a library or
 * in what stands before it, main does not. Once. */
void crash_watch_exit(int rank);

/* Main ends now, for a reason that it has told. */
void crash_expect_exit(void);

/* Report the signal that ended a rank, for signals other than those above, which the rank reports itself. */
void crash_tell(int rank, int signal_number);

/* Set what the rank is doing, for that line; `name` must live until the next call. The phase is then
 * "setup". */
void crash_context(int point, const char *name);

/* Set the phase of the point, a constant text; and the number of begun samples. */
void crash_phase(const char *phase);
void crash_sample(int64_t count);

#endif
