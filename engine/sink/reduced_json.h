/* Write values that are reduced over ranks as keys of a record. */
#ifndef SINK_REDUCED_JSON_H
#define SINK_REDUCED_JSON_H

struct chunk;
struct json;
struct standing;

/* The chosen ranks of so many, under `key`. */
void chosen_json(const char *key, int ranks, struct json *j);

/* A chunk, without the keys of samples. */
void reduced_json(const struct chunk *chunk, struct json *j);

/* A point of so many ranks. */
void standing_json(const struct standing *all, int ranks, struct json *j);

#endif
