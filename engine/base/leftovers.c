#define _GNU_SOURCE
#include "base/leftovers.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const char folder[] = "/dev/shm/";

/* What names begin with that MPI libraries and layers below them give. */
static const char *const begins[] = {
    "mpich_shm_", "mpich_shar_tmp", "vader_segment.", "sm_segment.", "ucx_shm_posix_",
};

enum { LINE_MOST = 512, PART = 4096, FILES_MOST = 256 };

/* Behind a run of such characters; NULL where there is none. */
static const char *behind(const char *text, const char *characters)
{
    const size_t length = text ? strspn(text, characters) : 0;
    return length > 0 ? text + length : NULL;
}

static const char *behind_word(const char *text, const char *word)
{
    return text && strncmp(text, word, strlen(word)) == 0 ? text + strlen(word) : NULL;
}

static const char *behind_number(const char *text)
{
    return behind(text, "0123456789");
}

/* What libfabric adds to a name: :UID:N. */
static bool is_end(const char *text)
{
    text = behind_number(behind_word(behind_number(behind_word(text, ":")), ":"));
    return text && !*text;
}

/* libfabric's: PID:UID:N. */
static bool is_numbers(const char *name)
{
    return is_end(behind_number(name));
}

/* Ours: steelyard-PID-HEX (machine/probe.c), also with libfabric's end (ops/link/ofi_provider.c). A file of
 * the user's may be steelyard-anything. */
static bool is_own(const char *name)
{
    name = behind(behind_word(behind_number(behind_word(name, "steelyard-")), "-"), "0123456789abcdef");
    return name && (!*name || is_end(name));
}

static void remove_file(const char *path)
{
    if (strncmp(path, folder, sizeof folder - 1) != 0)
        return;
    const char *name = path + sizeof folder - 1;
    if (strchr(name, '/'))
        return;
    bool is_ours = is_numbers(name) || is_own(name);
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; ++i)
        is_ours |= strncmp(name, begins[i], strlen(begins[i])) == 0;
    if (is_ours)
        unlink(path);
}

static void remove_mapped(void)
{
    char part[PART], line[LINE_MOST];
    size_t length = 0;
    const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    for (ssize_t got; (got = read(file, part, sizeof part)) > 0;)
        for (ssize_t i = 0; i < got; ++i) {
            if (part[i] != '\n') {
                length += length + 1 < sizeof line;
                line[length - 1] = part[i];
                continue;
            }
            line[length] = '\0';
            const char *path = strchr(line, '/');
            if (path)
                remove_file(path);
            length = 0;
        }
    close(file);
}

/* What is made, and not mapped yet. */
static void remove_open(void)
{
    for (int descriptor = 0; descriptor < FILES_MOST; ++descriptor) {
        char link[32] = "/proc/self/fd/", path[LINE_MOST];
        size_t at = strlen(link);
        for (int unit = 100; unit > 0; unit /= 10)
            if (descriptor >= unit || unit == 1)
                link[at++] = (char)('0' + descriptor / unit % 10);
        link[at] = '\0';
        const ssize_t length = readlink(link, path, sizeof path - 1);
        if (length > 0) {
            path[length] = '\0';
            remove_file(path);
        }
    }
}

void leftovers_remove(void)
{
    remove_mapped();
    remove_open();
}

/* SA_RESETHAND has put the default action back. */
static void leave(int signal_number)
{
    leftovers_remove();
    raise(signal_number);
}

void leftovers_watch(void)
{
    const struct sigaction once = {.sa_handler = leave, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    struct sigaction before;
    if (sigaction(SIGTERM, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(SIGTERM, &once, NULL);
}
