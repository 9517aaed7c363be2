#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace grm::dist {

/// Where one process stands among those that a launcher started together.
struct Launch {
  int rank = 0;
  int world = 1;
  int on_this_machine = 1;  // how many of them run on this machine, this one included
  std::string address;      // of rank 0, or of the launcher where it keeps the store
  int port = 0;
  bool store_is_there = false;  // the launcher keeps the store, so rank 0 must not open one
  std::string name;             // tells starts apart that share a store
};

/// The value of a variable of the environment, or null.
using Environment = std::function<const char*(const char*)>;

/// What torchrun (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), mpirun of Open MPI
/// (OMPI_COMM_WORLD_*) or srun (SLURM_*) say, in this order; a world of one without any.
/// Error(config) for values that make no sense or are missing.
Launch launch_of(const Environment& environment);
/// The same of this process.
Launch launch_of_this_process();

/// The first machine of a list as Slurm writes it: "n1" of "n[1-3,7],m2".
std::string first_machine(const std::string& list);

}  // namespace grm::dist
