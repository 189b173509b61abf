/* Which ranks of a team share a host: learnt once, when the team is opened. */
#ifndef TEAM_HOSTS_H
#define TEAM_HOSTS_H

#include "team/team.h"

#include <stdbool.h>

/* A host is one running kernel under one name, as containers may share a kernel. */
struct host {
    char name[64];   /* as gethostname() says */
    uint64_t kernel; /* a number of each running kernel's own, made of its boot id; 0: not known */
    int first;       /* its lowest rank */
};

/* For team_open() and team_close(). Collective. ERR_NOMEM, ERR_MPI. */
int hosts_open(struct team *team);
void hosts_close(struct team *team);

/* Where a rank is. Ranks of a team that nobody opened are on one host without a name. */
const struct host *host_of(const struct team *team, int rank);
bool host_is_same(const struct team *team, int a, int b);

/* How many ranks of the team are on the host of one. */
int host_ranks(const struct team *team, int rank);

#endif
