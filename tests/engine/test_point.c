#include "test.h"

#include "base/err.h"
#include "core/method.h"
#include "core/point.h"
#include "core/stop.h"
#include "registry.h"

#include <stdlib.h>
#include <string.h>

/* An op whose samples need something before them is measured by no method that puts nothing there. */
static void test_lead_in(void)
{
    const struct op plain = {.class = OP_P2P}, led = {.class = OP_P2P, .lead_in = 20};
    CHECK(method_suits(&method_batch, &led) && method_default(&led) == &method_batch);
    CHECK(method_suits(&method_barrier, &plain) && !method_suits(&method_barrier, &led));
    for (size_t i = 0; methods[i]; ++i)
        CHECK(!method_suits(methods[i], &led) || methods[i]->begin == method_batch.begin);
}

int main(void)
{
    static const struct {
        const char *line;
        int err;
        const char *says;
    } cases[] = {
        {"op=self.spin ns=5000 method=barrier rule=fixed count=3 point=4", 0, ""},
        {"  op=self.empty\r\n", 0, ""},
        {"op=pthread.mutex threads=2", 0, ""},
        {"bytes=8", ERR_INPUT, "op=NAME"},
        {"op=self.nonsense", ERR_INPUT, "no op 'self.nonsense'"},
        {"op=self.empty method=nonsense", ERR_INPUT, "no method 'nonsense'"},
        {"op=self.empty rule=nonsense", ERR_INPUT, "no stop rule 'nonsense'"},
        {"op=self.empty window=3", ERR_INPUT, "parameter 'window'"},
        {"op=self.empty bytes=8", ERR_INPUT, "has no size"},
        {"op=self.empty threads=2", ERR_INPUT, "one thread"},
        {"op=self.empty warm_up=steady", 0, ""},
        {"op=self.empty warm_up=never", ERR_INPUT, "steady or brief, not 'never'"},
        {"op=self.empty tolerance=0", ERR_INPUT, "tolerance"},
        {"op=self.spin ns=fast", ERR_INPUT, "ns"},
        {"op=self.empty nonsense", ERR_INPUT, "key=value"},
    };
    struct registry registry;
    CHECK(registry_open(NULL, &registry) == 0);
    const struct op *ops = registry.ops;
    const size_t count = registry.count;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct point p;
        char line[128];
        snprintf(line, sizeof line, "%s", cases[i].line);
        CHECK(point_parse(line, ops, count, &p) == cases[i].err);
        if (cases[i].err)
            CHECK(strstr(err_text(), cases[i].says));
    }
    struct point p;
    char line[128];
    snprintf(line, sizeof line, "%s", cases[0].line);
    CHECK(point_parse(line, ops, count, &p) == 0);
    CHECK(p.id == 4 && p.op_params[0] == 5000 && p.rule_params[0] == 3 && p.threads == 1 && p.bytes == 0);
    CHECK(strcmp(p.method->name, "barrier") == 0 && strcmp(p.rule->name, "fixed") == 0);

    /* Every op of the table can be taken: it has a name of its own, a summary, all four functions, a method.
     */
    for (size_t i = 0; i < count; ++i) {
        CHECK(ops[i].name[0] && ops[i].family && ops[i].summary && ops[i].parts >= 1);
        CHECK(ops[i].setup && ops[i].verify && ops[i].teardown && !ops[i].run == (ops[i].first != NULL));
        CHECK(method_suits(method_default(&ops[i]), &ops[i]));
        CHECK(param_count(ops[i].params) <= PARAMS_MAX);
        for (size_t k = 0; k < i; ++k)
            CHECK(strcmp(ops[i].name, ops[k].name) != 0);
    }
    registry_close(&registry);
    test_lead_in();
    return test_result();
}
