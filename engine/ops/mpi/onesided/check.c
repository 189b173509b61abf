/* The data of one-sided calls and their check: each byte says which rank wrote it, in which check, for which
 * place. */
#include "ops/mpi/onesided/rma.h"

#include "base/err.h"
#include "base/hash.h"
#include "ops/common/data.h"
#include "team/team_mpi.h"

#include <limits.h>
#include <string.h>

enum { REPLACE = 10, NO_OP, OPERATORS };
const char *const rma_operators[OPERATORS + 1] = {"sum",
                                                  "prod",
                                                  "min",
                                                  "max",
                                                  "land",
                                                  "band",
                                                  "lor",
                                                  "bor",
                                                  "lxor",
                                                  "bxor",
                                                  [REPLACE] = "replace",
                                                  [NO_OP] = "no_op",
                                                  NULL};

/* The buffers of a call at the origin, and the rank whose memory it changes. */
static const struct moves {
    bool sends, fetches, compares, writes;
} moves[RMA_EFFECTS] = {[RMA_PUT] = {.sends = true, .writes = true},
                        [RMA_GET] = {.fetches = true},
                        [RMA_COMBINE] = {.sends = true, .writes = true},
                        [RMA_FETCH] = {.sends = true, .fetches = true, .writes = true},
                        [RMA_SWAP] = {.sends = true, .fetches = true, .compares = true, .writes = true}};

/* ---- setup ---- */

static int take(struct rma *s, const struct op_env *env, bool needed, char **buffer)
{
    const size_t places = needed && s->role != RMA_TARGET ? (size_t)s->places : 0;
    return buffers_take(env->buffers, places, s->stride, (void **)buffer);
}

int rma_take_buffers(struct rma *s, const struct op_env *env)
{
    const struct moves *m = &moves[s->row->effect];
    int err = take(s, env, m->sends && !s->same, &s->send);
    err = err ? err : take(s, env, m->fetches, &s->recv);
    return err ? err : take(s, env, m->compares, &s->compare);
}

/* Numbers of any type: for MPI_REPLACE and MPI_NO_OP, which do not combine them. */
static int open_any(struct reduction *sum, int type)
{
    int err = ERR_INPUT;
    for (int word = 0; word < REPLACE && err; ++word)
        err = reduction_open(sum, word, type);
    return err ? err_say(ERR_INPUT, "no operator tells values of type=%s apart; choose another type",
                         reduce_type_words[type])
               : 0;
}

int rma_choose_numbers(struct rma *s, const struct op_env *env, int word, int type)
{
    s->replaces = word == REPLACE;
    s->keeps = word == NO_OP;
    if (s->keeps && s->row->effect == RMA_COMBINE)
        return err_say(ERR_INPUT,
                       "MPI defines operator=no_op for calls that fetch, not for %s; give another operator",
                       s->row->call);
    int err = word < REPLACE ? reduction_open(&s->sum, word, type) : open_any(&s->sum, type);
    if (err)
        return err;
    s->sum.ranks = 1 + (s->layout == RMA_WORD ? s->threads : 1);
    s->type = s->sum.type;
    s->op = s->replaces ? MPI_REPLACE : s->keeps ? MPI_NO_OP : s->sum.op;
    s->bytes = s->row->single ? s->sum.size : s->bytes;
    if (s->bytes % s->sum.size != 0)
        return err_say(ERR_INPUT, "%s takes type=%s: %zu bytes are no multiple of %zu; give a multiple",
                       env->op->name, reduce_type_words[type], s->bytes, s->sum.size);
    s->count = (int)(s->bytes / s->sum.size);
    return data_align(env, s->sum.size);
}

/* ---- contents ---- */

/* The contents of a thread's place in this check: the same number on both ranks. */
int rma_number(const struct rma *s, int thread, int place)
{
    const uint64_t which = ((uint64_t)s->generation << 40) ^ ((uint64_t)thread << 20) ^ (uint64_t)place;
    return (int)(hash_mix(which) & INT_MAX);
}

/* The rank whose places they are. */
static int owner(const struct rma *s)
{
    return s->layout == RMA_WORD ? 0 : s->thread;
}

/* The places in this rank's window. */
static char *here(const struct rma *s, int place)
{
    return s->window->memory + s->first + (size_t)place * s->apart;
}

bool rma_combines(const struct rma *s)
{
    return s->row->effect == RMA_COMBINE || s->row->effect == RMA_FETCH;
}

struct reduction rma_sum_at(const struct rma *s, int target)
{
    struct reduction sum = s->sum;
    sum.first = target * sum.ranks;
    return sum;
}

/* Which of those numbers this thread sends. */
static int sender(const struct rma *s)
{
    return s->layout == RMA_WORD ? 1 + s->thread : 1;
}

