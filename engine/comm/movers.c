#include "comm/movers.h"

#include "base/err.h"

const char *const movers_share[] = {"one", "thread", NULL};

int movers_choose(const struct param *params, const double *values, int threads,
                  const struct movers_back *back, struct movers *movers)
{
    const bool windows = param_value(params, values, "windows", 0) != 0,
               comms = param_value(params, values, "comms", 0) != 0;
    *movers = (struct movers){.count = (int)param_value(params, values, "movers", 1),
                              .apart = back->one_sided ? windows : comms};
    if (back->one_sided ? comms : windows)
        return err_say(ERR_INPUT, "%s=thread is not for %s=%s, which has no such thing; give %s=thread",
                       comms ? "comms" : "windows", back->param, back->word, comms ? "windows" : "comms");
    if (movers->count > threads)
        return err_say(ERR_INPUT,
                       "movers=%d needs as many threads in each rank, which has %d; give --threads %d",
                       movers->count, threads, movers->count);
    return 0;
}
