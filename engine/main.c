/* steelyard-mpi, steelyard-shmem, steelyard-solo: run, list, describe; tidy, to remove a folder of files that
 * a launch has left; spawned, by the op mpi.spawn alone. */
#define _GNU_SOURCE
#include "base/binding.h"
#include "base/err.h"
#include "base/json.h"
#include "base/leftovers.h"
#include "base/system_time.h"
#include "core/limits.h"
#include "core/method.h"
#include "core/op.h"
#include "core/stop.h"
#include "launch/launch.h"
#include "launch/options.h"
#include "ops/common/files.h"
#include "registry.h"
#include "sync/sync.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { EXIT_INPUT = 2, EXIT_MEASUREMENT = 3, SCHEMA = 1 };

static int usage(FILE *file, int code)
{
    fprintf(file, "usage: steelyard-%s run [options] [key=value ...] | list | describe | tidy FOLDER\n",
            team_kind);
    for (const struct opt *o = option_rows; o->name; ++o)
        fprintf(file, "  %-14s %-10s %s\n", o->name, o->value, o->summary);
    return code;
}

static int complain(const struct team *team, int err)
{
    fprintf(stderr, "steelyard: rank %d: %s\n", team->rank, err_text());
    return err == ERR_INPUT ? EXIT_INPUT : EXIT_MEASUREMENT;
}

static int list(const struct op *ops, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        printf("%-22s %s%s%s%s\n", ops[i].name, ops[i].summary, ops[i].missing ? " (not here: " : "",
               ops[i].missing ? ops[i].missing : "", ops[i].missing ? ")" : "");
    return 0;
}

static void describe_limits(struct json *j)
{
    json_open(j, "limits", '{');
    json_int(j, "ranks", MOST_RANKS);
    json_int(j, "threads", MOST_THREADS);
    json_int(j, "bytes", MOST_BYTES);
    json_int(j, "seed", MOST_SEED);
    json_close(j, '}');
}

static int describe(const struct registry *registry)
{
    struct json j = {0};
    json_open(&j, NULL, '{');
    json_int(&j, "schema", SCHEMA);
    json_string(&j, "engine", team_kind);
    json_string(&j, "version", STEELYARD_VERSION);
    launch_build(&j);
    describe_limits(&j);
    team_describe(&j);
    clock_describe(&j, team_wtime);
    sync_describe(&j);
    json_open(&j, "ops", '[');
    for (size_t i = 0; i < registry->count; ++i)
        op_describe(&registry->ops[i], &j);
    json_close(&j, ']');
    own_describe(&registry->own, &j);
    methods_describe(&j);
    stop_rules_describe(&j);
    json_close(&j, '}');
    int code = j.failed ? EXIT_MEASUREMENT : 0;
    if (code == 0)
        puts(j.text);
    json_free(&j);
    return code;
}

int main(int argc, char **argv)
{
    const int64_t began_ns = system_time_ns(CLOCK_MONOTONIC);
    struct options options = {0};
    struct registry registry = {0};
    binding_start();
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a rank ends with the launcher that started it */
    leftovers_watch();
    int err = opt_take(option_rows, &options, &argc, argv);
    const char *command = argc > 1 ? argv[1] : "";
    err = err ? err : registry_open(options.load, &registry);
    if (!err && strcmp(command, "describe") != 0)
        err = own_expect(&registry.own);
    if (err)
        return complain(&(struct team){0}, err);
    int code;
    if (strcmp(command, "run") == 0)
        code = launch_run(&(struct launch){.options = &options,
                                           .words = argc - 2,
                                           .word = argv + 2,
                                           .ops = registry.ops,
                                           .op_count = registry.count,
                                           .began_ns = began_ns,
                                           .complain = complain});
    else if (strcmp(command, "list") == 0)
        code = list(registry.ops, registry.count);
    else if (strcmp(command, "describe") == 0)
        code = describe(&registry);
    else if (strcmp(command, "tidy") == 0 && argc == 3)
        code = (err = files_remove(argv[2])) ? complain(&(struct team){0}, err) : 0;
    else if (strcmp(command, "spawned") == 0 && argc == 3)
        code = registry_spawned(argv[2]);
    else
        code = usage(strcmp(command, "help") == 0 ? stdout : stderr,
                     strcmp(command, "help") == 0 ? 0 : EXIT_INPUT);
    registry_close(&registry);
    return code;
}
