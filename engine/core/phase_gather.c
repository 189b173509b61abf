#include "core/phase_gather.h"

#include "base/err.h"

#include <stdlib.h>

int phases_gather(const struct phases *p, const struct team *team, const struct point *point,
                  struct sink *sink, int64_t first, int64_t count)
{
    if (!p || !p->count)
        return 0;
    int64_t mine[PHASE_COLUMNS], *all = NULL;
    const int columns = phases_columns(p, mine), ranks = team->size;
    if (sink && !(all = calloc((size_t)(ranks * columns), sizeof *all)))
        return err_say(ERR_NOMEM, "no memory for the phases of %d ranks", ranks);
    int err = team_gather(team, mine, (size_t)columns * sizeof *mine, all);
    if (!err && all && sink->phases)
        err = sink->phases(sink, point, &(struct phase_chunk){first, count, ranks, p->count, columns, all});
    free(all);
    return err;
}

int lanes_gather(const struct phases *p, const struct team *team, const struct point *point,
                 struct sink *sink)
{
    if (!p || !p->lanes)
        return 0;
    const size_t bytes = (size_t)p->lane_count * sizeof *p->lanes;
    struct lane_time *all = NULL;
    if (sink && !(all = malloc((size_t)team->size * bytes)))
        return err_say(ERR_NOMEM, "no memory for the times of %d threads", p->lane_count * team->size);
    int err = team_gather(team, p->lanes, bytes, all);
    if (!err && all && sink->lanes)
        err = sink->lanes(sink, point, &(struct lane_times){team->size, p->lane_count, p->lane_reps, all});
    free(all);
    return err;
}
