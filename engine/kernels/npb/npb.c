#include "kernels/npb/npb.h"

#include "kernels/families.h"

const char *const npb_classes[NPB_CLASSES + 1] = {"S", "W", "A", "B", "C", "D", "E", NULL};

static const struct kernel *const kernels[] = {&npb_ep, &npb_is, &npb_cg, &npb_mg,
                                               &npb_ft, &npb_bt, &npb_sp, &npb_lu};

static void op_at(size_t i, struct op *op)
{
    kernel_op(kernels[i], op);
    op->family = "npb";
}

const struct op_family npb_ops = {.count = sizeof kernels / sizeof kernels[0], .op_at = op_at};
