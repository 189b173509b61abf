#define _GNU_SOURCE
#include "launch/points.h"

#include "base/delays.h"
#include "base/err.h"
#include "core/point.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

/* What a file holds, behind what stands in `memory` already. Whoever wrote the file may hold the ranks back
 * for a moment, by a lock on it, so as not to work on their cores while they measure; where there are no
 * locks, nobody waits. */
static int read_file(const char *path, const char *what, FILE *memory)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return err_say(ERR_INPUT, "cannot read the %s in %s: %s", what, path, strerror(errno));
    (void)flock(fileno(file), LOCK_SH);
    for (int c; (c = fgetc(file)) != EOF;)
        fputc(c, memory);
    fclose(file);
    return 0;
}

/* The words, if any, as a line, and the file, if any; on rank 0. */
static int read_text(const char *path, const char *what, int words, char **word, char **text, size_t *length)
{
    FILE *memory = open_memstream(text, length);
    if (!memory)
        return err_say(ERR_NOMEM, "no memory for the %s", what);
    for (int i = 0; i < words; ++i) {
        fwrite(word[i], 1, strlen(word[i]), memory);
        fputc(' ', memory);
    }
    if (words > 0)
        fputc('\n', memory);
    int err = path ? read_file(path, what, memory) : 0;
    if (fclose(memory) != 0 && !err)
        err = err_say(ERR_NOMEM, "no memory for the %s", what);
    return err;
}

/* Rank 0's text on all ranks: they parse the same. */
static int share_text(const struct team *team, const char *what, char **text, size_t *length)
{
    int err = team_bcast(team, length, sizeof *length);
    if (!err && team->rank != 0 && !(*text = malloc(*length + 1)))
        err = err_say(ERR_NOMEM, "no memory for the %s", what);
    if (!err)
        err = team_bcast(team, *text, *length);
    if (!err)
        (*text)[*length] = '\0';
    return err;
}

int points_share(const struct team *team, const char *path, int words, char **word, const struct op *ops,
                 size_t op_count, struct point **out, size_t *count)
{
    char *text = NULL;
    size_t length = 0;
    int err = team->rank == 0 ? read_text(path, "points", words, word, &text, &length) : 0;
    err = err ? err : share_text(team, "points", &text, &length);
    struct point *points =
        err ? NULL : calloc(length / 4 + 1, sizeof *points); /* no point is shorter than op=x */
    size_t n = 0;
    if (!err && !points)
        err = err_say(ERR_NOMEM, "no memory for the points");
    char *rest = text;
    for (char *line = err ? NULL : strsep(&rest, "\n"); line && !err; line = strsep(&rest, "\n"))
        if (line[strspn(line, " \t\r")] != '\0')
            err = point_parse(line, ops, op_count, &points[n++]);
    if (!err && n == 0)
        err = err_say(ERR_INPUT,
                      "there is no test case to measure; name one as op=self.empty, or --points FILE");
    free(text);
    if (err)
        free(points);
    *out = err ? NULL : points;
    *count = n;
    return err;
}

int points_share_delays(const struct team *team, const char *path, struct delays *delays)
{
    char *text = NULL;
    size_t length = 0;
    int err = team->rank == 0 ? read_text(path, "arrivals", 0, NULL, &text, &length) : 0;
    err = err ? err : share_text(team, "arrivals", &text, &length);
    err = err ? err : delays_parse(text, delays);
    free(text);
    return err;
}
