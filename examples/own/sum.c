/* Two operations without MPI: the sum of an array by one thread, and by several with Pthreads. */
#include <steelyard/op.h>

#include <pthread.h>
#include <stdlib.h>

enum { STRIDE }; /* the parameter */

static const struct steelyard_param params[] = {
    [STRIDE] = {"stride", "numbers", "distance of the numbers that are added", 1, 1, 1024, NULL},
    {0},
};

struct sum {
    const struct steelyard_env *env;
    uint32_t *numbers;
    size_t count, stride;
    uint64_t total;
};

static uint64_t sum_of(const struct sum *s, size_t from, size_t to)
{
    uint64_t total = 0;
    for (size_t i = from; i < to; i += s->stride)
        total += s->numbers[i];
    return total;
}

static int run(void *state, int64_t repetitions)
{
    struct sum *s = state;
    for (int64_t i = 0; i < repetitions; ++i) {
        s->total = sum_of(s, 0, s->count);
        __asm__ volatile("" ::: "memory"); /* each repetition reads the numbers again */
    }
    return 0;
}

/* A thread sums its own part, which begins at a multiple of the stride. */
struct part {
    const struct sum *sum;
    size_t from, to;
    int thread;
    uint64_t total;
};

static void *sum_part(void *argument)
{
    struct part *part = argument;
    part->sum->env->place_thread(part->thread);
    part->total = sum_of(part->sum, part->from, part->to);
    return NULL;
}

static int run_threads(void *state, int64_t repetitions)
{
    struct sum *s = state;
    enum { MOST = 64 };
    struct part parts[MOST];
    pthread_t threads[MOST];
    const int count = s->env->threads;
    const size_t each = (s->count / (size_t)count / s->stride + 1) * s->stride;
    for (int64_t i = 0; i < repetitions; ++i) {
        uint64_t total = 0;
        for (int t = 0; t < count; ++t) {
            const size_t from = (size_t)t * each, to = from + each;
            parts[t] = (struct part){s, from, to < s->count ? to : s->count, t, 0};
            if (pthread_create(&threads[t], NULL, sum_part, &parts[t]) != 0)
                return s->env->fail(STEELYARD_SYSTEM, "thread %d cannot be started; ask for fewer", t);
        }
        for (int t = 0; t < count; ++t) {
            pthread_join(threads[t], NULL);
            total += parts[t].total;
        }
        s->total = total;
    }
    return 0;
}

static int check(struct sum *s, int (*sum)(void *, int64_t))
{
    uint64_t expected = 0;
    for (size_t i = 0; i < s->count; ++i)
        s->numbers[i] = (uint32_t)(i % 1000 + 1);
    for (size_t i = 0; i < s->count; i += s->stride)
        expected += i % 1000 + 1;
    s->total = 0;
    int error = sum(s, 1);
    if (s->env->planted)
        s->total ^= 1;
    if (!error && s->total != expected)
        error = s->env->fail(STEELYARD_WRONG, "the sum is %llu, should be %llu", (unsigned long long)s->total,
                             (unsigned long long)expected);
    return error;
}

static int verify(void *state)
{
    return check(state, run);
}

static int verify_threads(void *state)
{
    return check(state, run_threads);
}

static int setup(const struct steelyard_env *env, void **state)
{
    struct sum *s = calloc(1, sizeof *s);
    if (!s)
        return env->fail(STEELYARD_NO_MEMORY, "no memory for the state of a sum");
    *s = (struct sum){
        .env = env, .count = env->bytes / sizeof *s->numbers, .stride = (size_t)env->params[STRIDE]};
    s->numbers = env->buffer(env, env->bytes);
    if (!s->numbers && env->bytes > 0) {
        free(s);
        return STEELYARD_NO_MEMORY;
    }
    *state = s;
    return 0;
}

static double bytes_moved(const struct steelyard_env *env)
{
    return (double)env->bytes / env->params[STRIDE];
}

static const struct steelyard_op ops[] = {
    {
        .name = "example.sum",
        .summary = "the sum of an array of 32-bit numbers",
        .group = STEELYARD_EACH,
        .report = STEELYARD_SLOWEST,
        .default_bytes = "4Ki..1Mi",
        .params = params,
        .setup = setup,
        .run = run,
        .verify = verify,
        .teardown = free,
        .bytes_moved = bytes_moved,
    },
    {
        .name = "example.sum_threads",
        .summary = "the same by Pthreads that are started for it",
        .group = STEELYARD_EACH,
        .report = STEELYARD_SLOWEST,
        .most_threads = 64,
        .default_bytes = "4Ki..1Mi",
        .params = params,
        .setup = setup,
        .run = run_threads,
        .verify = verify_threads,
        .teardown = free,
        .bytes_moved = bytes_moved,
    },
};

STEELYARD_LIBRARY("example", ops);
