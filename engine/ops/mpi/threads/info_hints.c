/* What an info key promises to the library for each thread's communicator (MPI 4.0, section 7.4.4). A promise
 * that the op's messages would break is refused. */
#include "base/err.h"
#include "ops/mpi/threads/threads.h"
#include "team/team_mpi.h"

#include <string.h>

enum { NOTHING, NO_ANY_TAG, NO_ANY_SOURCE, EXACT_LENGTH, OVERTAKING };
const char *const mt_promise_words[MT_PROMISES + 1] = {[NOTHING] = "none",
                                                       [NO_ANY_TAG] = "no_any_tag",
                                                       [NO_ANY_SOURCE] = "no_any_source",
                                                       [EXACT_LENGTH] = "exact_length",
                                                       [OVERTAKING] = "allow_overtaking"};

static const struct promise {
    struct hint hint;
    const char *breaks[2]; /* words of `match` that break the promise */
} promises[MT_PROMISES] = {[NO_ANY_TAG] = {{"mpi_assert_no_any_tag", "true"}, {"any_tag", "any"}},
                           [NO_ANY_SOURCE] = {{"mpi_assert_no_any_source", "true"}, {"any_source", "any"}},
                           [EXACT_LENGTH] = {{"mpi_assert_exact_length", "true"}, {NULL}},
                           [OVERTAKING] = {{"mpi_assert_allow_overtaking", "true"}, {NULL}}};

static const struct promise *of(const struct op_env *env)
{
    return &promises[(int)param_value(env->op->params, env->params, "assert", NOTHING)];
}

const char *mt_word(const struct op_env *env, const char *name)
{
    const int at = param_find(env->op->params, name);
    return at < 0 ? "" : env->op->params[at].words[(int)env->params[at]];
}

int mt_refuse_promise(const struct op_env *env, bool own_comm)
{
    const struct promise *p = of(env);
    const char *match = mt_word(env, "match"), *word = mt_word(env, "assert");
    if (!p->hint.key)
        return 0;
    if (!own_comm)
        return err_say(
            ERR_INPUT,
            "assert=%s is promised of each thread's own communicator, and with channel=%s no thread "
            "has one; give channel=comms",
            word, mt_word(env, "channel"));
    for (int i = 0; i < 2 && p->breaks[i]; ++i)
        if (strcmp(match, p->breaks[i]) == 0)
            return err_say(ERR_INPUT, "assert=%s is not true of match=%s; give match=exact", word, match);
    const bool differ = param_find(env->op->params, "messages") >= 0 ||
                        param_value(env->op->params, env->params, "buffers", 1) > 1;
    if (p == &promises[OVERTAKING] && differ)
        return err_say(ERR_INPUT,
                       "assert=%s lets messages come in any order, but those of %s in several buffers are "
                       "recognised by their order; give mpi.mt.bandwidth with buffers=1",
                       word, env->op->name);
    return 0;
}

int mt_promise(const struct op_env *env, const struct team *lane, struct hint_seen *seen)
{
    const struct promise *p = of(env);
    MPI_Info info = MPI_INFO_NULL, has = MPI_INFO_NULL;
    if (!p->hint.key)
        return 0;
    int rc = hint_make(&p->hint, &info);
    rc = rc == MPI_SUCCESS ? MPI_Comm_set_info(team_comm(lane), info) : rc;
    rc = rc == MPI_SUCCESS ? MPI_Comm_get_info(team_comm(lane), &has) : rc;
    rc = rc == MPI_SUCCESS ? hint_look(&p->hint, has, seen) : rc;
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return team_mpi_err(rc, "MPI_Comm_set_info");
}
