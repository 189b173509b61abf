#include "core/op.h"

#include "base/json.h"
#include "core/method.h"

const char *op_class_name(enum op_class class)
{
    static const char *const names[OP_CLASSES] = {
        [OP_LOCAL] = "local", [OP_P2P] = "p2p", [OP_COLLECTIVE] = "collective"};
    return names[class];
}

const char *op_flow_name(enum op_flow flow)
{
    static const char *const names[OP_FLOWS] = {
        [FLOW_OUT] = "fan-out", [FLOW_IN] = "fan-in", [FLOW_UP] = "scan", [FLOW_ALL] = "all-to-all"};
    return names[flow];
}

int op_counters(const struct op *op)
{
    int count = 0;
    while (op->counters && op->counters[count])
        ++count;
    return count;
}

const char *op_delays_name(enum op_delays delays)
{
    static const char *const names[OP_DELAYS] = {[DELAYS_NONE] = "none",
                                                 [DELAYS_ONE] = "one",
                                                 [DELAYS_THREADS] = "threads",
                                                 [DELAYS_OTHERS] = "others"};
    return names[delays];
}

void op_describe(const struct op *op, struct json *j)
{
    json_open(j, NULL, '{');
    json_string(j, "name", op->name);
    json_string(j, "family", op->family);
    json_string(j, "summary", op->summary);
    json_string(j, "class", op_class_name(op->class));
    json_string(j, "flow", op_flow_name(op->flow));
    json_bool(j, "sized", op->default_bytes != NULL);
    json_string(j, "default_bytes", op->default_bytes);
    json_int(j, "min_ranks", op->least_ranks ? op->least_ranks : 1);
    json_int(j, "max_ranks", 0);
    json_int(j, "min_threads", op->least_threads ? op->least_threads : 1);
    json_int(j, "max_threads", op->threaded ? op->most_threads : 1);
    json_string(j, "thread_level", op->thread_level);
    json_string(j, "delays", op_delays_name(op->delays));
    json_string(j, "reference", op->reference);
    json_string(j, "report", op->report == OP_ROOT ? "root" : "slowest");
    json_int(j, "parts", op->parts);
    json_open(j, "counters", '[');
    for (int i = 0; i < op_counters(op); ++i)
        json_string(j, NULL, op->counters[i]);
    json_close(j, ']');
    json_open(j, "methods", '[');
    for (size_t i = 0; methods[i]; ++i)
        if (!methods[i]->missing && method_suits(methods[i], op))
            json_string(j, NULL, methods[i]->name);
    json_close(j, ']');
    json_string(j, "default_method", method_default(op)->name);
    json_bool(j, "lasts", op->prepare != NULL);
    param_rows_json(j, "params", op->params);
    json_bool(j, "available", op->missing == NULL);
    json_string(j, "why_not", op->missing);
    json_close(j, '}');
}
