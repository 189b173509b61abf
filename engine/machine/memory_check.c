#include "machine/memory_check.h"

#include "base/err.h"
#include "base/memory.h"
#include "team/hosts.h"

#include <stdlib.h>

struct need {
    double bytes, left; /* sums of sizes near SIZE_MAX are to fit too */
};

/* The ranks of a host together; its first rank says how much is left. */
static int check_host(const struct team *team, const struct need *needs, int first)
{
    double bytes = 0;
    int members = 0;
    for (int r = first; r < team->size; ++r)
        if (host_is_same(team, r, first)) {
            bytes += needs[r].bytes;
            members += needs[r].bytes > 0;
        }
    if (bytes <= needs[first].left)
        return 0;
    return err_say(
        ERR_NOMEM,
        "the buffers of this test case need %.3g GB on %s (%d ranks), where %.3g GB are left; use smaller "
        "messages, a smaller window or fewer ranks a host",
        bytes / 1e9, host_of(team, first)->name, members, needs[first].left / 1e9);
}

int memory_check(const struct team *team, size_t bytes)
{
    struct need mine, *needs = NULL;
    mine = (struct need){.bytes = (double)bytes, .left = (double)memory_left("")};
    if (team->rank == 0 && !(needs = malloc((size_t)team->size * sizeof *needs)))
        return err_say(ERR_NOMEM, "no memory for what %d ranks need", team->size);
    int err = team_gather(team, &mine, sizeof mine, needs);
    for (int r = 0; needs && r < team->size && !err; ++r)
        if (host_of(team, r)->first == r)
            err = check_host(team, needs, r);
    free(needs);
    return err;
}
