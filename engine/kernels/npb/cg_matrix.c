/* The matrix of CG: RNR-94-007, section 3.4.3 (MAKEA). A sum of n outer products of sparse random vectors, of
 * weights that fall from 1 to RCOND in geometric progression, plus RCOND - shift on the diagonal.
 *
 * The sequence of vectors is one stream of random numbers with rejections, so every rank makes all of it, and
 * keeps the elements of its own block: once to count those of each row, once to fill them in. */
#include "kernels/npb/cg.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double RCOND = 0.1; /* condition of the matrix before the shift */
enum { NONZERS_MAX = 32 };

/* One sparse vector: `count` values, each at a place of its own. */
struct sparse {
    int count;
    int32_t at[NONZERS_MAX];
    double value[NONZERS_MAX];
};

/* Vector number i (from 0): `nonzer` random values at random places that are below n, and 1/2 at place i. */
static void next_vector(uint64_t *x, const struct cg_problem *p, int64_t i, struct sparse *v)
{
    int64_t range = 1; /* places are asked for below a power of two, and those of n or more refused */
    while (range < p->n)
        range *= 2;
    v->count = 0;
    while (v->count < p->nonzer) {
        double value = npb_random(x, NPB_MULTIPLIER);
        int64_t at = (int64_t)((double)range * npb_random(x, NPB_MULTIPLIER));
        bool known = at >= p->n;
        for (int k = 0; k < v->count && !known; ++k)
            known = v->at[k] == at;
        if (!known) {
            v->at[v->count] = (int32_t)at;
            v->value[v->count++] = value;
        }
    }
    for (int k = 0; k < v->count; ++k)
        if (v->at[k] == i) {
            v->value[k] = 0.5;
            return;
        }
    v->at[v->count] = (int32_t)i;
    v->value[v->count++] = 0.5;
}

static bool within(struct share s, int32_t at)
{
    return at >= s.first && at < s.first + s.count;
}

/* An element before those of one place are added up. */
struct element {
    int32_t column; /* of my block */
    double value;
};

/* Every element of my block, in the order in which they come, to `take`. */
static void each_element(const struct cg_matrix *m, const struct cg_problem *p,
                         void (*take)(void *arg, int64_t row, struct element e), void *arg)
{
    const double ratio = pow(RCOND, 1.0 / (double)p->n);
    uint64_t x = NPB_SEED;
    double weight = 1;
    npb_random(&x, NPB_MULTIPLIER); /* the first number is not used */
    for (int64_t i = 0; i < p->n; ++i, weight *= ratio) {
        struct sparse v;
        next_vector(&x, p, i, &v);
        for (int r = 0; r < v.count; ++r) {
            if (!within(m->rows, v.at[r]))
                continue;
            for (int c = 0; c < v.count; ++c)
                if (within(m->columns, v.at[c])) {
                    double value = weight * v.value[r] * v.value[c];
                    value += v.at[r] == i && v.at[c] == i ? RCOND - p->shift : 0;
                    take(arg, v.at[r] - m->rows.first,
                         (struct element){(int32_t)(v.at[c] - m->columns.first), value});
                }
        }
    }
}

struct rows {
    size_t *next; /* of each row, and of the end */
    struct element *elements;
};

static void count_element(void *arg, int64_t row, struct element e)
{
    (void)e;
    ++((struct rows *)arg)->next[row + 1];
}

static void put_element(void *arg, int64_t row, struct element e)
{
    struct rows *r = arg;
    r->elements[r->next[row]++] = e;
}

static int by_column(const void *a, const void *b)
{
    int32_t x = ((const struct element *)a)->column, y = ((const struct element *)b)->column;
    return (x > y) - (x < y);
}

/* Sort a row and add up what stands at one place; how many places there are. */
static size_t merge_row(struct element *e, size_t count)
{
    size_t kept = 0;
    qsort(e, count, sizeof *e, by_column);
    for (size_t i = 0; i < count; ++i)
        if (kept > 0 && e[kept - 1].column == e[i].column)
            e[kept - 1].value += e[i].value;
        else
            e[kept++] = e[i];
    return kept;
}

/* Rows of elements, `start` still as the counts made it, become the matrix. */
static int pack(struct kernel_env *env, struct cg_matrix *m, struct rows *r, const size_t *start)
{
    const int64_t rows = m->rows.count;
    const int lanes = env->threads;
    struct csr *a = &m->a;
    int err = csr_alloc_rows(env, (size_t)rows, a);
    if (err)
        return err;
#pragma omp parallel for num_threads(lanes) schedule(dynamic, 64)
    for (int64_t i = 0; i < rows; ++i)
        a->start[i + 1] = (int64_t)merge_row(r->elements + start[i], start[i + 1] - start[i]);
    a->start[0] = 0;
    for (int64_t i = 0; i < rows; ++i)
        a->start[i + 1] += a->start[i];
    err = csr_alloc_entries(env, (size_t)a->start[rows], a);
    if (err)
        return err;
#pragma omp parallel for num_threads(lanes) schedule(static)
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t k = a->start[i]; k < a->start[i + 1]; ++k) {
            const struct element *e = &r->elements[start[i] + (size_t)(k - a->start[i])];
            a->column[k] = e->column;
            a->value[k] = e->value;
            kernel_spoil(env, &a->value[k]);
        }
    return 0;
}

int cg_matrix_make(struct kernel_env *env, const struct cg_problem *p, struct cg_matrix *m)
{
    struct rows r = {0};
    const size_t rows = (size_t)m->rows.count;
    size_t *start = NULL;
    r.next = calloc(rows + 2, sizeof *r.next);
    start = calloc(rows + 2, sizeof *start);
    int err = r.next && start ? 0 : err_say(ERR_NOMEM, "no memory for the rows of a matrix");
    if (!err) {
        each_element(m, p, count_element, &r);
        for (size_t i = 0; i < rows; ++i)
            r.next[i + 1] += r.next[i];
        memcpy(start, r.next, (rows + 1) * sizeof *start);
        r.elements = malloc((start[rows] + 1) * sizeof *r.elements);
        err = r.elements ? 0 : err_say(ERR_NOMEM, "no memory for %zu elements of a matrix", start[rows]);
    }
    if (!err) {
        each_element(m, p, put_element, &r);
        err = pack(env, m, &r, start);
    }
    free(r.next);
    free(r.elements);
    free(start);
    if (err)
        csr_free(&m->a);
    return err;
}
