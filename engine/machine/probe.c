/* The canary: two ranks of one host hand a cache line back and forth in POSIX shared memory, and the median
 * over batches of hops stands for one way. Nobody else may wait on their CPUs meanwhile, so only ranks that
 * are bound, each to CPUs of its own, take part.
 *
 * Lost time: a fixed work quantum (Sottile and Minnich, CLUSTER 2004), a few times over; what it takes longer
 * than the fastest one so far was taken by others, or the core has become slower. */
#define _GNU_SOURCE
#include "machine/probe.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/num.h"
#include "base/work.h"
#include "machine/best_of.h"
#include "team/hosts.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const double EVERY_NS = 10e6; /* so that looking costs a hundredth of the time */

enum {
    BATCHES = 11,       /* some 200 hops; two batches that were interrupted do not move the median */
    ROUND_TRIPS = 10,   /* in a batch: the clock is read once for 20 hops */
    SPINS_MOST = 200000 /* some 0.2 ms: then the other rank has lost its core, and is not waited for */
};

enum {
    QUANTA = 16,
    QUANTUM_NS = 3000, /* many ticks of the clock; 16 of them are some 50 us */
    FIRST_QUANTA = 100 /* at opening: enough for one that nothing disturbs */
};

enum { NAME_MAX_BYTES = 64, PAGE = 4096 };

/* The line that goes back and forth: the lower rank raises it to an odd number, the other to an even one. It
 * is never set back, so a look that one of the two gave up cannot be taken for a later one. */
struct canary_line {
    _Atomic uint64_t hops;
};

/* Where a rank may run. */
struct reach {
    cpu_set_t cpus;
};

struct reading {
    double noise, canary_ns;
    int64_t cpu;
};

struct probe {
    const struct team *team;
    const struct clock *clock;
    int pair[2];              /* the ranks of the canary; -1: there are none */
    struct canary_line *line; /* shared by the two; NULL elsewhere */
    uint64_t looks;           /* so far, the same on both */
    int64_t steps;            /* of the work in a quantum */
    uint64_t work;            /* what it has come to */
    int64_t fastest_ns;       /* quantum so far */
    int64_t last_ns;          /* when the last look was, on rank 0 */
    struct reading *all;      /* on rank 0, of every rank */
    double *noise;
    int64_t *cpu;
    struct probed seen;
};

/* ---- lost time --------------------------------------------------------------------------------------- */

/* Quanta back to back: the share of their time above the fastest one so far. */
static double lose(struct probe *p, int quanta)
{
    int64_t first = clock_now(p->clock), before = first;
    for (int i = 0; i < quanta; ++i) {
        p->work = work_do(p->work, p->steps);
        int64_t now = clock_now(p->clock), took = now - before;
        if (took > 0 && (p->fastest_ns == 0 || took < p->fastest_ns))
            p->fastest_ns = took;
        before = now;
    }
    double took = (double)(before - first), least = (double)quanta * (double)p->fastest_ns;
    return took > least ? 1 - least / took : 0;
}

/* A quantum is so much work that it takes QUANTUM_NS undisturbed. */
static void gauge(struct probe *p)
{
    enum { FIRST_STEPS = 256, TRIES = 5 };
    const int64_t most_steps = 1 << 24; /* a clock that stands still must not keep it here */
    int64_t best_ns = 0;
    for (p->steps = FIRST_STEPS; p->steps < most_steps; p->steps *= 2)
        if ((best_ns = best_of(p->clock, TRIES, work_do, p->steps, -1).ns) >= QUANTUM_NS)
            break;
    if (best_ns > QUANTUM_NS)
        p->steps = p->steps * QUANTUM_NS / best_ns;
    lose(p, FIRST_QUANTA);
}

/* ---- the canary -------------------------------------------------------------------------------------- */

static bool overlap(const struct reach *a, const struct reach *b)
{
    cpu_set_t both;
    CPU_AND(&both, &a->cpus, &b->cpus);
    return CPU_COUNT(&both) > 0;
}

/* Whether no other rank of this host may run where its i-th rank does. */
static bool is_alone(const struct reach *all, int count, int i)
{
    for (int k = 0; k < count; ++k)
        if (k != i && overlap(&all[k], &all[i]))
            return false;
    return true;
}

