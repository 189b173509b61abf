/* shmem.quiet, shmem.lock, ...: calls of OpenSHMEM that move nothing, or only to keep order. */
#define _GNU_SOURCE
#include "ops/families.h"

#include "base/err.h"
#include "ops/common/data.h"
#include "ops/shmem/lanes.h"
#include "team/compat_shmem.h"
#include "team/team_shmem.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    LOCKED_TIMES = 4, /* by each rank, in a check */
    LOCKED_NS = 1000000,
    ORDERED =
        8192, /* bytes that a quiet or a fence must not let a number overtake: more than a short message */
};

struct alone;

enum { HINTS };
static const char *const hints_words[] = {"none", "atomics", "signal", "both", NULL};
static const struct param malloc_params[] = {
    [HINTS] = PARAM_WORDS("hints",
                          "what the memory is for, by shmem_malloc_with_hints of OpenSHMEM 1.5: atomics or "
                          "signals of other ranks, or both; none: shmem_malloc",
                          hints_words),
    {0}};

struct alone_row {
    const char *name, *summary;
    void (*calls)(struct alone *s, int64_t reps);
    int (*check)(struct alone *s);
    enum op_class class;
    const char *default_bytes, *missing;
    const struct param *params;
};

struct alone {
    const struct alone_row *row;
    const struct team *team;
    size_t bytes;
    void *(*allocate)(size_t bytes);
    long *lock, *count; /* symmetric: the lock, and what is counted under it on rank 0 */
    char *data;         /* symmetric: what the rank before puts here */
    int failed;         /* calls that were refused */
    bool planted;
    char sent[ORDERED];
};

/* ---- the calls, each `reps` times ---- */

static void quiet(struct alone *s, int64_t reps)
{
    (void)s;
    for (int64_t i = 0; i < reps; ++i)
        shmem_quiet();
}

static void fence(struct alone *s, int64_t reps)
{
    (void)s;
    for (int64_t i = 0; i < reps; ++i)
        shmem_fence();
}

static void ctx(struct alone *s, int64_t reps)
{
    for (int64_t i = 0; i < reps; ++i) {
        shmem_ctx_t made;
        if (shmem_ctx_create(0, &made) == 0)
            shmem_ctx_destroy(made);
        else
            ++s->failed;
    }
}

static void lock(struct alone *s, int64_t reps)
{
    for (int64_t i = 0; i < reps; ++i) {
        shmem_set_lock(s->lock);
        shmem_clear_lock(s->lock);
    }
}

#define HINTED(name, hints)                                                                                  \
    static void *name(size_t bytes)                                                                          \
    {                                                                                                        \
        void *memory = NULL;                                                                                 \
        SHMEM15(memory = shmem_malloc_with_hints(bytes, hints));                                             \
        (void)bytes;                                                                                         \
        return memory;                                                                                       \
    }
HINTED(for_atomics, SHMEM_MALLOC_ATOMICS_REMOTE)
HINTED(for_signal, SHMEM_MALLOC_SIGNAL_REMOTE)
HINTED(for_both, SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE)
static void *(*const allocators[])(size_t bytes) = {shmem_malloc, for_atomics, for_signal, for_both};

static void allocate(struct alone *s, int64_t reps)
{
    for (int64_t i = 0; i < reps; ++i) {
        void *memory = s->allocate(s->bytes);
        if (memory)
            shmem_free(memory);
        else
            ++s->failed;
    }
}

static void split(struct alone *s, int64_t reps)
{
    for (int64_t i = 0; i < reps; ++i) {
        int refused = 0;
        compat_team made;
        (void)made;
        SHMEM15(refused = shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, s->team->size, NULL, 0, &made));
        if (refused)
            ++s->failed;
        else
            SHMEM15(shmem_team_destroy(made));
    }
}

/* ---- checks ---- */

static int none_failed(struct alone *s)
{
    s->row->calls(s, 1);
    return s->failed == 0 ? 0
                          : err_say(ERR_WRONG, "%d of the calls of %s were refused", s->failed, s->row->name);
}

/* Memory that was given can be put to by the rank before, from end to end. */
static int none_unsymmetric(struct alone *s)
{
    const int me = s->team->rank, ranks = s->team->size, from = (me + ranks - 1) % ranks;
    char *memory = s->allocate(s->bytes), *sent = malloc(s->bytes + 1);
    int64_t lacks = (!memory && s->bytes > 0) || !sent;
    int err = team_max(s->team, &lacks);
    if (!err && lacks)
        err = err_say(ERR_WRONG, "a rank was refused %zu bytes", s->bytes);
    if (!err) {
        data_fill(sent, s->bytes, me, (me + 1) % ranks);
        data_poison(memory, s->bytes);
        err = team_barrier(s->team);
        shmem_putmem(memory, sent, s->bytes, (me + 1) % ranks);
        shmem_quiet();
        const int met = team_barrier(s->team);
        data_arrived(memory, s->bytes, s->planted);
        err = err ? err : met ? met : data_check(memory, s->bytes, from, me, 0);
    }
    free(sent);
    const int met = team_barrier(s->team); /* memory is freed by all at once */
    shmem_free(memory);
    return err ? err : met ? met : none_failed(s);
}