static void fill_sent(const struct rma *s, void *at, int place)
{
    const struct reduction sum = rma_sum_at(s, s->peer);
    if (rma_combines(s))
        reduction_fill(&sum, at, (size_t)s->count, sender(s), rma_number(s, owner(s), place));
    else
        data_fill(at, s->bytes, s->rank, rma_number(s, s->thread, place));
}

/* The contents of a rank's window before the calls. */
static void fill_before(const struct rma *s, void *at, int rank, int place)
{
    const struct reduction sum = rma_sum_at(s, rank);
    if (rma_combines(s))
        reduction_fill(&sum, at, (size_t)s->count, 0, rma_number(s, owner(s), place));
    else
        data_fill(at, s->bytes, rank, rma_number(s, owner(s), place));
}

static int check_before(const struct rma *s, const void *at, int rank, int place)
{
    const struct reduction sum = rma_sum_at(s, rank);
    const int number = rma_number(s, owner(s), place);
    return rma_combines(s) ? reduction_check(&sum, at, (size_t)s->count, 0, number)
                           : data_check(at, s->bytes, rank, number, place);
}

/* The data that a rank's thread has put, in a window whose earlier contents are all replaced. */
static int check_sent(const struct rma *s, const void *at, int from, int place)
{
    struct reduction sum = rma_sum_at(s, from == s->rank ? s->peer : s->rank);
    sum.first += sender(s);
    return rma_combines(s) ? reduction_check(&sum, at, (size_t)s->count, 0, rma_number(s, owner(s), place))
                           : data_check(at, s->bytes, from, rma_number(s, s->thread, place), place);
}

static int check_combined(const struct rma *s, const void *at, int place)
{
    const struct reduction sum = rma_sum_at(s, s->rank);
    return reduction_check(&sum, at, (size_t)s->count, 1, rma_number(s, owner(s), place));
}

static bool has_window(const struct rma *s)
{
    return s->role != RMA_ORIGIN;
}

/* The rest of a place's lines, up to the next thread's place. */
static size_t between(const struct rma *s)
{
    return s->layout == RMA_DISJOINT ? s->apart - s->bytes : 0;
}

/* The first data are sent from the buffer that the last data would arrive in. */
static void fill_in_turns(const struct rma *s, int place)
{
    data_poison(s->window->memory + s->other + (size_t)place * s->apart, s->apart);
    fill_sent(s, here(s, place), place);
}

static void fill_window(const struct rma *s)
{
    for (int i = 0; i < s->places; ++i)
        data_poison(here(s, i) + s->bytes, between(s));
    for (int i = 0; i < s->places && owner(s) == s->thread; ++i)
        if (s->same)
            fill_in_turns(s, i);
        else if (s->row->effect == RMA_PUT)
            data_poison(here(s, i), s->bytes);
        else
            fill_before(s, here(s, i), s->rank, i);
}

static void fill_buffers(const struct rma *s)
{
    for (int i = 0; i < s->places; ++i) {
        const size_t at = (size_t)i * s->stride;
        if (s->send && !s->same)
            fill_sent(s, s->send + at, i);
        if (s->recv)
            data_poison(s->recv + at, s->bytes);
        if (s->compare)
            fill_before(s, s->compare + at, s->peer, i);
    }
}

int rma_prepare(struct rma *s)
{
    ++s->generation;
    int err = has_window(s) ? window_enter(s->window, s->locks) : 0;
    if (has_window(s) && !err) {
        fill_window(s);
        err = window_leave(s->window, s->locks);
    }
    fill_buffers(s);
    return err;
}

/* ---- answers ---- */

/* From the first place to the end of the last. */
static size_t extent(const struct rma *s, size_t apart)
{
    return (size_t)(s->places - 1) * apart + s->bytes;
}

/* The bytes between places must be unchanged. */
static int check_between(const struct rma *s)
{
    for (int i = 0; i < s->places; ++i) {
        const unsigned char *end = (const unsigned char *)here(s, i) + s->bytes;
        for (size_t k = 0; k < between(s); ++k)
            if (end[k] != DATA_POISON)
                return err_say(ERR_WRONG, "byte %zu behind block %d was written, and nothing was sent there",
                               k, i);
    }
    return 0;
}

/* Check what the peer has done to this rank's window. */
static int check_window(const struct rma *s, bool planted)
{
    const bool both = rma_combines(s) && !s->replaces && !s->keeps;
    const bool mine = s->row->effect == RMA_GET || s->keeps;
    int err = 0;
    data_arrived(here(s, 0), extent(s, s->apart), planted && moves[s->row->effect].writes);
    for (int i = 0; i < s->places && !err; ++i) {
        const char *at = here(s, i);
        err = both   ? check_combined(s, at, i)
              : mine ? check_before(s, at, s->rank, i)
                     : check_sent(s, at, s->peer, i);
    }
    return err ? err : check_between(s);
}

