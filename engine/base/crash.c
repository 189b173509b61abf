#define _GNU_SOURCE
#include "base/crash.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* File-scope state: a signal handler is given nothing else to read. */
static volatile int watched_rank, current_point = -1;
static const char *volatile current_name = "start-up";

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

void crash_watch(int rank)
{
    watched_rank = rank;
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
}
