/* atomic.*: operations on one word by each of T threads: on the same word, on words of one cache line, or on
 * a line each; and a line that goes to and fro between two threads. */
#include "ops/families.h"

#include "base/err.h"
#include "ops/pthread/team.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = THREADS_OWN };
static const char *const places[] = {"same", "line", "own", NULL};
enum { PLACE_SAME, PLACE_LINE, PLACE_OWN };

static const struct param params[] = {
    THREADS_PARAMS,
    [WORDS] = PARAM_WORDS(
        "words",
        "same: all threads on one word; line: on neighbours in one cache line; own: on a cache line each",
        places),
    {0},
};
static const struct param line_params[] = {THREADS_PARAMS, {0}};

struct atomics {
    struct thread_team l;
    size_t stride;                        /* from the word of one lane to that of the next */
    _Alignas(LINE_PAIR) int64_t put, got; /* exchange, counted: sums of the values that lanes gave and
                                             received */
    atomic_int_fast64_t *word;
};

static int words_open(struct thread_team *l)
{
    struct atomics *a = (struct atomics *)l;
    static const size_t strides[] = {
        [PLACE_SAME] = 0, [PLACE_LINE] = 1, [PLACE_OWN] = LINE_PAIR / sizeof *a->word};
    const size_t bytes = (size_t)l->env->threads * LINE_PAIR;
    a->stride = strides[(int)l->env->params[WORDS]];
    a->word = aligned_alloc(LINE_PAIR, bytes);
    if (!a->word)
        return err_say(ERR_NOMEM, "no memory for %d words", l->env->threads);
    memset(a->word, 0, bytes);
    return 0;
}

static void words_close(struct thread_team *l)
{
    free(((struct atomics *)l)->word);
}

static atomic_int_fast64_t *word_of(const struct atomics *a, int lane)
{
    return a->word + (size_t)lane * a->stride;
}

static void words_reset(struct thread_team *l)
{
    struct atomics *a = (struct atomics *)l;
    for (int i = 0; i < l->env->threads; ++i)
        atomic_store(word_of(a, i), 0);
    a->put = a->got = 0;
}

/* All additions are in the words, each once. */
static void sum_look(struct thread_team *l)
{
    const struct atomics *a = (struct atomics *)l;
    for (int i = 0; i < (a->stride ? l->env->threads : 1); ++i)
        l->right += atomic_load(word_of(a, i));
}

THREADS_INLINE delay_inside(struct thread_team *l, enum inside what)
{
    if (what == INSIDE_DELAY)
        delay_do(&l->delay);
}

THREADS_INLINE fetch_add(void *lanes, int lane, enum inside what)
{
    struct atomics *a = lanes;
    atomic_int_fast64_t *word = word_of(a, lane);
    for (int64_t i = 0; i < a->l.reps; ++i) {
        atomic_fetch_add(word, 1);
        delay_inside(&a->l, what);
    }
}
THREADS_WORK(fetch_add)

/* cas: until it succeeds, so that each repetition adds one. */
THREADS_INLINE cas_add(void *lanes, int lane, enum inside what)
{
    struct atomics *a = lanes;
    atomic_int_fast64_t *word = word_of(a, lane);
    for (int64_t i = 0; i < a->l.reps; ++i) {
        int_fast64_t seen = atomic_load_explicit(word, memory_order_relaxed);
        while (!atomic_compare_exchange_weak(word, &seen, seen + 1))
            ;
        delay_inside(&a->l, what);
    }
}
THREADS_WORK(cas_add)

/* exchange: each value that a lane puts in is received by exactly one lane, or is there at the end. */
THREADS_INLINE exchange(void *lanes, int lane, enum inside what)
{
    struct atomics *a = lanes;
    atomic_int_fast64_t *word = word_of(a, lane);
    const int64_t threads = a->l.env->threads;
    int64_t put = 0, got = 0;
    for (int64_t i = 0; i < a->l.reps; ++i) {
        int64_t mine = i * threads + lane + 1;
        int64_t theirs = atomic_exchange(word, mine);
        delay_inside(&a->l, what);
        if (what == INSIDE_COUNT) {
            put += mine;
            got += theirs;
        }
    }
    if (what == INSIDE_COUNT) {
        a->l.slots[lane].right = a->l.reps;
        __atomic_fetch_add(&a->put, put, __ATOMIC_RELAXED);
        __atomic_fetch_add(&a->got, got, __ATOMIC_RELAXED);
    }
}
THREADS_WORK(exchange)

static void exchange_look(struct thread_team *l)
{
    const struct atomics *a = (struct atomics *)l;
    int64_t left = 0;
    for (int i = 0; i < (a->stride ? l->env->threads : 1); ++i)
        left += atomic_load(word_of(a, i));
    l->wrong += a->put != a->got + left;
}

