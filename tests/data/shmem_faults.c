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

/* No quiet or fence makes it leave. */
void shmem_putmem_nbi(void *to, const void *from, size_t bytes, int pe)
{
    (void)to, (void)from, (void)bytes, (void)pe;
}

/* Numbers come to where gaps are. */
void shmem_alltoalls64(void *to, const void *from, ptrdiff_t to_step, ptrdiff_t from_step, size_t count,
                       int start, int stride, int size, long *sync)
{
    void (*exchange)(void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int, int, int, long *) =
        (void (*)(void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int, int, int, long *))dlsym(
            RTLD_NEXT, "shmem_alltoalls64");
    exchange(to, from, to_step, from_step, count, start, stride, size, sync);
    ((long *)to)[1] = 1;
}

/* The root has its own block, too. */
void shmem_broadcast64(void *to, const void *from, size_t count, int root, int start, int stride, int size,
                       long *sync)
{
    void (*broadcast)(void *, const void *, size_t, int, int, int, int, long *) =
        (void (*)(void *, const void *, size_t, int, int, int, int, long *))dlsym(RTLD_NEXT,
                                                                                  "shmem_broadcast64");
    broadcast(to, from, count, root, start, stride, size, sync);
    memcpy(to, from, shmem_my_pe() == root ? count * sizeof(long) : 0);
}

void shmem_barrier_all(void)
{
    static int calls; /* those of the start are needed */
    if (++calls < 3)
        ((void (*)(void))dlsym(RTLD_NEXT, "shmem_barrier_all"))();
}

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
typedef long lock_word;
#else
typedef volatile long lock_word;
#endif

void shmem_set_lock(lock_word *lock)
{
    (void)lock;
}

void shmem_clear_lock(lock_word *lock)
{
    (void)lock;
}

void shmem_long_sum_to_all(long *to, const long *from, int count, int start, int stride, int size, long *work,
                           long *sync)
{
    void (*sum)(long *, const long *, int, int, int, int, long *, long *) =
        (void (*)(long *, const long *, int, int, int, int, long *, long *))dlsym(RTLD_NEXT,
                                                                                  "shmem_long_sum_to_all");
    sum(to, from, count, start, stride, size, work, sync);
    if (shmem_my_pe() == 1)
        to[count - 1] += 1;
}

void shmem_ctx_long_atomic_add(shmem_ctx_t ctx, long *to, long value, int pe)
{
    void (*add)(shmem_ctx_t, long *, long, int) =
        (void (*)(shmem_ctx_t, long *, long, int))dlsym(RTLD_NEXT, "shmem_ctx_long_atomic_add");
    static int calls;
    if (++calls % 3)
        add(ctx, to, value, pe);
}
