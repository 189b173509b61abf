#include "test.h"

#include "base/crc32.h"
#include "base/json.h"
#include "base/opt.h"

#include "base/err.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static void test_document(void)
{
    struct json j = {0};
    json_open(&j, NULL, '{');
    json_string(&j, "text", "a\"b\\c\n\x01\xc3");
    json_string(&j, "nothing", NULL);
    json_int(&j, "least", INT64_MIN);
    json_double(&j, "third", 1.0 / 3);
    json_double(&j, "tenth", 0.1);
    json_double(&j, "months", 3456000000000123.0);
    json_double(&j, "infinite", INFINITY);
    json_bool(&j, "yes", true);
    json_open(&j, "list", '[');
    json_int(&j, NULL, 1);
    json_open(&j, NULL, '[');
    json_close(&j, ']');
    json_int(&j, NULL, 2);
    json_close(&j, ']');
    json_close(&j, '}');
    CHECK(!j.failed);
    CHECK(
        strcmp(
            j.text,
            "{\"text\":\"a\\\"b\\\\c\\u000a\\u0001\\u00c3\",\"nothing\":null,\"least\":-9223372036854775808,"
            "\"third\":0.3333333333333333,\"tenth\":0.1,\"months\":3456000000000123,"
            "\"infinite\":null,\"yes\":true,\"list\":[1,[],2]}") == 0);
    json_reset(&j);
    json_open(&j, NULL, '[');
    for (int i = 0; i < 10000; ++i) /* grows several times */
        json_int(&j, NULL, i);
    json_close(&j, ']');
    CHECK(!j.failed && j.length == strlen(j.text) && strcmp(j.text + j.length - 6, ",9999]") == 0);
    json_free(&j);
}

/* The check value of the catalogues of checksums, whole and in two parts at each place. */
static void test_checksum(void)
{
    struct crc32 crc;
    const char *const digits = "123456789";
    crc32_prepare(&crc);
    CHECK(crc32_add(&crc, 0, digits, 0) == 0);
    for (size_t first = 0; first <= 9; ++first)
        CHECK(crc32_add(&crc, crc32_add(&crc, 0, digits, first), digits + first, 9 - first) == 0xcbf43926);
}

struct options {
    const char *out, *seed;
};

static void test_options(void)
{
    static const struct opt rows[] = {{"--out", "FILE", "", offsetof(struct options, out)},
                                      {"--seed", "N", "", offsetof(struct options, seed)},
                                      {0}};
    struct options o = {0};
    char *argv[] = {"engine", "run", "--out", "x", "op=y", "--seed", "3"};
    int argc = 7;
    CHECK(opt_take(rows, &o, &argc, argv) == 0);
    CHECK(argc == 3 && strcmp(argv[1], "run") == 0 && strcmp(argv[2], "op=y") == 0);
    CHECK(strcmp(o.out, "x") == 0 && strcmp(o.seed, "3") == 0);
    argc = 3;
    CHECK(opt_take(rows, &o, &argc, (char *[]){"engine", "--nonsense", "1"}) == ERR_INPUT);
    argc = 2;
    CHECK(opt_take(rows, &o, &argc, (char *[]){"engine", "--out"}) == ERR_INPUT);
}

int main(void)
{
    test_document();
    test_checksum();
    test_options();
    return test_result();
}
