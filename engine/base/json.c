#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 4096 };

static void put(struct json *j, const char *bytes, size_t length)
{
    if (j->failed)
        return;
    if (j->length + length + 1 > j->capacity) {
        size_t capacity = j->capacity ? j->capacity : FIRST_CAPACITY;
        while (capacity < j->length + length + 1)
            capacity *= 2;
        char *grown = realloc(j->text, capacity);
        if (!grown) {
            j->failed = true;
            return;
        }
        j->text = grown;
        j->capacity = capacity;
    }
    memcpy(j->text + j->length, bytes, length);
    j->length += length;
    j->text[j->length] = '\0';
}

static void put_quoted(struct json *j, const char *s)
{
    put(j, "\"", 1);
    for (; *s; ++s) {
        unsigned char c = (unsigned char)*s;
        char escape[8];
        if (c == '"' || c == '\\')
            put(j, (char[]){'\\', (char)c}, 2);
        else if (c < 0x20 ||
                 c >= 0x7f) /* other bytes may be no UTF-8: keep each as the code point of its value */
            put(j, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", c));
        else
            put(j, s, 1);
    }
    put(j, "\"", 1);
}

/* What stands before any value: a comma if one is due, and the key. */
static void lead(struct json *j, const char *key)
{
    if (j->comma)
        put(j, ",", 1);
    j->comma = true;
    if (key) {
        put_quoted(j, key);
        put(j, ":", 1);
    }
}

void json_open(struct json *j, const char *key, char bracket)
{
    lead(j, key);
    put(j, &bracket, 1);
    j->comma = false;
}

void json_close(struct json *j, char bracket)
{
    put(j, &bracket, 1);
    j->comma = true;
}

void json_string(struct json *j, const char *key, const char *value)
{
    lead(j, key);
    if (value)
        put_quoted(j, value);
    else
        put(j, "null", 4);
}

void json_int(struct json *j, const char *key, int64_t value)
{
    char digits[24];
    lead(j, key);
    put(j, digits, (size_t)snprintf(digits, sizeof digits, "%" PRId64, value));
}

void json_double(struct json *j, const char *key, double value)
{
    enum { DIGITS = 16 }; /* clocks of two hosts differ by months, 1e16 ns, and every ns of it counts */
    char digits[32];
    lead(j, key);
    if (isfinite(value))
        put(j, digits, (size_t)snprintf(digits, sizeof digits, "%.*g", DIGITS, value));
    else
        put(j, "null", 4);
}

void json_bool(struct json *j, const char *key, bool value)
{
    lead(j, key);
    put(j, value ? "true" : "false", value ? 4 : 5);
}

void json_ints(struct json *j, const char *key, const int64_t *first, int64_t count, size_t stride)
{
    json_open(j, key, '[');
    for (int64_t i = 0; i < count; ++i)
        json_int(j, NULL, *(const int64_t *)(const void *)((const char *)first + (size_t)i * stride));
    json_close(j, ']');
}

void json_doubles(struct json *j, const char *key, const double *first, int64_t count, size_t stride)
{
    json_open(j, key, '[');
    for (int64_t i = 0; i < count; ++i)
        json_double(j, NULL, *(const double *)(const void *)((const char *)first + (size_t)i * stride));
    json_close(j, ']');
}

void json_reset(struct json *j)
{
    j->length = 0;
    j->comma = false;
    j->failed = false;
}

void json_free(struct json *j)
{
    free(j->text);
    *j = (struct json){0};
}
