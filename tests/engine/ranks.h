/* Ranks that are forked for a test. Who opens such a team does not come back, so each case runs in a child of
 * its own; what its ranks find out is the child's exit code. */
#ifndef RANKS_H
#define RANKS_H

#include "team/team.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Start a case on so many ranks; return the pid of their keeper. `body` is what each rank does; it returns
 * the number of checks that failed. */
static inline pid_t ranks_start(int (*body)(struct team *team), int ranks)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    struct team team;
    if (team_open(&team, "single", ranks, NULL, NULL) != 0)
        _exit(99);
    int failures = body(&team);
    if (team_close(&team) != 0)
        ++failures;
    fflush(NULL);
    _exit(failures > 0 ? 1 : 0);
}

/* Run a case to its end: how its keeper ended, as waitpid() says; 0: well. */
static inline int ranks_run(int (*body)(struct team *team), int ranks)
{
    int status = 0;
    pid_t pid = ranks_start(body, ranks);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

#endif
