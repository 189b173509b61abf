#include "test.h"

#include "base/secret.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *value, *shown;
} cases[] = {
#define CASE(name, value, shown) {name, value, shown},
#include "../data/secret_cases.h"
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char *shown = secret_masked(cases[i].name, strlen(cases[i].name), cases[i].value);
        if (strcmp(shown, cases[i].shown) != 0)
            fprintf(stderr, "%s=%s is shown as %s\n", cases[i].name, cases[i].value, shown);
        CHECK(strcmp(shown, cases[i].shown) == 0);
        free(shown);
    }
    return test_result();
}
