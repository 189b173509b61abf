/* The forms of a collective: blocking, nonblocking, persistent, and the last two with work between start and
 * completion. Each has a plain run, whose repetitions are all alike, and a varied one, whose repetitions have
 * different roots or times of arrival. */
#include "ops/mpi/coll/coll.h"

#include "base/err.h"
#include "team/team_mpi.h"

#include <stdio.h>

enum { BLOCKING, NONBLOCKING, PERSISTENT, OVERLAP, OVERLAP_PERSISTENT, FORMS };

/* ---- plain ------------------------------------------------------------------------------------------- */

static int run_blocking(void *state, int64_t reps)
{
    const struct coll *c = state;
    int (*const call)(const struct coll *) = c->row->call;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        rc = call(c);
    return team_mpi_err(rc, c->row->name);
}

static int run_nonblocking(void *state, int64_t reps)
{
    const struct coll *c = state;
    int (*const start)(const struct coll *, MPI_Request *) = c->row->start;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        MPI_Request request;
        rc = start(c, &request);
        if (rc == MPI_SUCCESS)
            rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return team_mpi_err(rc, c->row->name);
}

static int run_persistent(void *state, int64_t reps)
{
    struct coll *c = state;
    MPI_Request *const request = c->request;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = MPI_Start(request);
        if (rc == MPI_SUCCESS)
            rc = MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    return team_mpi_err(rc, c->row->name);
}

/* ---- varied ------------------------------------------------------------------------------------------ */

static int once_blocking(struct coll *c)
{
    return c->row->call(c);
}

static int once_nonblocking(struct coll *c)
{
    MPI_Request request;
    int rc = c->row->start(c, &request);
    return rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

static int once_persistent(struct coll *c)
{
    int rc = MPI_Start(c->request);
    return rc == MPI_SUCCESS ? MPI_Wait(c->request, MPI_STATUS_IGNORE) : rc;
}

static int once_overlap(struct coll *c)
{
    c->work.requests = c->request;
    int rc = c->row->start(c, c->request);
    return rc == MPI_SUCCESS ? c->work.finish(&c->work) : rc;
}

static int once_overlap_persistent(struct coll *c)
{
    c->work.requests = c->request;
    int rc = MPI_Start(c->request);
    return rc == MPI_SUCCESS ? c->work.finish(&c->work) : rc;
}

static int run_steadily(void *state, int64_t reps)
{
    struct coll *c = state;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        rc = c->once(c);
    return team_mpi_err(rc, c->row->name);
}

static int run_varied(void *state, int64_t reps)
{
    struct coll *c = state;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        c->before(c);
        rc = c->once(c);
    }
    return team_mpi_err(rc, c->row->name);
}

/* ---- the table --------------------------------------------------------------------------------------- */

static const struct form {
    const char *name, *base; /* made from the row's */
    enum op_form form;
    int (*run)(void *state, int64_t reps);
    int (*once)(struct coll *c);
    bool persistent, works;
} forms[FORMS] = {
    [BLOCKING] = {"mpi.%s", "mpi.%s", FORM_BLOCKING, run_blocking, once_blocking, false, false},
    [NONBLOCKING] = {"mpi.i%s", "mpi.%s", FORM_NONBLOCKING, run_nonblocking, once_nonblocking, false, false},
    [PERSISTENT] = {"mpi.%s_init", "mpi.%s", FORM_PERSISTENT, run_persistent, once_persistent, true, false},
    [OVERLAP] = {"mpi.overlap.i%s", "mpi.overlap.%s", FORM_NONBLOCKING, run_steadily, once_overlap, false,
                 true},
    [OVERLAP_PERSISTENT] = {"mpi.overlap.%s_init", "mpi.overlap.%s", FORM_PERSISTENT, run_steadily,
                            once_overlap_persistent, true, true},
};

static int setup_form(const struct op_env *env, const struct form *form, void **state)
{
    struct coll *c = NULL;
    int err = coll_setup(env, form->persistent, form->works, &c);
    if (err)
        return err;
    c->run = c->before ? run_varied : form->run;
    c->once = form->once;
    *state = c;
    return 0;
}

static int setup_blocking(const struct op_env *env, void **state)
{
    return setup_form(env, &forms[BLOCKING], state);
}

static int setup_nonblocking(const struct op_env *env, void **state)
{
    return setup_form(env, &forms[NONBLOCKING], state);
}

static int setup_persistent(const struct op_env *env, void **state)
{
    return setup_form(env, &forms[PERSISTENT], state);
}

static int setup_overlap(const struct op_env *env, void **state)
{
    return setup_form(env, &forms[OVERLAP], state);
}

static int setup_overlap_persistent(const struct op_env *env, void **state)
{
    return setup_form(env, &forms[OVERLAP_PERSISTENT], state);
}

static int run(void *state, int64_t reps)
{
    const struct coll *c = state;
    return c->run(state, reps);
}

static const char *default_bytes(const struct coll_row *row, bool works)
{
    return !coll_sized(row) ? NULL : works ? "8,1Ki,64Ki" : coll_reduces(row) ? "8..1Mi" : "1..1Mi";
}

/* Methods without a clock take rank 0 as the root of all ranks, which arrive together. */
static enum op_flow flow_at(const struct op_env *env)
{
    const bool usual = coll_param(env, "root", 0) == 0 && coll_param(env, "roots", 0) == 0 &&
                       coll_param(env, "groups", 1) == 1 && coll_param(env, "arrival", 0) == 0;
    return usual ? env->op->flow : FLOW_NONE;
}

static void op_in_form(const struct coll_row *row, size_t form, struct op *op)
{
    static int (*const setups[FORMS])(const struct op_env *env, void **state) = {
        [BLOCKING] = setup_blocking,
        [NONBLOCKING] = setup_nonblocking,
        [PERSISTENT] = setup_persistent,
        [OVERLAP] = setup_overlap,
        [OVERLAP_PERSISTENT] = setup_overlap_persistent,
    };
    const struct form *f = &forms[form];
    const char *missing = row->missing;
    *op = (struct op){
        .summary = row->summary,
        .class = OP_COLLECTIVE,
        .role = f->works ? ROLE_OVERLAP : ROLE_COLLECTIVE,
        .form = f->form,
        .flow = row->flow,
        .flow_at = flow_at,
        .report = OP_SLOWEST,
        .parts = 1,
        .threaded = f->works,
        .works = f->works,
        .least_ranks = row->neighbours ? 2 : 0,
        .default_bytes = default_bytes(row, f->works),
        .params = row->params[f->works],
        .missing = missing         ? missing
                   : f->persistent ? MPI4_MISSING
                                   : NULL,
        .row = row,
        .setup = setups[form],
        .run = run,
        .verify = coll_verify,
        .teardown = coll_teardown,
        .moved = coll_sized(row) ? coll_moved : NULL,
    };
    snprintf(op->name, sizeof op->name, f->name, row->name);
    snprintf(op->base, sizeof op->base, f->base, row->name);
}

void coll_op_at(const struct coll_row *rows, size_t i, struct op *op)
{
    op_in_form(&rows[i / COLL_FORMS], i % COLL_FORMS, op);
}

void coll_overlap_at(const struct coll_row *rows, size_t i, struct op *op)
{
    op_in_form(&rows[i / COLL_OVERLAPS], OVERLAP + i % COLL_OVERLAPS, op);
    op->family = "overlap";
}
