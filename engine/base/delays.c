#define _GNU_SOURCE
#include "base/delays.h"

#include "base/err.h"
#include "base/num.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t MOST_NS = 1000000000; /* as `delay_us`: a second */

/* The numbers of a line, behind those before. */
static int parse_line(char *line, int number, struct delays *d)
{
    char what[64], *rest = NULL;
    int ranks = 0;
    snprintf(what, sizeof what, "a delay in line %d", number);
    for (char *word = strtok_r(line, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
        const size_t at = (size_t)d->count * (size_t)d->ranks + (size_t)ranks;
        int64_t *more = realloc(d->ns, (at + 1) * sizeof *more);
        if (!more)
            return err_say(ERR_NOMEM, "no memory for the delays of %d repetitions", d->count);
        d->ns = more;
        int err = num_int(word, what, 0, MOST_NS, &d->ns[at]);
        if (err)
            return err;
        ++ranks;
    }
    if (ranks == 0)
        return 0;
    if (d->count > 0 && ranks != d->ranks)
        return err_say(ERR_INPUT, "line %d of the delays has %d ranks, those before have %d", number, ranks,
                       d->ranks);
    d->ranks = ranks;
    ++d->count;
    return 0;
}

int delays_parse(char *text, struct delays *delays)
{
    struct delays d = {0};
    int err = 0, number = 0;
    for (char *rest = text, *line = strsep(&rest, "\n"); line && !err; line = strsep(&rest, "\n"))
        err = parse_line(line, ++number, &d);
    if (!err && d.count == 0)
        err = err_say(ERR_INPUT, "there are no delays to replay; give a line for each repetition");
    if (err)
        delays_close(&d);
    *delays = d;
    return err;
}

void delays_close(struct delays *d)
{
    free(d->ns);
    *d = (struct delays){0};
}
