/* A tool as people preload it: it stands between a program and its MPI by MPI's profiling interface, counts
 * calls, and writes the counts at the end into the file that CALLS_COUNTED names. What it costs a call:
 *
 *     mpicc -O2 -fPIC -shared -o libcounting.so counting.c
 *     steelyard run layers --arms env.LD_PRELOAD=-,$PWD/libcounting.so
 */
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* The calls: name, parameters, arguments. */
#define CALLS(CALL)                                                                                          \
    CALL(Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c))   \
    CALL(Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s),               \
         (b, n, t, from, tag, c, s))                                                                         \
    CALL(Isend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r),         \
         (b, n, t, to, tag, c, r))                                                                           \
    CALL(Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r),             \
         (b, n, t, from, tag, c, r))                                                                         \
    CALL(Wait, (MPI_Request * r, MPI_Status * s), (r, s))                                                    \
    CALL(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s))                                       \
    CALL(Barrier, (MPI_Comm c), (c))                                                                         \
    CALL(Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))                  \
    CALL(Allreduce, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (s, r, n, t, o, c))

enum call {
#define NUMBER(name, parameters, arguments) CALL_##name,
    CALLS(NUMBER) CALL_COUNT
};

static atomic_ulong counts[CALL_COUNT]; /* threads may call at once */

#define WRAPPER(name, parameters, arguments)                                                                 \
    int MPI_##name parameters                                                                                \
    {                                                                                                        \
        atomic_fetch_add_explicit(&counts[CALL_##name], 1, memory_order_relaxed);                            \
        return PMPI_##name arguments;                                                                        \
    }
CALLS(WRAPPER)

int MPI_Finalize(void)
{
    static const char *const names[] = {
#define NAME(name, parameters, arguments) "MPI_" #name,
        CALLS(NAME)};
    const char *path = getenv("CALLS_COUNTED");
    FILE *file = path ? fopen(path, "w") : NULL;
    for (int i = 0; file && i < CALL_COUNT; ++i)
        fprintf(file, "%s %lu\n", names[i], atomic_load(&counts[i]));
    if (file)
        fclose(file);
    return PMPI_Finalize();
}
