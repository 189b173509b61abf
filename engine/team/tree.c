/* What goes down or up a binomial tree, by the team's own messages: the parent of a rank is the rank without
 * its lowest set bit, and the ranks below it follow it. */
#include "team/team.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* A rank's lowest set bit: how many ranks its branch has at the most. For rank 0 a power above all ranks. */
static int branch_of(const struct team *team)
{
    int lowest = 1;
    while (lowest < team->size && !(team->rank & lowest))
        lowest *= 2;
    return lowest;
}

int team_bcast(const struct team *team, void *data, size_t bytes)
{
    const int branch = branch_of(team);
    int err = team->rank == 0 ? 0 : team_recv(team, team->rank - branch, data, bytes);
    for (int bit = branch / 2; bit >= 1 && !err; bit /= 2)
        if (team->rank + bit < team->size)
            err = team_send(team, team->rank + bit, data, bytes);
    return err;
}

/* The ranks of a branch that begins at `rank` and has room for `most`. */
static size_t ranks_in(const struct team *team, int rank, int most)
{
    return (size_t)(rank + most < team->size ? most : team->size - rank);
}

int team_gather(const struct team *team, const void *mine, size_t bytes, void *all)
{
    const int branch = branch_of(team);
    const size_t count = ranks_in(team, team->rank, branch);
    if (count == 1 && team->rank != 0)
        return team_send(team, team->rank - branch, mine, bytes);
    char *whole = team->rank == 0 ? all : malloc(count * bytes + 1);
    if (!whole)
        return err_say(ERR_NOMEM, "no memory for what %zu ranks tell rank 0", count);
    int err = 0;
    memcpy(whole, mine, bytes);
    for (int bit = 1; bit < branch && team->rank + bit < team->size && !err; bit *= 2)
        err = team_recv(team, team->rank + bit, whole + (size_t)bit * bytes,
                        ranks_in(team, team->rank + bit, bit) * bytes);
    if (team->rank == 0)
        return err;
    err = err ? err : team_send(team, team->rank - branch, whole, count * bytes);
    free(whole);
    return err;
}
