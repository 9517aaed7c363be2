#include "dist/launch.h"

#include <cstdlib>

#include "grm/core/error.h"

namespace grm::dist {
namespace {

// Reads the variables of one launcher.
class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  std::string text(const char* name) const {
    const char* value = environment_(name);
    return value ? value : "";
  }
  bool has(const char* name) const { return !text(name).empty(); }

  int64_t number(const char* name, int64_t low, int64_t high) const {
    const std::string value = text(name);
    char* end = nullptr;
    const long long number = std::strtoll(value.c_str(), &end, 10);
    if (value.empty() || *end != '\0' || number < low || number > high) {
      fail(ErrorKind::config,
           "the environment says {}='{}', where a launcher sets a whole number from {} to {}; "
           "start all processes with one launcher, or unset it",
           name, value, low, high);
    }
    return number;
  }

  // Rank and world under these names, and how many of them this machine has.
  Launch ranks(const char* rank, const char* world, const char* here) const {
    Launch launch;
    launch.world = static_cast<int>(number(world, 1, 1 << 20));
    launch.rank = static_cast<int>(number(rank, 0, launch.world - 1));
    if (has(here)) launch.on_this_machine = static_cast<int>(number(here, 1, launch.world));
    return launch;
  }

  // MASTER_ADDR and MASTER_PORT go over what the launcher gives.
  void place(Launch& launch, const std::string& address, int64_t port) const {
    launch.address = has("MASTER_ADDR") ? text("MASTER_ADDR") : address;
    launch.port = static_cast<int>(has("MASTER_PORT") ? number("MASTER_PORT", 1, 65535) : port);
    if (!launch.address.empty() && launch.port != 0) return;
    fail(ErrorKind::config,
         "the launcher started {} processes, but does not say where rank 0 is: set {}",
         launch.world,
         launch.address.empty() ? "MASTER_ADDR to the machine of rank 0"
                                : "MASTER_PORT to a free port there");
  }

 private:
  const Environment& environment_;
};

// A port that all processes of one job know without talking: jobs differ in it, mostly.
int64_t port_of(const std::string& job) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : job) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return 20000 + static_cast<int64_t>(hash % 12000);
}

Launch from_torchrun(const Variables& v) {
  Launch launch = v.ranks("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE");
  if (launch.world == 1) return launch;
  launch.store_is_there = v.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  launch.name = v.text("TORCHELASTIC_RESTART_COUNT");
  v.place(launch, "", 0);
  return launch;
}

Launch from_open_mpi(const Variables& v) {
  Launch launch =
      v.ranks("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE");
  if (launch.world == 1) return launch;
  const bool one_machine = launch.on_this_machine == launch.world;
  v.place(launch, one_machine ? "127.0.0.1" : "", port_of(v.text("PMIX_NAMESPACE")));
  return launch;
}

Launch from_slurm(const Variables& v) {
  Launch launch = v.ranks("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "");
  if (launch.world == 1) return launch;
  // "2(x3),1": tasks of each machine; two on this one is all that is needed to share its cores.
  const int64_t machines =
      v.has("SLURM_STEP_NUM_NODES") ? v.number("SLURM_STEP_NUM_NODES", 1, 1 << 20) : 1;
  launch.on_this_machine = static_cast<int>((launch.world + machines - 1) / machines);
  const std::string first = first_machine(v.text("SLURM_STEP_NODELIST"));
  v.place(launch, machines == 1 ? "127.0.0.1" : first,
          port_of(v.text("SLURM_JOB_ID") + "." + v.text("SLURM_STEP_ID")));
  return launch;
}

}  // namespace

std::string first_machine(const std::string& list) {
  const size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
  const size_t end = list.find_first_of("-,]", bracket);
  if (end == std::string::npos) return list.substr(0, bracket);
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1);
}

Launch launch_of(const Environment& environment) {
  const Variables v(environment);
  if (v.has("RANK") && v.has("WORLD_SIZE")) return from_torchrun(v);
  if (v.has("OMPI_COMM_WORLD_SIZE")) return from_open_mpi(v);
  // A batch script has SLURM_PROCID, too; only what srun starts has the tasks of a step.
  if (v.has("SLURM_STEP_NUM_TASKS") && v.has("SLURM_PROCID")) return from_slurm(v);
  return {};
}

Launch launch_of_this_process() {
  return launch_of([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace grm::dist
