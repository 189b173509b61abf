#include "ops/mpi/manage/compiled_for.h"

#include <mpi.h>

#include "public/steelyard/op.h" /* after mpi.h, which it looks at */

const char *mpi_compiled_for(void)
{
    return STEELYARD_OP_MPI;
}
