#define _GNU_SOURCE
#include "base/crash.h"

#include "base/leftovers.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* File-scope state: a signal handler is given nothing else to read. */
static volatile int watched_rank, current_point = -1;
static volatile long watched_process; /* 0: no exit is told */
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

static size_t append_int(char *line, size_t at, int64_t value)
{
    char digits[24];
    size_t n = 0;
    uint64_t rest = value < 0 ? 0u - (uint64_t)value : (uint64_t)value;
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

static size_t append_name(char *line, size_t at, const char *name)
{
    return strlen(name) < NAME_MOST ? append(line, at, name) : at;
}

static size_t append_place(char *line, size_t at)
{
    at = append(line, at, " in point ");
    at = append_int(line, at, current_point);
    at = append(line, at, " (");
    at = append_name(line, at, current_name);
    return append(line, at, ")");
}

/* Ranks share memory in files there, and learn by SIGBUS alone that it is full. Later it may no longer be. */
static size_t append_shared_memory(char *line, size_t at)
{
    struct statfs found;
    if (statfs("/dev/shm", &found) != 0)
        return at;
    at = append(line, at, ", /dev/shm has ");
    at = append_int(line, at, (int64_t)found.f_bavail * (int64_t)found.f_bsize);
    at = append(line, at, " of ");
    at = append_int(line, at, (int64_t)found.f_blocks * (int64_t)found.f_bsize);
    return append(line, at, " bytes free");
}

static void write_line(char *line, size_t at)
{
    line[at++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, at);
    (void)written; /* nothing can be done about a closed stderr here */
}

/* Only async-signal-safe calls; SA_RESETHAND has put the default action back, so raising again ends the
 * process. */
static void last_words(int signal_number)
{
    char line[512];
    size_t at = append_death(line, watched_rank, signal_number);
    at = append_place(line, at);
    if (signal_number == SIGBUS)
        at = append_shared_memory(line, at);
    write_line(line, at);
    leftovers_remove();
    raise(signal_number);
}

static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGXFSZ};
enum { WATCHED = sizeof watched / sizeof watched[0] };

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
    at = append(line, at, " is");
    at = append_place(line, at);
    at = append(line, at, ", phase ");
    at = append(line, at, current_phase);
    at = append(line, at, ", sample ");
    at = append_int(line, at, current_sample);
    at = append(line, at, ": ");
    at = append_calls(line, at);
    write_line(line, at);
    errno = kept;
}

/* The file of the function that called exit(): the first one outside the C library, whose functions ran. */
static size_t append_caller(char *line, size_t at)
{
    enum { MOST = 12, OURS = 2 };
    void *calls[MOST];
    Dl_info library, found;
    const int count = backtrace(calls, MOST), known = dladdr((void *)(uintptr_t)&abort, &library);
    for (int i = OURS; i < count && known; ++i)
        if (dladdr(calls[i], &found) && found.dli_fname && found.dli_fbase != library.dli_fbase) {
            const char *slash = strrchr(found.dli_fname, '/');
            at = append(line, at, " by ");
            return append_name(line, at, slash ? slash + 1 : found.dli_fname);
        }
    return at;
}

static void tell_exit(int code)
{
    if (watched_process == 0 || syscall(SYS_getpid) != watched_process)
        return;
    char line[512];
    watched_process = 0;
    size_t at = append(line, 0, "steelyard: rank ");
    at = append_int(line, at, watched_rank);
    at = append(line, at, ": exit was called with code ");
    at = append_int(line, at, code);
    at = append_caller(line, at);
    at = append_place(line, at);
    write_line(line, at);
}

static void on_end(int code, void *none)
{
    (void)none;
    tell_exit(code);
}

/* Libraries call this one, as they call our sched_yield() (base/yield.h). */
void _exit(int code)
{
    tell_exit(code);
    for (;;)
        syscall(SYS_exit_group, code);
}

void _Exit(int code)
{
    _exit(code);
}

void crash_watch_exit(int rank)
{
    watched_rank = rank;
    watched_process = syscall(SYS_getpid);
    on_exit(on_end, NULL);
}

void crash_expect_exit(void)
{
    watched_process = 0;
}

void crash_watch(int rank)
{
    void *none[1];
    watched_rank = rank;
    watched_process = watched_process ? syscall(SYS_getpid) : 0; /* a rank may be a fork */
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
    write_line(line, append_death(line, rank, signal_number));
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
