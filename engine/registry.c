/* The only file that names every family. */
#include "registry.h"

#include "base/err.h"
#include "kernels/families.h"
#include "ops/families.h"
#if STEELYARD_MPI
#include "ops/mpi/manage/compiled_for.h"
#include "ops/mpi/manage/dynamic.h"
#endif

#include <stdlib.h>
#include <string.h>

static const struct op_family *const families[] = {
    &self_ops,
    &pthread_thread_ops,
    &pthread_mutex_ops,
    &pthread_lock_ops,
    &pthread_cond_ops,
    &pthread_sync_ops,
    &pthread_data_ops,
    &pthread_sched_ops,
    &atomic_ops,
    &omp_sync_ops,
    &omp_lock_ops,
    &omp_atomic_ops,
    &omp_for_ops,
    &omp_reduction_ops,
    &omp_task_ops,
    &omp_data_ops,
    &omp_region_ops,
    &npb_ops,
    &app_ops,
    &noise_ops,
    &cpu_fma_ops,
    &sock_stream_ops,
    &sock_udp_ops,
    &shm_flag_ops,
    &shm_cma_ops,
    &tagged_ops,
    &direct_ops,
    &mem_copy_ops,
    &mem_stream_ops,
    &mem_latency_ops,
    &file_transfer_ops,
    &file_name_ops,
#if STEELYARD_MPI
    &mpi_p2p_pingpong_ops,
    &mpi_p2p_exchange_ops,
    &mpi_p2p_window_ops,
    &mpi_p2p_train_ops,
    &mpi_p2p_rate_ops,
    &mpi_p2p_match_ops,
    &mpi_type_ops,
    &mpi_onesided_ops,
    &mpi_onesided_many_ops,
    &mpi_visible_ops,
    &mpi_shared_ops,
    &mpi_coll_ops,
    &mpi_nbr_ops,
    &mpi_reduce_local_ops,
    &mpi_coll_large_ops,
    &mpi_coll_inter_ops,
    &mpi_mock_ops,
    &mpi_pattern_ops,
    &mpi_victim_ops,
    &mpi_halo_ops,
    &mpi_win_sync_ops,
    &mpi_win_make_ops,
    &mpi_comm_ops,
    &mpi_dynamic_ops,
    &mpi_win_ops,
    &mpi_local_ops,
    &mpi_refused_ops,
    &mpi_first_ops,
    &mpi_memory_ops,
    &mpi_part_ops,
    &mpi_wait_ops,
    &mpi_mt_ops,
    &mpi_mt_serve_ops,
    &mpi_mt_short_ops,
    &mpi_io_ops,
    &mpi_io_manage_ops,
    &mpi_overlap_p2p_ops,
    &mpi_overlap_coll_ops,
    &mpi_overlap_nbr_ops,
#endif
#if STEELYARD_SHMEM
    &shmem_rma_ops,
    &shmem_atomic_ops,
    &shmem_coll_ops,
    &shmem_visible_ops,
    &shmem_many_ops,
    &shmem_alone_ops,
#endif
};
enum { FAMILIES = sizeof families / sizeof families[0] };

static size_t count_ours(void)
{
    size_t n = 0;
    for (int f = 0; f < FAMILIES; ++f)
        n += families[f]->count;
    return n;
}

/* Our ops, with room for `more`. */
static int list_ours(size_t more, struct registry *r)
{
    struct op *ops = calloc(count_ours() + more, sizeof *ops), *op = ops;
    if (!ops)
        return err_say(ERR_NOMEM, "no memory for %zu ops", count_ours() + more);
    for (int f = 0; f < FAMILIES; ++f)
        for (size_t i = 0; i < families[f]->count; ++i)
            families[f]->op_at(i, op++);
    free(r->ops);
    r->ops = ops;
    r->count = count_ours();
    return 0;
}

static const char *mpi_here(void)
{
#if STEELYARD_MPI
    return mpi_compiled_for();
#else
    return "";
#endif
}

int registry_open(const char *load, struct registry *r)
{
    *r = (struct registry){0};
    int err = list_ours(0, r);
    err = err ? err : own_load(load, mpi_here(), r->ops, r->count, &r->own);
    size_t more = 0;
    for (size_t l = 0; l < r->own.count; ++l)
        more += r->own.rows[l].count;
    if (!err && more > 0)
        err = list_ours(more, r);
    for (size_t l = 0; l < r->own.count && !err; ++l)
        for (size_t i = 0; i < r->own.rows[l].count; ++i)
            r->ops[r->count++] = r->own.rows[l].ops[i];
    return err;
}

void registry_close(struct registry *r)
{
    own_close(&r->own);
    free(r->ops);
    *r = (struct registry){0};
}

int registry_spawned(const char *word)
{
#if STEELYARD_MPI
    return mpi_spawned(strcmp(word, "greet") == 0);
#else
    (void)word;
    return 1;
#endif
}
