/* Threads that move the messages of an exchange: three parameters of halo ops and kernels. */
#ifndef COMM_MOVERS_H
#define COMM_MOVERS_H

#include "base/opt.h"

#include <stdbool.h>

/* Rows for a table of parameters, side by side and in any place: all three, or none. */
#define MOVERS_PARAMS                                                                                        \
    {"movers",        "", "threads that move messages, each those of its own neighbours", 1, 1, 1024,        \
     .all = "threads"},                                                                                      \
        PARAM_WORDS("windows", "of one-sided back ends: one window, or one for each mover", movers_share),   \
        PARAM_WORDS("comms", "of the other back ends: one communicator, or one for each mover",              \
                    movers_share)
extern const char *const movers_share[3];

struct movers {
    int count;  /* threads of a rank that move at once; 1: the only one, or the first */
    bool apart; /* each of them by its own window or communicator */
};

/* The back end that they use, and the user's choice: "backend" and "fence". */
struct movers_back {
    const char *param, *word;
    bool one_sided;
};

/* Read the values of a table, for a rank of so many threads; one mover if the table lacks the rows. ERR_INPUT
 * and a sentence for an impossible choice. */
int movers_choose(const struct param *params, const double *values, int threads,
                  const struct movers_back *back, struct movers *movers);

#endif
