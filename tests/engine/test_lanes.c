/* One-sided calls between two ranks: a call that fails on one of them alone. */
#include "ranks.h"
#include "test.h"

#include "core/agree.h"
#include "ops/common/lanes.h"

#include <string.h>

static int plan(const struct op_env *env, size_t *each)
{
    (void)env;
    *each = LANE_LINE;
    return 0;
}

static int memory(struct lanes *lanes, const struct op_env *env, int err, size_t bytes, char **memory)
{
    (void)lanes, (void)env, (void)bytes;
    *memory = NULL;
    return err;
}

static int open_lane(struct lane *lane, const struct op_env *env)
{
    (void)lane, (void)env;
    return 0;
}

static int join(struct lanes *lanes, const struct op_env *env, int err)
{
    (void)lanes, (void)env;
    return err;
}

static void loop(struct lane *lane, int64_t reps)
{
    (void)reps;
    lane->failed = "it broke";
}

static void fresh(struct lane *lane)
{
    (void)lane;
}

static int check(struct lane *lane, int64_t reps)
{
    (void)lane, (void)reps;
    return 0;
}

static const struct duty duty = {.size = sizeof(struct lane),
                                 .plan = plan,
                                 .memory = memory,
                                 .open = open_lane,
                                 .join = join,
                                 .loop = loop,
                                 .fresh = fresh,
                                 .check = check};

/* Only rank 0 calls. */
static int fails_alone(struct team *team)
{
    struct buffers buffers = {0};
    const struct op op = {.name = "x.put"};
    const struct op_env env = {.op = &op, .team = team, .threads = 1, .buffers = &buffers};
    void *state = NULL;
    int worst = 0;
    char why[ERR_TEXT_MAX] = "";
    CHECK(lanes_setup(&env, &duty, &state) == 0);
    CHECK(agree(team, lanes_verify(state), &worst, why) == 0 && worst == ERR_SYSTEM);
    CHECK(team->rank != 0 || strstr(why, "rank 0: a call between ranks 0 and 1 failed: it broke"));
    CHECK(team_barrier(team) == 0);
    lanes_teardown(state);
    return test_failures;
}

int main(void)
{
    CHECK(ranks_run(fails_alone, 3) == 0);
    return test_result();
}
