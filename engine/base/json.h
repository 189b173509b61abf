/* A writer of JSON into a growing buffer. There is no reader: the engine's input is key=value words. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start from {0}. `failed` is sticky: check it once, when the document is complete. */
struct json {
    char *text;
    size_t length, capacity;
    bool comma; /* the next value needs a comma before it */
    bool failed;
};

/* `key` is NULL inside arrays and at the top. A NULL string, or a number that is not finite, is written as
 * null. */
void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);
void json_string(struct json *j, const char *key, const char *value);
void json_int(struct json *j, const char *key, int64_t value);
void json_double(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);

/* An array of `count` numbers, each so many bytes after the one before: a plain array, a column of a table,
 * or a member of structures. */
void json_ints(struct json *j, const char *key, const int64_t *first, int64_t count, size_t stride);
void json_doubles(struct json *j, const char *key, const double *first, int64_t count, size_t stride);

/* Empty it for the next document, keeping the memory; and free the memory. */
void json_reset(struct json *j);
void json_free(struct json *j);

#endif
