/* A pwrite that does not do what it says, from its n-th call on: FAULT=drop, shift, tear or quota; or that
 * takes 0.3 s: FAULT=slow; or never ends: FAULT=hang. FAULT_AFTER=n. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t pwrite(int file, const void *data, size_t bytes, off_t offset)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);
    static long calls;
    const char *fault = getenv("FAULT"), *after = getenv("FAULT_AFTER");
    if (!real)
        real = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
    if (!fault || ++calls <= (after ? atol(after) : 0))
        return real(file, data, bytes, offset);
    if (strcmp(fault, "slow") == 0) {
        usleep(300000);
        return real(file, data, bytes, offset);
    }
    while (strcmp(fault, "hang") == 0)
        pause();
    if (strcmp(fault, "drop") == 0)
        return (ssize_t)bytes;
    if (strcmp(fault, "shift") == 0)
        return real(file, data, bytes, offset + (off_t)bytes);
    if (strcmp(fault, "quota") == 0) {
        errno = EDQUOT;
        return -1;
    }
    real(file, data, bytes / 2, offset); /* tear */
    return (ssize_t)bytes;
}

ssize_t pwrite64(int file, const void *data, size_t bytes, off_t offset)
{
    return pwrite(file, data, bytes, offset);
}

/* What MPI-IO writes in one piece, Open MPI hands over so. */
ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset)
{
    ssize_t all = 0;
    for (int i = 0; i < count; ++i) {
        const ssize_t one = pwrite(file, parts[i].iov_base, parts[i].iov_len, offset + all);
        if (one < 0)
            return one;
        all += one;
    }
    return all;
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off_t offset)
{
    return pwritev(file, parts, count, offset);
}
