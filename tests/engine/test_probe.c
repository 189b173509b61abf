/* Looks at the machine by a team of one: what is lost of its time. The canary needs an MPI; see
 * test_probe.py. */
#include "test.h"

#include "machine/probe.h"
#include "team/team.h"

#include <math.h>

/* A clock that advances when it is read: so all quanta take as long. */
static struct fake_clock even_clock(void)
{
    return fake_clock(4000, 1);
}

int main(void)
{
    struct team team = {.size = 1};
    struct probe *probe = NULL;
    const struct probed *seen = NULL;

    /* In simulation there is nothing to look at. */
    struct fake_clock asleep = even_clock();
    asleep.clock.sleeps = true;
    CHECK(probe_open(&team, &asleep.clock, &probe) == 0 && !probe);
    CHECK(!probe_is_due(probe, 1e9));

    /* Quanta that all take as long: nothing is lost. There is nobody to share a line with. */
    struct fake_clock fake = even_clock();
    CHECK(probe_open(&team, &fake.clock, &probe) == 0 && probe);
    fake.now += 1000000;
    CHECK(!probe_is_due(probe, 0) && probe_is_due(probe, 10e6));
    fake.now += 9000000;
    CHECK(probe_is_due(probe, 0));
    CHECK(probe_take(probe, true, &seen) == 0 && seen && isnan(seen->canary_ns) && seen->noise[0] == 0);
    CHECK(!probe_is_due(probe, 0));

    /* Four times as long, all of a sudden: three quarters of the time are lost. */
    fake.cost *= 4;
    CHECK(probe_take(probe, true, &seen) == 0 && fabs(seen->noise[0] - 0.75) < 1e-9);

    /* A faster quantum than any so far is the new measure, and a look always costs some of them at most. */
    fake.cost = 1000;
    CHECK(probe_take(probe, true, &seen) == 0 && seen->noise[0] == 0);
    fake.cost = 4000;
    int64_t before = fake.now;
    CHECK(probe_take(probe, true, &seen) == 0 && fabs(seen->noise[0] - 0.75) < 1e-9);
    CHECK(fake.now - before < 25 * 4000);

    /* A clock that jumps back is no gain. */
    fake.cost = -1000;
    CHECK(probe_take(probe, true, &seen) == 0 && seen->noise[0] == 0);
    probe_close(probe);
    return test_result();
}
