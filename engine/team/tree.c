/* What goes down or up a binomial tree, by the team's own messages: the parent of a rank is the rank without
 * its lowest set bit, and the ranks below it follow it. And what chosen ranks send to rank 0. */
#include "team/team.h"

#include "base/err.h"

#include <stdbool.h>
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

int team_reduce(const struct team *team, void *mine, size_t bytes, team_merge *merge)
{
    const int branch = branch_of(team);
    const bool has_children = branch > 1 && team->rank + 1 < team->size;
    void *theirs = has_children ? malloc(bytes) : NULL;
    if (has_children && !theirs)
        return err_say(ERR_NOMEM, "no memory for what the ranks above rank %d tell it", team->rank);
    int err = 0;
    for (int bit = 1; bit < branch && team->rank + bit < team->size && !err; bit *= 2) {
        err = team_recv(team, team->rank + bit, theirs, bytes);
        if (!err)
            merge(mine, theirs, bytes);
    }
    free(theirs);
    return err || team->rank == 0 ? err : team_send(team, team->rank - branch, mine, bytes);
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

int team_chosen_count(int ranks)
{
    return ranks < TEAM_CHOSEN_MOST ? ranks : TEAM_CHOSEN_MOST;
}

int team_chosen(int ranks, int i)
{
    return (int)((int64_t)i * ranks / team_chosen_count(ranks));
}

int team_gather_chosen(const struct team *team, const void *mine, size_t bytes, void *all)
{
    int err = 0;
    if (team->rank == 0)
        memcpy(all, mine, bytes);
    for (int i = 1; i < team_chosen_count(team->size) && !err; ++i)
        if (team->rank == 0)
            err = team_recv(team, team_chosen(team->size, i), (char *)all + (size_t)i * bytes, bytes);
        else if (team->rank == team_chosen(team->size, i))
            err = team_send(team, 0, mine, bytes);
    return err;
}
