/* The solver of the implicit proxies: conjugate gradients without a preconditioner (Hestenes and Stiefel,
 * 1952; Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithm 6.18), a fixed number of
 * steps:
 *
 *     r = b - A x, p = r;  then each step:  q = A p;  alpha = r.r / p.q;  x += alpha p;  r -= alpha q;
 *                                           beta = r.r / (r.r before);  p = r + beta p
 *
 * A step needs the p of neighbours (exchange), and two sums over all ranks. */
#ifndef KERNELS_APP_CG_H
#define KERNELS_APP_CG_H

#include "kernels/app/brick.h"
#include "kernels/csr.h"

/* Rows of a kernel's table of phases; CG_PHASE_SPMV is number `phase` there. */
enum { CG_PHASE_SPMV, CG_PHASE_WAXPBY, CG_PHASE_DDOT, CG_PHASE_EXCHANGE, CG_PHASE_SUMS };
#define CG_PHASES(at)                                                                                        \
    [(at) + CG_PHASE_SPMV] = {"spmv", false}, [(at) + CG_PHASE_WAXPBY] = {"waxpby", false},                  \
            [(at) + CG_PHASE_DDOT] = {"ddot", false}, [(at) + CG_PHASE_EXCHANGE] = {"exchange", true},       \
            [(at) + CG_PHASE_SUMS] = {"sums", true}

struct cg_lane;

struct cg {
    struct kernel_env *env;
    const struct csr *a;
    int64_t rows;
    int phase;
    double *x, *r, *p, *q;  /* p is a field, with outer elements */
    struct brick_halo halo; /* of p */
    struct cg_lane *lanes;
    double sum; /* over all ranks, after comm_run() */
    struct comm_plan *add;
};

/* Bytes that it takes, without the matrix. */
double cg_memory(const struct kernel_env *env, const struct brick *brick);

/* Vectors for the rows of a brick. Fails on one rank alone: agree on it, then cg_open(), which is collective
 * as comm_plan_exchange() is. */
int cg_alloc(struct kernel_env *env, const struct brick *brick, const struct csr *a, int phase,
             struct cg *cg);
int cg_open(struct cg *cg, const struct brick *brick, int failed);
void cg_close(struct cg *cg); /* one that is {0} is fine */

/* q = A p, with the p of the neighbours; w = a + scale b; *sum = a . b over all ranks. Each ends a phase. */
int cg_apply(struct cg *cg);
void cg_add(struct cg *cg, const double *a, double scale, const double *b, double *w);
int cg_dot(struct cg *cg, const double *a, const double *b, double *sum);

/* r = b - A x, and p = x on the way: where x is not 0 at the start. */
int cg_begin(struct cg *cg, const double *b);

/* What a kernel's row says of its answer: the norm of x, by how much that may differ where sums are made in
 * another order, and every bit of x and r. */
extern const char *const cg_names[2];
double cg_alike(const double *params);
int64_t cg_digest(const struct cg *cg);

/* The steps, from r = b - A x; ends early where r is 0. */
int cg_iterate(struct cg *cg, int64_t iterations);

/* Adds to `sum` the squares of A p - r over the rows of this rank. Where p is the error of x, the solution
 * less it, A p is the residual that x has, and r the one that the solver says it has. */
int cg_add_residual(struct cg *cg, double *sum);

/* How far these may be apart after so many steps, over the norm of the solution: r is not computed from x,
 * and rounding makes it another, by at most (10 + 2 c) epsilon |A| |x| a step, c the rounding of a product
 * with A in epsilons (Greenbaum, SIAM J. Matrix Anal. Appl. 18, 1997, 535): here the entries of a row. */
double cg_residual_allowed(int64_t steps, int entries, double norm);

/* By how much at most so many steps leave of the error, relative, 2-norm, before rounding: a step brings it
 * down by (sqrt(k) - 1) / (sqrt(k) + 1) at least, k the condition of A (Saad, equation 6.128). */
double cg_error_allowed(int64_t steps, double condition);

/* ERR_WRONG and a sentence about the first deviation that is larger than allowed, or about messages that came
 * otherwise than they went. Collective. */
struct cg_claim {
    const char *what; /* "x is off from the solution" */
    double is, allowed;
};
int cg_judge(struct cg *cg, int64_t steps, const struct cg_claim *claims, int count);

#endif
