/* The simulated machine that methods are held against: a platform for SimGrid (3.32), made anew for each simulation
 * from the words of the environment variable STEELYARD_PLATFORM, such as
 *
 *     topology=torus hosts=64 latency_ns=1000 jitter=0.05 seed=7
 *
 * What is not named keeps the value that stands in `words` below. Without noise a simulation is the same to the bit each
 * time; with it, all that is random comes from the seed, and acts on each message wherever it is sent, inside
 * collectives too. SimGrid's own factors on latencies and bandwidths are set to 1: a link is what it says. */
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {

const double NS = 1e-9;
const double HOST_SPEED = 1e9; // flop/s: of no matter, for computing takes no time

struct Machine {
    std::string topology = "flat"; // flat, fat-tree, torus, dragonfly
    std::map<std::string, double> words = {
        {"hosts", 64},
        {"latency_ns", 500},           // of each link: two of them between any two hosts of a flat network
        {"bandwidth", 1e10},           // bytes/s of each link
        {"loopback_latency_ns", 100},  // between ranks of a host
        {"loopback_bandwidth", 2e10},
        {"overhead_ns", 150},          // of a processor, for each message that it sends or receives
        {"jitter", 0},                 // mean of an exponential delay of each message, as a share of its latency
        {"detour_share", 0},           // of all sends and receives: something else had the processor
        {"detour_ns", 10000},          // for so long, exponential
        {"tick_period_ns", 0},         // on all hosts at once processors do something else each so many ns
        {"tick_ns", 0},                // for so long
        {"asymmetry", 0},              // messages to a higher host take so much more of the latency, back so much less
        {"seed", 1},
    };
    std::mt19937_64 random;

    double operator[](const char* word) const { return words.at(word); }
    double uniform() { return static_cast<double>(random() >> 11) / 9007199254740992.0; }
    double exponential(double mean) { return mean > 0 ? -mean * std::log(1 - uniform()) : 0; }
};

Machine machine; // SimGrid calls back without a pointer of ours

[[noreturn]] void refuse(const std::string& what)
{
    std::fprintf(stderr, "STEELYARD_PLATFORM: %s\n", what.c_str());
    std::exit(2);
}

std::string known_words()
{
    std::string names = "topology";
    for (const auto& word : machine.words)
        names += ", " + word.first;
    return names;
}

void read_words(const char* text)
{
    std::istringstream stream(text ? text : "");
    for (std::string word; stream >> word;) {
        const size_t equals = word.find('=');
        const std::string key = word.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
        if (key == "topology") {
            machine.topology = value;
            continue;
        }
        if (machine.words.count(key) == 0)
            refuse("there is no word '" + key + "'; there are " + known_words());
        char* end = nullptr;
        const double number = std::strtod(value.c_str(), &end);
        if (value.empty() || *end != '\0' || !std::isfinite(number) || number < 0)
            refuse("'" + word + "' is not of the form name=number with a number of 0 or more");
        if (number <= 0 && key.find("bandwidth") != std::string::npos)
            refuse("'" + word + "': a link without bandwidth carries nothing");
        if (number > 1 && key == "asymmetry")
            refuse("'" + word + "': no message can take less than no time back; give 1 at most");
        machine.words[key] = number;
    }
    machine.random.seed(static_cast<unsigned long long>(machine["seed"]));
}

std::string host_name(unsigned long id)
{
    return "node-" + std::to_string(id);
}

long host_number(const sg4::Host* host)
{
    return std::atol(host->get_cname() + sizeof "node-" - 1);
}

// ---- what each message meets ---------------------------------------------------------------------------------------

double latency_factor(double, const sg4::Host* from, const sg4::Host* to, const std::vector<sg4::Link*>&,
                      const std::unordered_set<sg4::NetZone*>&)
{
    double factor = 1;
    if (machine["asymmetry"] > 0)
        factor += host_number(from) < host_number(to) ? machine["asymmetry"] : -machine["asymmetry"];
    return factor * (1 + machine.exponential(machine["jitter"]));
}

double bandwidth_factor(double, const sg4::Host*, const sg4::Host*, const std::vector<sg4::Link*>&,
                        const std::unordered_set<sg4::NetZone*>&)
{
    return 1;
}

double processor_seconds(size_t, sg4::Host*, sg4::Host*)
{
    double ns = machine["overhead_ns"];
    if (machine["detour_share"] > 0 && machine.uniform() < machine["detour_share"])
        ns += machine.exponential(machine["detour_ns"]);
    if (machine["tick_period_ns"] > 0) {
        const double phase = std::fmod(sg4::Engine::get_clock() / NS, machine["tick_period_ns"]);
        ns += phase < machine["tick_ns"] ? machine["tick_ns"] - phase : 0;
    }
    return ns * NS;
}

// ---- hosts and links -----------------------------------------------------------------------------------------------

sg4::Link* loopback(sg4::NetZone* zone, const std::vector<unsigned long>&, unsigned long id)
{
    return zone->create_link(host_name(id) + "-loopback", machine["loopback_bandwidth"])
        ->set_latency(machine["loopback_latency_ns"] * NS)
        ->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE)
        ->seal();
}

