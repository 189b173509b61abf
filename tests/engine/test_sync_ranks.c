/* Synchronisation of ranks whose clocks are off by known amounts. Time stands still but for readings of
 * clocks: each takes COST, on any rank. So where two clocks alone are compared, what comes of it is known
 * exactly. */
#define _GNU_SOURCE
#include "ranks.h"
#include "test.h"

#include "base/err.h"
#include "base/json.h"
#include "sync/pair.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { COST = 1000, TICK = 1, RANKS = 6, START_NS = 1000000 };

static _Atomic int64_t *shared_now; /* of all ranks */

struct own_clock {
    struct clock clock; /* first: one is the other */
    int64_t ahead;      /* of rank 0's at START_NS */
    double drift;       /* per ns of rank 0's */
};

static int64_t read_own(const struct clock *clock)
{
    const struct own_clock *own = (const struct own_clock *)clock;
    const int64_t now = atomic_fetch_add(shared_now, COST) + COST;
    return now + own->ahead + llround(own->drift * (double)(now - START_NS));
}

/* Ranks may wait at the same time, and none too long. */
static void rest_together(const struct clock *clock, int64_t left_ns)
{
    (void)clock;
    atomic_fetch_add(shared_now, left_ns / (2 * RANKS));
}

static struct own_clock own_clock(int64_t ahead, double drift)
{
    return (struct own_clock){
        .clock = {.name = "own", .read = read_own, .rest = rest_together, .tick_ns = TICK, .cost_ns = COST},
        .ahead = ahead,
        .drift = drift};
}

/* Local minus rank 0's time when this clock shows `local`. */
static double true_offset(const struct own_clock *own, int64_t local)
{
    const double since = (double)(local - START_NS - own->ahead) / (1 + own->drift);
    return (double)(local - START_NS) - since;
}

/* The bound of two ranks that talk alone, in so many exchanges: half a round trip, the drift meanwhile, a
 * tick. An exchange has three readings, of which two are its round trip. */
static double bound_of(int exchanges)
{
    return COST + pair_most_drift * (3 * exchanges - 1) * COST / 2 + TICK;
}

static bool is_near(double value, double known)
{
    return fabs(value - known) < 1e-6;
}

/* ---- two clocks ---------------------------------------------------------------------------------------- */

/* What each algorithm makes of a clock that does not drift. A parent's bound is a tick, when it has learned.
 */
static int two_clocks(struct team *team)
{
    enum { AHEAD = 500000000 };
    const struct own_clock own = own_clock(team->rank ? AHEAD : 0, 0);
    const struct {
        const char *name;
        double bound;
    } rows[] = {{"tree", bound_of(30) + TICK}, {"hca3", bound_of(10) + TICK}, {"skampi", bound_of(8)}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct sync s = {0};
        CHECK(sync_choose(&s, rows[i].name, NULL) == 0 && sync_open(&s, team, &own.clock) == 0);
        CHECK(sync_take(&s) == 0 && s.leader_count == 2 && s.leaders[1] == 1 && s.leader == team->rank);
        CHECK(is_near(s.mine.map.offset_ns, team->rank ? AHEAD : 0) && fabs(s.mine.map.drift) < 1e-12);
        CHECK(is_near(s.mine.bound_ns, team->rank ? rows[i].bound : TICK) && s.mine.error_ns == TICK);
        CHECK(s.cost_ns > 0 && s.cost_ns < 30000 * COST && s.unseen_ns == 0);
        CHECK(s.count == (s.algorithm->base_line_ns > 0 ? 3 : 2) && !s.all);
        sync_close(&s);
        CHECK(!s.leaders && !s.led && s.count == 0);
    }
    return test_failures;
}

/* Netgauge: the shortest round trip, and the drift since the synchronisation began. */
static int two_by_netgauge(struct team *team)
{
    const struct own_clock own = own_clock(team->rank ? -7000 : 0, 0);
    struct sync s = {0};
    CHECK(sync_choose(&s, "netgauge", "asymmetric") == 0 && sync_open(&s, team, &own.clock) == 0);
    const double least = COST + TICK + pair_most_drift * 300 * COST;
    CHECK(is_near(s.mine.map.offset_ns, team->rank ? -7000 : 0));
    CHECK(team->rank == 0 || (s.mine.bound_ns > least && s.mine.bound_ns < 1.02 * least));
    CHECK(s.mine.error_ns == s.mine.bound_ns);
    sync_close(&s);
    return test_failures;
}

/* A clock counts as rank 0's up to three ticks and half a round trip beside it. Then it is known no better
 * than messages can tell. */
