/* Does it matter to a put where its source lies? The same bytes from static memory of the program and from
 * memory that was mapped, by turns in one launch; GB/s at best, of windows of 32 puts of 1 MiB and a flush.
 *
 *     mpicc -O2 -o onesided_source benchmarks/onesided_source.c && mpiexec -n 2 ./onesided_source
 *
 * What is static is where OSU's buffers are; what is mapped is where malloc's large ones and ours are. */
#define _GNU_SOURCE
#include <mpi.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PUT = 1 << 20, PUTS = 32, BYTES = PUT * PUTS, TURNS = 6, WINDOWS = 6, PAGE = 4096 };

static _Alignas(PAGE) char in_program[BYTES];

static double rate(const char *source, MPI_Win win)
{
    double best = 0;
    for (int i = 0; i < WINDOWS; ++i) {
        const double start = MPI_Wtime();
        for (int k = 0; k < PUTS; ++k)
            MPI_Put(source + (size_t)k * PUT, PUT, MPI_BYTE, 1, (MPI_Aint)k * PUT, PUT, MPI_BYTE, win);
        MPI_Win_flush(1, win);
        const double found = BYTES / (MPI_Wtime() - start);
        best = found > best ? found : best;
    }
    return best / 1e9;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    void *memory;
    MPI_Win win;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(rank == 1 ? BYTES : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    char *mapped = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(mapped, 1, BYTES);
    memset(in_program, 1, BYTES);
    if (rank == 1)
        memset(memory, 0, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        for (int turn = 0; turn < TURNS; ++turn)
            printf("%s %.2f  ", turn % 2 ? "mapped" : "static", rate(turn % 2 ? mapped : in_program, win));
        printf("\n");
        MPI_Win_unlock(1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Finalize();
}
