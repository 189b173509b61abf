/* The families of ops; registry.c lists them. */
#ifndef OPS_FAMILIES_H
#define OPS_FAMILIES_H

#include "core/op.h"

extern const struct op_family self_ops, pthread_ops, omp_ops;

/* In steelyard-mpi only. */
extern const struct op_family mpi_p2p_ops, mpi_coll_ops, mpi_nbr_ops, mpi_reduce_local_ops;

#endif
