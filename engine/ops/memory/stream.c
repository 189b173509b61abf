/* mem.stream.*, mem.read, mem.write: how fast threads read and write a working set, in each level of the
 * memory hierarchy. They include the four kernels of STREAM (McCalpin 1995).
 *
 * The size is that of all arrays of all threads together. A repetition touches each byte of it once. A thread
 * has its own arrays and touches them first, so that their pages are near it. */
#define _GNU_SOURCE
#include "ops/families.h"

#include "base/err.h"
#include "base/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    LINE = 64,
    PAGE = 4096,
    STAGGER = 1024, /* between the starts of two arrays within their pages: with equal ones, stores delay
                       loads whose addresses have the same last 12 bits */
    PACKS = 4,      /* in a line */
    ARRAYS_MOST = 3
};

/* As much as every 64-bit processor loads at once. A loop over whole lines leaves no choice to the
 * compiler. */
union pack {
    double number __attribute__((vector_size(16)));
    uint64_t word __attribute__((vector_size(16)));
    double at[2];
    uint64_t bits[2];
};

struct memory_line {
    union pack pack[PACKS];
};

struct stream;

/* A row: the operation on the lines of a lane, and the number that its first array then holds. */
struct stream_kernel {
    int arrays;
    uint64_t (*work)(struct memory_line *to, const struct memory_line *a, const struct memory_line *b,
                     size_t lines);
    double (*expect)(double before, double a, double b);
    bool sums; /* it sums the bits of its array, as words of 64 bits, and writes nothing */
};

/* One for each thread, on a cache line of its own. */
struct stream_lane {
    _Alignas(LINE) struct memory_line *array[ARRAYS_MOST];
    uint64_t sum;
};

struct stream {
    const struct stream_kernel *kernel;
    struct pool *pool;
    int lanes;
    size_t lines;  /* in one array of a lane */
    size_t stride; /* from one array to the next, in bytes */
    int64_t reps;
    bool planted;
    struct stream_lane *lane;
};

/* ---- kernels ----------------------------------------------------------------------------------------- */

/* One line, written out: compilers' code for an inner loop differs by a factor of two. */

static const double FACTOR = 3, WRITTEN = 7;

static uint64_t copy(struct memory_line *to, const struct memory_line *a, const struct memory_line *b,
                     size_t lines)
{
    (void)b;
    for (size_t i = 0; i < lines; ++i) {
        to[i].pack[0].number = a[i].pack[0].number;
        to[i].pack[1].number = a[i].pack[1].number;
        to[i].pack[2].number = a[i].pack[2].number;
        to[i].pack[3].number = a[i].pack[3].number;
    }
    return 0;
}

static uint64_t scale(struct memory_line *to, const struct memory_line *a, const struct memory_line *b,
                      size_t lines)
{
    (void)b;
    for (size_t i = 0; i < lines; ++i) {
        to[i].pack[0].number = FACTOR * a[i].pack[0].number;
        to[i].pack[1].number = FACTOR * a[i].pack[1].number;
        to[i].pack[2].number = FACTOR * a[i].pack[2].number;
        to[i].pack[3].number = FACTOR * a[i].pack[3].number;
    }
    return 0;
}

static uint64_t add(struct memory_line *to, const struct memory_line *a, const struct memory_line *b,
                    size_t lines)
{
    for (size_t i = 0; i < lines; ++i) {
        to[i].pack[0].number = a[i].pack[0].number + b[i].pack[0].number;
        to[i].pack[1].number = a[i].pack[1].number + b[i].pack[1].number;
        to[i].pack[2].number = a[i].pack[2].number + b[i].pack[2].number;
        to[i].pack[3].number = a[i].pack[3].number + b[i].pack[3].number;
    }
    return 0;
}

static uint64_t triad(struct memory_line *to, const struct memory_line *a, const struct memory_line *b,
                      size_t lines)
{
    for (size_t i = 0; i < lines; ++i) {
        to[i].pack[0].number = a[i].pack[0].number + FACTOR * b[i].pack[0].number;
        to[i].pack[1].number = a[i].pack[1].number + FACTOR * b[i].pack[1].number;
        to[i].pack[2].number = a[i].pack[2].number + FACTOR * b[i].pack[2].number;
        to[i].pack[3].number = a[i].pack[3].number + FACTOR * b[i].pack[3].number;
    }
    return 0;
}

