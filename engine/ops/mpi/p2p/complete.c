/* Every way to complete a set of requests.
 *
 * They differ in what the library must look at: all requests at once, one after the other, or the whole set
 * for each message that has come. Each ends when all are complete. Requests may be persistent: these stay in
 * the set, inactive, and MPI passes over them. */
#include "ops/mpi/p2p/complete.h"

#include "base/err.h"
#include "comm/compat_mpi.h"

#include <stdlib.h>

static int by_waitall(const struct completion *c, int count, MPI_Request *requests)
{
    (void)c;
    return MPI_Waitall(count, requests, statuses_ignored());
}

static int by_wait(const struct completion *c, int count, MPI_Request *requests)
{
    (void)c;
    int rc = MPI_SUCCESS;
    for (int i = 0; i < count && rc == MPI_SUCCESS; ++i)
        rc = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    return rc;
}

static int by_waitany(const struct completion *c, int count, MPI_Request *requests)
{
    (void)c;
    int rc = MPI_SUCCESS, index = 0;
    for (int i = 0; i < count && rc == MPI_SUCCESS; ++i)
        rc = MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
    return rc;
}

static int by_waitsome(const struct completion *c, int count, MPI_Request *requests)
{
    int rc = MPI_SUCCESS, some = 0;
    for (int done = 0; done < count && rc == MPI_SUCCESS && some != MPI_UNDEFINED; done += some)
        rc = MPI_Waitsome(count, requests, &some, c->indices, statuses_ignored());
    return rc;
}

static int by_testall(const struct completion *c, int count, MPI_Request *requests)
{
    (void)c;
    int rc = MPI_SUCCESS, done = 0;
    while (!done && rc == MPI_SUCCESS)
        rc = MPI_Testall(count, requests, &done, statuses_ignored());
    return rc;
}

static int by_test(const struct completion *c, int count, MPI_Request *requests)
{
    (void)c;
    int rc = MPI_SUCCESS;
    for (int i = 0; i < count && rc == MPI_SUCCESS; ++i)
        for (int done = 0; !done && rc == MPI_SUCCESS;)
            rc = MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
    return rc;
}

static int by_testany(const struct completion *c, int count, MPI_Request *requests)
{
    (void)c;
    int rc = MPI_SUCCESS, index = 0;
    for (int done = 0, one = 0; done < count && rc == MPI_SUCCESS; done += one)
        rc = MPI_Testany(count, requests, &index, &one, MPI_STATUS_IGNORE);
    return rc;
}

static int by_testsome(const struct completion *c, int count, MPI_Request *requests)
{
    int rc = MPI_SUCCESS, some = 0;
    for (int done = 0; done < count && rc == MPI_SUCCESS && some != MPI_UNDEFINED; done += some)
        rc = MPI_Testsome(count, requests, &some, c->indices, statuses_ignored());
    return rc;
}

/* Statuses are looked at without a change of the requests, which are then completed. */
static int by_status(const struct completion *c, int count, MPI_Request *requests)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < count && rc == MPI_SUCCESS; ++i)
        for (int done = 0; !done && rc == MPI_SUCCESS;)
            rc = MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
    return rc == MPI_SUCCESS ? by_waitall(c, count, requests) : rc;
}

static int by_status_all(const struct completion *c, int count, MPI_Request *requests)
{
    int rc = MPI_SUCCESS, done = 0;
    while (!done && rc == MPI_SUCCESS)
        rc = MPI_Request_get_status_all(count, requests, &done, statuses_ignored());
    return rc == MPI_SUCCESS ? by_waitall(c, count, requests) : rc;
}

const char *const complete_words[11] = {"waitall", "wait",     "waitany", "waitsome",   "testall", "test",
                                        "testany", "testsome", "status",  "status_all", NULL};

/* In the order of the words. */
static const struct {
    int (*all)(const struct completion *c, int count, MPI_Request *requests);
    const char *calls, *missing;
} ways[] = {
    {by_waitall, "MPI_Waitall", NULL},
    {by_wait, "MPI_Wait", NULL},
    {by_waitany, "MPI_Waitany", NULL},
    {by_waitsome, "MPI_Waitsome", NULL},
    {by_testall, "MPI_Testall", NULL},
    {by_test, "MPI_Test", NULL},
    {by_testany, "MPI_Testany", NULL},
    {by_testsome, "MPI_Testsome", NULL},
    {by_status, "MPI_Request_get_status or MPI_Waitall", NULL},
    {by_status_all, "MPI_Request_get_status_all or MPI_Waitall", STATUS_ALL_MISSING},
};

int complete_open(struct completion *c, int word, int most)
{
    *c = (struct completion){.all = ways[word].all, .calls = ways[word].calls};
    if (ways[word].missing)
        return err_say(ERR_UNSUPPORTED, "%s", ways[word].missing);
    if (c->all != by_waitsome && c->all != by_testsome)
        return 0;
    c->indices = malloc((size_t)(most > 0 ? most : 1) * sizeof *c->indices);
    return c->indices ? 0 : err_say(ERR_NOMEM, "no memory for the indices of %d requests", most);
}

void complete_close(struct completion *c)
{
    free(c->indices);
}
