#include "core/timed_checks.h"

#include "core/agree.h"

void timed_checks_open(struct timed_checks *c, const struct op *op, const double *params)
{
    const double word = param_value(op->params, params, "check", OP_CHECKS_CHUNK);
    *c = (struct timed_checks){.each = op->check && word == OP_CHECKS_SAMPLE};
}

bool timed_checks_due(const struct timed_checks *c, const struct bench *b, double seconds)
{
    return b->op->check && !c->each && c->took_s <= seconds;
}

bool timed_checks_each(const struct bench *b)
{
    return b->checks && b->checks->each;
}

int timed_checks_do(struct timed_checks *c, const struct bench *b)
{
    c->left = false;
    if (c->wrong)
        return 0;
    const int64_t begin = clock_now(b->clock);
    const int err = agree(b->team, b->op->check(b->state), &c->wrong, c->why);
    c->took_s += (double)(clock_now(b->clock) - begin) / 1e9;
    return err;
}
