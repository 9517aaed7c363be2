// Averaged weights: what a run keeps against averages taken by hand, and that a stop changes nothing.
#include "train/average.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include "core/files.h"
#include "io/safetensors.h"
#include "support/temp_folder.h"
#include "train/trainer.h"

namespace grm::average_tests {
namespace {

using Weights = std::map<std::string, torch::Tensor>;

class Averages : public testing::TestWithParam<Average> {
 protected:
  Averages() : config_("sbm", "erm", "kipf") {
    setenv("GRM_CACHE", cache_.path().c_str(), 1);
    config_.set("dataset.nodes", "120");
    config_.set("method.hidden", "8");
    config_.set("train.epochs", "5");
    config_.set("train.checkpoint_seconds", "0");
    config_.set("train.selection", "last");
    config_.set("train.average", to_string(GetParam()));
    config_.set("train.average_decay", "0.75");
    config_.set("train.average_start", "2");
    task_ = config_.dataset.load({});
  }
  Weights kept(const RunFolder& folder) const {
    return load_model(folder.path(), {}).method->parameters().snapshot();
  }
  // The weights after epochs 3, 4 and 5, without any trainer.
  std::vector<Weights> of_epochs() const {
    const auto method = config_.method.build(task_.train_view(), Rng(1));
    std::vector<Weights> all;
    for (int64_t epoch = 1; epoch <= 5; ++epoch) {
      method->train_epoch(epoch);
      if (epoch > 2) all.push_back(method->parameters().snapshot());
    }
    return all;
  }

  test::TempFolder cache_, runs_;
  RunConfig config_;
  Task task_;
};

TEST_P(Averages, TheModelOfARunIsTheAverageOfItsEpochs) {
  const RunFolder folder = create_run_folder(runs_.path(), config_, 1);
  train_run(config_, task_, 1, folder);
  const std::vector<Weights> each = of_epochs();
  const bool ema = GetParam() == Average::ema;
  const double share[3] = {ema ? 0.75 * 0.75 : 1.0 / 3, ema ? 0.75 * 0.25 : 1.0 / 3,
                           ema ? 0.25 : 1.0 / 3};
  bool statistics = false;
  for (const auto& [name, got] : kept(folder)) {
    torch::Tensor expected = torch::zeros_like(got, torch::kFloat64);
    for (size_t k = 0; k < 3; ++k) expected += share[k] * each[k].at(name).to(torch::kFloat64);
    EXPECT_LE((got.to(torch::kFloat64) - expected).abs().max().item<double>(), 1e-6) << name;
    statistics = statistics || name.find("variance") != std::string::npos;
  }
  EXPECT_TRUE(statistics);  // the running statistics of batch normalisation are among them
}

TEST_P(Averages, AStopChangesNothing) {
  const RunFolder straight = create_run_folder(runs_.path(), config_, 1);
  train_run(config_, task_, 1, straight);
  for (const int64_t stop : {2, 3, 4}) {
    const RunFolder folder = create_run_folder(runs_.path(), config_, 1);
    RunHooks hooks;
    int64_t seen = 0;
    hooks.on_epoch = [&](const EpochReport& r) { seen = r.epoch; };
    hooks.interrupted = [&] { return seen == stop; };
    EXPECT_THROW(train_run(config_, task_, 1, folder, hooks), Interrupted);
    train_run(config_, task_, 1, folder);
    EXPECT_EQ(read_file(folder.file("model.safetensors")),
              read_file(straight.file("model.safetensors")))
        << stop;
  }
}

TEST_P(Averages, TrainingGoesOnFromTheWeightsThemselves) {
  const RunFolder averaged = create_run_folder(runs_.path(), config_, 1);
  train_run(config_, task_, 1, averaged);
  config_.set("train.average", "none");
  const RunFolder plain = create_run_folder(runs_.path(), config_, 1);
  train_run(config_, task_, 1, plain);
  const auto model_of = [](const RunFolder& folder) {
    Weights all;
    for (const auto& [name, tensor] :
         io::read_safetensors(folder.file("state.safetensors")).tensors) {
      if (name.rfind("model/", 0) == 0) all[name] = tensor;
    }
    return all;
  };
  const Weights a = model_of(averaged), b = model_of(plain);
  ASSERT_FALSE(a.empty());
  for (const auto& [name, tensor] : a) EXPECT_TRUE(torch::equal(tensor, b.at(name))) << name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, Averages, testing::Values(Average::ema, Average::swa),
                         [](const auto& each) { return to_string(each.param); });

}  // namespace
}  // namespace grm::average_tests
