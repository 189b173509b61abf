/* file.create, file.stat, ...: what a file system takes for names and not for data: the questions of mdtest.
 */
#define _GNU_SOURCE
#include "ops/families.h"

#include "base/err.h"
#include "ops/common/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES, FOLDER, SIZES = 7 };
enum { OWN_FOLDER, SHARED_FOLDER };
static const char *const folders[] = {[OWN_FOLDER] = "own", [SHARED_FOLDER] = "shared", NULL};
static const struct param params[] = {
    [FILES] = {"files", "", "files of each rank, a call for each in a repetition", 64, 1, 1e6},
    [FOLDER] = PARAM_WORDS("folder", "own: a folder for each rank; shared: one for all", folders),
    {0},
};

enum { NAME_MAX_HERE = 32 };

struct names;

/* What is there before a repetition and after it: all files of the rank, or none. */
struct name_row {
    const char *name, *summary, *call;
    bool before, after;
    int (*one)(struct names *n, int i); /* -1 and errno */
};

/* Names that a repetition leaves as they were are made once. */
static bool is_repeatable(const struct name_row *row)
{
    return row->before == row->after;
}

struct names {
    const struct op_env *env;
    const struct name_row *row;
    struct files_facts facts;
    int top, folder; /* descriptors: of the campaign, and of the files */
    char own[32];    /* the name of the folder in it; "": the same */
    int count;
    int64_t sizes;                /* what stat has seen */
    bool folders;                 /* they are folders, not files */
    char (*names)[NAME_MAX_HERE]; /* of its files; made beforehand, because calls are short */
};

static void name_of(int rank, int i, char name[NAME_MAX_HERE])
{
    snprintf(name, NAME_MAX_HERE, "r%d.%d", rank, i);
}

/* ---- calls ---- */

static int create(struct names *n, int i)
{
    const int file = files_file(n->folder, n->names[i], O_CREAT | O_EXCL | O_WRONLY);
    return file < 0 ? -1 : close(file);
}

static int open_close(struct names *n, int i)
{
    const int file = files_file(n->folder, n->names[i], O_RDONLY);
    return file < 0 ? -1 : close(file);
}

static int see(struct names *n, int i)
{
    struct stat stat;
    if (fstatat(n->folder, n->names[i], &stat, AT_SYMLINK_NOFOLLOW) != 0)
        return -1;
    n->sizes += stat.st_size;
    return 0;
}

static int remove_one(struct names *n, int i)
{
    return unlinkat(n->folder, n->names[i], 0);
}

static int make_folder(struct names *n, int i)
{
    return mkdirat(n->folder, n->names[i], S_IRWXU);
}

static int remove_folder(struct names *n, int i)
{
    return unlinkat(n->folder, n->names[i], AT_REMOVEDIR);
}

/* ---- rows ---- */

