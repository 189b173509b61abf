#define _GNU_SOURCE
#include "ops/common/pieces.h"

#include "base/err.h"
#include "ops/common/data.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const pieces_files[] = {[PIECES_SHARED] = "shared", [PIECES_APART] = "own", NULL};

const char *const pieces_memories[] = {[PIECES_EACH] = "each", [PIECES_ONE] = "one", NULL};

const char *const pieces_atomic[] = {
    [PIECES_NOT_ATOMIC] = "off", [PIECES_ATOMIC] = "on", [PIECES_OVERLAPPING] = "overlapping", NULL};

static void name_of(const struct pieces *p, int worker, char name[PIECES_NAME_MAX])
{
    snprintf(name, PIECES_NAME_MAX, p->apart ? "of-%d" : "shared", worker);
}

/* The places of a worker's pieces in its file. */
static void list(const struct pieces *p, int worker, int64_t *at)
{
    places_list(&p->places, p->pattern, p->apart || p->together ? 0 : worker, at);
}

/* A worker of another rank, if there is one: the next, or the one before. */
static int step(const struct pieces *p)
{
    return p->env->team->size > 1 ? p->threads : 1;
}

static int neighbour(const struct pieces *p, int lane)
{
    return (p->env->team->rank * p->threads + lane + step(p)) % p->workers;
}

static int lane_open(struct pieces *p, int i)
{
    struct piece_lane *lane = &p->lanes[i];
    const int worker = p->reads ? neighbour(p, i) : p->env->team->rank * p->threads + i;
    lane->sectors =
        (struct sectors){.worker = worker, .piece = p->piece, .pieces = p->count, .alike = p->alike};
    lane->at = malloc((size_t)p->count * sizeof *lane->at);
    if (!lane->at)
        return err_say(ERR_NOMEM, "no memory for the places of %lld pieces", (long long)p->count);
    list(p, p->by_rank ? p->env->team->rank : worker, lane->at);
    name_of(p, worker, lane->name);
    return buffers_take(p->env->buffers, (size_t)p->count, p->piece, (void **)&lane->data);
}

int pieces_open(struct pieces *p, const struct op_env *env, bool reads, int pattern, bool by_rank)
{
    const double *params = env->params;
    const struct param *rows = env->op->params;
    *p = (struct pieces){.env = env,
                         .folder_name = env->files,
                         .folder = -1,
                         .threads = env->threads,
                         .workers = env->team->size * env->threads,
                         .apart = (int)param_value(rows, params, "file", 0) == PIECES_APART,
                         .pattern = (int)param_value(rows, params, "pattern", pattern),
                         .reads = reads,
                         .together = (int)param_value(rows, params, "atomic", 0) == PIECES_OVERLAPPING,
                         .by_rank = reads && by_rank,
                         .alike = (int)param_value(rows, params, "memory", PIECES_EACH) == PIECES_ONE,
                         .piece = env->bytes,
                         .count = (int64_t)param_value(rows, params, "calls", 1)};
    p->places = places_of(p->apart ? 1 : p->workers, p->count);
    pieces_part(p, false);
    int err = files_open(env->team, env->files, env->op->name, &p->folder);
    if (!err && env->bytes == 0)
        err = err_say(ERR_INPUT, "%s moves at least a byte; give larger --bytes", env->op->name);
    const int room = files_room(env->team, p->folder, env->files, (int64_t)p->piece * p->count * p->threads);
    err = err ? err : room;
    p->lanes = err ? NULL : calloc((size_t)p->threads, sizeof *p->lanes);
    if (!err && !p->lanes)
        err = err_say(ERR_NOMEM, "no memory for %d threads", p->threads);
    for (int i = 0; i < p->threads && p->lanes; ++i)
        p->lanes[i].file = -1;
    for (int i = 0; i < p->threads && !err; ++i)
        err = lane_open(p, i);
    if (!err)
        files_look(p->folder, &p->facts);
    return err;
}

void pieces_close(struct pieces *p)
{
    for (int i = 0; p->lanes && i < p->threads; ++i) {
        if (p->lanes[i].file >= 0)
            close(p->lanes[i].file);
        unlinkat(p->folder, p->lanes[i].name, 0); /* of a shared file, the first rank does it */
        free(p->lanes[i].at);
    }
    free(p->lanes);
    if (p->folder < 0)
        return;
    close(p->folder);
    rmdir(p->folder_name); /* the last rank of the launch can */
}

