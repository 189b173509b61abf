#define _GNU_SOURCE
#include "team/hosts.h"

#include "base/err.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t kernel_number(void)
{
    char text[64] = "";
    uint64_t number = 0;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    size_t length = file ? fread(text, 1, sizeof text, file) : 0;
    if (file)
        fclose(file);
    for (size_t i = 0; i < length; ++i)
        number = hash_mix(number ^ (unsigned char)text[i]);
    return number;
}

static bool is_same(const struct host *a, const struct host *b)
{
    return a->kernel == b->kernel && strcmp(a->name, b->name) == 0;
}

int hosts_open(struct team *team)
{
    struct host mine, *all = calloc((size_t)team->size, sizeof *all);
    if (!all)
        return err_say(ERR_NOMEM, "no memory for the hosts of %d ranks", team->size);
    memset(&mine, 0, sizeof mine); /* padding too: it is sent */
    gethostname(mine.name, sizeof mine.name - 1);
    mine.kernel = kernel_number();
    int err = team_gather(team, &mine, sizeof mine, all);
    if (!err)
        err = team_bcast(team, all, (size_t)team->size * sizeof *all);
    for (int r = 0; r < team->size && !err; ++r)
        while (!is_same(&all[all[r].first], &all[r]))
            ++all[r].first;
    team->hosts = all;
    return err;
}

void hosts_close(struct team *team)
{
    free(team->hosts);
    team->hosts = NULL;
}

const struct host *host_of(const struct team *team, int rank)
{
    static const struct host nowhere = {0};
    return team->hosts ? &team->hosts[rank] : &nowhere;
}

bool host_is_same(const struct team *team, int a, int b)
{
    return host_of(team, a)->first == host_of(team, b)->first;
}

int host_ranks(const struct team *team, int rank)
{
    int count = 0;
    for (int r = 0; r < team->size; ++r)
        count += host_is_same(team, r, rank);
    return count;
}