/* Under a lock each rank reads a number, and writes it one larger; none may be lost. */
static int none_lost(struct alone *s)
{
    *s->count = 0;
    int err = team_barrier(s->team);
    for (int i = 0; i < LOCKED_TIMES && !err; ++i) {
        shmem_set_lock(s->lock);
        const long before = shmem_long_g(s->count, 0);
        nanosleep(&(struct timespec){.tv_nsec = LOCKED_NS}, NULL); /* others would come now */
        shmem_long_p(s->count, before + 1, 0);
        shmem_quiet();
        shmem_clear_lock(s->lock);
    }
    err = err ? err : team_barrier(s->team);
    const long all = (long)LOCKED_TIMES * s->team->size, is = shmem_long_g(s->count, 0);
    const int met = err ? err : team_barrier(s->team);
    return met || is == all ? met
                            : err_say(ERR_WRONG, "under the lock %ld was counted, should be %ld", is, all);
}

/* Data to the next rank, the call, and a number: who sees the number has the data. */
static int none_overtaken(struct alone *s)
{
    const int me = s->team->rank, ranks = s->team->size, to = (me + 1) % ranks,
              from = (me + ranks - 1) % ranks;
    const long now = *s->count + 1; /* the same on all ranks */
    data_poison(s->data, ORDERED);
    data_fill(s->sent, ORDERED, me, (int)now);
    int err = team_barrier(s->team);
    if (err)
        return err;
    shmem_putmem_nbi(s->data, s->sent, ORDERED, to);
    s->row->calls(s, 1);
    shmem_long_p(s->count, now, to);
    shmem_long_wait_until(s->count, SHMEM_CMP_EQ, now);
    data_arrived(s->data, ORDERED, s->planted);
    s->planted = false; /* once is enough */
    const int wrong = data_check(s->data, ORDERED, from, (int)now, 0);
    shmem_quiet(); /* a fence does not free the buffer */
    err = team_barrier(s->team);
    return err ? err : wrong;
}

/* ---- rows ---- */

static const struct alone_row rows[] = {
    {"shmem.quiet", "shmem_quiet with nothing to complete", quiet, none_overtaken, .class = OP_LOCAL},
    {"shmem.fence", "shmem_fence with nothing to order", fence, none_overtaken, .class = OP_LOCAL},
    {"shmem.ctx", "shmem_ctx_create and shmem_ctx_destroy", ctx, none_failed, .class = OP_LOCAL},
    {"shmem.lock", "shmem_set_lock and shmem_clear_lock of one lock by all ranks", lock, none_lost,
     .class = OP_COLLECTIVE},
    {"shmem.malloc", "shmem_malloc and shmem_free, in each of which all ranks meet", allocate,
     none_unsymmetric, OP_COLLECTIVE, .default_bytes = "8..4Mi", .params = malloc_params},
    {"shmem.team.split", "shmem_team_split_strided of all ranks, and shmem_team_destroy", split, none_failed,
     OP_COLLECTIVE, .missing = SHMEM15_MISSING},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static int run(void *state, int64_t reps)
{
    struct alone *s = state;
    s->row->calls(s, reps);
    return 0;
}

static int verify(void *state)
{
    struct alone *s = state;
    return s->row->check(s);
}

static int setup(const struct op_env *env, void **state)
{
    const struct alone_row *row = env->op->row;
    const char *const missing = SHMEM15_MISSING;
    const int hints = row->params ? (int)env->params[HINTS] : 0;
    void *memory = NULL;
    if (hints > 0 && missing)
        return err_say(ERR_UNSUPPORTED, "hints=%s: %s", hints_words[hints], missing);
    int err = team_symmetric(env->team, (size_t)2 * LANE_LINE + ORDERED, &memory);
    struct alone *s = err ? NULL : calloc(1, sizeof *s);
    if (!err && !s)
        err = err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    if (err)
        return err;
    *s = (struct alone){.row = row,
                        .team = env->team,
                        .bytes = env->bytes,
                        .allocate = allocators[hints],
                        .lock = memory,
                        .data = (char *)memory + (size_t)2 * LANE_LINE,
                        .planted = env->planted};
    s->count = s->lock + LANE_LINE / sizeof(long);
    *s->lock = *s->count = 0;
    *state = s;
    return 0;
}

static void op_at(size_t i, struct op *op)
{
    const struct alone_row *row = &rows[i];
    *op = (struct op){.family = "openshmem",
                      .summary = row->summary,
                      .class = row->class,
                      .role = ROLE_CALL,
                      .flow = row->class == OP_COLLECTIVE ? FLOW_ALL : FLOW_NONE,
                      .report = OP_SLOWEST,
                      .parts = 1,
                      .default_bytes = row->default_bytes,
                      .missing = row->missing,
                      .params = row->params,
                      .row = row,
                      .setup = setup,
                      .run = run,
                      .verify = verify,
                      .teardown = free};
    snprintf(op->name, sizeof op->name, "%s", row->name);
}

const struct op_family shmem_alone_ops = {.count = ROWS, .op_at = op_at};
