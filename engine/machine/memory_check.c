#include "machine/memory_check.h"

#include "base/err.h"
#include "base/memory.h"
#include "team/hosts.h"

#include <stdlib.h>

struct need {
    double bytes, left; /* sums of sizes near SIZE_MAX are to fit too */
};

struct amount {
    double value; /* three digits of it are said */
    const char *unit;
};

/* Bytes in the largest unit that leaves 1 or more. */
static struct amount amount_of(double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB"};
    size_t i = 0;
    for (; bytes >= 999.5 && i + 1 < sizeof units / sizeof units[0]; ++i)
        bytes /= 1e3;
    return (struct amount){bytes, units[i]};
}

/* The ranks of a host together, as its lowest rank sees them: it says how much is left. */
static int check_host(const struct team *team, const struct need *needs)
{
    double bytes = 0;
    int members = 0;
    for (int i = 0; i < host_ranks(team); ++i) {
        bytes += needs[i].bytes;
        members += needs[i].bytes > 0;
    }
    if (bytes <= needs[0].left)
        return 0;
    const struct amount need = amount_of(bytes), left = amount_of(needs[0].left);
    return err_say(
        ERR_NOMEM,
        "the buffers of this test case need %.3g %s on %s (ranks: %d), where %.3g %s are left; use smaller "
        "messages, a smaller window or fewer ranks a host",
        need.value, need.unit, host_mine(team)->name, members, left.value, left.unit);
}

int memory_check(const struct team *team, size_t bytes)
{
    const struct need mine = {.bytes = (double)bytes, .left = (double)memory_left("")};
    const bool is_first = host_first(team, team->rank) == team->rank;
    struct need *needs = is_first ? malloc((size_t)host_ranks(team) * sizeof *needs) : NULL;
    if (is_first && !needs)
        return err_say(ERR_NOMEM, "no memory for what %d ranks need", host_ranks(team));
    int err = host_gather(team, &mine, sizeof mine, needs);
    err = err || !needs ? err : check_host(team, needs);
    free(needs);
    return err;
}
