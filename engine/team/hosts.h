/* The ranks of a team that share a host, found once, when the team is opened. A rank knows the ranks of its
 * own host, and for other ranks the lowest rank of their host. */
#ifndef TEAM_HOSTS_H
#define TEAM_HOSTS_H

#include "team/team.h"

#include <stdbool.h>

/* A host is one running kernel under one name, because containers may share a kernel. */
struct host {
    char name[64];   /* as gethostname() says */
    uint64_t kernel; /* a number of the running kernel, made of its boot id; 0: unknown */
    int first;       /* its lowest rank */
};

/* For team_open() and team_close(). Collective. ERR_NOMEM, ERR_MPI. */
int hosts_open(struct team *team);
void hosts_close(struct team *team);

/* Mine. A team that was not opened is on one host without a name. */
const struct host *host_mine(const struct team *team);

/* The lowest rank of a rank's host. */
int host_first(const struct team *team, int rank);
bool host_is_same(const struct team *team, int a, int b);

/* The number of ranks on my host, and the i-th of them, ascending. */
int host_ranks(const struct team *team);
int host_rank(const struct team *team, int i);

/* Gather each rank's `bytes` on the lowest of its host, in the order of ranks: `all` has room for those of
 * its host there, and is NULL elsewhere. And send the lowest rank's `bytes` to all of its host. */
int host_gather(const struct team *team, const void *mine, size_t bytes, void *all);
int host_bcast(const struct team *team, void *data, size_t bytes);

#endif