/* store: sequentially consistent, which makes it costly. The last value stays. */
THREADS_INLINE store(void *lanes, int lane, enum inside what)
{
    struct atomics *a = lanes;
    atomic_int_fast64_t *word = word_of(a, lane);
    const int64_t threads = a->l.env->threads;
    for (int64_t i = 0; i < a->l.reps; ++i) {
        atomic_store(word, i * threads + lane);
        delay_inside(&a->l, what);
        if (what == INSIDE_COUNT) { /* the word holds a value of a lane that stores here, and none older */
            int64_t there = atomic_load(word), from = there % threads;
            bool right = from == lane ? there / threads == i : a->stride == 0 && there / threads < a->l.reps;
            threads_saw(&a->l, lane, right);
        }
    }
}
THREADS_WORK(store)

static void store_look(struct thread_team *l)
{
    const struct atomics *a = (struct atomics *)l;
    for (int i = 0; i < l->env->threads; ++i) {
        int64_t there = atomic_load(word_of(a, i)), from = there % l->env->threads;
        l->wrong += there / l->env->threads != l->reps - 1 || (a->stride != 0 && from != i);
    }
}

/* load: a word that no thread changes. */
THREADS_INLINE load(void *lanes, int lane, enum inside what)
{
    struct atomics *a = lanes;
    atomic_int_fast64_t *word = word_of(a, lane);
    const int64_t mine = a->stride ? lane : 0;
    if (what == INSIDE_COUNT)
        atomic_store(word, mine);
    for (int64_t i = 0; i < a->l.reps; ++i) {
        int64_t seen = atomic_load(word);
        delay_inside(&a->l, what);
        if (what == INSIDE_COUNT)
            threads_saw(&a->l, lane, seen == mine);
        else
            __asm__ volatile("" ::"r"(seen));
    }
}
THREADS_WORK(load)

/* pingpong: each lane waits for its turn and passes it back, in one word. */
THREADS_INLINE send_line(void *lanes, int lane, enum inside what)
{
    struct atomics *a = lanes;
    atomic_int_fast64_t *word = a->word;
    for (int64_t i = 0; i < a->l.reps; ++i) {
        for (int64_t polls = 0; atomic_load_explicit(word, memory_order_acquire) != lane;)
            threads_poll(&polls);
        threads_inside(&a->l, lane, what);
        atomic_store_explicit(word, 1 - lane, memory_order_release);
    }
}
THREADS_WORK(send_line)

static int line_open(struct thread_team *l)
{
    struct atomics *a = (struct atomics *)l;
    a->word = aligned_alloc(LINE_PAIR, LINE_PAIR);
    if (!a->word)
        return err_say(ERR_NOMEM, "no memory for a cache line");
    memset(a->word, 0, LINE_PAIR);
    return 0;
}

#define ATOMIC .family = "atomic", .size = sizeof(struct atomics), .delays = DELAYS_ONE, .close = words_close
#define OF_WORDS ATOMIC, .least_threads = 1, .params = params, .open = words_open, .reset = words_reset

static const struct thread_row rows[] = {
    {.name = "atomic.fetch_add",
     .summary = "add one to a word, sequentially consistent, by each of T threads",
     OF_WORDS,
     .counts = "increments",
     .look = sum_look,
     THREADS_DO(fetch_add)},
    {.name = "atomic.cas",
     .summary = "add one to a word by compare-and-swap until it succeeds, by each of T threads",
     OF_WORDS,
     .counts = "increments",
     .look = sum_look,
     THREADS_DO(cas_add)},
    {.name = "atomic.exchange",
     .summary = "exchange a word, by each of T threads",
     OF_WORDS,
     .counts = "exchanges",
     .look = exchange_look,
     THREADS_DO(exchange)},
    {.name = "atomic.store",
     .summary = "store a word, sequentially consistent, by each of T threads",
     OF_WORDS,
     .counts = "stores",
     .look = store_look,
     THREADS_DO(store)},
    {.name = "atomic.load",
     .summary = "load a word that nobody changes, by each of T threads",
     OF_WORDS,
     .counts = "loads",
     THREADS_DO(load)},
    {.name = "atomic.pingpong",
     .summary =
         "one cache line between two threads that wait for it alternately: one way, half the round trip",
     ATOMIC,
     .params = line_params,
     .least_threads = 2,
     .most_threads = 2,
     .parts = 2,
     .turns = true,
     .counts = "turns",
     .open = line_open,
     THREADS_DO(send_line)},
};

static void op_at(size_t i, struct op *op)
{
    threads_op(&rows[i], op);
}

const struct op_family atomic_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