std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*>
host(sg4::NetZone* zone, const std::vector<unsigned long>&, unsigned long id)
{
    return {zone->create_host(host_name(id), HOST_SPEED)->seal()->get_netpoint(), nullptr};
}

/* All hosts on one switch that never is the bottleneck. */
sg4::NetZone* make_flat(unsigned long hosts)
{
    sg4::NetZone* zone = sg4::create_star_zone("flat");
    for (unsigned long id = 0; id < hosts; ++id) {
        auto* point = host(zone, {}, id).first;
        const sg4::Link* link = zone->create_split_duplex_link(host_name(id) + "-link", machine["bandwidth"])
                                    ->set_latency(machine["latency_ns"] * NS)
                                    ->seal();
        zone->add_route(point, nullptr, nullptr, nullptr, {{link, sg4::LinkInRoute::Direction::UP}}, true);
        zone->add_route(point, point, nullptr, nullptr, {sg4::LinkInRoute(loopback(zone, {}, id))});
    }
    return zone;
}

unsigned int up(double value)
{
    return static_cast<unsigned int>(std::ceil(value - 1e-9));
}

/* The smallest of its kind, as near to a cube or a square as may be, that holds the hosts. */
sg4::NetZone* make_cluster(unsigned int hosts)
{
    const sg4::ClusterCallbacks callbacks(host, loopback, nullptr);
    const double bandwidth = machine["bandwidth"], latency = machine["latency_ns"] * NS;
    const auto policy = sg4::Link::SharingPolicy::SPLITDUPLEX;
    const std::string& kind = machine.topology;
    if (kind == "torus") {
        const unsigned int x = up(std::cbrt(hosts)), y = up(std::sqrt(1.0 * hosts / x)), z = up(1.0 * hosts / (x * y));
        return sg4::create_torus_zone(kind, nullptr, {x, y, z}, callbacks, bandwidth, latency, policy);
    }
    if (kind == "fat-tree") { // two levels, half as many switches above as below
        const unsigned int down = up(std::sqrt(hosts)), leaves = up(1.0 * hosts / down), above = (leaves + 1) / 2;
        return sg4::create_fatTree_zone(kind, nullptr, {2, {down, leaves}, {1, above}, {1, 1}}, callbacks, bandwidth,
                                        latency, policy);
    }
    if (kind == "dragonfly") {
        const unsigned int chassis = 2, routers = 4, nodes = 2; // of a group
        const unsigned int groups = up(1.0 * hosts / (chassis * routers * nodes));
        return sg4::create_dragonfly_zone(kind, nullptr, {{groups, 1}, {chassis, 1}, {routers, 1}, nodes}, callbacks,
                                          bandwidth, latency, policy);
    }
    refuse("topology=" + kind + " is none of flat, fat-tree, torus, dragonfly");
}

} // namespace

extern "C" void load_platform(const sg4::Engine& engine);

void load_platform(const sg4::Engine& engine)
{
    read_words(std::getenv("STEELYARD_PLATFORM"));
    const auto hosts = static_cast<unsigned int>(machine["hosts"]);
    sg4::NetZone* zone = machine.topology == "flat" ? make_flat(hosts) : make_cluster(hosts);
    zone->seal();
    auto* network = engine.get_netzone_root()->get_network_model();
    network->set_lat_factor_cb(latency_factor);
    network->set_bw_factor_cb(bandwidth_factor);
    for (auto operation : {SmpiOperation::SEND, SmpiOperation::ISEND, SmpiOperation::RECV})
        smpi_register_op_cost_callback(operation, processor_seconds);
}
