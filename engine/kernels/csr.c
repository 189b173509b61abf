#include "kernels/csr.h"

#include "base/hot.h"

#include <stdlib.h>

double csr_memory(double rows, double entries)
{
    return (rows + 1) * sizeof(int64_t) + entries * (sizeof(int32_t) + sizeof(double));
}

int csr_alloc_rows(struct kernel_env *env, size_t rows, struct csr *a)
{
    return kernel_alloc(env, rows + 1, sizeof *a->start, &a->start);
}

int csr_alloc_entries(struct kernel_env *env, size_t entries, struct csr *a)
{
    const int err = kernel_alloc(env, entries, sizeof *a->column, &a->column);
    return err ? err : kernel_alloc(env, entries, sizeof *a->value, &a->value);
}

void csr_free(struct csr *a)
{
    free(a->start);
    free(a->column);
    free(a->value);
    *a = (struct csr){0};
}

int64_t csr_multiply_moves(const struct csr *a, int64_t rows, int64_t columns)
{
    const int64_t entry = sizeof *a->value + sizeof *a->column, row = sizeof *a->start + sizeof(double);
    return a->start[rows] * entry + rows * row + columns * (int64_t)sizeof(double);
}

/* So many entries ahead: 4.5 KiB, some 160 ns of what a core can read, which is more than memory takes. What
 * processors fetch ahead by themselves is too late where rows are short (12 % slower on a Zen 4), and what is
 * read once a product need not push the vector out of the caches. */
enum { AHEAD = 384, SUMS = 4 };

static inline void fetch_ahead(const struct csr *a, int64_t entry)
{
    __builtin_prefetch(a->value + entry + AHEAD, 0, 0);
    __builtin_prefetch(a->column + entry + AHEAD, 0, 0);
}

/* Four sums, so that an addition need not wait for the one before; as a vector, values take one load in four.
 */
typedef double four __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double))));

static inline void add_products(const struct csr *a, int64_t k, const double *restrict p, four *sums)
{
    const int32_t *c = a->column + k;
    *sums += *(const four *)(a->value + k) * (four){p[c[0]], p[c[1]], p[c[2]], p[c[3]]};
}

HOT void csr_multiply(const struct csr *matrix, int64_t first, int64_t end, const double *restrict p,
                      double *restrict w)
{
    const struct csr a = *matrix;
    for (int64_t i = first; i < end; ++i) {
        four s = {0};
        int64_t k = a.start[i];
        const int64_t stop = a.start[i + 1];
        for (; k + 2 * SUMS <= stop; k += 2 * SUMS) {
            fetch_ahead(&a, k);
            add_products(&a, k, p, &s);
            add_products(&a, k + SUMS, p, &s);
        }
        for (; k + SUMS <= stop; k += SUMS)
            add_products(&a, k, p, &s);
        for (; k < stop; ++k)
            s[0] += a.value[k] * p[a.column[k]];
        w[i] = (s[0] + s[1]) + (s[2] + s[3]);
    }
}

HOT double vector_dot(int64_t count, const double *restrict a, const double *restrict b)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; ++i)
        sum += a[i] * b[i];
    return sum;
}

HOT void vector_add(int64_t count, const double *a, double scale, const double *b, double *w)
{
#pragma omp simd
    for (int64_t i = 0; i < count; ++i)
        w[i] = a[i] + scale * b[i];
}
