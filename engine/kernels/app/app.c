#include "kernels/app/app.h"

#include "kernels/families.h"

static const struct kernel *const kernels[] = {&app_hpccg, &app_minife, &app_minimd};

static void op_at(size_t i, struct op *op)
{
    kernel_op(kernels[i], op);
    op->family = "app";
}

const struct op_family app_ops = {.count = sizeof kernels / sizeof kernels[0], .op_at = op_at};