/* Check what this rank has fetched: the peer's contents, or what this thread has left there. */
static int check_fetched(const struct rma *s, bool left, bool planted)
{
    int err = 0;
    data_arrived(s->recv, extent(s, s->stride), planted);
    for (int i = 0; i < s->places && !err; ++i)
        err = left ? check_sent(s, s->recv + (size_t)i * s->stride, s->rank, i)
                   : check_before(s, s->recv + (size_t)i * s->stride, s->peer, i);
    return err;
}

int rma_check(const struct rma *s, bool second)
{
    const bool twice = s->row->effect == RMA_SWAP, planted = s->planted && second == twice;
    if (s->bytes == 0)
        return 0;
    int err = s->recv ? check_fetched(s, second, planted) : 0, left = 0;
    if (!has_window(s) || err)
        return err;
    err = window_enter(s->window, s->locks);
    if (err)
        return err;
    err = check_window(s, planted);
    left = window_leave(s->window, s->locks);
    return err ? err : left;
}

/* ---- results of timed calls ---- */

bool rma_settles(const struct rma *s)
{
    return rma_combines(s) && !s->replaces && !s->keeps && !reduction_repeats(&s->sum, 1);
}

static bool swaps_word(const struct rma *s)
{
    return s->row->effect == RMA_SWAP && s->layout == RMA_WORD;
}

/* A swap finds the origin's value, whether it swaps or not. */
static void settle_window(const struct rma *s)
{
    for (int i = 0; i < s->places; ++i)
        if (s->row->effect == RMA_SWAP && !swaps_word(s))
            data_fill(here(s, i), s->bytes, s->peer, rma_number(s, s->thread, i));
        else if (rma_settles(s))
            reduction_settle(&s->sum, here(s, i), (size_t)s->count);
}

int rma_refresh(struct rma *s)
{
    int err = swaps_word(s) ? 0 : rma_prepare(s);
    for (int i = 0; i < s->places && rma_settles(s) && s->send; ++i)
        reduction_settle(&s->sum, s->send + (size_t)i * s->stride, (size_t)s->count);
    if (s->compare && swaps_word(s)) { /* the values that the threads found are swapped for themselves */
        memcpy(s->send, s->recv, s->bytes);
        data_poison(s->recv, s->bytes);
    }
    if (s->compare && s->swaps)
        memcpy(s->compare, s->send, s->bytes);
    if (err || !has_window(s))
        return err;
    err = window_enter(s->window, s->locks);
    if (err)
        return err;
    settle_window(s);
    return window_leave(s->window, s->locks);
}

/* Check a place of rank `target`, or data fetched from there, after so many calls of rank `by`. */
static int check_timed_place(const struct rma *s, const void *at, int target, int by, int64_t times,
                             int place)
{
    const struct reduction sum = rma_sum_at(s, target);
    const bool stays = s->row->effect == RMA_GET || s->keeps || times == 0;
    if (rma_combines(s) && !s->replaces && !s->keeps)
        return reduction_check_times(&sum, at, (size_t)s->count, sender(s), times,
                                     rma_number(s, owner(s), place));
    if (s->row->effect == RMA_SWAP) /* at the origin: no op swaps both ways */
        return data_check(at, s->bytes, has_window(s) ? s->peer : s->rank, rma_number(s, s->thread, place),
                          place);
    return stays ? check_before(s, at, target, place) : check_sent(s, at, by, place);
}

static int check_timed_window(const struct rma *s, int64_t reps)
{
    /* with `same`, data that arrived are sent back */
    const int by = s->same && reps % 2 == 0 ? s->rank : s->peer;
    int err = 0;
    for (int i = 0; i < s->places && !err; ++i)
        err = check_timed_place(s, here(s, i), s->rank, by, reps, i);
    return err ? err : check_between(s);
}

int rma_check_timed(const struct rma *s, int64_t reps)
{
    if (s->bytes == 0 || reps == 0 || rma_settles(s) ||
        (rma_combines(s) && !s->replaces && !s->keeps && !reduction_repeats(&s->sum, reps)))
        return 0;
    int err = 0;
    for (int i = 0; i < s->places && s->recv && !err; ++i)
        err = check_timed_place(s, s->recv + (size_t)i * s->stride, s->peer, s->rank, reps - 1, i);
    if (err || !has_window(s))
        return err;
    err = window_enter(s->window, s->locks);
    if (err)
        return err;
    err = check_timed_window(s, reps);
    const int left = window_leave(s->window, s->locks);
    return err ? err : left;
}
