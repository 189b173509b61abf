#include "ops/own/fit.h"

#include "base/err.h"

#include <stdbool.h>
#include <string.h>

/* Words of a test case, and parameters with a meaning of the engine's (base/buffers.h, core/op.h). */
static const char *const reserved[] = {"op",      "bytes", "threads", "method", "rule", "plant",
                                       "warm_up", "point", "align",   "pages",  "check"};

static int fit_structs(const char *path, const struct steelyard_library *l)
{
    const char *remedy = "compile it again with -I\"$(steelyard op-header)\"";
    if (l->version != STEELYARD_OP_VERSION)
        return err_say(ERR_INPUT, "%s has version %u of steelyard/op.h, and this engine reads version %d; %s",
                       path, l->version, STEELYARD_OP_VERSION, remedy);
    if (l->library_bytes != sizeof *l || l->op_bytes != sizeof(struct steelyard_op) ||
        l->env_bytes != sizeof(struct steelyard_env) || l->param_bytes != sizeof(struct steelyard_param))
        return err_say(ERR_INPUT, "%s has structs of other sizes than steelyard/op.h of this engine; %s",
                       path, remedy);
    return 0;
}

/* Without MPI there is nothing to contradict. */
static int fit_mpi(const char *path, const char *its, const char *ours)
{
    if (its[0] == '\0' || strcmp(its, ours) == 0)
        return 0;
    if (ours[0] == '\0')
        return err_say(ERR_INPUT, "%s calls %s, and this engine has no MPI", path, its);
    return err_say(ERR_INPUT, "%s is compiled for %s, and this engine for %s; compile it with %s of that MPI",
                   path, its, ours, strstr(ours, "ABI") ? "mpicc_abi" : "mpicc");
}

/* Small letters, digits and '_', and `inner` dots that part words. */
static bool is_name(const char *name, bool dotted)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    size_t length = name ? strspn(name, letters) : 0;
    while (dotted && length > 0 && name[length] == '.' && name[length + 1]) {
        const size_t more = strspn(name + length + 1, letters);
        if (more == 0)
            return false;
        length += 1 + more;
    }
    return length > 0 && name[length] == '\0' && strlen(name) < OP_NAME_MAX;
}

static bool is_of(const char *family, const char *name)
{
    const size_t length = strlen(family);
    return strncmp(name, family, length) == 0 && name[length] == '.';
}

static int fit_family(const char *path, const char *family, const struct own_place *place)
{
    if (!is_name(family, false))
        return err_say(ERR_INPUT,
                       "%s has no family that can be; give STEELYARD_LIBRARY a word of small letters, digits "
                       "and '_'",
                       path);
    bool ours = strcmp(family, "mpi") == 0 || strcmp(family, "shmem") == 0; /* of engines other than this */
    for (size_t i = 0; i < place->our_count; ++i)
        ours = ours || is_of(family, place->ours[i].name);
    if (ours)
        return err_say(ERR_INPUT, "%s has the family '%s', which Steelyard has; give it another name", path,
                       family);
    for (size_t l = 0; l < place->before->count; ++l)
        if (place->before->rows[l].count > 0 && is_of(family, place->before->rows[l].ops[0].name))
            return err_say(ERR_INPUT, "%s has the family '%s', which %s has; give one of them another name",
                           path, family, place->before->rows[l].path);
    return 0;
}

static int fit_param(const char *path, const char *op, const struct steelyard_param *param)
{
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; ++i)
        if (strcmp(param->name, reserved[i]) == 0)
            return err_say(ERR_INPUT,
                           "%s: the parameter '%s' of %s has a name that Steelyard uses; give it another",
                           path, param->name, op);
    double words = 0;
    while (param->words && param->words[(int)words])
        ++words;
    const double least = param->words ? 0 : param->least, most = param->words ? words - 1 : param->most;
    if (!is_name(param->name, false) || !(least <= param->usual && param->usual <= most))
        return err_say(ERR_INPUT, "%s: the usual value of '%s' of %s is not from %g to %g; correct the row",
                       path, param->name, op, least, most);
    return 0;
}

static int fit_params(const char *path, const struct steelyard_op *op)
{
    int err = 0, count = 0;
    for (const struct steelyard_param *p = op->params; p && p->name && !err; ++p)
        err = ++count > PARAMS_MAX ? err_say(ERR_INPUT, "%s: %s has more than %d parameters; leave some out",
                                             path, op->name, PARAMS_MAX)
                                   : fit_param(path, op->name, p);
    return err;
}

static bool is_known(const char *name, const struct steelyard_library *l, const struct own_place *place)
{
    bool known = false;
    for (uint32_t i = 0; i < l->count; ++i)
        known = known || (l->ops[i].name && strcmp(l->ops[i].name, name) == 0);
    for (size_t i = 0; i < place->our_count; ++i)
        known = known || strcmp(place->ours[i].name, name) == 0;
    return known;
}

static int fit_op(const char *path, const struct steelyard_library *l, uint32_t index,
                  const struct own_place *place)
{
    const struct steelyard_op *op = &l->ops[index];
    if (!is_name(op->name, true) || !is_of(l->family, op->name))
        return err_say(ERR_INPUT,
                       "%s: '%s' is no name of an op of the family; names are %s.NAME, in small "
                       "letters",
                       path, op->name ? op->name : "", l->family);
    for (uint32_t i = 0; i < index; ++i)
        if (strcmp(l->ops[i].name, op->name) == 0)
            return err_say(ERR_INPUT, "%s has two ops %s; name them differently", path, op->name);
    if (!op->summary || !op->setup || !op->run || !op->verify || !op->teardown)
        return err_say(ERR_INPUT, "%s: %s lacks one of summary, setup, run, verify, teardown; give all", path,
                       op->name);
    if (op->group > STEELYARD_ALL || op->flow > STEELYARD_FLOW_ALL || op->role > STEELYARD_KERNEL ||
        op->report > STEELYARD_SLOWEST)
        return err_say(ERR_INPUT, "%s: group, flow, role or report of %s is none of their words; correct it",
                       path, op->name);
    if (!op->counters != !op->counted)
        return err_say(ERR_INPUT, "%s: %s has counters or counted alone; give both", path, op->name);
    if (op->reference && !is_known(op->reference, l, place))
        return err_say(ERR_INPUT, "%s: the reference of %s, '%s', is no op; correct its name", path, op->name,
                       op->reference);
    return fit_params(path, op);
}

int own_fits(const char *path, const struct steelyard_library *l, const struct own_place *place)
{
    int err = fit_structs(path, l);
    err = err ? err : fit_mpi(path, l->mpi, place->mpi);
    err = err ? err : fit_family(path, l->family, place);
    if (!err && (!l->ops || l->count == 0))
        err = err_say(ERR_INPUT, "%s has no operation; give STEELYARD_LIBRARY an array of some", path);
    for (uint32_t i = 0; i < l->count && !err; ++i)
        err = fit_op(path, l, i, place);
    return err;
}
