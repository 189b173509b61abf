/* A layer that takes 500 ns of the virtual time in each MPI_Allreduce. */
#include <mpi.h>

void virtual_time_passes(long ns);

int MPI_Allreduce(const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
{
    virtual_time_passes(500);
    return PMPI_Allreduce(s, r, n, t, o, c);
}
