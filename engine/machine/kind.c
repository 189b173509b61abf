#define _GNU_SOURCE
#include "machine/kind.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The model of the first CPU, as Linux on most architectures names it; "" where it does not. */
static void read_model(char *model, size_t size)
{
    static const char *const keys[] = {"model name", "cpu\t", "uarch", NULL}; /* x86, POWER, RISC-V */
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    model[0] = '\0';
    while (file && !model[0] && fgets(line, sizeof line, file))
        for (const char *const *key = keys; *key; ++key) {
            const char *colon = strchr(line, ':');
            if (colon && strncmp(line, *key, strlen(*key)) == 0)
                snprintf(model, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        }
    if (file)
        fclose(file);
}

void machine_kind(char *text, size_t size)
{
    char model[64];
    struct utsname system;
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    read_model(model, sizeof model);
    const int known = uname(&system) == 0;
    snprintf(text, size, "%s%s%ld CPUs%s%s%s%s", model, model[0] ? ", " : "", cpus, known ? ", " : "",
             known ? system.sysname : "", known ? " " : "", known ? system.release : "");
}
