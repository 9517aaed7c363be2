// Every method under every preset: a model gives the same logits on both devices, two runs on a GPU
// give the same bits, and a run that began on one device resumes on the other.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "devices.h"
#include "grm/methods/method.h"
#include "methods/small_graph_task.h"
#include "methods/small_task.h"
#include "support/temp_folder.h"
#include "train/checkpoint.h"
#include "train/evaluate.h"

namespace grm::test {
namespace {

struct Case {
  Level level;
  std::string name, preset;
  std::string also = {};  // what `values` make of the preset
  Values values = {};
};

void PrintTo(const Case& each, std::ostream* out) {
  *out << to_string(each.level) << " " << each.name << " " << each.preset << " " << each.also;
}

std::vector<Case> all_presets() {
  std::vector<Case> all;
  for (const MethodEntry& entry : methods()) {
    for (const Preset& preset : entry.presets) {
      all.push_back({entry.level, entry.name, preset.name});
    }
  }
  // Generated nodes whose weight is still growing: a number that changes from step to step.
  const Values nodes = {{"presence", "gate"}, {"presence_warm_up", "10"}};
  all.push_back({Level::node, "grm", "paper", "_nodes", nodes});
  all.push_back({Level::node, "grm", "best", "_nodes", nodes});
  all.push_back({Level::node,
                 "grm",
                 "paper-raw",
                 "_dropped",
                 {{"input_dropout", "0.3"}, {"batch_norm", "false"}}});
  for (const char* pooling : {"weighted", "log-mean-exp"}) {
    const std::string label = pooling == std::string("weighted") ? "_weighted" : "_lme";
    all.push_back({Level::graph, "grm", "nodes", label, {{"pooling", pooling}}});
    all.push_back(
        {Level::graph, "erm", "dir-backbone", label, {{"pooling", pooling}, {"pool", "logits"}}});
  }
  return all;
}

constexpr int64_t kEpochs = 3;

class EveryMethod : public testing::TestWithParam<Case> {
 protected:
  EveryMethod() { setenv("GRM_CACHE", folder_.path().c_str(), 1); }

  // A method lives where the process computed when it was built.
  std::unique_ptr<Method> build(const torch::Device& device, uint64_t seed = 1) {
    const OnDevice here(device);
    TrainView view = task_.train_view();
    view.validate = [this](const Predictor& predict) {
      return mean_score(evaluate(predict, task_, Role::validation));
    };
    const auto& [level, name, preset, also, own] = GetParam();
    if (level == Level::graph) return build_graph_method(name, task_, quick(), seed, preset);
    MethodChoice choice(name, preset);
    for (const auto& [key, value] : quick()) choice.options().set("method", key, value);
    return choice.build(view, Rng(seed));
  }

  // What makes three epochs short: methods that train something else before the first.
  Values quick() const {
    Values values = GetParam().values;
    const MethodEntry& entry = find_method(GetParam().name, GetParam().level);
    OptionList options;
    const std::unique_ptr<MethodRecipe> recipe = entry.make();
    recipe->declare(options);
    for (const Option& o : options.options()) {
      if (o.key == "eerm_epochs" || o.key == "assistant_epochs") values.emplace_back(o.key, "3");
    }
    return values;
  }

  static std::vector<LossTerm> train(Method& method, const torch::Device& device, int64_t first,
                                     int64_t last) {
    const OnDevice here(device);
    std::vector<LossTerm> terms;
    for (int64_t epoch = first; epoch <= last; ++epoch) {
      terms = method.train_epoch(epoch);
      for (const LossTerm& term : terms) {
        EXPECT_TRUE(std::isfinite(term.value)) << term.name << " in epoch " << epoch;
      }
    }
    method.prepare_evaluation(last);
    return terms;
  }

  torch::Tensor logits(Method& method, const torch::Device& device) {
    const OnDevice here(device);
    std::vector<torch::Tensor> all;
    for (const Domain& domain : task_.test) {
      all.push_back(method.logits(domain.graph, domain.labels.evaluate).cpu());
    }
    return torch::cat(all);
  }

