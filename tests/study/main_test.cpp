// Besides the tests this program can run cells of a study, as the runner starts it: the runner's
// default is to start its own executable.
#include <gtest/gtest.h>

#include <csignal>
#include <map>

#include "grm/core/threads.h"
#include "study/runner.h"

namespace {

int run_cells_of(int argc, char** argv) {
  std::map<std::string, std::string> flags;
  for (int k = 3; k < argc; ++k) {
    const std::string name = argv[k];
    const bool value = k + 1 < argc && std::string(argv[k + 1]).rfind("--", 0) != 0;
    flags[name] = value ? argv[++k] : "";
  }
  grm::study::CellJob job;
  job.database = flags.at("--db");
  job.owner = flags.at("--owner");
  job.runs = flags.at("--out");
  job.data.root = flags["--data-root"];
  grm::set_threads(std::stoi(flags.at("--threads")));
  // The tests put a crash where a machine would.
  grm::study::CellHooks hooks;
  hooks.on_start = [](const grm::study::CellRow& cell) {
    const char* victim = std::getenv("GRM_TEST_CRASH");
    if (victim && std::to_string(cell.seed) == victim) std::raise(SIGKILL);
  };
  return grm::study::run_cells(job, hooks);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "study" && std::string(argv[2]) == "cell") {
    return run_cells_of(argc, argv);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
