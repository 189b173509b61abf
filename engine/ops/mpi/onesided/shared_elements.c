/* Places that all threads of a rank share, for calls that MPI makes atomic in each element (MPI 4.0, section
 * 12.7.1). The order of the calls is unknown, but there was one: each thread has found the first value or the
 * value that another has left, and no value was found more often than it was left. So each thread is a step
 * from the value that it found to the value that it left, and some walk takes all steps (an Eulerian path)
 * and begins with the first value. The value at its end was found by no thread. */
#include "ops/mpi/onesided/rma.h"

#include "base/err.h"
#include "ops/common/data.h"
#include "team/team_mpi.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_BYTES = 64
}; /* a cache line: for each element the walk takes time that grows as the square of
      the number of threads */

int rma_refuse_word(const struct rma *s)
{
    if (s->layout != RMA_WORD)
        return 0;
    if (s->row->effect == RMA_PUT)
        return err_say(
            ERR_INPUT,
            "target=word lets all threads write to one place, and MPI leaves undefined what is there "
            "after %s; give target=disjoint or line, or a call that combines, as mpi.mt.accumulate",
            s->row->call);
    if (s->bytes > MOST_BYTES)
        return err_say(ERR_INPUT,
                       "target=word is for words that all threads share, of at most %d bytes, not %zu; "
                       "give --bytes 8",
                       MOST_BYTES, s->bytes);
    return 0;
}

/* A place during its check: its elements, and what each thread has found and left there. */
struct walk {
    const struct rma *threads;
    int count, place;
    size_t bytes, size; /* of a place, of an element */
    unsigned char *before, *found, *left;
    bool *walked;
    int *steps; /* the threads in the order of the walk */
};

static const unsigned char *at(const struct walk *w, const unsigned char *values, int t, size_t element)
{
    return values + (size_t)t * w->bytes + element * w->size;
}

static bool same(const struct walk *w, const void *a, const void *b)
{
    return memcmp(a, b, w->size) == 0;
}

/* Count how often a value was left and how often it was found: equally often, or once less. */
static int check_counts(const struct walk *w, size_t e)
{
    for (int t = 0; t < w->count; ++t) {
        const unsigned char *value = at(w, w->found, t, e);
        int found = 0, left = same(w, value, w->before + e * w->size);
        for (int other = 0; other < w->count; ++other) {
            found += same(w, value, at(w, w->found, other, e));
            left += same(w, value, at(w, w->left, other, e));
        }
        if (found > left)
            return err_say(
                ERR_WRONG,
                "thread %d: element %zu of block %d: %d of %d threads found what it found, which was "
                "there %d times, should be as often: a call was lost, or is not atomic",
                t, e, w->place, found, w->count, left);
    }
    return 0;
}

/* All must be reachable from the first value. */
static int check_reach(struct walk *w, size_t e)
{
    int reached = 0;
    for (int t = 0; t < w->count; ++t)
        w->walked[t] = false;
    for (int k = 0; k <= reached && reached < w->count; ++k) {
        const unsigned char *value = k == 0 ? w->before + e * w->size : at(w, w->left, w->steps[k - 1], e);
        for (int t = 0; t < w->count; ++t)
            if (!w->walked[t] && same(w, value, at(w, w->found, t, e))) {
                w->walked[t] = true;
                w->steps[reached++] = t;
            }
    }
    for (int t = 0; t < w->count; ++t)
        if (!w->walked[t])
            return err_say(
                ERR_WRONG,
                "thread %d: element %zu of block %d: no order of %d threads' calls leads to what it "
                "found, should be one",
                t, e, w->place, w->count);
    return 0;
}

/* The contents of a rank's window before the calls, and the data that a thread of the other rank sends
 * there. */
static void fill(const struct rma *s, void *value, int target, int sender, int place)
{
    const struct reduction sum = rma_sum_at(s, target);
    const int thread = sender > 0 ? sender - 1 : 0;
    if (rma_combines(s))
        reduction_fill(&sum, value, (size_t)s->count, sender, rma_number(s, 0, place));
    else
        data_fill(value, s->bytes, sender > 0 ? 1 - target : target, rma_number(s, thread, place));
}

/* The value that a thread must have left if it has found this one. */
static int leave(const struct rma *s, const void *found, unsigned char *left, int place)
{
    const char *sent = s->send + (size_t)place * s->stride;
    const bool takes = s->row->effect == RMA_SWAP
                           ? memcmp(found, s->compare + (size_t)place * s->stride, s->bytes) == 0
                           : s->replaces;
    memcpy(left, takes ? sent : found, s->bytes);
    if (s->row->effect == RMA_SWAP || s->replaces || s->keeps)
        return 0;
    return team_mpi_err(MPI_Reduce_local(sent, left, s->count, s->type, s->op), "MPI_Reduce_local");
}

