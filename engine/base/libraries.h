/* What this process consists of: its program and the shared libraries that are loaded, each known by its
 * build id, which the linker makes from what it links, or else by a hash of what it is loaded with. */
#ifndef BASE_LIBRARIES_H
#define BASE_LIBRARIES_H

#include <stdint.h>

struct json;

/* An array under `key`: of each, the program first, its `path` ("" of the program itself) and its `build_id`
 * in hexadecimal digits; where that is null, `hash`, of its code and constants. */
void libraries_json(struct json *j, const char *key);

/* A number that two processes share if they consist of the same, wherever it stands; one of the program
 * alone. */
uint64_t libraries_hash(void);
uint64_t program_hash(void);

#endif