static const struct name_row rows[] = {
    {"file.create", "create an empty file and close it", "open", false, true, create},
    {"file.open", "open a file that is there, and close it", "open", true, true, open_close},
    {"file.stat", "ask for the size of a file", "stat", true, true, see},
    {"file.unlink", "remove a file", "unlink", true, false, remove_one},
    {"file.mkdir", "make a folder", "mkdir", false, true, make_folder},
    {"file.rmdir", "remove an empty folder", "rmdir", true, false, remove_folder},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static int failed(const struct names *n, const char *call, int i)
{
    return files_failed(call, n->names[i], n->env->files, errno);
}

/* ---- a repetition, and what it needs ---- */

/* File i has i modulo 7 bytes, so that a stat of another is seen. */
static int make_one(struct names *n, int i)
{
    if (n->folders)
        return make_folder(n, i);
    const int file = files_file(n->folder, n->names[i], O_CREAT | O_TRUNC | O_WRONLY);
    if (file < 0)
        return -1;
    const int rc = ftruncate(file, i % SIZES);
    return close(file) == 0 ? rc : -1;
}

static int prepare(void *state)
{
    struct names *n = state;
    for (int i = 0; i < n->count; ++i) {
        if (unlinkat(n->folder, n->names[i], n->folders ? AT_REMOVEDIR : 0) != 0 && errno != ENOENT)
            return failed(n, "unlink", i);
        if (n->row->before && make_one(n, i) != 0)
            return failed(n, "creation", i);
    }
    return 0;
}

static int run(void *state, int64_t reps)
{
    struct names *n = state;
    for (int64_t r = 0; r < reps; ++r)
        for (int i = 0; i < n->count; ++i)
            if (n->row->one(n, i) != 0)
                return failed(n, n->row->call, i);
    return 0;
}

/* Another rank than the one that called looks, if it can see the folder. */
static int look(const struct names *n, int rank)
{
    char folder_name[64], name[NAME_MAX_HERE];
    snprintf(folder_name, sizeof folder_name, n->own[0] ? "names-%d" : ".", rank);
    const int folder = openat(n->top, folder_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return files_failed("open", folder_name, n->env->files, errno);
    int err = 0;
    for (int i = 0; i < n->count && !err; ++i) {
        struct stat stat;
        name_of(rank, i, name);
        const bool there = fstatat(folder, name, &stat, AT_SYMLINK_NOFOLLOW) == 0;
        if ((there ^ (n->env->planted && i + 1 == n->count)) != n->row->after)
            err = err_say(ERR_WRONG, "%s of rank %d is %s after %s", name, rank,
                          there ? "there" : "not there", n->row->call);
    }
    close(folder);
    return err;
}

static int verify(void *state)
{
    struct names *n = state;
    const struct team *team = n->env->team;
    int64_t sizes = 0;
    int err = is_repeatable(n->row) ? 0 : prepare(n);
    n->sizes = 0;
    err = err ? err : run(n, 1);
    int met = team_barrier(team);
    int wrong = err ? 0 : look(n, (team->rank + 1) % team->size);
    for (int i = 0; i < n->count; ++i)
        sizes += i % SIZES;
    if (!wrong && n->row->one == see && n->sizes != sizes)
        wrong = err_say(ERR_WRONG, "stat of %d files saw %lld bytes in all, should be %lld", n->count,
                        (long long)n->sizes, (long long)sizes);
    met = met ? met : team_barrier(team);
    return err ? err : met ? met : wrong;
}

/* ---- setup ---- */

static void teardown(void *state)
{
    struct names *n = state;
    for (int i = 0; n->folder >= 0 && i < n->count; ++i) {
        unlinkat(n->folder, n->names[i], n->folders ? AT_REMOVEDIR : 0);
    }
    if (n->own[0] && n->top >= 0)
        unlinkat(n->top, n->own, AT_REMOVEDIR);
    if (n->folder >= 0)
        close(n->folder);
    if (n->top >= 0) {
        close(n->top);
        rmdir(n->env->files);
    }
    free(n->names);
    free(n);
}

static int make_names(struct names *n)
{
    n->names = malloc((size_t)n->count * sizeof *n->names);
    if (!n->names)
        return err_say(ERR_NOMEM, "no memory for %d names", n->count);
    for (int i = 0; i < n->count; ++i)
        name_of(n->env->team->rank, i, n->names[i]);
    return 0;
}

static int open_folder(struct names *n)
{
    n->folder = openat(n->top, n->own[0] ? n->own : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return n->folder >= 0 ? 0 : files_failed("open", n->own, n->env->files, errno);
}

static int setup(const struct op_env *env, void **state)
{
    enum { BYTES_OF_A_NAME = 4096 }; /* a generous guess of what one takes */
    struct names *n = calloc(1, sizeof *n);
    if (!n)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *n = (struct names){
        .env = env, .row = env->op->row, .top = -1, .folder = -1, .count = (int)env->params[FILES]};
    n->folders = n->row->one == make_folder || n->row->one == remove_folder;
    if ((int)env->params[FOLDER] == OWN_FOLDER)
        snprintf(n->own, sizeof n->own, "names-%d", env->team->rank);
    int err = files_open(env->team, env->files, env->op->name, &n->top);
    const int room = files_room(env->team, n->top, env->files, (int64_t)n->count * BYTES_OF_A_NAME);
    err = err ? err : room;
    if (!err && n->own[0] && mkdirat(n->top, n->own, S_IRWXU) != 0 && errno != EEXIST)
        err = files_failed("mkdir", n->own, env->files, errno);
    err = err ? err : make_names(n);
    err = err ? err : open_folder(n);
    if (!err && is_repeatable(n->row))
        err = prepare(n);
    if (!err)
        files_look(n->top, &n->facts);
    if (err)
        teardown(n);
    else
        *state = n;
    return err;
}

static void describe_end(const void *state, struct json *j)
{
    const struct names *n = state;
    files_describe(n->env->files, &n->facts, j);
}

static double work(const struct op_env *env)
{
    return env->params[FILES] * env->team->size;
}

static void op_at(size_t i, struct op *op)
{
    const struct name_row *row = &rows[i];
    *op = (struct op){
        .family = "file",
        .summary = row->summary,
        .class = OP_COLLECTIVE,
        .role = ROLE_FILE,
        .report = OP_SLOWEST,
        .parts = 1,
        .params = params,
        .row = row,
        .prepare = is_repeatable(row) ? NULL : prepare,
        .setup = setup,
        .run = run,
        .verify = verify,
        .describe_end = describe_end,
        .teardown = teardown,
        .work = work,
    };
    memcpy(op->name, row->name, strlen(row->name) + 1);
}

const struct op_family file_name_ops = {.count = ROWS, .op_at = op_at};
