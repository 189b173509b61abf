/* Records as JSON Lines to a file, flushed one by one, so that a crash loses at most the line in flight. */
#ifndef SINK_JSONL_H
#define SINK_JSONL_H

#include "core/sink.h"

struct json;

struct sink_jsonl;

/* `path` is opened for appending; NULL is stdout. ERR_SYSTEM. */
int sink_jsonl_open(const char *path, struct sink_jsonl **sink);
int sink_jsonl_close(struct sink_jsonl *sink);

/* The sink in it, and a whole object as one more line. Its last keys are `line`, the number among the lines
 * of this sink, and `crc`, the checksum of all before it: what was changed, lost or doubled later is found.
 */
struct sink *sink_jsonl_sink(struct sink_jsonl *sink);
int sink_jsonl_line(struct sink_jsonl *sink, const struct json *document);

#endif
