/* The families of ops; registry.c lists them. */
#ifndef OPS_FAMILIES_H
#define OPS_FAMILIES_H

#include "core/op.h"

extern const struct op_family self_ops, noise_ops, cpu_fma_ops;
extern const struct op_family pthread_thread_ops, pthread_mutex_ops, pthread_lock_ops, pthread_cond_ops,
    pthread_sync_ops, pthread_data_ops, pthread_sched_ops, atomic_ops;
extern const struct op_family omp_sync_ops, omp_lock_ops, omp_atomic_ops, omp_for_ops, omp_reduction_ops,
    omp_task_ops, omp_data_ops, omp_region_ops;
extern const struct op_family sock_stream_ops, sock_udp_ops, shm_flag_ops, shm_cma_ops, tagged_ops,
    direct_ops;
extern const struct op_family file_transfer_ops, file_name_ops;
extern const struct op_family mem_copy_ops, mem_stream_ops, mem_latency_ops;

/* In steelyard-mpi only. */
extern const struct op_family mpi_p2p_pingpong_ops, mpi_p2p_exchange_ops, mpi_p2p_window_ops,
    mpi_p2p_train_ops, mpi_p2p_rate_ops, mpi_p2p_match_ops, mpi_type_ops, mpi_onesided_ops,
    mpi_onesided_many_ops, mpi_visible_ops, mpi_shared_ops, mpi_win_sync_ops, mpi_win_make_ops;
extern const struct op_family mpi_coll_ops, mpi_mock_ops, mpi_nbr_ops, mpi_reduce_local_ops,
    mpi_coll_large_ops, mpi_coll_inter_ops;
extern const struct op_family mpi_pattern_ops, mpi_victim_ops, mpi_halo_ops;
extern const struct op_family mpi_comm_ops, mpi_dynamic_ops, mpi_win_ops, mpi_local_ops, mpi_refused_ops,
    mpi_first_ops, mpi_memory_ops, mpi_part_ops, mpi_wait_ops, mpi_mt_ops, mpi_mt_serve_ops, mpi_mt_short_ops;
extern const struct op_family mpi_io_ops, mpi_io_manage_ops;
extern const struct op_family mpi_overlap_p2p_ops, mpi_overlap_coll_ops, mpi_overlap_nbr_ops;

/* In steelyard-shmem only. */
extern const struct op_family shmem_rma_ops, shmem_atomic_ops, shmem_coll_ops, shmem_visible_ops,
    shmem_many_ops, shmem_alone_ops;

#endif
