#include "core/agree.h"

#include <stdio.h>
#include <string.h>

/* The sentence of the lowest rank that has one. */
struct said {
    int64_t rank;
    char text[ERR_TEXT_MAX];
};

static void merge_said(void *into_bytes, const void *from_bytes, size_t bytes)
{
    struct said *into = into_bytes;
    const struct said *from = from_bytes;
    if (!into->text[0] && from->text[0])
        memcpy(into, from, bytes);
}

int agree(const struct team *team, int mine, int *worst, char why[ERR_TEXT_MAX])
{
    /* The functions of a user's library may return anything: no failure may look like less than none. */
    if (mine < 0 || mine > ERR_CLOCK)
        mine = err_say(ERR_WRONG, "the operation returned %d, which is none of its errors", mine);
    int64_t value = mine;
    int err = team_max(team, &value);
    *worst = (int)value;
    if (err || value == 0)
        return err;
    struct said said;
    memset(&said, 0, sizeof said); /* padding too: it is sent */
    said.rank = team->rank;
    if (mine == *worst)
        snprintf(said.text, sizeof said.text, "%s", err_text());
    err = team_reduce(team, &said, sizeof said, merge_said);
    why[0] = '\0';
    if (team->rank == 0 && said.text[0])
        snprintf(why, ERR_TEXT_MAX, "%s: rank %lld: %.200s", err_word((int)value), (long long)said.rank,
                 said.text);
    return err;
}
