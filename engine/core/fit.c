#define _GNU_SOURCE
#include "core/fit.h"

#include "base/err.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct need {
    char host[64];
    double bytes, left; /* sums of sizes near SIZE_MAX are to fit too */
};

/* The ranks of a host together; its first rank says how much is left. */
static int check_host(const struct need *needs, int ranks, int first)
{
    double bytes = 0;
    int members = 0;
    for (int r = first; r < ranks; ++r)
        if (strcmp(needs[r].host, needs[first].host) == 0) {
            bytes += needs[r].bytes;
            members += needs[r].bytes > 0;
        }
    if (bytes <= needs[first].left)
        return 0;
    return err_say(
        ERR_NOMEM,
        "the buffers of this point need %.3g GB on %s (%d ranks), where %.3g GB are left; use smaller "
        "messages, a smaller window or fewer ranks a host",
        bytes / 1e9, needs[first].host, members, needs[first].left / 1e9);
}

int fit_check(const struct team *team, size_t bytes)
{
    struct need mine, *needs = NULL;
    memset(&mine, 0, sizeof mine); /* padding too: it is sent */
    gethostname(mine.host, sizeof mine.host - 1);
    mine.bytes = (double)bytes;
    mine.left = (double)memory_left("");
    if (team->rank == 0 && !(needs = malloc((size_t)team->size * sizeof *needs)))
        return err_say(ERR_NOMEM, "no memory for what %d ranks need", team->size);
    int err = team_gather(team, &mine, sizeof mine, needs);
    for (int r = 0; needs && r < team->size && !err; ++r)
        err = check_host(needs, team->size, r);
    free(needs);
    return err;
}
