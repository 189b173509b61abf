/* The families of ops; registry.c lists them. */
#ifndef OPS_FAMILIES_H
#define OPS_FAMILIES_H

#include "core/op.h"

extern const struct op_family self_ops, pthread_ops, omp_ops;

/* In steelyard-mpi only. */
extern const struct op_family mpi_p2p_pingpong_ops, mpi_p2p_exchange_ops, mpi_p2p_window_ops,
    mpi_p2p_rate_ops, mpi_p2p_match_ops, mpi_type_ops;
extern const struct op_family mpi_coll_ops, mpi_nbr_ops, mpi_reduce_local_ops;
extern const struct op_family mpi_pattern_ops, mpi_victim_ops, mpi_halo_ops;
extern const struct op_family mpi_comm_ops, mpi_win_ops, mpi_local_ops, mpi_part_ops;
extern const struct op_family mpi_overlap_p2p_ops, mpi_overlap_coll_ops, mpi_overlap_nbr_ops;

#endif