int64_t pieces_length(const struct pieces *p)
{
    return p->count * (int64_t)p->piece * (p->apart ? 1 : p->workers);
}

int pieces_open_files(struct pieces *p, int flags, int err)
{
    for (int i = 0; i < p->threads && !err; ++i) {
        struct piece_lane *lane = &p->lanes[i];
        lane->file = files_file(p->folder, lane->name, O_CREAT | O_RDWR | flags);
        if (lane->file < 0)
            err = flags && errno == EINVAL
                      ? err_say(ERR_UNSUPPORTED, "%s: the file system %s of %.100s does not take its flags",
                                p->env->op->name, p->facts.type, p->folder_name)
                      : files_failed("open", lane->name, p->folder_name, errno);
        else if (ftruncate(lane->file, pieces_length(p)) != 0)
            err = files_failed("ftruncate", lane->name, p->folder_name, errno);
    }
    const int met = team_barrier(p->env->team);
    return err ? err : met;
}

/* A library may have kept to itself why nothing was written there. */
static int ends(const struct pieces *p, const char *name, int64_t at, int64_t before)
{
    const int error = files_refusal(p->folder, name, at);
    return err_say(ERR_WRONG, "offset %lld of %s: the file ends there, before %lld%s%s", (long long)at, name,
                   (long long)before,
                   error ? "; no call has said so, but the file system refuses to write there: " : "",
                   error ? strerror(error) : "");
}