/* Later swaps begin with the value that earlier ones have left. The value that the first thread found is
 * taken as the first one, so that all threads must have found the same. */
static int check_place(struct walk *w, bool later)
{
    const struct rma *first = w->threads;
    const size_t place = (size_t)w->place * first->stride;
    int err = 0;
    for (int t = 0; t < w->count && !err; ++t) {
        memcpy(w->found + (size_t)t * w->bytes, w->threads[t].recv + place, w->bytes);
        err =
            leave(&w->threads[t], w->found + (size_t)t * w->bytes, w->left + (size_t)t * w->bytes, w->place);
    }
    fill(first, w->before, first->peer, 0, w->place);
    if (later)
        memcpy(w->before, w->found, w->bytes);
    for (size_t e = 0; e < w->bytes / w->size && !err; ++e) {
        err = check_counts(w, e);
        err = err ? err : check_reach(w, e);
    }
    return err;
}

static int check_found(const struct rma *threads, int count, bool later)
{
    const size_t all = (size_t)count * threads->bytes;
    struct walk w = {.threads = threads,
                     .count = count,
                     .bytes = threads->bytes,
                     .size = rma_combines(threads) ? threads->sum.size : threads->bytes,
                     .before = malloc(threads->bytes),
                     .found = malloc(all),
                     .left = malloc(all),
                     .walked = malloc((size_t)count * sizeof *w.walked),
                     .steps = malloc((size_t)count * sizeof *w.steps)};
    int err = w.before && w.found && w.left && w.walked && w.steps
                  ? 0
                  : err_say(ERR_NOMEM, "no memory to check %d threads", count);
    for (; w.place < threads->places && !err; ++w.place)
        err = check_place(&w, later);
    free(w.before);
    free(w.found);
    free(w.left);
    free(w.walked);
    free(w.steps);
    return err;
}

/* Each element is one that one of the peer's threads sends. */
static int check_any(const struct rma *s, const char *value, int count, int place)
{
    unsigned char sent[MOST_BYTES];
    const size_t size = rma_combines(s) ? s->sum.size : s->bytes;
    for (size_t from = 0; from < s->bytes; from += size) {
        bool is_sent = false;
        for (int t = 0; t < count && !is_sent; ++t) {
            fill(s, sent, s->rank, 1 + t, place);
            is_sent = memcmp(sent + from, value + from, size) == 0;
        }
        if (!is_sent)
            return err_say(ERR_WRONG,
                           "byte %zu of block %d begins with 0x%02x, should be what one of %d threads "
                           "of rank %d sent",
                           from, place, (unsigned char)value[from], count, s->peer);
    }
    return 0;
}

static int check_window(const struct rma *s, int count, int64_t reps)
{
    const struct reduction sum = rma_sum_at(s, s->rank);
    const bool one = s->replaces || s->row->effect == RMA_SWAP;
    int err = 0;
    for (int i = 0; i < s->places && !err; ++i) {
        const char *value = s->window->memory + s->first + (size_t)i * s->apart;
        err = one ? check_any(s, value, count, i)
                  : reduction_check_times(&sum, value, (size_t)s->count, s->keeps ? 0 : count, reps,
                                          rma_number(s, 0, i));
    }
    return err;
}

/* Sums of so many repetitions may be greater than their type holds exactly. */
static bool is_known(const struct rma *s, int64_t calls)
{
    return !rma_combines(s) || s->replaces || s->keeps || calls == s->threads ||
           reduction_repeats(&s->sum, calls);
}

int rma_check_word(struct rma *threads, int count, bool later, int64_t reps)
{
    struct rma *last = &threads[count - 1];
    const bool planted = last->planted && later == (last->row->effect == RMA_SWAP);
    const size_t end = (size_t)(last->places - 1);
    int err = 0;
    if (last->bytes == 0 || !is_known(last, reps * count))
        return 0;
    if (last->recv && reps == 1) {
        data_arrived(last->recv + end * last->stride, last->bytes, planted);
        err = check_found(threads, count, later);
    }
    if (err || last->role == RMA_ORIGIN)
        return err;
    err = window_enter(last->window, last->locks);
    if (err)
        return err;
    data_arrived(last->window->memory + last->first + end * last->apart, last->bytes, planted);
    err = check_window(last, count, reps);
    const int left = window_leave(last->window, last->locks);
    return err ? err : left;
}
