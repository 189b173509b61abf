/* CLOCK_MONOTONIC as a number that each look at it raises by 20 us and each MPI_Allreduce by 300 ns, and
 * others by what they like. So times are known, whoever else wants the cores.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <time.h>

static _Atomic long now_ns = 1000000000;

void virtual_time_passes(long ns)
{
    now_ns += ns;
}

int clock_gettime(clockid_t id, struct timespec *time)
{
    static int (*real)(clockid_t, struct timespec *);
    if (id == CLOCK_MONOTONIC) {
        const long now = now_ns += 20000;
        *time = (struct timespec){now / 1000000000, now % 1000000000};
        return 0;
    }
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    return real(id, time);
}

int MPI_Allreduce(const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
{
    static int (*next)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    if (!next)
        next = (int (*)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm))dlsym(RTLD_NEXT,
                                                                                         "MPI_Allreduce");
    virtual_time_passes(300);
    return next(s, r, n, t, o, c);
}