/* Move all of a piece by POSIX, from another descriptor than the timed one. */
static int move(const struct pieces *p, int file, const char *name, char *data, int64_t offset, bool writes)
{
    for (size_t done = 0; done < p->piece;) {
        const off_t at = offset + (off_t)done;
        const ssize_t n = writes ? pwrite(file, data + done, p->piece - done, at)
                                 : pread(file, data + done, p->piece - done, at);
        if (n < 0 && errno != EINTR)
            return files_failed(writes ? "pwrite" : "pread", name, p->folder_name, errno);
        if (n == 0)
            return ends(p, name, at, offset + (int64_t)p->piece);
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Write what another rank will read: this rank's own pieces. */
static int write_files(struct pieces *p)
{
    int64_t *at = malloc((size_t)p->count * sizeof *at);
    int err = at ? 0 : err_say(ERR_NOMEM, "no memory for the places of %lld pieces", (long long)p->count);
    for (int i = 0; i < p->threads && !err; ++i) {
        char name[PIECES_NAME_MAX], *data = p->lanes[i].data;
        const int worker = p->env->team->rank * p->threads + i;
        const struct sectors own = {worker, p->piece, p->count, p->round, p->alike};
        list(p, p->by_rank ? (worker + p->workers - step(p)) % p->workers : worker, at);
        name_of(p, worker, name);
        sectors_fill(&own, data);
        const int file = files_file(p->folder, name, O_CREAT | O_WRONLY);
        if (file < 0)
            err = files_failed("open", name, p->folder_name, errno);
        for (int64_t k = 0; k < p->count && !err; ++k) {
            sectors_stamp(&own, data + (size_t)k * p->piece, k, p->repetition);
            err = move(p, file, name, data + (size_t)k * p->piece, at[k] * (int64_t)p->piece, true);
        }
        if (!err && fsync(file) != 0)
            err = files_failed("fsync", name, p->folder_name, errno);
        if (file >= 0)
            close(file);
        data_poison(data, (size_t)p->count * p->piece);
    }
    free(at);
    return err;
}

int pieces_renew(struct pieces *p)
{
    ++p->round;
    for (int i = 0; i < p->threads; ++i) {
        p->lanes[i].sectors.round = p->round;
        if (!p->reads)
            sectors_fill(&p->lanes[i].sectors, p->lanes[i].data);
    }
    if (!p->reads)
        return 0;
    ++p->repetition;
    int err = team_barrier(p->env->team), wrote = write_files(p);
    err = err ? err : team_barrier(p->env->team);
    return err ? err : wrote;
}

static int look_at_file(struct pieces *p, const char *name, int worker, const int64_t *at)
{
    const struct sectors theirs = {worker, p->piece, p->count, p->round, p->alike};
    char *piece = malloc(p->piece);
    int err = piece ? 0 : err_say(ERR_NOMEM, "no memory for a piece of %zu bytes", p->piece);
    const int file = err ? -1 : files_file(p->folder, name, O_RDONLY);
    if (!err && file < 0)
        err = files_failed("open", name, p->folder_name, errno);
    for (int64_t k = 0; k < p->count && !err; ++k) {
        data_poison(piece, p->piece);
        err = move(p, file, name, piece, at[k] * (int64_t)p->piece, false);
        if (!err && k + 1 == p->count)
            data_arrived(piece, p->piece, p->env->planted);
        err = err ? err : sectors_check(&theirs, piece, k, p->repetition, at[k] * (int64_t)p->piece);
    }
    if (file >= 0)
        close(file);
    free(piece);
    return err;
}

static int look_at_data(struct pieces *p, struct piece_lane *lane)
{
    int err = 0;
    data_arrived(lane->data, (size_t)(p->count - pieces_kept(p)) * p->piece, p->env->planted);
    for (int64_t k = pieces_kept(p); k < p->count && !err; ++k)
        err = sectors_check(&lane->sectors, pieces_memory(p, lane, k), k, p->repetition,
                            pieces_offset(p, lane, k));
    data_poison(lane->data, (size_t)p->count * p->piece);
    return err;
}

int pieces_look(struct pieces *p, int err)
{
    int met = team_barrier(p->env->team), wrong = err;
    int64_t *at = p->reads ? NULL : malloc((size_t)p->count * sizeof *at);
    if (!p->reads && !at && !wrong)
        wrong = err_say(ERR_NOMEM, "no memory for the places of %lld pieces", (long long)p->count);
    for (int i = 0; i < p->threads && !wrong; ++i) {
        char name[PIECES_NAME_MAX];
        const int worker = neighbour(p, i);
        if (p->reads) {
            wrong = look_at_data(p, &p->lanes[i]);
            continue;
        }
        list(p, worker, at);
        name_of(p, worker, name);
        wrong = look_at_file(p, name, worker, at);
    }
    free(at);
    met = met ? met : team_barrier(p->env->team);
    return met ? met : wrong;
}

/* Whose piece it is that was found, by its first stamp: the worker times all pieces of one, and the piece;
 * -1: of nobody. ERR_WRONG. */
static int whose(const struct pieces *p, const char *piece, int64_t offset, int64_t *owner)
{
    struct sectors s = {.piece = p->piece, .pieces = p->count, .round = p->round, .alike = p->alike};
    int64_t number = 0;
    *owner = -1;
    if (!sectors_owner(&s, piece, &s.worker, &number) || s.worker >= p->workers || number >= p->count)
        return err_say(ERR_WRONG, "offset %lld of a shared file: what is there is no piece of any rank",
                       (long long)offset);
    *owner = s.worker * p->count + number;
    return sectors_check(&s, piece, number, p->repetition, offset);
}

/* The owners of what this rank has read, or of its share of the file. */
static int owners(struct pieces *p, int64_t *owner)
{
    struct piece_lane *lane = p->lanes;
    const int64_t first = neighbour(p, 0) * p->count;
    int err = 0;
    const int file = p->reads ? -1 : files_file(p->folder, lane->name, O_RDONLY);
    if (!p->reads && file < 0)
        return files_failed("open", lane->name, p->folder_name, errno);
    char *piece = p->reads ? lane->data : malloc(p->piece);
    if (!piece)
        err = err_say(ERR_NOMEM, "no memory for a piece of %zu bytes", p->piece);
    for (int64_t k = pieces_kept(p); k < p->count && !err; ++k) {
        const int64_t offset = (first + k) * (int64_t)p->piece;
        if (p->reads)
            piece = pieces_memory(p, lane, k);
        else
            err = move(p, file, lane->name, piece, offset, false);
        if (!err && k + 1 == p->count)
            data_arrived(piece, p->piece, p->env->planted);
        err = err ? err : whose(p, piece, p->reads ? k * (int64_t)p->piece : offset, &owner[k]);
    }
    if (!p->reads)
        free(piece);
    if (file >= 0)
        close(file);
    return err;
}

/* On rank 0: no piece may be there twice, so that none is missing. */
static int once(const struct pieces *p, const int64_t *all)
{
    const int64_t count = p->workers * p->count;
    bool *seen = calloc((size_t)count, sizeof *seen);
    int err = seen ? 0 : err_say(ERR_NOMEM, "no memory for %lld pieces", (long long)count);
    for (int64_t i = 0; i < count && !err; ++i)
        if (all[i] >= 0 && seen[all[i]])
            err = err_say(ERR_WRONG,
                          "piece %lld of rank %d is there twice in a shared file, another is missing",
                          (long long)(all[i] % p->count), (int)(all[i] / p->count));
        else if (all[i] >= 0)
            seen[all[i]] = true;
    free(seen);
    return err;
}

int pieces_look_anywhere(struct pieces *p, int err)
{
    const struct team *team = p->env->team;
    const size_t bytes = (size_t)p->count * sizeof(int64_t);
    int64_t *mine = malloc(bytes), *all = team->rank == 0 ? malloc(bytes * (size_t)team->size) : NULL;
    int64_t lacks = !mine || (team->rank == 0 && !all);
    const int asked = team_max(team, &lacks); /* what follows needs all ranks */
    if (asked || lacks) {
        free(mine);
        free(all);
        return asked ? asked : err_say(ERR_NOMEM, "no memory for %lld pieces", (long long)p->count);
    }
    for (int64_t k = 0; k < p->count; ++k)
        mine[k] = -1;
    int met = team_barrier(team);
    err = err ? err : owners(p, mine);
    met = met ? met : team_gather(team, mine, bytes, all);
    if (!err && !met && team->rank == 0)
        err = once(p, all);
    met = met ? met : team_barrier(team);
    free(mine);
    free(all);
    return met ? met : err;
}

/* The pieces of a call: all of the owner of the first. */
static int look_at_call(struct pieces *p, int file, char *piece, int64_t first, int64_t count)
{
    const struct piece_lane *lane = p->lanes;
    int64_t owner = -1, other = -1;
    int err = 0;
    for (int64_t k = first; k < first + count && !err; ++k) {
        const int64_t offset = pieces_offset(p, lane, k);
        err = move(p, file, lane->name, piece, offset, false);
        if (!err && k + 1 == p->count)
            data_arrived(piece, p->piece, p->env->planted);
        err = err ? err : whose(p, piece, offset, &other);
        owner = owner < 0 ? other / p->count : owner;
        if (!err && other != owner * p->count + k)
            err = err_say(
                ERR_WRONG,
                "torn: offset %lld of %s is of rank %lld, what the same call wrote at %lld of rank %lld",
                (long long)offset, lane->name, (long long)(other / p->count),
                (long long)pieces_offset(p, lane, first), (long long)owner);
    }
    return err;
}

int pieces_look_atomic(struct pieces *p, int calls, int err)
{
    int met = team_barrier(p->env->team), wrong = err;
    const int64_t each = p->count / calls;
    char *piece = malloc(p->piece);
    const int file = wrong ? -1 : files_file(p->folder, p->lanes->name, O_RDONLY);
    if (!wrong && !piece)
        wrong = err_say(ERR_NOMEM, "no memory for a piece of %zu bytes", p->piece);
    if (!wrong && file < 0)
        wrong = files_failed("open", p->lanes->name, p->folder_name, errno);
    for (int64_t k = 0; k < p->count && !wrong; k += each)
        wrong = look_at_call(p, file, piece, k, each);
    if (file >= 0)
        close(file);
    free(piece);
    met = met ? met : team_barrier(p->env->team);
    return met ? met : wrong;
}

int pieces_at_once(const struct op_env *env)
{
    return (int)param_value(env->op->params, env->params, "memory", PIECES_EACH) == PIECES_EACH
               ? 0
               : err_say(ERR_UNSUPPORTED,
                         "%s moves all pieces at once, so each needs memory of its own; give memory=each",
                         env->op->name);
}

double pieces_moved(const struct op_env *env)
{
    return pieces_work(env) * (double)env->bytes;
}

double pieces_work(const struct op_env *env)
{
    return param_value(env->op->params, env->params, "calls", 1) * env->team->size * env->threads;
}
