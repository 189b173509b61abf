/* What SimGrid knows of a platform, whatever it is written in:
 *
 *     hosts FILE             the names of its hosts, a line each
 *     hosts FILE HOST...     of these, the pair whose paths differ most there and back, or nothing: its two hosts,
 *                            the latency in s from the first to the second, and that back, a line each */
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {

const size_t ALL_PAIRS = 200;    // hosts up to which each pair is looked at
const size_t SOME_PAIRS = 20000; // beyond: so many at random, always the same, and neighbours in a ring
const double SAME = 1e-9;        // share by which sums of the same links in another order may differ

struct Path {
    double latency = 0;                                         // s; infinite where there is no path
    double bandwidth = std::numeric_limits<double>::infinity(); // of the narrowest link, bytes/s
};

struct Pair {
    const sg4::Host *first = nullptr, *second = nullptr;
    double there = 0, back = 0; // s
    double differ = SAME;       // the larger share by which latencies or bandwidths do
};

Path path(const sg4::Host* from, const sg4::Host* to)
{
    Path found;
    std::vector<sg4::Link*> links;
    from->route_to(to, links, &found.latency);
    if (links.empty() && found.latency <= 0) // none: who needs it will be told so
        found.latency = std::numeric_limits<double>::infinity();
    for (const auto* link : links)
        found.bandwidth = std::min(found.bandwidth, link->get_bandwidth());
    return found;
}

/* |a - b| as a share of the larger; 0 where they are alike, infinite or 0 both. */
double share(double a, double b)
{
    return a == b ? 0 : std::isinf(std::max(a, b)) ? 1 : std::abs(a - b) / std::max(a, b);
}

void look(const sg4::Host* first, const sg4::Host* second, Pair* worst)
{
    if (first == second)
        return;
    const Path there = path(first, second), back = path(second, first);
    const double differ =
        std::max(share(there.latency, back.latency), share(there.bandwidth, back.bandwidth));
    if (differ > worst->differ)
        *worst = {first, second, there.latency, back.latency, differ};
}

Pair most_asymmetric(const std::vector<const sg4::Host*>& hosts)
{
    Pair worst;
    const size_t count = hosts.size();
    if (count <= ALL_PAIRS) {
        for (size_t i = 0; i < count; ++i)
            for (size_t j = i + 1; j < count; ++j)
                look(hosts[i], hosts[j], &worst);
        return worst;
    }
    std::mt19937_64 random(1);
    for (size_t i = 0; i < count; ++i)
        look(hosts[i], hosts[(i + 1) % count], &worst);
    for (size_t i = 0; i < SOME_PAIRS; ++i) {
        const size_t one = random() % count;
        look(hosts[one], hosts[random() % count], &worst);
    }
    return worst;
}

} // namespace

int main(int argc, char** argv)
{
    sg4::Engine engine(&argc, argv);
    if (argc < 2) {
        std::cerr << "usage: hosts FILE [HOST...]\n";
        return 2;
    }
    engine.load_platform(argv[1]);
    if (argc == 2) {
        for (const auto* host : engine.get_all_hosts())
            std::cout << host->get_name() << '\n';
        return 0;
    }
    std::vector<const sg4::Host*> hosts;
    for (int i = 2; i < argc; ++i)
        hosts.push_back(engine.host_by_name(argv[i]));
    const Pair worst = most_asymmetric(hosts);
    if (worst.first)
        std::cout << worst.first->get_name() << '\n' << worst.second->get_name() << '\n'
                  << worst.there << '\n' << worst.back << '\n';
    return 0;
}
