/* A team of one: for what needs no MPI. */
#include "team/team.h"

#include "base/err.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

const char team_kind[] = "solo";
double (*const team_wtime)(void) = NULL;

int team_open(struct team *team, const char *thread_level)
{
    (void)thread_level;
    *team = (struct team){.size = 1};
    return 0;
}

int team_close(struct team *team)
{
    (void)team;
    return 0;
}

void team_abort(const struct team *team, int code)
{
    (void)team;
    exit(code);
}

int team_barrier(const struct team *team)
{
    (void)team;
    return 0;
}

int team_library_barrier(const struct team *team)
{
    (void)team;
    return 0;
}

int team_bcast(const struct team *team, void *data, size_t bytes)
{
    (void)team, (void)data, (void)bytes;
    return 0;
}

int team_send(const struct team *team, int to, const void *data, size_t bytes)
{
    (void)team, (void)data, (void)bytes;
    return err_say(ERR_SYSTEM, "a team of one has no rank %d to send to", to);
}

int team_recv(const struct team *team, int from, void *data, size_t bytes)
{
    (void)team, (void)data, (void)bytes;
    return err_say(ERR_SYSTEM, "a team of one has no rank %d to receive from", from);
}

int team_gather(const struct team *team, const void *mine, size_t bytes, void *all)
{
    (void)team;
    memcpy(all, mine, bytes);
    return 0;
}

int team_max(const struct team *team, int64_t *value)
{
    (void)team, (void)value;
    return 0;
}

void team_describe(struct json *j)
{
    json_string(j, "mpi", NULL);
}

void team_record(const struct team *team, struct json *j)
{
    (void)team;
    team_describe(j);
}

void team_queues(const struct team *team, struct json *j)
{
    (void)team, (void)j;
}