/* Two ranks of a host, by which a cache line may go. */
struct hand {
    int64_t host;          /* its lowest rank; -1: it has no other */
    int64_t first, second; /* the two; -1: they share CPUs with anybody */
};

static void merge_hands(void *into_bytes, const void *from_bytes, size_t bytes)
{
    struct hand *into = into_bytes;
    const struct hand *from = from_bytes;
    if (from->host >= 0 && (into->host < 0 || from->host < into->host))
        memcpy(into, from, bytes);
}

/* The lowest rank of a host judges its first two ranks; of all hosts with several the first counts. */
static int choose_pair(struct probe *p)
{
    const struct team *team = p->team;
    const int count = host_ranks(team);
    const bool is_first = host_first(team, team->rank) == team->rank;
    struct hand hand = {-1, -1, -1};
    struct reach mine, *all = is_first ? calloc((size_t)count, sizeof *all) : NULL;
    if (is_first && !all)
        return err_say(ERR_NOMEM, "no memory for the places of %d ranks", count);
    memset(&mine, 0, sizeof mine);
    if (sched_getaffinity(0, sizeof mine.cpus, &mine.cpus) != 0)
        memset(&mine.cpus, 0xff, sizeof mine.cpus); /* who knows: everywhere */
    int err = host_gather(team, &mine, sizeof mine, all);
    if (!err && all && count > 1) {
        const bool alone = is_alone(all, count, 0) && is_alone(all, count, 1);
        hand = (struct hand){team->rank, alone ? team->rank : -1, alone ? host_rank(team, 1) : -1};
    }
    free(all);
    err = err ? err : team_reduce(team, &hand, sizeof hand, merge_hands);
    err = err ? err : team_bcast(team, &hand, sizeof hand);
    p->pair[0] = (int)hand.first;
    p->pair[1] = (int)hand.second;
    return err;
}

static struct canary_line *map_line(int file)
{
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return page == MAP_FAILED ? NULL : page;
}

/* The lower rank makes the shared memory and tells its name, or "" when it could not; the other one says
 * whether it found it. The name is gone at once, the memory with its last user. */
static int share_line(struct probe *p)
{
    const struct team *team = p->team;
    char name[NAME_MAX_BYTES] = "", found = 0;
    if (team->rank == p->pair[0]) {
        uint64_t salt = hash_mix((uint64_t)clock_now(p->clock) ^ (uint64_t)getpid() << 32);
        snprintf(name, sizeof name, "/steelyard-%ld-%llx", (long)getpid(), (unsigned long long)salt);
        int file = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
        if (file >= 0 && ftruncate(file, PAGE) == 0)
            p->line = map_line(file);
        if (file >= 0)
            close(file);
        const char none[NAME_MAX_BYTES] = "";
        int err = team_send(team, p->pair[1], p->line ? name : none, sizeof name);
        if (!err)
            err = team_recv(team, p->pair[1], &found, sizeof found);
        if (file >= 0)
            shm_unlink(name);
        if (!found && p->line) {
            munmap(p->line, PAGE);
            p->line = NULL;
        }
        return err;
    }
    int err = team_recv(team, p->pair[0], name, sizeof name);
    int file = err || !name[0] ? -1 : shm_open(name, O_RDWR, 0);
    if (file >= 0) {
        p->line = map_line(file);
        close(file);
    }
    found = p->line != NULL;
    return err ? err : team_send(team, p->pair[0], &found, sizeof found);
}

/* Until the line has come that far; false when the other rank seems to have lost its core. */
static bool await(struct canary_line *line, uint64_t hops)
{
    for (int spins = 0; spins < SPINS_MOST; ++spins)
        if (atomic_load_explicit(&line->hops, memory_order_acquire) >= hops)
            return true;
    return false;
}

/* This rank's side of a look; on the lower rank what a hop took. The first batch waits for both to come, and
 * is not counted. */
