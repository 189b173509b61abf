/* The families of ops; registry.c lists them. */
#ifndef OPS_FAMILIES_H
#define OPS_FAMILIES_H

#include "core/op.h"

extern const struct op_family self_ops, pthread_ops, omp_ops;

/* In steelyard-mpi only. */
extern const struct op_family mpi_p2p_ops, mpi_coll_ops;
extern const struct op_family mpi_comm_ops, mpi_win_ops, mpi_local_ops, mpi_part_ops;
extern const struct op_family mpi_overlap_p2p_ops, mpi_overlap_coll_ops;

#endif
