/* BT and SP but for what they solve along lines: the approximate factorisation of RNR-94-007, chapter 3. */
#include "kernels/npb/cfd.h"

#include "base/err.h"

#include <stdlib.h>

struct adi_state {
    struct cfd cfd;
    struct cfd_pipe pipe;
};

static const struct cfd_adi *adi_of(const struct kernel_env *env)
{
    return env->kernel->own;
}

static const struct cfd_problem *problem_of(const struct kernel_env *env)
{
    return &adi_of(env)->problems[npb_class(env->params)];
}

int cfd_adi_ranks(const struct kernel_env *env)
{
    const struct cfd_problem *problem = problem_of(env);
    struct cfd_grid grid;
    return cfd_grid(problem, env->comm.size, &grid) ? 0 : cfd_refuse(env, problem);
}

/* What does not fit has been refused. */
static void prepare(struct kernel_env *env, struct cfd *c)
{
    const struct cfd_problem *problem = problem_of(env);
    struct cfd_grid grid = {{1, 1, 1}};
    cfd_grid(problem, env->comm.size, &grid);
    cfd_prepare(env, problem, &grid, c);
}

double cfd_adi_memory(const struct kernel_env *env)
{
    struct kernel_env copy = *env;
    struct cfd c;
    prepare(&copy, &c);
    return cfd_memory(&c) + cfd_pipe_memory(&c, &adi_of(env)->sweep);
}

void cfd_adi_close(void *state)
{
    struct adi_state *s = state;
    cfd_pipe_close(&s->pipe);
    cfd_close(&s->cfd);
    free(s);
}

int cfd_adi_open(struct kernel_env *env, void **state)
{
    struct adi_state *s = calloc(1, sizeof *s);
    int err = s ? 0 : err_say(ERR_NOMEM, "no memory for the state of a kernel");
    bool stop;
    if (s) {
        prepare(env, &s->cfd);
        err = cfd_pipe_open(&s->cfd, &adi_of(env)->sweep, &s->pipe);
    }
    err = kernel_agree(env, err, &stop);
    if (!stop)
        err = cfd_open(&s->cfd);
    if ((stop || err) && s) {
        cfd_pipe_close(&s->pipe);
        free(s);
    } else
        *state = s;
    return err;
}

int cfd_adi_reset(void *state)
{
    struct adi_state *s = state;
    cfd_start(&s->cfd);
    return 0;
}

int cfd_adi_solve(void *state)
{
    struct adi_state *s = state;
    struct phases *phases = s->cfd.env->phases;
    const struct cfd_sweep *sweep = &adi_of(s->cfd.env)->sweep;
    int err = 0;
    phase_begin(phases);
    for (int step = 0; step < s->cfd.problem.steps && !err; ++step) {
        err = cfd_exchange(&s->cfd);
        phase_end(phases, CFD_PHASE_HALO);
        if (err)
            return err;
        cfd_rhs(&s->cfd);
        phase_end(phases, CFD_PHASE_RHS);
        for (int axis = 0; axis < CFD_AXES && !err; ++axis)
            err = cfd_sweep(&s->cfd, sweep, &s->pipe, axis);
    }
    return err;
}

int cfd_adi_answer(void *state, double values[KERNEL_VALUES_MAX], int *count)
{
    struct adi_state *s = state;
    return cfd_answer(&s->cfd, values, count);
}
