#define _GNU_SOURCE
#include "team/hosts.h"

#include "base/err.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hosts {
    struct host mine;
    int *first; /* of every rank: the lowest of its host */
    int *ranks; /* of my host, ascending */
    int count;
};

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

/* What tells hosts apart, small enough for rank 0 to hold that of every rank. */
struct key {
    uint64_t kernel, name; /* a hash of it */
    int rank, first;
};

static struct key key_of(const struct host *host, int rank)
{
    struct key key;
    memset(&key, 0, sizeof key); /* padding too: it is sent */
    key.kernel = host->kernel;
    for (const char *c = host->name; *c; ++c)
        key.name = hash_mix(key.name ^ (unsigned char)*c);
    key.rank = rank;
    return key;
}

/* By host, and on it by rank. */
static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->kernel != y->kernel)
        return x->kernel < y->kernel ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* On rank 0: the lowest rank of each rank's host, from the keys of all. */
static void find_firsts(struct key *keys, int ranks, int *first)
{
    qsort(keys, (size_t)ranks, sizeof *keys, compare_keys);
    for (int i = 0; i < ranks; ++i) {
        const bool same = i > 0 && keys[i].kernel == keys[i - 1].kernel && keys[i].name == keys[i - 1].name;
        keys[i].first = same ? keys[i - 1].first : keys[i].rank;
        first[keys[i].rank] = keys[i].first;
    }
}

static int learn_firsts(const struct team *team, struct hosts *hosts)
{
    const size_t size = (size_t)team->size;
    const struct key mine = key_of(&hosts->mine, team->rank);
    struct key *keys = team->rank == 0 ? malloc(size * sizeof *keys) : NULL;
    if (team->rank == 0 && !keys)
        return err_say(ERR_NOMEM, "no memory for the hosts of %d ranks", team->size);
    int err = team_gather(team, &mine, sizeof mine, keys);
    if (!err && keys)
        find_firsts(keys, team->size, hosts->first);
    free(keys);
    return err ? err : team_bcast(team, hosts->first, size * sizeof *hosts->first);
}

int hosts_open(struct team *team)
{
    struct hosts *hosts = calloc(1, sizeof *hosts);
    team->hosts = hosts;
    if (!hosts || !(hosts->first = calloc((size_t)team->size, sizeof *hosts->first)))
        return err_say(ERR_NOMEM, "no memory for the hosts of %d ranks", team->size);
    gethostname(hosts->mine.name, sizeof hosts->mine.name - 1);
    hosts->mine.kernel = kernel_number();
    int err = learn_firsts(team, hosts);
    if (err)
        return err;
    hosts->mine.first = hosts->first[team->rank];
    for (int r = 0; r < team->size; ++r)
        hosts->count += hosts->first[r] == hosts->first[team->rank];
    hosts->ranks = malloc((size_t)hosts->count * sizeof *hosts->ranks);
    if (!hosts->ranks)
        return err_say(ERR_NOMEM, "no memory for the %d ranks of a host", hosts->count);
    for (int r = 0, i = 0; r < team->size; ++r)
        if (hosts->first[r] == hosts->first[team->rank])
            hosts->ranks[i++] = r;
    return 0;
}

void hosts_close(struct team *team)
{
    if (team->hosts) {
        free(team->hosts->first);
        free(team->hosts->ranks);
    }
    free(team->hosts);
    team->hosts = NULL;
}

const struct host *host_mine(const struct team *team)
{
    static const struct host nowhere = {0};
    return team->hosts ? &team->hosts->mine : &nowhere;
}

int host_first(const struct team *team, int rank)
{
    return team->hosts ? team->hosts->first[rank] : 0;
}

bool host_is_same(const struct team *team, int a, int b)
{
    return host_first(team, a) == host_first(team, b);
}

int host_ranks(const struct team *team)
{
    return team->hosts ? team->hosts->count : team->size;
}

int host_rank(const struct team *team, int i)
{
    return team->hosts ? team->hosts->ranks[i] : i;
}

int host_gather(const struct team *team, const void *mine, size_t bytes, void *all)
{
    const int first = host_first(team, team->rank);
    if (team->rank != first)
        return team_send(team, first, mine, bytes);
    int err = 0;
    memcpy(all, mine, bytes);
    for (int i = 1; i < host_ranks(team) && !err; ++i)
        err = team_recv(team, host_rank(team, i), (char *)all + (size_t)i * bytes, bytes);
    return err;
}

int host_bcast(const struct team *team, void *data, size_t bytes)
{
    const int first = host_first(team, team->rank);
    if (team->rank != first)
        return team_recv(team, first, data, bytes);
    int err = 0;
    for (int i = 1; i < host_ranks(team) && !err; ++i)
        err = team_send(team, host_rank(team, i), data, bytes);
    return err;
}
