#include "launch/launch.h"

#include "base/crash.h"
#include "base/json.h"
#include "sink/jsonl.h"
#include "team/hosts.h"

#include <stdbool.h>

/* Short lines that are appended at once do not mix. */
static int append(const char *out, const struct json *document)
{
    struct sink_jsonl *sink = NULL;
    int err = sink_jsonl_open(out, &sink);
    if (err)
        return err;
    err = sink_jsonl_line(sink, document);
    const int close_err = sink_jsonl_close(sink);
    return err ? err : close_err;
}

int launch_close(struct team *team, const char *out)
{
    struct json j = {0};
    const bool first = team->rank == 0, here = out && host_is_same(team, 0, team->rank);
    crash_context(-1, "closing");
    json_open(&j, NULL, '{');
    json_string(&j, "record", "close");
    json_int(&j, "rank", team->rank);
    team_queues(team, &j);
    int err = team_close(team);
    json_int(&j, "finalize_ns", team->finalize_ns);
    json_close(&j, '}');
    if (!err && team->finalize_ns > 0 && (first || here)) {
        err = append(out, &j);
        err = first ? err : 0; /* what another rank could not add is missing, and spoils nothing */
    }
    json_free(&j);
    return err;
}
