#include <fmt/format.h>
#include <torch/types.h>
#include <torch/version.h>

#include <filesystem>

#include "cli.h"
#include "grm/core/clock.h"
#include "grm/core/error.h"
#include "grm/core/files.h"
#include "grm/core/threads.h"
#include "grm/train/run_folder.h"
#include "grm/version.h"

namespace grm::cli {
namespace {

struct Finding {
  std::string what, value, advice;  // advice empty: fine
};

// Best of a few products of the size that training does most.
double sgemm_gflops() {
  const torch::Tensor a = torch::randn({10000, 128}), b = torch::randn({128, 128});
  double best = 1e9;
  for (int k = 0; k < 6; ++k) {
    const Stopwatch watch;
    const torch::Tensor c = a.matmul(b);
    best = std::min(best, watch.seconds());
  }
  return 2.0 * 10000 * 128 * 128 / best * 1e-9;
}

std::vector<Finding> examine(const Common& common) {
  std::vector<Finding> found;
  found.push_back({"grm", GRM_VERSION " (" GRM_GIT_ID "), " GRM_COMPILER, ""});
  found.push_back({"torch", TORCH_VERSION, ""});
  found.push_back({"threads", std::to_string(grm::threads()), ""});
  const std::string blas = blas_name();
  const double rate = sgemm_gflops();
  found.push_back({"blas", blas,
                   blas == "unknown"
                       ? "not OpenBLAS: training may be 14 times slower; apt-get install "
                         "libopenblas-dev, then update-alternatives --config libblas.so.3-$(arch)-"
                         "linux-gnu"
                       : ""});
  found.push_back({"sgemm", fmt::format("{:.1f} GFLOP/s", rate),
                   rate < 15 ? "slow for this century: check the BLAS above" : ""});
  found.push_back({"cuda", "this build runs on the CPU only", ""});
  const std::string gnuplot = find_program("gnuplot");
  found.push_back(
      {"gnuplot", gnuplot.empty() ? "not found" : gnuplot,
       gnuplot.empty() ? "figures stay data and script: apt-get install gnuplot-nox" : ""});
  const std::string cache = cache_folder();
  std::string trouble;
  try {
    write_file_atomic(cache + "/.writable", "");
    std::filesystem::remove(cache + "/.writable");
  } catch (const Error& error) {
    trouble = fmt::format("{}; set GRM_CACHE to a folder that can be written", error.what());
  }
  found.push_back({"cache", cache, trouble});
  const std::string root = common.data_context().root;
  found.push_back({"data root", root.empty() ? "not set" : root,
                   root.empty() ? "set GRM_DATA or --data-root for datasets other than sbm"
                   : !std::filesystem::is_directory(root) ? "is not a folder"
                                                          : ""});
  if (!root.empty()) {
    for (const DatasetEntry& entry : datasets()) {
      std::vector<std::string> missing;
      const std::vector<std::string> files = DatasetChoice(entry.name).files();
      for (const std::string& file : files) {
        if (!std::filesystem::exists(root + "/" + file)) missing.push_back(file);
      }
      if (files.empty()) continue;
      found.push_back({"data " + entry.name,
                       fmt::format("{} of {} files", files.size() - missing.size(), files.size()),
                       missing.empty() ? ""
                                       : fmt::format("missing {}; published at {}", missing[0],
                                                     entry.published_at)});
    }
  }
  return found;
}

int doctor(const Common& common) {
  const std::vector<Finding> found = examine(common);
  if (common.json) {
    ordered_json checks = ordered_json::array();
    for (const Finding& f : found) {
      checks.push_back(
          {{"check", f.what}, {"value", f.value}, {"ok", f.advice.empty()}, {"advice", f.advice}});
    }
    print_json({{"checks", checks}});
    return 0;
  }
  for (const Finding& f : found) {
    fmt::print("{} {:<14} {}\n", f.advice.empty() ? "ok  " : "note", f.what, f.value);
    if (!f.advice.empty()) fmt::print("     {:<14} {}\n", "", f.advice);
  }
  return 0;
}

}  // namespace

void add_doctor(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb = app.add_subcommand("doctor", "what this installation has, and what to mend");
  add_common(*verb, common, true);
  verb->callback([&common, &action] { action = [&common] { return doctor(common); }; });
}

}  // namespace grm::cli
