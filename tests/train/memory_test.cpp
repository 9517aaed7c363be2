#include "train/memory.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <set>
#include <sstream>

#include "grm/core/context.h"
#include "grm/core/error.h"
#include "methods/small_task.h"
#include "support/expect_error.h"

namespace grm {
namespace {

using ::testing::HasSubstr;

constexpr double kMiB = 1024 * 1024;
const torch::Device kCpu(torch::kCPU);

struct LimitForATest {
  explicit LimitForATest(double mib) { context().memory_limit = mib * kMiB; }
  ~LimitForATest() { context().memory_limit = 0; }
};

Task scale_task(const std::string& nodes) {
  DatasetChoice choice("scale");
  choice.options().set("dataset", "nodes", nodes);
  return choice.load({});
}

double host(const RunConfig& config, const Task& task) {
  return estimate_memory(config, task, kCpu).host();
}

double part(const MemoryEstimate& estimate, const std::string& what) {
  for (const MemoryPart& p : estimate.parts) {
    if (p.what == what) return p.host;
  }
  return 0;
}

TEST(Memory, OfTheDataIsWhatItsTensorsTakeAndCountsSharedOnesOnce) {
  const Domain domain = test::small_domain(1, 30);
  Task task = test::small_task();
  task.training = task.validation = task.test = {domain};
  const RunConfig config("sbm", "erm");
  // 16 bytes a pair and 16 a node, of edges and of sparse features (7 columns); 2 dense columns;
  // three lists of 30 labels.
  const double n = 30, edges = static_cast<double>(domain.graph.edges->nnz());
  const double entries = static_cast<double>(domain.graph.x.sparse->nnz());
  const double expected =
      16 * edges + 16 * (n + 1) + 16 * entries + 8 * (n + 1) + 8 * (7 + 1) + 4 * n * 2 + 8 * n * 3;
  const double data = part(estimate_memory(config, task, kCpu), "data");
  EXPECT_LE(data, expected);
  EXPECT_GE(data, expected - 8 * n * 2);  // loss and evaluate may be one list
}

TEST(Memory, IsEstimatedForEveryMethodOfItsLevel) {
  const Task nodes = test::small_task();
  for (const MethodEntry& entry : methods()) {
    const bool graph_level = entry.level == Level::graph;
    DatasetChoice spmotif("spmotif");
    if (graph_level) {
      for (const char* key : {"train_per_class", "val_per_class", "test_per_class"}) {
        spmotif.options().set("dataset", key, "2");
      }
    }
    const Task task = graph_level ? spmotif.load({}) : nodes;
    const RunConfig config(graph_level ? "spmotif" : "sbm", entry.name);
    const MemoryEstimate estimate = estimate_memory(config, task, kCpu);
    EXPECT_GT(estimate.host(), 100 * kMiB) << entry.name;
    EXPECT_LT(estimate.host(), 1000 * kMiB) << entry.name;
    EXPECT_EQ(estimate.device(), 0) << entry.name;
  }
}

TEST(Memory, OnAGpuNumbersMoveThereAndTopologyIsInBothPlaces) {
  const Task task = scale_task("3000");
  const RunConfig config("scale", "grm");
  const MemoryEstimate estimate = estimate_memory(config, task, torch::Device(torch::kCUDA, 0));
  for (const MemoryPart& p : estimate.parts) {
    const bool numbers = p.what == "activations" || p.what == "model";
    const bool topology = p.what == "data" || p.what == "operators";
    EXPECT_TRUE(!numbers || p.host == 0) << p.what;
    EXPECT_TRUE(!topology || p.host == p.device) << p.what;
  }
  EXPECT_GT(estimate.device(), 0);
}

TEST(Memory, GrowsWithWhatItDependsOn) {
  const Task task = scale_task("3000"), larger = scale_task("6000");
  RunConfig config("scale", "grm");
  const double before = host(config, task);
  EXPECT_GT(host(config, larger), before);
  for (const auto& [key, value] : std::vector<std::pair<const char*, const char*>>{
           {"hidden", "256"}, {"latent", "256"}, {"batch", "2000"}, {"fanout", "20,10"}}) {
    RunConfig more("scale", "grm");
    more.set(std::string("method.") + key, value);
    EXPECT_GT(host(more, task), before) << key;
  }
  RunConfig eerm("scale", "eerm"), views("scale", "eerm");
  for (RunConfig* each : {&eerm, &views}) each->set("method.editor_memory_mib", "100000");
  views.set("method.views", "12");
  EXPECT_GT(host(views, task), host(eerm, task));
}

TEST(Memory, ExplicitEditorsTakeTwelveBytesAPairAndView) {
  const Task task = scale_task("2000");
  const RunConfig config("scale", "eerm");
  const double n = 2000, views = 3;
  EXPECT_DOUBLE_EQ(part(estimate_memory(config, task, kCpu), "editors"), views * n * n * 12);
}

TEST(Memory, LimitIsPositiveAndMayBeGiven) {
  EXPECT_GT(memory_limit(kCpu).bytes, 100 * kMiB);
  const LimitForATest limit(123);
  EXPECT_EQ(memory_limit(kCpu).bytes, 123 * kMiB);
  EXPECT_EQ(memory_limit(kCpu).source, "--memory-limit");
}

TEST(Memory, WhatDoesNotFitNamesEstimateLimitAndOptionsThatFit) {
  const Task task = scale_task("10000");
  RunConfig config("scale", "grm");
  config.set("method.influence", "exact");
  const double needed = host(config, task);
  const LimitForATest limit(0.6 * needed / kMiB);
  const std::string message =
      test::error_of(ErrorKind::memory, [&] { check_memory(config, task, kCpu); });
  EXPECT_THAT(message, HasSubstr(memory_text(needed)));
  EXPECT_THAT(message, HasSubstr(memory_text(0.6 * needed)));
  EXPECT_THAT(message, HasSubstr("--memory-limit"));
  EXPECT_THAT(message, HasSubstr("--set method.influence=sampled"));
}

// The flags are parsed as the command line does it and estimated anew.
double bytes_with(const std::string& flags, const std::string& method, const Task& task) {
  std::string preset;
  std::vector<std::pair<std::string, std::string>> settings;
  std::istringstream words(flags);
  for (std::string word, value; words >> word >> value;) {
    if (word == "--preset") preset = value;
    const size_t equals = value.find('=');
    if (word == "--set") settings.emplace_back(value.substr(0, equals), value.substr(equals + 1));
  }
  RunConfig config("scale", method, preset);
  for (const auto& [key, value] : settings) config.set(key, value);
  return host(config, task);
}

TEST(Memory, EveryOfferedOptionFitsAndAsksForSomethingElse) {
  const Task task = scale_task("10000");
  for (const char* method : {"grm", "erm", "eerm", "lisa", "mario"}) {
    const RunConfig config("scale", method);
    const double needed = host(config, task);
    const double base = 210 * kMiB;
    const double limit = base + 0.5 * (needed - base);
    const std::vector<MemoryOption> options = options_that_fit(config, task, kCpu, limit);
    EXPECT_GE(options.size(), 1u) << method;
    EXPECT_LE(options.size(), 3u) << method;
    std::set<std::string> distinct;
    for (const MemoryOption& option : options) {
      EXPECT_TRUE(distinct.insert(option.flags).second) << option.flags;
      EXPECT_LE(option.bytes, limit) << method << " " << option.flags;
      EXPECT_DOUBLE_EQ(bytes_with(option.flags, method, task), option.bytes) << option.flags;
    }
  }
}

TEST(Memory, WhereNothingFitsTheErrorSaysSo) {
  const Task task = scale_task("3000");
  const LimitForATest limit(10);
  const RunConfig config("scale", "erm");
  EXPECT_TRUE(options_that_fit(config, task, kCpu, 10 * kMiB).empty());
  EXPECT_THAT(test::error_of(ErrorKind::memory, [&] { check_memory(config, task, kCpu); }),
              HasSubstr("None of the changes"));
}

}  // namespace
}  // namespace grm
