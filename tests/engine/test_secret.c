#include "test.h"

#include "base/secret.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char all[] = "***";

static void test_names(void)
{
    static const char *const secret[] = {
        "FI_AUTH_KEY", "UCX_API_TOKEN", "my_password", "PASS", "SLURM_JOB_PASS",
        "MALLOC_CRED", "I_MPI_SECRETS", "x-apikey",    "KEY",  "ID_KEY_2"};
    static const char *const open[] = {"UCX_IB_PKEY", "OMP_BYPASS", "MONKEY", "I_MPI_KEYVAL", "UCX_TLS", ""};
    for (size_t i = 0; i < sizeof secret / sizeof secret[0]; ++i) {
        char *value = secret_masked(secret[i], strlen(secret[i]), "hunter2");
        CHECK(strcmp(value, all) == 0);
        free(value);
    }
    for (size_t i = 0; i < sizeof open / sizeof open[0]; ++i) {
        char *value = secret_masked(open[i], strlen(open[i]), "hunter2");
        CHECK(strcmp(value, "hunter2") == 0);
        free(value);
    }
}

static void test_values(void)
{
    static const char *const pairs[][2] = {
        {"http://bob:hunter2@host/x", "http://***@host/x"},
        {"a,ssh://x@y@h:1,b", "a,ssh://***@h:1,b"},
        {"https://host/?sig=abc&n=1", "https://host/?sig=***&n=1"},
        {"https://host/?access_token=abc", "https://host/?access_token=***"},
        {"--password=pw x", "--password=*** x"},
        {"{\"api-key\": \"pw\", \"n\": 1}", "{\"api-key\": \"***\", \"n\": 1}"},
        {"http://host/a@b", "http://host/a@b"},
        {"tcp;$(rm)", "tcp;$(rm)"},
        {"://@", "://@"},
        {"token=", "token="},
        {"socket:0-3:key", "socket:0-3:key"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; ++i) {
        char *value = secret_masked("UCX_NET", strlen("UCX_NET"), pairs[i][0]);
        CHECK(strcmp(value, pairs[i][1]) == 0);
        free(value);
    }
}

int main(void)
{
    test_names();
    test_values();
    return test_result();
}