static uint64_t write_all(struct memory_line *to, const struct memory_line *a, const struct memory_line *b,
                          size_t lines)
{
    (void)a, (void)b;
    const union pack value = {.at = {WRITTEN, WRITTEN}};
    for (size_t i = 0; i < lines; ++i) {
        to[i].pack[0].number = value.number;
        to[i].pack[1].number = value.number;
        to[i].pack[2].number = value.number;
        to[i].pack[3].number = value.number;
    }
    return 0;
}

/* Four independent sums. */
static uint64_t read_all(struct memory_line *to, const struct memory_line *a, const struct memory_line *b,
                         size_t lines)
{
    (void)a, (void)b;
    union pack s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (size_t i = 0; i < lines; ++i) {
        s0.word += to[i].pack[0].word;
        s1.word += to[i].pack[1].word;
        s2.word += to[i].pack[2].word;
        s3.word += to[i].pack[3].word;
    }
    s0.word += s1.word + s2.word + s3.word;
    return s0.bits[0] + s0.bits[1];
}

static double expect_copy(double before, double a, double b)
{
    (void)before, (void)b;
    return a;
}

static double expect_scale(double before, double a, double b)
{
    (void)before, (void)b;
    return FACTOR * a;
}

static double expect_add(double before, double a, double b)
{
    (void)before;
    return a + b;
}

static double expect_triad(double before, double a, double b)
{
    (void)before;
    return a + FACTOR * b;
}

static double expect_written(double before, double a, double b)
{
    (void)before, (void)a, (void)b;
    return WRITTEN;
}

static double expect_same(double before, double a, double b)
{
    (void)a, (void)b;
    return before;
}

/* ---- run and verify ---------------------------------------------------------------------------------- */

static void work(void *state, int index)
{
    struct stream *s = state;
    struct stream_lane *lane = &s->lane[index];
    for (int64_t i = 0; i < s->reps; ++i) {
        lane->sum = s->kernel->work(lane->array[0], lane->array[1], lane->array[2], s->lines);
        __asm__ volatile("" ::: "memory");
    }
}

static int run(void *state, int64_t reps)
{
    struct stream *s = state;
    s->reps = reps;
    pool_run(s->pool, work, s);
    return 0;
}

/* Number i of array k of a lane: a small whole number, so that sums and products are exact. */
static double number(int lane, int array, size_t i)
{
    return (double)((i + (size_t)lane * 5 + (size_t)array * 11) % 1021 + 1);
}

static void fill(void *state, int index)
{
    const struct stream *s = state;
    for (int k = 0; k < s->kernel->arrays; ++k)
        for (size_t i = 0; i < s->lines; ++i)
            for (size_t n = 0; n < 2 * PACKS; ++n)
                s->lane[index].array[k][i].pack[n / 2].at[n % 2] = number(index, k, 2 * PACKS * i + n);
}

static int check_lane(const struct stream *s, int index)
{
    const struct stream_lane *lane = &s->lane[index];
    uint64_t sum = 0;
    for (size_t i = 0; i < 2 * PACKS * s->lines; ++i) {
        const union pack *pack = &lane->array[0][i / (2 * PACKS)].pack[i / 2 % PACKS];
        const double wanted =
            s->kernel->expect(number(index, 0, i), number(index, 1, i), number(index, 2, i));
        sum += pack->bits[i % 2];
        if (pack->at[i % 2] != wanted)
            return err_say(ERR_WRONG, "number %zu of thread %d is %.17g, should be %.17g", i, index,
                           pack->at[i % 2], wanted);
    }
    if (s->kernel->sums && lane->sum != sum)
        return err_say(ERR_WRONG, "thread %d read numbers whose bits sum up to %llx, should be %llx", index,
                       (unsigned long long)lane->sum, (unsigned long long)sum);
    return 0;
}

static int verify(void *state)
{
    struct stream *s = state;
    pool_run(s->pool, fill, s);
    int err = run(s, 1);
    if (s->planted && s->kernel->sums)
        s->lane[s->lanes - 1].sum ^= 1;
    else if (s->planted)
        s->lane[s->lanes - 1].array[0][s->lines - 1].pack[PACKS - 1].bits[1] ^= 1;
    for (int i = 0; i < s->lanes && !err; ++i)
        err = check_lane(s, i);
    return err;
}

/* ---- setup ------------------------------------------------------------------------------------------- */

