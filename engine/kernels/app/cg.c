#include "kernels/app/cg.h"
#include "kernels/app/app.h"

#include "base/err.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { LINE = 64 };

/* A sum of a lane, on a cache line of its own. */
struct cg_lane {
    _Alignas(LINE) double sum;
};

double cg_memory(const struct kernel_env *env, const struct brick *brick)
{
    return brick_halo_memory(brick) + sizeof(double) * (4 * (double)brick->own + (double)brick->outer) +
           sizeof(struct cg_lane) * (double)env->threads;
}

int cg_alloc(struct kernel_env *env, const struct brick *brick, const struct csr *a, int phase, struct cg *cg)
{
    *cg = (struct cg){.env = env, .a = a, .rows = brick->own, .phase = phase};
    double **vectors[] = {&cg->x, &cg->r, &cg->q};
    int err = kernel_alloc(env, (size_t)env->threads, sizeof *cg->lanes, &cg->lanes);
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0] && !err; ++i)
        err = kernel_alloc(env, (size_t)brick->own, sizeof **vectors[i], vectors[i]);
    return err ? err : kernel_alloc(env, (size_t)(brick->own + brick->outer), sizeof *cg->p, &cg->p);
}

int cg_open(struct cg *cg, const struct brick *brick, int failed)
{
    const int err = brick_halo_open(cg->env, brick, cg->p, failed, &cg->halo);
    return comm_plan_sum(&cg->env->comm, COMM_COLLECTIVE, &cg->sum, 1, err, &cg->add);
}

void cg_close(struct cg *cg)
{
    brick_halo_close(&cg->halo);
    comm_plan_close(cg->add);
    free(cg->lanes);
    free(cg->x);
    free(cg->r);
    free(cg->p);
    free(cg->q);
    *cg = (struct cg){0};
}

/* ---- on all lanes -------------------------------------------------------------------------------------- */

static int64_t vector_bytes(const struct cg *cg)
{
    return cg->rows * (int64_t)sizeof(double);
}

int cg_dot(struct cg *cg, const double *a, const double *b, double *sum)
{
    const int lanes = cg->env->threads;
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int l = 0; l < lanes; ++l) {
        struct share part = share_of(cg->rows, lanes, l);
        cg->lanes[l].sum = vector_dot(part.count, a + part.first, b + part.first);
    }
    cg->sum = 0;
    for (int l = 0; l < lanes; ++l)
        cg->sum += cg->lanes[l].sum;
    phase_moves(cg->env->phases, cg->phase + CG_PHASE_DDOT, (a == b ? 1 : 2) * vector_bytes(cg));
    phase_end(cg->env->phases, cg->phase + CG_PHASE_DDOT);
    int err = comm_run(cg->add);
    phase_end(cg->env->phases, cg->phase + CG_PHASE_SUMS);
    *sum = cg->sum;
    return err;
}

void cg_add(struct cg *cg, const double *a, double scale, const double *b, double *w)
{
    const int lanes = cg->env->threads;
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int l = 0; l < lanes; ++l) {
        struct share part = share_of(cg->rows, lanes, l);
        vector_add(part.count, a + part.first, scale, b + part.first, w + part.first);
    }
    phase_moves(cg->env->phases, cg->phase + CG_PHASE_WAXPBY, 3 * vector_bytes(cg));
    phase_end(cg->env->phases, cg->phase + CG_PHASE_WAXPBY);
}

int cg_apply(struct cg *cg)
{
    const int lanes = cg->env->threads;
    brick_halo_pack(&cg->halo);
    int err = brick_halo_exchange(&cg->halo);
    phase_end(cg->env->phases, cg->phase + CG_PHASE_EXCHANGE);
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int l = 0; l < lanes; ++l) {
        struct share part = share_of(cg->rows, lanes, l);
        csr_multiply(cg->a, part.first, part.first + part.count, cg->p, cg->q);
    }
    phase_moves(cg->env->phases, cg->phase + CG_PHASE_SPMV,
                csr_multiply_moves(cg->a, cg->rows, cg->rows + cg->halo.brick->outer));
    phase_end(cg->env->phases, cg->phase + CG_PHASE_SPMV);
    return err;
}

/* ---- the solver ---------------------------------------------------------------------------------------- */

int cg_begin(struct cg *cg, const double *b)
{
    cg_add(cg, cg->x, 0, cg->x, cg->p);
    int err = cg_apply(cg);
    cg_add(cg, b, -1, cg->q, cg->r);
    return err;
}

int cg_iterate(struct cg *cg, int64_t iterations)
{
    double rr = 0, before = 0, pq = 0;
    int err = cg_dot(cg, cg->r, cg->r, &rr);
    for (int64_t k = 0; k < iterations && rr > 0 && !err; ++k) {
        cg_add(cg, cg->r, k == 0 ? 0 : rr / before, cg->p, cg->p);
        err = cg_apply(cg);
        if (!err)
            err = cg_dot(cg, cg->p, cg->q, &pq);
        const double alpha = rr / pq;
        cg_add(cg, cg->x, alpha, cg->p, cg->x);
        cg_add(cg, cg->r, -alpha, cg->q, cg->r);
        before = rr;
        if (!err)
            err = cg_dot(cg, cg->r, cg->r, &rr);
    }
    return err;
}

/* ---- the answer ---------------------------------------------------------------------------------------- */

const char *const cg_names[] = {"norm of x", NULL};

double cg_alike(const double *params)
{
    (void)params;
    return APP_ALIKE;
}

/* Later steps mend x, but r keeps what any step rounded. */
int64_t cg_digest(const struct cg *cg)
{
    return kernel_digest(cg->env, cg->x, cg->rows) + kernel_digest(cg->env, cg->r, cg->rows);
}

int cg_add_residual(struct cg *cg, double *sum)
{
    const int err = cg_apply(cg);
    for (int64_t i = 0; i < cg->rows; ++i)
        *sum += (cg->q[i] - cg->r[i]) * (cg->q[i] - cg->r[i]);
    return err;
}

double cg_residual_allowed(int64_t steps, int entries, double norm)
{
    return (double)(steps + 1) * (10 + 2 * entries) * DBL_EPSILON * norm;
}

double cg_error_allowed(int64_t steps, double condition)
{
    const double root = sqrt(condition);
    return 2 * root * pow((root - 1) / (root + 1), (double)steps);
}

int cg_judge(struct cg *cg, int64_t steps, const struct cg_claim *claims, int count)
{
    const int err = brick_halo_check(&cg->halo);
    for (const struct cg_claim *c = claims; c < claims + count; ++c)
        if (!(c->is <= c->allowed)) /* and not a number is wrong too */
            return err_say(ERR_WRONG, "%s: after %lld iterations %s by %.2g, allowed are %.2g",
                           cg->env->kernel->name, (long long)steps, c->what, c->is, c->allowed);
    return err;
}
