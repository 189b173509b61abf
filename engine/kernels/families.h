/* The families of kernels; registry.c lists them. */
#ifndef KERNELS_FAMILIES_H
#define KERNELS_FAMILIES_H

#include "core/op.h"

extern const struct op_family npb_ops, app_ops;

#endif
