/* What this process consists of: its program and the shared libraries that are loaded, each known by its
 * build id, which the linker makes from what it links. */
#ifndef BASE_LIBRARIES_H
#define BASE_LIBRARIES_H

#include <stdint.h>

struct json;

/* An array under `key`: of each, the program first, its `path` ("" of the program itself) and its `build_id`
 * in hexadecimal digits, null where it has none. */
void libraries_json(struct json *j, const char *key);

/* A number that two processes share if they consist of the same, wherever it stands. */
uint64_t libraries_hash(void);

#endif
