/* Who moves the messages of an exchange: three parameters that ops of halos and kernels share. */
#ifndef COMM_MOVERS_H
#define COMM_MOVERS_H

#include "base/opt.h"

#include <stdbool.h>

/* Rows for a table of parameters, side by side and in any place: all three, or none. */
#define MOVERS_PARAMS                                                                                        \
    {"movers", "", "threads that move messages, each those of its own neighbours", 1, 1, 1024},              \
        PARAM_WORDS("windows", "of one-sided back ends: one window, or one for each mover", movers_share),   \
        PARAM_WORDS("comms", "of the other back ends: one communicator, or one for each mover",              \
                    movers_share)
extern const char *const movers_share[3];

struct movers {
    int count;  /* threads of a rank that move at once; 1: a rank's only one, or the first */
    bool apart; /* each of them by a window, or a communicator, of its own */
};

/* The back end that they are to use, and what its user chose it by: "backend" and "fence". */
struct movers_back {
    const char *param, *word;
    bool one_sided;
};

/* What the values of a table say, for a rank of so many threads; one mover where the table has not the rows.
 * ERR_INPUT and a sentence where that cannot be. */
int movers_choose(const struct param *params, const double *values, int threads,
                  const struct movers_back *back, struct movers *movers);

#endif
