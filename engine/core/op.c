#include "core/op.h"

#include "base/err.h"
#include "base/json.h"
#include "core/first.h"
#include "core/method.h"

const char *const op_classes[OP_CLASSES] = {
    [OP_LOCAL] = "local", [OP_P2P] = "p2p", [OP_COLLECTIVE] = "collective"};

const char *const op_flows[OP_FLOWS] = {
    [FLOW_OUT] = "fan-out", [FLOW_IN] = "fan-in", [FLOW_UP] = "scan", [FLOW_ALL] = "all-to-all"};

const char *const op_delay_words[OP_DELAYS] = {
    [DELAYS_NONE] = "none", [DELAYS_ONE] = "one", [DELAYS_THREADS] = "threads", [DELAYS_OTHERS] = "others"};

const char *const op_roles[OP_ROLES] = {[ROLE_CALL] = "call",
                                        [ROLE_LATENCY] = "latency",
                                        [ROLE_BANDWIDTH] = "bandwidth",
                                        [ROLE_RATE] = "rate",
                                        [ROLE_COLLECTIVE] = "collective",
                                        [ROLE_PATTERN] = "pattern",
                                        [ROLE_OVERLAP] = "overlap",
                                        [ROLE_KERNEL] = "kernel",
                                        [ROLE_NOISE] = "noise",
                                        [ROLE_INSTRUMENT] = "instrument",
                                        [ROLE_FILE] = "file",
                                        [ROLE_WORK] = "work",
                                        [ROLE_FAULT] = "fault"};

const char *const op_forms[OP_FORMS] = {
    [FORM_BLOCKING] = "blocking", [FORM_NONBLOCKING] = "nonblocking", [FORM_PERSISTENT] = "persistent"};

const char *const op_layers[OP_LAYERS] = {[LAYER_COPY] = "copy",
                                          [LAYER_SHARED_MEMORY] = "shared memory",
                                          [LAYER_PIPE] = "pipe",
                                          [LAYER_NETWORK] = "network",
                                          [LAYER_MPI] = "mpi"};

const char *const op_checks_words[] = {[OP_CHECKS_CHUNK] = "chunk", [OP_CHECKS_SAMPLE] = "sample", NULL};

const char *op_base(const struct op *op)
{
    return op->base[0] ? op->base : op->name;
}

int op_counters(const struct op *op)
{
    int count = 0;
    while (op->counters && op->counters[count])
        ++count;
    return count;
}

void op_kind_json(const struct op *op, struct json *j)
{
    json_string(j, "base", op_base(op));
    json_string(j, "form", op_forms[op->form]);
    json_string(j, "role", op_roles[op->role]);
    json_string(j, "layer", op_layers[op->layer]);
}

static double work_of(const struct op *op, const double *params, int ranks)
{
    const struct team team = {.size = ranks};
    return op->work(&(struct op_env){.op = op, .team = &team, .params = params, .threads = 1});
}

/* For an op that lasts, from which its time is guessed: the operations of a repetition on one rank with the
 * usual parameters, and what multiplies them: two ranks, another word, a number twice as large. */
static void work_describe(const struct op *op, struct json *j)
{
    if (!op->prepare || !op->work)
        return;
    double params[PARAMS_MAX];
    param_defaults(op->params, params);
    const double usual = work_of(op, params, 1);
    json_open(j, "work", '{');
    json_double(j, "usual", usual);
    json_double(j, "two_ranks", work_of(op, params, 2) / usual);
    json_open(j, "factors", '{');
    for (int i = 0; op->params[i].name; ++i) {
        const struct param *row = &op->params[i];
        const double normal = params[i];
        json_open(j, row->name, '[');
        for (int word = 0; row->words && row->words[word]; ++word) {
            params[i] = word;
            json_double(j, NULL, work_of(op, params, 1) / usual);
        }
        if (!row->words) {
            params[i] = 2 * normal;
            json_double(j, NULL, work_of(op, params, 1) / usual);
        }
        params[i] = normal;
        json_close(j, ']');
    }
    json_close(j, '}');
    json_close(j, '}');
}

void op_describe(const struct op *op, struct json *j)
{
    json_open(j, NULL, '{');
    json_string(j, "name", op->name);
    json_string(j, "family", op->family);
    json_string(j, "summary", op->summary);
    if (op->library)
        json_string(j, "library", op->library);
    json_string(j, "class", op_classes[op->class]);
    json_string(j, "flow", op_flows[op->flow]);
    op_kind_json(op, j);
    json_bool(j, "sized", op->default_bytes != NULL);
    json_string(j, "default_bytes", op->default_bytes);
    json_int(j, "min_ranks", op->least_ranks ? op->least_ranks : 1);
    json_int(j, "max_ranks", 0);
    json_int(j, "min_threads", op->least_threads ? op->least_threads : 1);
    json_int(j, "max_threads", op->threaded ? op->most_threads : 1);
    json_string(j, "thread_level", op->thread_level);
    json_string(j, "delays", op_delay_words[op->delays]);
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
    json_bool(j, "first", op->first != NULL);
    json_int(j, "loses", op->first ? op->first->loses : 0);
    json_bool(j, "lasts", op->prepare != NULL && op->role != ROLE_FILE);
    work_describe(op, j);
    param_rows_json(j, "params", op->params);
    json_bool(j, "available", op->missing == NULL);
    json_string(j, "why_not", op->missing);
    json_close(j, '}');
}

int op_check_threads(const struct op *op, int threads)
{
    const bool few = threads < op->least_threads, many = op->most_threads && threads > op->most_threads;
    const int fit = few ? op->least_threads : op->most_threads;
    return !few && !many ? 0
                         : err_say(ERR_UNSUPPORTED, "%s needs %s %d threads, not %d; give --threads %d",
                                   op->name, few ? "at least" : "at most", fit, threads, fit);
}
