/* Which ranks of a team share a host: learnt once, when the team is opened. A rank knows the ranks of its own
 * host, and of all others the lowest rank of theirs. */
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

/* Mine. Ranks of a team that nobody opened are on one host without a name. */
const struct host *host_mine(const struct team *team);

/* The lowest rank of a rank's host. */
int host_first(const struct team *team, int rank);
bool host_is_same(const struct team *team, int a, int b);

/* How many ranks are on my host, and the i-th of them, ascending. */
int host_ranks(const struct team *team);
int host_rank(const struct team *team, int i);

/* Each rank's `bytes` to the lowest of its host, in the order of ranks: `all` has room for those of its host
 * there, and is NULL elsewhere. And the lowest rank's `bytes` to all of its host. */
int host_gather(const struct team *team, const void *mine, size_t bytes, void *all);
int host_bcast(const struct team *team, void *data, size_t bytes);

#endif
