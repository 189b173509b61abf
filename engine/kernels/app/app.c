#include "kernels/app/app.h"

#include "base/err.h"
#include "kernels/families.h"

#include <stdlib.h>
#include <string.h>

int app_open(const struct app_parts *parts, struct kernel_env *env, void **state)
{
    void *s = calloc(1, parts->size);
    bool stop = false;
    int err = s ? parts->make(env, s) : err_say(ERR_NOMEM, "no memory for the state of a kernel");
    err = kernel_agree(env, err, &stop);
    if (!stop)
        err = kernel_agree(env, parts->connect(s), &stop);
    if (!stop)
        *state = s;
    else if (s)
        parts->close(s);
    return err;
}

/* By two sums, as J. Fletcher has it (IEEE Trans. Comm. 30, 1982). */
uint64_t app_seal(const double *data, int64_t count, uint64_t turn)
{
    uint64_t sum = turn, sums = 0, bits;
    for (int64_t i = 0; i < count; ++i) {
        memcpy(&bits, &data[i], sizeof bits);
        sum += bits;
        sums += sum;
    }
    return sum ^ (sums << 1 | sums >> 63);
}

static const struct kernel *const kernels[] = {&app_hpccg, &app_minife, &app_minimd};

static void op_at(size_t i, struct op *op)
{
    kernel_op(kernels[i], op);
    op->family = "app";
}

const struct op_family app_ops = {.count = sizeof kernels / sizeof kernels[0], .op_at = op_at};
