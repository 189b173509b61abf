/* Buffers: where they begin, on which pages, how many bytes are counted; and what the kernel says is left. */
#define _GNU_SOURCE
#include "test.h"

#include "base/buffers.h"
#include "base/err.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct param rows[] = {BUFFERS_PARAMS, {0}};

static void test_place(void)
{
    static const double aligns[] = {0, 1, 8, 64, BUFFERS_PAGE - 1};
    for (size_t i = 0; i < sizeof aligns / sizeof aligns[0]; ++i)
        for (int pages = PAGES_NORMAL; pages <= PAGES_SMALL; ++pages) {
            struct buffers s = buffers_of(rows, (const double[]){aligns[i], pages, NODE_ANY});
            unsigned char *first = NULL, *second = NULL;
            CHECK(buffers_take(&s, 3, 5, (void **)&first) == 0);
            CHECK(buffers_take(&s, 1, 5000, (void **)&second) == 0);
            CHECK((uintptr_t)first % BUFFERS_PAGE == (size_t)aligns[i]);
            CHECK((uintptr_t)second % BUFFERS_PAGE == (size_t)aligns[i]);
            CHECK(s.bytes >= 15 + 5000 && s.bytes % BUFFERS_PAGE == 0);
            CHECK(buffers_touch(&s) == 0);
            CHECK(first[0] == BUFFERS_FILL && first[14] == BUFFERS_FILL && second[4999] == BUFFERS_FILL);
            buffers_close(&s);
            CHECK(s.count == 0 && s.bytes == 0);
        }
}

/* Either all of it is huge, or that is said. */
static void test_huge(void)
{
    struct buffers s = buffers_of(rows, (const double[]){8, PAGES_HUGE, NODE_ANY});
    unsigned char *data = NULL;
    int err = buffers_take(&s, 1, 100, (void **)&data);
    if (err == 0) {
        enum { HUGE = 2 << 20 };
        CHECK((uintptr_t)data % HUGE == 8);
        err = buffers_touch(&s);
        CHECK(err != 0 || data[99] == BUFFERS_FILL);
    }
    CHECK(err == 0 || err == ERR_UNSUPPORTED);
    buffers_close(&s);
}