static double hop(struct probe *p)
{
    const bool lower = p->team->rank == p->pair[0];
    const uint64_t base = p->looks++ * 2 * (BATCHES + 1) * ROUND_TRIPS;
    double ns[BATCHES];
    for (int b = 0; b <= BATCHES; ++b) {
        int64_t start = clock_now(p->clock);
        for (int i = 0; i < ROUND_TRIPS; ++i) {
            uint64_t at = base + 2 * (uint64_t)(b * ROUND_TRIPS + i);
            if (lower)
                atomic_store_explicit(&p->line->hops, at + 1, memory_order_release);
            if (!await(p->line, lower ? at + 2 : at + 1))
                return NAN;
            if (!lower && atomic_load_explicit(&p->line->hops, memory_order_relaxed) != at + 1)
                return NAN; /* the other one has given up and is further */
            if (!lower)
                atomic_store_explicit(&p->line->hops, at + 2, memory_order_release);
        }
        if (b > 0)
            ns[b - 1] = (double)(clock_now(p->clock) - start) / (2 * ROUND_TRIPS);
    }
    qsort(ns, BATCHES, sizeof ns[0], num_compare_doubles);
    return lower ? ns[BATCHES / 2] : NAN;
}

/* ---- both -------------------------------------------------------------------------------------------- */

int probe_open(const struct team *team, const struct clock *clock, struct probe **out)
{
    *out = NULL;
    if (clock->sleeps)
        return 0;
    struct probe *p = calloc(1, sizeof *p);
    if (!p)
        return err_say(ERR_NOMEM, "no memory for the probe");
    *p = (struct probe){.team = team, .clock = clock, .last_ns = clock_now(clock)};
    int err = choose_pair(p);
    if (!err && p->pair[0] >= 0 && (team->rank == p->pair[0] || team->rank == p->pair[1]))
        err = share_line(p);
    if (err) {
        probe_close(p);
        return err;
    }
    gauge(p);
    *out = p;
    return 0;
}

void probe_close(struct probe *p)
{
    if (!p)
        return;
    if (p->line)
        munmap(p->line, PAGE);
    free(p->all);
    free(p->noise);
    free(p->cpu);
    free(p);
}

bool probe_is_due(const struct probe *p, double after_ns)
{
    return p && (double)(clock_now(p->clock) - p->last_ns) + after_ns >= EVERY_NS;
}

/* The pair's lower rank alone has a canary. */
static void merge_readings(void *into_bytes, const void *from_bytes, size_t bytes)
{
    struct reading *into = into_bytes;
    const struct reading *from = from_bytes;
    (void)bytes;
    into->noise = fmax(into->noise, from->noise);
    into->canary_ns = fmax(into->canary_ns, from->canary_ns);
}

/* What each rank saw, to rank 0. */
static int keep_all(struct probe *p, const struct reading *mine)
{
    const size_t size = (size_t)p->team->size;
    const bool is_first = p->team->rank == 0;
    if (is_first && !p->all) {
        p->all = calloc(size, sizeof *p->all);
        p->noise = calloc(size, sizeof *p->noise);
        p->cpu = calloc(size, sizeof *p->cpu);
    }
    if (is_first && (!p->all || !p->noise || !p->cpu))
        return err_say(ERR_NOMEM, "no memory for what %d ranks see", p->team->size);
    int err = team_gather(p->team, mine, sizeof *mine, p->all);
    for (int r = 0; r < p->team->size && is_first && !err; ++r) {
        p->noise[r] = p->all[r].noise;
        p->cpu[r] = p->all[r].cpu;
    }
    p->seen.noise = p->noise;
    p->seen.cpu = p->cpu;
    return err;
}

int probe_take(struct probe *p, bool keeps_all, const struct probed **seen)
{
    struct reading mine = {.canary_ns = NAN, .cpu = sched_getcpu()};
    *seen = NULL;
    int err = team_barrier(p->team); /* who sends only may be far ahead */
    if (err)
        return err;
    if (p->line)
        mine.canary_ns = hop(p);
    mine.noise = lose(p, QUANTA);
    p->seen = (struct probed){0};
    err = keeps_all ? keep_all(p, &mine) : 0;
    err = err ? err : team_reduce(p->team, &mine, sizeof mine, merge_readings);
    if (err || p->team->rank != 0)
        return err;
    p->last_ns = clock_now(p->clock);
    p->seen.canary_ns = mine.canary_ns;
    p->seen.most_noise = mine.noise;
    *seen = &p->seen;
    return 0;
}
