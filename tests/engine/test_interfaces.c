/* What the interfaces of recorded hosts have moved: Ethernet, a bond of two, InfiniBand with two ports. */
#include "test.h"

#include "machine/interfaces.h"
#include "machine/ports.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char root[64];

/* A file below the root, with its folders. */
static void write_file(const char *path, const char *text)
{
    char command[2048];
    snprintf(command, sizeof command, "mkdir -p \"$(dirname %s%s)\" && printf '%%s\\n' '%s' > %s%s", root,
             path, text, root, path);
    CHECK(system(command) == 0);
}

static void ethernet(const char *name, const char *speed, const char *rx, const char *tx)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/class/net/%s/operstate", name);
    write_file(path, "up");
    snprintf(path, sizeof path, "/sys/class/net/%s/statistics/rx_bytes", name);
    write_file(path, rx);
    snprintf(path, sizeof path, "/sys/class/net/%s/statistics/tx_bytes", name);
    write_file(path, tx);
    if (speed) {
        snprintf(path, sizeof path, "/sys/class/net/%s/speed", name);
        write_file(path, speed);
    }
}

static void check_one(const struct interface *one, const char *name, const char *kind, const char *state,
                      int64_t mbits, int64_t rx, int64_t tx)
{
    CHECK(strcmp(one->name, name) == 0 && strcmp(one->kind, kind) == 0 && strcmp(one->state, state) == 0);
    CHECK(one->mbits == mbits && one->rx_bytes == rx && one->tx_bytes == tx);
}

static void open_file(const char *number, const char *to)
{
    char path[128];
    snprintf(path, sizeof path, "%s/proc/self/fd/%s", root, number);
    CHECK(symlink(to, path) == 0);
}

/* Two connections by eth1 and eth0, each of another family; one to itself, one that only listens, one of
 * another process; a device of InfiniBand that is open. */
static void check_ports(void)
{
    static const struct port_address addresses[] = {
        {"eth0", "B80D0120000000000000000003000000"}, {"eth0", "03004D0A"}, {"eth1", "0D004D0A"}};
    char names[PORTS_BYTES];
    ports_read(root, addresses, 3, names);
    CHECK(strcmp(names, "") == 0); /* a system without */
    write_file("/proc/self/fd/0", "");
    open_file("3", "socket:[101]");
    open_file("4", "socket:[102]");
    open_file("5", "socket:[103]");
    open_file("6", "pipe:[104]");
    write_file(
        "/proc/self/net/tcp",
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        "   0: 0D004D0A:0400 01004D0A:B2DC 01 00000000:00000000 00:00000000 00000000     0        0 101 1\n"
        "   1: 03004D0A:0400 03004D0A:B2DC 01 00000000:00000000 00:00000000 00000000     0        0 102 1\n"
        "   2: 03004D0A:0401 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 103 1\n"
        "   3: 03004D0A:0402 01004D0A:B2DD 01 00000000:00000000 00:00000000 00000000     0        0 999 1");
    ports_read(root, addresses, 3, names);
    CHECK(strcmp(names, "eth1") == 0);
    write_file("/proc/self/net/tcp6",
               "  sl  local_address                         remote_address                        st\n"
               "   0: B80D0120000000000000000003000000:0016 B80D0120000000000000000001000000:B2DC 01 "
               "00000000:00000000 02:0000 00000000     0        0 103 2");
    open_file("7", "/dev/infiniband/uverbs0");
    write_file("/sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0");
    ports_read(root, addresses, 3, names);
    CHECK(strcmp(names, "eth0,eth1,mlx5_0") == 0);
}

int main(void)
{
    struct interfaces found;
    strcpy(root, "/tmp/steelyard-interfaces-XXXXXX");
    CHECK(mkdtemp(root));
    interfaces_read(root, &found);
    CHECK(found.count == 0 && found.tcp_sent == -1 && found.tcp_resent == -1); /* a system without */
    ethernet("lo", NULL, "5", "5");
    ethernet("eth1", "100", "70", "80");
    ethernet("eth0", "1000", "1000000000000", "20");
    ethernet("tun0", "-1", "1", "2"); /* states no rate */
    ethernet("bond0", "1100", "1000000000070", "100");
    write_file("/sys/class/net/bond0/lower_eth0", "");
    write_file("/sys/class/net/bonding_masters", "bond0");
    write_file("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE");
    write_file("/sys/class/infiniband/mlx5_0/ports/1/rate", "200 Gb/sec (4X HDR)");
    write_file("/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "25");
    write_file("/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "50");
    write_file("/sys/class/infiniband/mlx5_0/ports/2/state", "1: DOWN");
    write_file("/sys/class/infiniband/mlx5_0/ports/2/rate", "2.5 Gb/sec (1X SDR)");
    write_file("/sys/class/infiniband/mlx5_0/ports/2/counters/port_rcv_data", "0");
    write_file("/sys/class/infiniband/mlx5_0/ports/2/counters/port_xmit_data", "0");
    write_file("/sys/class/infiniband/mlx5_0/device/local_cpulist", "16-31");
    write_file("/sys/class/net/eth0/device/local_cpulist", "0-15,32");
    write_file("/proc/self/net/snmp", "Ip: Forwarding\nIp: 1\nTcp: RtoMin OutSegs RetransSegs InErrs\n"
                                      "Tcp: 200 70000 35 1\nUdp: OutDatagrams\nUdp: 9");
    interfaces_read(root, &found);
    CHECK(found.tcp_sent == 70000 && found.tcp_resent == 35);
    CHECK(strcmp(found.of[0].cpus, "16-31") == 0 && strcmp(found.of[1].cpus, "16-31") == 0);
    CHECK(strcmp(found.of[2].cpus, "0-15,32") == 0 && strcmp(found.of[3].cpus, "") == 0);
    CHECK(found.count == 5);
    check_one(&found.of[0], "mlx5_0/1", "infiniband", "active", 200000, 100, 200);
    check_one(&found.of[1], "mlx5_0/2", "infiniband", "down", 2500, 0, 0);
    check_one(&found.of[2], "eth0", "net", "up", 1000, 1000000000000, 20);
    check_one(&found.of[3], "eth1", "net", "up", 100, 70, 80);
    check_one(&found.of[4], "tun0", "net", "up", -1, 1, 2);
    check_ports();
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK(system(command) == 0);
    return test_result();
}
