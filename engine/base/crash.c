#define _GNU_SOURCE
#include "base/crash.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* File-scope state: a signal handler is given nothing else to read. */
static volatile int watched_rank, current_point = -1;
static const char *volatile current_name = "start-up";
static const char *volatile current_phase = "start-up";
static _Atomic int64_t current_sample;

enum { LINE_MAX_LENGTH = 2048, NAME_MOST = 100 }; /* less than a pipe takes in one piece */

static size_t append(char *line, size_t at, const char *text)
{
    size_t length = strlen(text);
    memcpy(line + at, text, length);
    return at + length;
}

static size_t append_int(char *line, size_t at, int value)
{
    char digits[12];
    size_t n = 0;
    unsigned int rest = value < 0 ? 0u - (unsigned int)value : (unsigned int)value;
    do
        digits[n++] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (value < 0)
        line[at++] = '-';
    while (n > 0)
        line[at++] = digits[--n];
    return at;
}

static size_t append_death(char *line, int rank, int signal_number)
{
    size_t at = append(line, 0, "steelyard: rank ");
    at = append_int(line, at, rank);
    at = append(line, at, ": died of signal ");
    return append_int(line, at, signal_number);
}

/* Only async-signal-safe calls; SA_RESETHAND has put the default action back, so raising again ends the
 * process. */
static void last_words(int signal_number)
{
    char line[256];
    const char *name = current_name;
    size_t at = append_death(line, watched_rank, signal_number);
    at = append(line, at, " in point ");
    at = append_int(line, at, current_point);
    at = append(line, at, " (");
    if (strlen(name) < 100)
        at = append(line, at, name);
    at = append(line, at, ")\n");
    ssize_t written = write(STDERR_FILENO, line, at);
    (void)written; /* nothing can be done about a closed stderr here */
    raise(signal_number);
}

static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { WATCHED = sizeof watched / sizeof watched[0] };

static size_t append_name(char *line, size_t at, const char *name)
{
    return strlen(name) < NAME_MOST ? append(line, at, name) : at;
}

static size_t append_hex(char *line, size_t at, uintptr_t value)
{
    int digits = 1;
    while (digits < (int)(2 * sizeof value) && value >> 4 * digits)
        ++digits;
    at = append(line, at, "0x");
    while (digits-- > 0)
        line[at++] = "0123456789abcdef"[(value >> 4 * digits) & 15];
    return at;
}

/* A call by the name of its function, or by its place in the file that it is of. */
static size_t append_call(char *line, size_t at, const void *address)
{
    Dl_info found;
    if (!dladdr(address, &found) || !found.dli_fname)
        return append_hex(line, at, (uintptr_t)address);
    if (found.dli_sname)
        return append_name(line, at, found.dli_sname);
    const char *slash = strrchr(found.dli_fname, '/');
    at = append_name(line, at, slash ? slash + 1 : found.dli_fname);
    line[at++] = '+';
    return append_hex(line, at, (uintptr_t)address - (uintptr_t)found.dli_fbase);
}

/* The calls that this thread is in, the innermost first, without the handler and the frame of its signal. */
static size_t append_calls(char *line, size_t at)
{
    enum { MOST = 24, OURS = 3 };
    void *calls[MOST + OURS];
    const int count = backtrace(calls, MOST + OURS);
    for (int i = OURS; i < count && at + 2 * NAME_MOST < LINE_MAX_LENGTH; ++i) {
        at = append(line, at, i > OURS ? " < " : "");
        at = append_call(line, at, calls[i]);
    }
    return at;
}

/* Where this rank is. dladdr() may take locks: one who asks has given the launch up. */
static void tell_where(int signal_number)
{
    const int kept = errno;
    char line[LINE_MAX_LENGTH];
    const long process = syscall(SYS_getpid); /* the simulator has a getpid() of its own */
    if (syscall(SYS_gettid) != process) {     /* whichever thread was interrupted: the main one is meant */
        syscall(SYS_tgkill, process, process, signal_number);
        errno = kept;
        return;
    }
    size_t at = append(line, 0, "steelyard: rank ");
    at = append_int(line, at, watched_rank);
    at = append(line, at, " is in point ");
    at = append_int(line, at, current_point);
    at = append(line, at, " (");
    at = append_name(line, at, current_name);
    at = append(line, at, "), phase ");
    at = append(line, at, current_phase);
    at = append(line, at, ", sample ");
    at = append_int(line, at, (int)current_sample);
    at = append(line, at, ": ");
    at = append_calls(line, at);
    line[at++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, at);
    (void)written;
    errno = kept;
}

void crash_watch(int rank)
{
    void *none[1];
    watched_rank = rank;
    backtrace(none, 1); /* the first call loads a library, which a handler must not */
    const struct sigaction ask = {.sa_handler = tell_where, .sa_flags = SA_RESTART};
    sigaction(SIGUSR2, &ask, NULL);
    const struct sigaction once = {.sa_handler = last_words, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    for (size_t i = 0; i < WATCHED; ++i)
        sigaction(watched[i], &once, NULL);
}

void crash_tell(int rank, int signal_number)
{
    for (size_t i = 0; i < WATCHED; ++i)
        if (watched[i] == signal_number)
            return;
    char line[64];
    size_t at = append_death(line, rank, signal_number);
    line[at++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, at);
    (void)written;
}

void crash_context(int point, const char *name)
{
    current_point = point;
    current_name = name;
    current_phase = "setup";
    current_sample = 0;
}

void crash_phase(const char *phase)
{
    current_phase = phase;
}

void crash_sample(int64_t count)
{
    atomic_store_explicit(&current_sample, count, memory_order_relaxed);
}
