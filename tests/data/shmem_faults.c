/* Calls of OpenSHMEM that go wrong by the size of what is put, or every third time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <shmem.h>
#include <string.h>

enum { FLIPS = 100, DROPS = 101, SHIFTS = 102 };

void shmem_ctx_putmem(shmem_ctx_t ctx, void *to, const void *from, size_t bytes, int pe)
{
    void (*put)(shmem_ctx_t, void *, const void *, size_t, int) =
        (void (*)(shmem_ctx_t, void *, const void *, size_t, int))dlsym(RTLD_NEXT, "shmem_ctx_putmem");
    char other[FLIPS];
    if (bytes == DROPS)
        return;
    if (bytes == FLIPS) {
        memcpy(other, from, bytes);
        other[bytes / 2] ^= 4;
        from = other;
    }
    put(ctx, (char *)to + (bytes == SHIFTS ? 8 : 0), from, bytes, pe);
}

void shmem_ctx_long_atomic_add(shmem_ctx_t ctx, long *to, long value, int pe)
{
    void (*add)(shmem_ctx_t, long *, long, int) =
        (void (*)(shmem_ctx_t, long *, long, int))dlsym(RTLD_NEXT, "shmem_ctx_long_atomic_add");
    static int calls;
    if (++calls % 3)
        add(ctx, to, value, pe);
}
