/* The parts of this process: its program and the loaded shared libraries, each with its build id, which the
 * linker computes, or else a hash of its loaded contents. */
#ifndef BASE_LIBRARIES_H
#define BASE_LIBRARIES_H

#include <stdint.h>

struct json;

/* An array under `key`: for each part, the program first, its `path` ("" for the program) and its `build_id`
 * in hexadecimal digits; if that is null, `hash`, of its code and constants. */
void libraries_json(struct json *j, const char *key);

/* A number that two processes share if they have the same parts, at any paths. */
uint64_t libraries_hash(void);

/* The same of the program alone. */
uint64_t program_hash(void);

#endif