static int shared_clocks(struct team *team)
{
    static const int64_t ahead[] = {0, 1003, -1003, 1004, -1004};
    for (size_t i = 0; i < sizeof ahead / sizeof ahead[0]; ++i) {
        const bool shares = llabs(ahead[i]) <= COST + 3 * TICK;
        const struct own_clock own = own_clock(team->rank ? ahead[i] : 0, 0);
        struct sync s = {0};
        CHECK(sync_choose(&s, "skampi", NULL) == 0 && sync_open(&s, team, &own.clock) == 0);
        CHECK(s.leader_count == (shares ? 1 : 2) && s.leader == (shares ? 0 : team->rank));
        const double apart = team->rank && shares ? (double)llabs(ahead[i]) + bound_of(30) : 0;
        CHECK(is_near(s.domain_bound_ns, apart));
        CHECK(!shares || is_near(s.mine.bound_ns, TICK + apart));
        CHECK(!shares || (s.mine.error_ns == TICK && s.mine.map.offset_ns == 0));
        sync_close(&s);
    }
    return test_failures;
}

/* The drift of the tree rests on two synchronisations, the first ones 0.1 s apart, later ones a second. */
static int drift_of_tree(struct team *team)
{
    const double drift = team->rank ? 200e-6 : 0;
    const struct own_clock own = own_clock(team->rank ? 90000 : 0, drift);
    const double known = drift / (1 + drift); /* per ns of its own time */
    struct sync s = {0};
    CHECK(sync_open(&s, team, &own.clock) == 0 && s.algorithm == &sync_tree && s.count == 2);
    CHECK(fabs(s.mine.map.drift - known) < 3.0 / 100000000);
    CHECK(team->rank == 0 || s.history == SYNC_DRIFT_KNOWN);
    const struct clock_map anchor = s.anchor;
    const double first = s.mine.map.drift;
    CHECK(sync_take(&s) == 0 && s.mine.map.drift == first && s.anchor.at_ns == anchor.at_ns);
    clock_wait(&own.clock, clock_now(&own.clock) + 1000000000, NULL);
    CHECK(sync_take(&s) == 0 && fabs(s.mine.map.drift - known) < 3.0 / 1000000000);
    CHECK(team->rank == 0 || s.anchor.at_ns == s.mine.map.at_ns);
    CHECK(fabs(s.mine.map.offset_ns - true_offset(&own, s.mine.map.at_ns)) < 2);
    sync_close(&s);
    return test_failures;
}

/* HCA3's line goes through offsets of 20 ms. */
static int drift_of_hca3(struct team *team)
{
    const double drift = team->rank ? -300e-6 : 0;
    const struct own_clock own = own_clock(team->rank ? 90000 : 0, drift);
    struct sync s = {0};
    CHECK(sync_choose(&s, "hca3", NULL) == 0 && sync_open(&s, team, &own.clock) == 0);
    CHECK(fabs(s.mine.map.drift - drift / (1 + drift)) < 0.5e-6);
    CHECK(fabs(s.mine.map.offset_ns - true_offset(&own, s.mine.map.at_ns)) < 2);
    sync_close(&s);
    return test_failures;
}

/* ---- what an algorithm says is checked ----------------------------------------------------------------- */

static int wrong_rank;     /* whose map is made wrong, or whose clock jumps */
static double wrong_by;    /* ns */
static double wrong_bound; /* that it claims */

static int learn_wrong(struct sync *s, int me)
{
    int err = sync_skampi.learn(s, me);
    if (s->team->rank == wrong_rank) {
        s->mine.map.offset_ns += wrong_by;
        s->mine.bound_ns = wrong_bound;
    }
    return err;
}

static const struct sync_algorithm wrong = {.name = "wrong", .learn = learn_wrong};

/* Each leader has a partner in one of the rounds: none is wrong unseen. All leaders state what any pair saw.
 */
static int unseen_by_none(struct team *team)
{
    const struct own_clock own = own_clock(1000000LL * team->rank, 0);
    struct sync s = {.algorithm = &wrong};
    wrong_rank = -1;
    CHECK(sync_open(&s, team, &own.clock) == 0 && s.leader_count == team->size);
    wrong_by = 40000;
    wrong_bound = 1e9;
    for (wrong_rank = 1; wrong_rank < team->size; ++wrong_rank) {
        CHECK(sync_take(&s) == 0);
        const bool is_wrong = team->rank == wrong_rank;
        /* beside it, what the others' messages may be off by */
        CHECK(!is_wrong || fabs(s.mine.error_ns - 1.5 * wrong_by) < 1.5 * 20 * COST);
        CHECK(is_wrong || s.mine.error_ns <= s.mine.bound_ns);
        CHECK(team->rank || s.mine.error_ns == TICK);
        CHECK(!is_wrong || team->size > 2 || is_near(s.mine.error_ns, 1.5 * wrong_by + TICK));
        s.mine.map.offset_ns -= is_wrong ? wrong_by : 0; /* or it would seem to have jumped */
    }
    sync_close(&s);
    return test_failures;
}

