/* The last words of a rank that a signal kills: which rank, which signal, in which point. */
#ifndef BASE_CRASH_H
#define BASE_CRASH_H

/* From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT write one line to stderr and then kill as they
 * would have. */
void crash_watch(int rank);

/* Say which signal ended a rank, for one that could not say so itself: of those above it has. */
void crash_tell(int rank, int signal_number);

/* What the rank is doing, for that line; `name` must live until the next call. */
void crash_context(int point, const char *name);

#endif
