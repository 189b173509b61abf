/* What all ranks do together where a team has only its own messages: by dissemination, in each round to one
 * rank and from another, twice as far away as before. */
#include "team/team.h"

#include <stddef.h>

/* `value` becomes the largest; NULL: only come together. */
static int disseminate(const struct team *team, int64_t *value)
{
    const size_t bytes = value ? sizeof *value : 0;
    int err = 0;
    for (int distance = 1; distance < team->size && !err; distance *= 2) {
        int64_t in = 0;
        err = team_send(team, (team->rank + distance) % team->size, value, bytes);
        if (!err)
            err = team_recv(team, (team->rank - distance + team->size) % team->size, &in, bytes);
        if (value && in > *value)
            *value = in;
    }
    return err;
}

int team_barrier(const struct team *team)
{
    return disseminate(team, NULL);
}

/* A maximum does not mind hearing of the same rank twice. */
int team_max(const struct team *team, int64_t *value)
{
    return disseminate(team, value);
}
