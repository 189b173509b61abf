#include "core/agree.h"

#include <stdio.h>
#include <stdlib.h>

int agree(const struct team *team, int mine, int *worst, char why[ERR_TEXT_MAX])
{
    int64_t value = mine;
    int err = team_max(team, &value);
    *worst = (int)value;
    if (err || value == 0)
        return err;
    char text[ERR_TEXT_MAX] = "", *texts = NULL;
    if (mine == *worst)
        snprintf(text, sizeof text, "%s", err_text());
    if (team->rank == 0 && !(texts = malloc((size_t)team->size * sizeof text)))
        return err_say(ERR_NOMEM, "no memory for the ranks' messages");
    err = team_gather(team, text, sizeof text, texts);
    why[0] = '\0';
    for (int i = 0; texts && i < team->size && !why[0]; ++i)
        if (texts[(size_t)i * sizeof text])
            snprintf(why, ERR_TEXT_MAX, "%s: rank %d: %.200s", err_word((int)value), i,
                     texts + (size_t)i * sizeof text);
    free(texts);
    return err;
}