/* Two nodes with CPUs, and one of memory alone that is farthest; all as Linux writes them. */
static void test_nodes(void)
{
    static const struct {
        unsigned long cpus;
        enum node_choice choice;
        const char *third; /* kB of the node without CPUs */
        int node;          /* -1: refused */
    } cases[] = {
        {1 << 4, NODE_NEAR, "16", 0},  {3 << 2, NODE_NEAR, "16", 2},  {1 << 0, NODE_FAR, "16", 3},
        {1 << 0, NODE_FAR, "0", 2},    {1 << 3, NODE_FAR, "16", 0},   {3 << 1, NODE_FAR, "16", -1},
        {3 << 1, NODE_NEAR, "16", -1}, {1 << 9, NODE_NEAR, "16", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char root[] = "/tmp/steelyard-nodes-XXXXXX", folder[128], command[1024];
        cpu_set_t cpus;
        int node = -1;
        CHECK(mkdtemp(root));
        snprintf(folder, sizeof folder, "%s/sys/devices/system/node", root);
        snprintf(command, sizeof command,
                 "d=%s && mkdir -p $d/node0 $d/node2 $d/node3 && cd $d && "
                 "echo 0-1,4 > node0/cpulist && echo 2-3 > node2/cpulist && echo > node3/cpulist && "
                 "echo '10 21 28' > node0/distance && echo '21 10 12' > node2/distance && "
                 "echo 'Node 0 MemTotal: 16 kB' > node0/meminfo && echo 'Node 2 MemTotal: 16 kB' > "
                 "node2/meminfo && "
                 "echo 'Node 3 MemTotal: %s kB' > node3/meminfo",
                 folder, cases[i].third);
        CHECK(system(command) == 0);
        CPU_ZERO(&cpus);
        for (size_t cpu = 0; cpu < 16; ++cpu)
            if (cases[i].cpus >> cpu & 1)
                CPU_SET(cpu, &cpus);
        const int err = node_choose(root, &cpus, cases[i].choice, &node);
        CHECK(cases[i].node < 0 ? err == ERR_UNSUPPORTED : err == 0 && node == cases[i].node);
        snprintf(command, sizeof command, "rm -r %s", root);
        CHECK(system(command) == 0);
    }
}

/* Of this machine: memory of the own node is there, and without another one `far` is refused. */
static void test_near(void)
{
    for (int choice = NODE_NEAR; choice <= NODE_FAR; ++choice) {
        struct buffers s = {.node = (enum node_choice)choice};
        unsigned char *data = NULL;
        const int err = buffers_take(&s, 1, 100, (void **)&data);
        CHECK(err == 0 ? buffers_touch(&s) == 0 && data[99] == BUFFERS_FILL : err == ERR_UNSUPPORTED);
        buffers_close(&s);
    }
}

static void test_sums(void)
{
    struct buffers s = {0};
    void *data = &s;
    CHECK(buffers_take(&s, 0, 8, &data) == 0 && data == NULL && s.bytes == 0);
    CHECK(buffers_take(&s, SIZE_MAX / 2, 3, &data) == ERR_NOMEM && data == NULL);
    CHECK(buffers_take(&s, 1, SIZE_MAX - 1, &data) == ERR_NOMEM && data == NULL);
    buffers_count(&s, 100);
    buffers_count(&s, SIZE_MAX - 1);
    CHECK(s.bytes == SIZE_MAX);
    buffers_close(&s);
}

static char root[] = "/tmp/steelyard-XXXXXX";

static void put(const char *path, const char *text)
{
    char name[256], part[256];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = strchr(name + sizeof root, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
        mkdir(part, 0700);
    }
    FILE *file = fopen(name, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void test_what_is_left(void)
{
    const char *v1 = "/sys/fs/cgroup/memory";
    char path[256], command[256];
    CHECK(mkdtemp(root) != NULL);
    CHECK(memory_left(root) == SIZE_MAX);
    put("/proc/meminfo", "MemTotal:       9000 kB\nMemAvailable:    4000 kB\n");
    CHECK(memory_left(root) == 4000 * 1024);
    put("/proc/self/cgroup", "0::/job/step\n");
    CHECK(memory_left(root) == 4000 * 1024);
    put("/sys/fs/cgroup/job/step/memory.max", "max\n");
    put("/sys/fs/cgroup/job/step/memory.current", "700000\n");
    CHECK(memory_left(root) == 4000 * 1024);
    put("/sys/fs/cgroup/job/memory.max", "1000000\n"); /* the group around it */
    put("/sys/fs/cgroup/job/memory.current", "900000\n");
    put("/sys/fs/cgroup/job/memory.stat", "anon 600000\nfile 300000\nfile_mapped 1\n");
    CHECK(memory_left(root) == 400000);
    put("/sys/fs/cgroup/memory.max", "650000\n"); /* the folder itself, as in a container */
    put("/sys/fs/cgroup/memory.current", "650000\n");
    CHECK(memory_left(root) == 0);
    put("/proc/self/cgroup", "5:devices:/\n4:memory:/not/seen/here\n0::/elsewhere/\n");
    put("/sys/fs/cgroup/memory.max", "max\n");
    snprintf(path, sizeof path, "%s/memory.limit_in_bytes", v1);
    put(path, "500000\n");
    snprintf(path, sizeof path, "%s/memory.usage_in_bytes", v1);
    put(path, "200000\n");
    snprintf(path, sizeof path, "%s/memory.stat", v1);
    put(path, "cache 1\ntotal_cache 50000\n");
    CHECK(memory_left(root) == 350000);
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK(system(command) == 0);
}

int main(void)
{
    test_place();
    test_huge();
    test_nodes();
    test_near();
    test_sums();
    test_what_is_left();
    return test_result();
}
