#define _GNU_SOURCE
#include "base/thread_places.h"

#include "base/binding.h"
#include "base/json.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* File-scope state, for a pool is closed deep inside an op, and the record is written when the op is gone. */
static struct {
    char seen[THREAD_PLACES_MAX], meant[THREAD_PLACES_MAX];
} lanes;

void lane_look(struct thread_place *lane, const char *meant)
{
    binding_allowed(lane->seen, sizeof lane->seen);
    snprintf(lane->meant, sizeof lane->meant, "%s", meant);
}

void thread_places_forget(void)
{
    lanes.seen[0] = lanes.meant[0] = '\0';
}

void thread_places_keep(const struct thread_place *of, int count)
{
    size_t seen = 0, meant = 0;
    thread_places_forget();
    const size_t most =
        THREAD_PLACES_MAX - LANE_CPUS_MAX - 1; /* before one more that may be as long as any */
    for (int i = 0; i < count && seen < most && meant < most; ++i) {
        const char *apart = i > 0 ? "|" : "";
        seen += (size_t)snprintf(lanes.seen + seen, sizeof lanes.seen - seen, "%s%s", apart, of[i].seen);
        meant +=
            (size_t)snprintf(lanes.meant + meant, sizeof lanes.meant - meant, "%s%s", apart, of[i].meant);
    }
}

const char *thread_places_seen(void)
{
    return lanes.seen;
}

const char *thread_places_meant(void)
{
    return lanes.meant;
}

void thread_places_json(struct json *j, const char *name, const char *text)
{
    char copy[THREAD_PLACES_MAX], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    json_open(j, name, '[');
    for (char *lane = *text ? strsep(&rest, "|") : NULL; lane; lane = strsep(&rest, "|"))
        json_string(j, NULL, lane);
    json_close(j, ']');
}