/* A clock that jumps between two synchronisations ends the second one on all ranks; the rank has the
 * sentence. */
static int jump(struct team *team)
{
    struct own_clock own = own_clock(1000000LL * team->rank, 0);
    struct sync s = {0};
    CHECK(sync_open(&s, team, &own.clock) == 0);
    own.ahead += team->rank == 1 ? 3000000 : 0;
    const int64_t count = s.count;
    CHECK(sync_take(&s) == ERR_CLOCK && s.count == count && s.history == SYNC_NEW);
    CHECK((s.doubt[0] != '\0') == (team->rank == 1));
    CHECK(team->rank != 1 || strstr(s.doubt, "ranks 1 and 0") || strstr(s.doubt, "ranks 1 and 2"));
    CHECK(sync_take(&s) == 0 && s.count == count + 1);
    sync_close(&s);
    return test_failures;
}

/* ---- many clocks --------------------------------------------------------------------------------------- */

static int descending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x > y ? -1 : x < y;
}

/* The two largest of all ranks, and the ends of their drifts. */
static void check_worst(const struct sync *s)
{
    double errors[RANKS], bounds[RANKS], least = 0, most = 0;
    for (int r = 0; r < RANKS; ++r) {
        errors[r] = s->all[r].error_ns;
        bounds[r] = s->all[r].bound_ns;
        least = fmin(least, s->all[r].map.drift);
        most = fmax(most, s->all[r].map.drift);
    }
    qsort(errors, RANKS, sizeof errors[0], descending);
    qsort(bounds, RANKS, sizeof bounds[0], descending);
    CHECK(memcmp(s->worst.error_ns, errors, 2 * sizeof errors[0]) == 0);
    CHECK(memcmp(s->worst.bound_ns, bounds, 2 * sizeof bounds[0]) == 0);
    CHECK(s->worst.least_drift == least && s->worst.most_drift == most);
}

/* Rank 3 shares rank 0's clock; all others have their own. Each offset is within its bound, whoever else
 * reads clocks meanwhile. */
static int many_clocks(struct team *team)
{
    static const int64_t ahead[RANKS] = {0, 1000000000, -500000000, 0, 3000000000, 70000};
    static const double drift[RANKS] = {0, 50e-6, -80e-6, 0, 0, 200e-6};
    const struct own_clock own = own_clock(ahead[team->rank], drift[team->rank]);
    for (int a = 0; sync_algorithms[a]; ++a) {
        struct sync s = {0};
        CHECK(sync_choose(&s, sync_algorithms[a]->name, a % 2 ? "asymmetric" : "symmetric") == 0);
        CHECK(sync_open(&s, team, &own.clock) == 0 && s.leader_count == RANKS - 1);
        s.keeps_all = s.keeps_worst = true;
        CHECK(sync_take(&s) == 0 && (s.all != NULL) == (team->rank == 0));
        for (int r = 0; team->rank == 0 && r < RANKS; ++r) {
            const struct sync_point *p = &s.all[r];
            const struct own_clock theirs = own_clock(ahead[r], drift[r]);
            CHECK(fabs(p->map.offset_ns - true_offset(&theirs, p->map.at_ns)) <= p->bound_ns);
            CHECK(a % 2 ? p->error_ns == p->bound_ns : p->error_ns <= p->bound_ns);
            CHECK(a % 2 || (ahead[r] == 0) == (p->error_ns == TICK) || p->error_ns > TICK);
        }
        if (team->rank == 0)
            check_worst(&s);
        sync_close(&s);
    }
    return test_failures;
}

static void test_description(void)
{
    struct json j = {0};
    json_open(&j, NULL, '{');
    sync_describe(&j);
    json_close(&j, '}');
    CHECK(strncmp(j.text, "{\"sync_algorithms\":[{\"name\":\"tree\",\"summary\":\"down", 50) == 0);
    CHECK(strstr(j.text, "},{\"name\":\"hca3\",\"summary\":") && strcmp(j.text + j.length - 4, "\"}]}") == 0);
    json_free(&j);
}

int main(void)
{
    shared_now = mmap(NULL, sizeof *shared_now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared_now == MAP_FAILED)
        return 1;
    atomic_store(shared_now, START_NS);
    CHECK(ranks_run(two_clocks, 2) == 0);
    CHECK(ranks_run(two_by_netgauge, 2) == 0);
    CHECK(ranks_run(shared_clocks, 2) == 0);
    CHECK(ranks_run(drift_of_tree, 2) == 0);
    CHECK(ranks_run(drift_of_hca3, 2) == 0);
    for (int ranks = 2; ranks <= 7; ++ranks)
        CHECK(ranks_run(unseen_by_none, ranks) == 0);
    CHECK(ranks_run(jump, 3) == 0);
    CHECK(ranks_run(many_clocks, RANKS) == 0);
    test_description();
    return test_result();
}
