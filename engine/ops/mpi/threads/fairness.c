#include "ops/mpi/threads/threads.h"

#include <stdlib.h>

enum { FIRST, MIDDLE, LAST };
const struct phase mt_phases[] = {[FIRST] = {"first thread", true},
                                  [MIDDLE] = {"middle thread", true},
                                  [LAST] = {"last thread", true},
                                  {0}};

const char *const mt_off_on[3] = {[MT_PHASES_OFF] = "off", [MT_PHASES_ON] = "on", NULL};

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void mt_stamp(struct phases *phases, int64_t *done_ns, int count)
{
    qsort(done_ns, (size_t)count, sizeof *done_ns, compare);
    phase_end_at(phases, FIRST, done_ns[0]);
    phase_end_at(phases, MIDDLE, done_ns[(count - 1) / 2]);
    phase_end_at(phases, LAST, done_ns[count - 1]);
}
