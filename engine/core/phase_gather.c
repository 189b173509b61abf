#include "core/phase_gather.h"

#include "base/err.h"

#include <stdlib.h>

int phases_gather(const struct phases *p, const struct team *team, const struct point *point, bool of_all,
                  struct sink *sink, int64_t first, int64_t count)
{
    if (!p || !p->count)
        return 0;
    int64_t mine[PHASE_COLUMNS], *all = NULL;
    const int columns = phases_columns(p, mine);
    const int ranks = of_all ? team->size : team_chosen_count(team->size);
    const size_t bytes = (size_t)columns * sizeof *mine;
    if (sink && !(all = calloc((size_t)ranks, bytes)))
        return err_say(ERR_NOMEM, "no memory for the phases of %d ranks", ranks);
    int err = of_all ? team_gather(team, mine, bytes, all) : team_gather_chosen(team, mine, bytes, all);
    if (!err && all && sink->phases)
        err = sink->phases(sink, point,
                           &(struct phase_chunk){.first = first,
                                                 .count = count,
                                                 .ranks = ranks,
                                                 .of = team->size,
                                                 .phases = p->count,
                                                 .columns = columns,
                                                 .values = all});
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
