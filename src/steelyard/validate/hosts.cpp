/* Prints the names of the hosts of a platform for SimGrid, whatever it is written in: hosts FILE. */
#include <simgrid/s4u.hpp>

#include <iostream>

int main(int argc, char** argv)
{
    simgrid::s4u::Engine engine(&argc, argv);
    if (argc != 2) {
        std::cerr << "usage: hosts FILE\n";
        return 2;
    }
    engine.load_platform(argv[1]);
    for (const auto* host : engine.get_all_hosts())
        std::cout << host->get_name() << '\n';
    return 0;
}
