// Whole runs on a GPU: files, predictions and explanations on either device.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <nlohmann/json.hpp>

#include "core/files.h"
#include "devices.h"
#include "grm/core/error.h"
#include "grm/train/predict.h"
#include "support/temp_folder.h"
#include "train/explain.h"
#include "train/trainer.h"

namespace grm::test::runs_tests {
namespace {

const torch::Device kHost(torch::kCPU);

class RunOnAGpu : public testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  RunOnAGpu() : config_(GetParam().first, GetParam().second) {
    setenv("GRM_CACHE", folder_.file("cache").c_str(), 1);
    config_.set("train.epochs", "4");
    config_.set("train.device", "cuda");
    if (config_.dataset_name() == "sbm") {
      config_.set("dataset.nodes", "300");
    } else {
      config_.set("dataset.train_per_class", "40");
      config_.set("dataset.test_per_class", "15");
    }
    task_ = config_.dataset.load({});
  }

  RunFolder trained(const torch::Device& device) {
    const OnDevice here(device);
    const RunFolder folder = create_run_folder(folder_.file("runs"), config_, 7);
    record_ = train_run(config_, task_, 7, folder);
    return folder;
  }

  TempFolder folder_;
  RunConfig config_;
  Task task_;
  RunRecord record_;
};

TEST_P(RunOnAGpu, LeavesAModelThatBothDevicesRead) {
  const RunFolder folder = trained(gpu());
  EXPECT_GT(record_.peak_memory_mib, 0.0);
  const auto env = nlohmann::json::parse(read_file(folder.file("env.json")));
  EXPECT_EQ(env["device"].get<std::string>().rfind("cuda:", 0), 0u);
  EXPECT_NE(read_file(folder.file("config.toml")).find("device = \"cuda\""), std::string::npos);
  torch::Tensor found[2];
  for (int k = 0; k < 2; ++k) {
    const OnDevice here(k == 0 ? kHost : gpu());
    Model model = load(folder.path());
    EXPECT_EQ(model.method().parameters().device().is_cuda(), k == 1);
    const Prediction p =
        model.predict_prepared(task_.test.front().graph, task_.test.front().labels.evaluate);
    EXPECT_TRUE(p.logits.device().is_cpu());
    EXPECT_TRUE(p.probabilities.device().is_cpu());
    found[k] = p.probabilities;
    if (task_.level == Level::graph) explanations(model.method(), task_, Role::test);
  }
  EXPECT_LE(difference(found[0], found[1]), 1e-4);
}

TEST_P(RunOnAGpu, IsFoundAgainForAnotherDevice) {
  const RunFolder folder = trained(gpu());
  config_.set("train.device", "cpu");
  EXPECT_EQ(find_run_folder(folder_.file("runs"), config_, 7).path(), folder.path());
}

INSTANTIATE_TEST_SUITE_P(Some, RunOnAGpu,
                         testing::Values(std::make_pair("sbm", "grm"), std::make_pair("sbm", "erm"),
                                         std::make_pair("spmotif", "grm"),
                                         std::make_pair("spmotif", "ciga")),
                         [](const auto& each) {
                           return std::string(each.param.first) + "_" + each.param.second;
                         });

TEST(Devices, ThatAreNotThereAreRefused) {
  EXPECT_THROW(parse_device("cuda:63"), Error);
  EXPECT_THROW(parse_device("gpu"), Error);
  EXPECT_EQ(parse_device("auto"), gpu());
}

}  // namespace
}  // namespace grm::test::runs_tests
