/* Recorded arrivals of ranks at each repetition of a program: read from a text, replayed by ops. */
#ifndef BASE_DELAYS_H
#define BASE_DELAYS_H

#include <stdint.h>

struct delays {
    int ranks, count; /* of repetitions; after the last one the first follows again */
    int64_t *ns;      /* repetition k of rank r is ns[k * ranks + r] */
};

/* A line for each repetition, in it a number of ns for each rank. `text` is cut into pieces. ERR_INPUT, with
 * the line; ERR_NOMEM. */
int delays_parse(char *text, struct delays *delays);
void delays_close(struct delays *delays);

#endif
