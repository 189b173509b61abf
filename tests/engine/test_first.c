/* The first use of a launch: one sample that the launch took, of this op, begun by all ranks at one instant.
 */
#include "ranks.h"
#include "test.h"

#include "core/first.h"
#include "core/op.h"
#include "core/point.h"

#include <string.h>

static int uses, checks;

static int use(struct first *f)
{
    ++uses;
    return f->planted ? err_say(ERR_WRONG, "planted in use %d", uses) : 0;
}

static int after(struct first *f)
{
    (void)f;
    ++checks;
    return 0;
}

static int refuse(struct first *f)
{
    (void)f;
    return err_say(ERR_INPUT, "not so");
}

static int begin_late(struct first *f)
{
    first_begin(f);
    first_end(f);
    f->stop_ns += 7;
    return 0;
}

static const struct param params[] = {FIRST_USE_PARAM, {0}};
static double more_than_there_is(const struct first *f)
{
    (void)f;
    return 1e18;
}

static const struct op_first at_instant = {.use = use, .after = after}, of_init = {.from = FIRST_FROM_INIT},
                             refused = {.ready = refuse, .use = use},
                             large = {.memory = more_than_there_is, .ready = refuse, .use = use},
                             losing = {.use = begin_late, .loses = 1},
                             of_main = {.from = FIRST_FROM_MAIN, .use = use};
static const struct op op = {.name = "x.first", .params = params, .first = &at_instant},
                       choosy = {.name = "x.choosy", .first = &refused},
                       greedy = {.name = "x.greedy", .first = &large},
                       init = {.name = "x.init", .first = &of_init},
                       job = {.name = "x.job", .first = &of_main},
                       death = {.name = "x.death", .first = &losing},
                       unable = {.name = "x.unable", .first = &losing, .missing = "not here"};

static void test_taken(void)
{
    struct first f;
    struct point p = {.op = &op, .plant = -1, .op_params = {3}};
    struct team team = {.size = 1, .began_ns = 5, .init_begin_ns = 10, .init_end_ns = 25};
    first_take(&f, &p, &team);
    CHECK(f.taken && f.err == 0 && uses == 3 && checks == 3 && f.instant > 0 && f.stop_ns >= f.start_ns);
    CHECK(first_check(&f, &op, &team) == 0);
    CHECK(first_check(&f, &job, &team) == ERR_UNSUPPORTED && strstr(err_text(), "x.job is timed before"));
    CHECK(first_check(NULL, &op, &team) == ERR_UNSUPPORTED);
    CHECK(first_check(&(struct first){0}, &op, &team) == ERR_UNSUPPORTED);
    p.plant = 0;
    uses = 0;
    first_take(&f, &p, &team);
    CHECK(f.err == ERR_WRONG && strcmp(f.why, "planted in use 1") == 0 && uses == 1); /* a call that fails */

    first_take(&f, &(struct point){.op = &choosy, .plant = -1}, &team);
    CHECK(first_check(&f, &choosy, &team) == ERR_INPUT && strcmp(err_text(), "not so") == 0);

    uses = 0;
    first_take(&f, &(struct point){.op = &greedy, .plant = -1}, &team); /* before it takes any */
    CHECK(uses == 0 && first_check(&f, &greedy, &team) == ERR_NOMEM);
    CHECK(strstr(err_text(), "the buffers of x.greedy need 1e+09 GB on each of the 1 ranks that may be"));

    first_take(&f, &(struct point){.op = &init, .plant = -1}, &team);
    CHECK(f.start_ns == 10 && f.stop_ns == 25 && f.instant == 0 && first_check(&f, &init, &team) == 0);
    first_take(&f, &(struct point){.op = &job, .plant = -1}, &team);
    CHECK(f.start_ns == 5 && f.stop_ns > 25 && f.instant == 0);
}

/* The last rank of a launch is none of the team, and dies; a use may say itself what of it is timed. */
static void test_lost(void)
{
    struct first f;
    struct team team = {.rank = 2, .size = 3, .loses = 1};
    const struct point p = {.op = &death, .plant = -1};
    first_take(&f, &p, &team);
    CHECK(f.size == 2 && f.dies && f.stop_ns >= f.start_ns + 7);
    team.rank = 1;
    first_take(&f, &p, &team);
    CHECK(f.size == 2 && !f.dies && f.err == 0);
    first_take(&f, &(struct point){.op = &unable, .plant = -1}, &team);
    CHECK(f.instant == 0 && f.stop_ns == 0); /* nothing dies for an op that this engine lacks */
}

/* The last rank waited for the next instant. */
static int straddle(struct team *team)
{
    struct first f = {.op = &op, .taken = true, .instant = 100};
    CHECK(first_check(&f, &op, team) == 0);
    f.instant += team->rank == team->size - 1;
    CHECK(first_check(&f, &op, team) == ERR_UNSUPPORTED && strstr(err_text(), "two sides"));
    return test_failures;
}

int main(void)
{
    test_taken();
    test_lost();
    CHECK(ranks_run(straddle, 3) == 0);
    return test_result();
}
