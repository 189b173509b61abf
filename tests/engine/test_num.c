#include "test.h"

#include "base/err.h"
#include "base/num.h"

#include <limits.h>

static void test_sizes(void)
{
    static const struct {
        const char *text;
        int err;
        size_t bytes;
    } cases[] = {
        {"0", 0, 0},
        {"8", 0, 8},
        {"1Ki", 0, 1024},
        {"4MiB", 0, 4194304},
        {"3GiB", 0, 3221225472u},
        {"", ERR_INPUT, 0},
        {"-1", ERR_INPUT, 0},
        {"1.5Ki", ERR_INPUT, 0},
        {"8x", ERR_INPUT, 0},
        {"Ki", ERR_INPUT, 0},
        {"99999999999999999999", ERR_INPUT, 0},
        {"18446744073709551615Ti", ERR_INPUT, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        size_t bytes = 0;
        CHECK(num_size(cases[i].text, &bytes) == cases[i].err);
        CHECK(bytes == cases[i].bytes);
    }
}

static void test_numbers(void)
{
    int64_t n = -7;
    double x = -7;
    CHECK(num_int("12", "n", 0, 20, &n) == 0 && n == 12);
    CHECK(num_int("21", "n", 0, 20, &n) == ERR_INPUT && n == 12);
    CHECK(num_int("12z", "n", 0, 20, &n) == ERR_INPUT);
    CHECK(num_int("", "n", 0, 20, &n) == ERR_INPUT);
    CHECK(num_double("0.5", "x", 0, 1, &x) == 0 && x == 0.5);
    CHECK(num_double("nan", "x", 0, 1, &x) == ERR_INPUT);
    CHECK(num_double("2", "x", 0, 1, &x) == ERR_INPUT && x == 0.5);
}

static void test_narrowing(void)
{
    size_t product = 1;
    int narrow = 1;
    CHECK(num_multiply(SIZE_MAX / 2, 3, &product) == ERR_NOMEM && product == 1);
    CHECK(num_multiply(0, SIZE_MAX, &product) == 0 && product == 0);
    CHECK(num_multiply(6, 7, &product) == 0 && product == 42);
    CHECK(num_to_int(INT_MAX, &narrow) == 0 && narrow == INT_MAX);
    CHECK(num_to_int((size_t)INT_MAX + 1, &narrow) == ERR_UNSUPPORTED && narrow == INT_MAX);
}

int main(void)
{
    test_sizes();
    test_numbers();
    test_narrowing();
    return test_result();
}