static size_t lines_of(const struct op_env *env)
{
    const struct stream_kernel *kernel = env->op->row;
    return env->bytes / ((size_t)kernel->arrays * (size_t)env->threads * LINE);
}

static void teardown(void *state)
{
    struct stream *s = state;
    pool_close(s->pool);
    for (int i = 0; s->lane && i < s->lanes; ++i)
        if (s->lane[i].array[0])
            munmap(s->lane[i].array[0], (size_t)s->kernel->arrays * s->stride);
    free(s->lane);
    free(s);
}

/* Memory straight from the system, because malloc() may return memory that is already touched. */
static int alloc(struct stream *s, enum node_choice node)
{
    s->lane = aligned_alloc(LINE, (size_t)s->lanes * sizeof *s->lane);
    if (!s->lane)
        return err_say(ERR_NOMEM, "no memory for %d threads", s->lanes);
    memset(s->lane, 0, (size_t)s->lanes * sizeof *s->lane);
    const size_t bytes = (size_t)s->kernel->arrays * s->stride;
    for (int i = 0; i < s->lanes; ++i) {
        void *memory =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            return err_say(ERR_NOMEM, "no memory for arrays of %zu bytes: %s", bytes, strerror(errno));
        s->lane[i].array[0] = memory; /* unmapped also after an error */
        const int err = node_keep(node, memory, bytes);
        if (err)
            return err;
        for (int k = 0; k < s->kernel->arrays; ++k)
            s->lane[i].array[k] = (struct memory_line *)(void *)((char *)memory + (size_t)k * s->stride);
    }
    return 0;
}

static int setup(const struct op_env *env, void **state)
{
    const struct stream_kernel *kernel = env->op->row;
    const size_t lines = lines_of(env), least = (size_t)kernel->arrays * (size_t)env->threads * LINE;
    if (lines == 0)
        return err_say(ERR_UNSUPPORTED, "%s in %d threads needs %zu bytes at least, a cache line an array",
                       env->op->name, env->threads, least);
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *s = (struct stream){.kernel = kernel,
                         .lanes = env->threads,
                         .lines = lines,
                         .stride = (lines * LINE + PAGE - 1) / PAGE * PAGE + STAGGER,
                         .planted = env->planted};
    int err = alloc(s, (enum node_choice)(int)env->params[0]);
    err = err ? err : pool_open(env->threads, &s->pool);
    if (err)
        teardown(s);
    else
        *state = s;
    return err;
}

/* The part of a size that makes whole lines. */
static double moved(const struct op_env *env)
{
    const struct stream_kernel *kernel = env->op->row;
    return (double)(lines_of(env) * (size_t)kernel->arrays * (size_t)env->threads * LINE);
}

static const struct param params[] = {NODE_PARAM, {0}};

static const struct op rows[] = {
    {.name = "mem.stream.copy",
     .summary = "STREAM's copy, c = a, by T threads; the size is all arrays of all threads",
     .row = &(const struct stream_kernel){2, copy, expect_copy, false}},
    {.name = "mem.stream.scale",
     .summary = "STREAM's scale, b = 3 c, by T threads; the size is all arrays of all threads",
     .row = &(const struct stream_kernel){2, scale, expect_scale, false}},
    {.name = "mem.stream.add",
     .summary = "STREAM's add, c = a + b, by T threads; the size is all arrays of all threads",
     .row = &(const struct stream_kernel){3, add, expect_add, false}},
    {.name = "mem.stream.triad",
     .summary = "STREAM's triad, a = b + 3 c, by T threads; the size is all arrays of all threads",
     .row = &(const struct stream_kernel){3, triad, expect_triad, false}},
    {.name = "mem.read",
     .summary = "reads of a working set by T threads, each its part",
     .row = &(const struct stream_kernel){1, read_all, expect_same, true}},
    {.name = "mem.write",
     .summary = "writes of a working set by T threads, each its part",
     .row = &(const struct stream_kernel){1, write_all, expect_written, false}},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    op->family = "memory";
    op->class = OP_LOCAL;
    op->role = ROLE_BANDWIDTH;
    op->report = OP_SLOWEST;
    op->parts = 1;
    op->threaded = true;
    op->default_bytes = "4Ki..256Mi";
    op->params = params;
    op->setup = setup;
    op->run = run;
    op->verify = verify;
    op->teardown = teardown;
    op->moved = moved;
}

const struct op_family mem_stream_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
