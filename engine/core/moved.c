#include "core/moved.h"

#include "core/agree.h"

void moved_open(struct moved *m, const struct op *op, const double *params)
{
    const double word = param_value(op->params, params, "check", OP_CHECKS_CHUNK);
    *m = (struct moved){.each = op->check && word == OP_CHECKS_SAMPLE};
}

bool moved_is_due(const struct moved *m, const struct bench *b, double seconds)
{
    return b->op->check && !m->each && m->took_s <= seconds;
}

bool moved_is_each(const struct bench *b)
{
    return b->moved && b->moved->each;
}

int moved_check(struct moved *m, const struct bench *b)
{
    m->left = false;
    if (m->wrong)
        return 0;
    const int64_t begin = clock_now(b->clock);
    const int err = agree(b->team, b->op->check(b->state), &m->wrong, m->why);
    m->took_s += (double)(clock_now(b->clock) - begin) / 1e9;
    return err;
}
