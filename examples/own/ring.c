/* An operation with MPI: each rank sends a block around a ring, as many steps as there are ranks, so that
 * each rank's block comes home. */
#include <mpi.h>

#include <steelyard/op.h>

#include <stdlib.h>
#include <string.h>

struct ring {
    const struct steelyard_env *env;
    MPI_Comm comm;
    unsigned char *block, *next;
    int bytes, left, right;
};

static int step(struct ring *r)
{
    int error = MPI_Sendrecv(r->block, r->bytes, MPI_BYTE, r->right, 0, r->next, r->bytes, MPI_BYTE, r->left,
                             0, r->comm, MPI_STATUS_IGNORE);
    unsigned char *other = r->block;
    r->block = r->next;
    r->next = other;
    return error == MPI_SUCCESS ? 0 : r->env->fail(STEELYARD_LIBRARY_FAILED, "MPI_Sendrecv failed");
}

static int run(void *state, int64_t repetitions)
{
    struct ring *r = state;
    int error = 0;
    for (int64_t i = 0; i < repetitions && !error; ++i)
        for (int s = 0; s < r->env->ranks && !error; ++s)
            error = step(r);
    return error;
}

/* Byte i of the block of a rank. */
static unsigned char byte(int rank, int i)
{
    return (unsigned char)(rank * 31 + i * 7 + 1);
}

/* After one step the block is the left neighbour's, after all of them our own again. A wrong byte does not
 * end the steps: the neighbours wait for them. */
static int verify(void *state)
{
    struct ring *r = state;
    const int ranks = r->env->ranks, rank = r->env->rank;
    for (int i = 0; i < r->bytes; ++i)
        r->block[i] = byte(rank, i);
    int error = 0, wrong = 0;
    for (int s = 1; s <= ranks && !error; ++s) {
        memset(r->next, 0, (size_t)r->bytes);
        error = step(r);
        if (s == ranks && r->env->planted && r->bytes > 0)
            r->block[0] ^= 1;
        const int from = (rank - s + 2 * ranks) % ranks;
        for (int i = 0; i < r->bytes && !error && !wrong; ++i)
            if (r->block[i] != byte(from, i))
                wrong = r->env->fail(STEELYARD_WRONG, "byte %d after step %d is %d, should be %d", i, s,
                                     r->block[i], byte(from, i));
    }
    return error ? error : wrong;
}

static void teardown(void *state)
{
    struct ring *r = state;
    MPI_Comm_free(&r->comm);
    free(r);
}

static int setup(const struct steelyard_env *env, void **state)
{
    if (env->bytes > 1 << 30)
        return env->fail(STEELYARD_UNSUPPORTED, "the ring passes at most 1 GiB; give smaller sizes");
    struct ring *r = calloc(1, sizeof *r);
    if (!r)
        return env->fail(STEELYARD_NO_MEMORY, "no memory for the state of the ring");
    *r = (struct ring){.env = env,
                       .bytes = (int)env->bytes,
                       .left = (env->rank + env->ranks - 1) % env->ranks,
                       .right = (env->rank + 1) % env->ranks};
    r->block = env->buffer(env, env->bytes);
    r->next = env->buffer(env, env->bytes);
    if (env->bytes > 0 && (!r->block || !r->next)) {
        free(r);
        return STEELYARD_NO_MEMORY;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &r->comm);
    *state = r;
    return 0;
}

static double bytes_moved(const struct steelyard_env *env)
{
    return (double)env->bytes * env->ranks;
}

static const struct steelyard_op ops[] = {
    {
        .name = "ring.pass",
        .summary = "blocks around a ring until each is home",
        .group = STEELYARD_ALL,
        .flow = STEELYARD_FLOW_ALL,
        .role = STEELYARD_PATTERN,
        .report = STEELYARD_SLOWEST,
        .least_ranks = 2,
        .default_bytes = "8,1Ki,64Ki",
        .setup = setup,
        .run = run,
        .verify = verify,
        .teardown = teardown,
        .bytes_moved = bytes_moved,
    },
};

STEELYARD_LIBRARY("ring", ops);