  TempFolder folder_;
  Task task_ = GetParam().level == Level::graph ? small_graph_task() : small_task();
  const torch::Device host_{torch::kCPU};
};

TEST_P(EveryMethod, TrainedModelsGiveTheSameLogitsOnBothDevices) {
  for (const torch::Device& trained_on : {host_, gpu()}) {
    const torch::Device other = trained_on.is_cpu() ? gpu() : host_;
    const std::unique_ptr<Method> method = build(trained_on);
    train(*method, trained_on, 1, kEpochs);
    const std::unique_ptr<Method> copy = build(other);
    copy->parameters().restore(method->parameters().snapshot());
    EXPECT_LE(difference(logits(*method, trained_on), logits(*copy, other)), 1e-4)
        << "trained on " << trained_on.str();
    // The way there and back changes nothing.
    method->parameters().restore(copy->parameters().snapshot());
    EXPECT_LE(difference(logits(*method, trained_on), logits(*copy, other)), 1e-4);
  }
}

TEST_P(EveryMethod, TheFirstEpochHasTheSameLossOnBothDevices) {
  std::vector<LossTerm> first[2];
  for (int k = 0; k < 2; ++k) {
    const torch::Device device = k == 0 ? host_ : gpu();
    const std::unique_ptr<Method> method = build(device);
    first[k] = train(*method, device, 1, 1);
  }
  // GRM takes one step an epoch here: its terms are those of the same parameters.
  const double limit = GetParam().name == "grm" && GetParam().level == Level::node ? 1e-4 : 1e-2;
  ASSERT_EQ(first[0].size(), first[1].size());
  for (size_t t = 0; t < first[0].size(); ++t) {
    const double host = first[0][t].value;
    EXPECT_NEAR(host, first[1][t].value, limit * std::max(1.0, std::abs(host))) << first[0][t].name;
  }
}

TEST_P(EveryMethod, TwoRunsOnAGpuGiveTheSameBits) {
  std::map<std::string, torch::Tensor> state[2];
  torch::Tensor out[2];
  for (int k = 0; k < 2; ++k) {
    const std::unique_ptr<Method> method = build(gpu());
    train(*method, gpu(), 1, kEpochs);
    state[k] = method->parameters().snapshot();
    out[k] = logits(*method, gpu());
  }
  for (const auto& [name, tensor] : state[0]) {
    EXPECT_TRUE(torch::equal(tensor, state[1].at(name))) << name;
  }
  EXPECT_TRUE(torch::equal(out[0], out[1]));
}

TEST_P(EveryMethod, ARunGoesOnWhereItDidNotBegin) {
  for (const torch::Device& begun_on : {host_, gpu()}) {
    const torch::Device other = begun_on.is_cpu() ? gpu() : host_;
    const std::unique_ptr<Method> method = build(begun_on);
    train(*method, begun_on, 1, 2);
    const std::string path = folder_.file("state.safetensors");
    TrainingState state;
    state.epoch = 2;
    write_checkpoint(path, *method, state);
    const std::unique_ptr<Method> moved = build(other), kept = build(begun_on);
    EXPECT_EQ(read_checkpoint(path, *moved).epoch, 2);
    EXPECT_EQ(read_checkpoint(path, *kept).epoch, 2);
    train(*moved, other, 3, 3);
    // On its own device the run is what it would have been without the stop.
    train(*kept, begun_on, 3, 3);
    train(*method, begun_on, 3, 3);
    const auto a = method->parameters().snapshot(), b = kept->parameters().snapshot();
    for (const auto& [name, tensor] : a) EXPECT_TRUE(torch::equal(tensor, b.at(name))) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryMethod, testing::ValuesIn(all_presets()),
                         [](const testing::TestParamInfo<Case>& each) {
                           std::string name = to_string(each.param.level) + "_" + each.param.name +
                                              "_" + each.param.preset + each.param.also;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace grm::test
