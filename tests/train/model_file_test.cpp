// What a model file holds: everything that prediction needs, for every method of the registry.
#include "grm/train/model_file.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "grm/train/predict.h"
#include "io/safetensors.h"
#include "nn/losses.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"
#include "train/evaluate.h"
#include "train/trainer.h"

namespace grm::model_file_tests {
namespace {

using test::error_of;
using testing::HasSubstr;

constexpr const char* kOldModel =
    GRM_SOURCE_DIR "/tests/fixtures/models/sbm-grm-format1.safetensors";
constexpr const char* kSecondModel =
    GRM_SOURCE_DIR "/tests/fixtures/models/sbm-grm-format2.safetensors";

constexpr const char* kNumbersModel =
    GRM_SOURCE_DIR "/tests/fixtures/models/costs-erm-format4.safetensors";

// Method, preset and level of every entry.
struct Case {
  std::string method, preset;
  Level level;
};
std::vector<Case> every_preset() {
  std::vector<Case> cases;
  for (const MethodEntry& entry : methods()) {
    for (const Preset& preset : entry.presets) {
      cases.push_back({entry.name, preset.name, entry.level});
    }
  }
  return cases;
}

RunConfig small_config(const Case& c) {
  RunConfig config(c.level == Level::node ? "sbm" : "spmotif", c.method, c.preset);
  if (c.level == Level::node) {
    config.set("dataset.nodes", "40");
    config.set("dataset.words", "30");
  } else {
    for (const char* key : {"train_per_class", "val_per_class", "test_per_class"}) {
      config.set(std::string("dataset.") + key, "4");
    }
  }
  for (const Option& o : config.method.options().options()) {
    if (o.key == "eerm_epochs" || o.key == "assistant_epochs") config.set("method." + o.key, "1");
    if (o.key == "steps_cap" || o.key == "head_epochs") config.set("method." + o.key, "2");
    if (o.key == "hidden" || o.key == "gin_hidden" || o.key == "latent") {
      config.set("method." + o.key, "16");
    }
  }
  return config;
}

class EveryPreset : public testing::TestWithParam<Case> {};

TEST_P(EveryPreset, PredictsTheSameBitsWithoutItsTrainingData) {
  const test::TempFolder folder;
  setenv("GRM_CACHE", folder.path().c_str(), 1);
  RunConfig config = small_config(GetParam());
  const Task task = config.dataset.load({});
  const int64_t seed = 5;
  TrainView view = task.train_view();
  view.validate = [&](const Predictor& predict) {
    return mean_score(evaluate(predict, task, Role::validation));
  };
  const std::unique_ptr<Method> trained = config.method.build(view, Rng(seed));
  trained->train_epoch(1);
  trained->prepare_evaluation(1);
  const std::string path = folder.file("model.safetensors");
  write_model(path, *trained, config, task, seed, 1);
  const std::unique_ptr<Method> restored = restore_method(read_model(path));
  for (const Domain& domain : {task.training.front(), task.test.front()}) {
    const torch::Tensor items = torch::arange(domain.graph.items(), torch::kInt64);
    const torch::Tensor expected = trained->logits(domain.graph, items);
    EXPECT_TRUE(torch::equal(restored->logits(domain.graph, items), expected)) << domain.name;
    const torch::Tensor sampled = restored->sampled_probabilities(domain.graph, items);
    if (!sampled.defined()) continue;
    EXPECT_TRUE(torch::equal(nn::log_mean(sampled), expected)) << domain.name;
    EXPECT_GT(sampled.std(0).max().item<double>(), 0.0) << "all samples are the same";
  }
}

TEST_P(EveryPreset, IsRebuiltFromItsShapeWithoutWork) {
  // There is no data: a constructor that works on some would fail here.
  const Case& c = GetParam();
  const std::unique_ptr<MethodRecipe> recipe = find_method(c.method, c.level).make();
  OptionList options;
  recipe->declare(options);
  TrainView shape;
  shape.level = c.level;
  shape.classes = 3;
  shape.features = 7;
  shape.edge_features = c.level == Level::graph ? 2 : 0;
  EXPECT_GT(recipe->build(shape, Rng(1))->parameters().count(), 0);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPreset, testing::ValuesIn(every_preset()),
                         [](const auto& each) {
                           std::string name = each.param.method + "_" + each.param.preset + "_" +
                                              to_string(each.param.level);
                           std::replace_if(
                               name.begin(), name.end(), [](char x) { return !std::isalnum(x); },
                               '_');
                           return name;
                         });

TEST(ModelFile, SaysAllThatPredictionNeeds) {
  const test::TempFolder folder;
  RunConfig config("sbm", "erm");
  config.set("dataset.nodes", "40");
  config.set("dataset.symmetrise", "true");
  config.set("dataset.centre", "domain");
  config.set("method.hidden", "4");
  Task task = config.dataset.load({});
  for (int64_t c = 0; c < task.classes; ++c)
    task.label_names.push_back("class " + std::to_string(c));
  for (int64_t d = 0; d < task.features(); ++d)
    task.feature_names.push_back("w\"" + std::to_string(d));
  task.preprocessing = R"({"format": 1, "kind": "csv"})";
  task.hashes["nodes.csv"] = "abc";
  task.metric = MetricKind::macro_f1;
  const std::string path = folder.file("run/model.safetensors");
  write_model(path, *config.method.build(task.train_view(), Rng(3)), config, task, 3, 17);
  const ModelFile file = read_model(folder.file("run"));
  EXPECT_EQ(file.path, path);
  const ModelAbout& about = file.about;
  EXPECT_EQ(about.format, 3);
  EXPECT_EQ(about.seed, 3);
  EXPECT_EQ(about.epoch, 17);
  EXPECT_EQ(about.dataset + " " + about.method + " " + to_string(about.level), "sbm erm node");
  EXPECT_TRUE(about.symmetrise);
  EXPECT_EQ(about.centre, Centring::domain);
  EXPECT_EQ(about.classes, task.classes);
  EXPECT_EQ(about.features, task.features());
  EXPECT_EQ(about.metric, MetricKind::macro_f1);
  EXPECT_EQ(about.label_names, task.label_names);
  EXPECT_EQ(about.feature_names, task.feature_names);
  EXPECT_EQ(about.preprocessing, task.preprocessing);
  EXPECT_EQ(about.data_hashes, task.hashes);
}

// The files were written by version 0.1.0 at commits ff9c084 and f7ef35b, the last ones with
// formats 1 and 2:
//   grm train --dataset sbm --set dataset.nodes=60 --set dataset.words=30 --method grm --epochs 3
//     --set method.latent=8 --set method.hidden=8 --set method.decoder_width=8
//     --set method.edge_width=8 --set method.steps=40 --set method.lr=0.03
// and the numbers are what `grm eval --json` of those versions said of them: the same training.
class OldModel : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Formats, OldModel, testing::Values(kOldModel, kSecondModel));

TEST_P(OldModel, StillGivesItsScores) {
  LoadedModel model = load_model(GetParam(), {});
  EXPECT_EQ(model.temperature, 1.0);
  EXPECT_EQ(model.epoch, 3);
  EXPECT_EQ(model.seed, 1000);
  const std::vector<double> expected = {58.333333333333336,
                                        33.333333333333336,
                                        58.333333333333336,
                                        56.666666666666664,
                                        45,
                                        60,
                                        55,
                                        60};
  const std::unique_ptr<Method> without_data = restore_method(read_model(GetParam()));
  const std::vector<DomainScore> eval = evaluate(*model.method, model.task, Role::test);
  const std::vector<DomainScore> predict = evaluate(*without_data, model.task, Role::test);
  ASSERT_EQ(eval.size(), expected.size());
  for (size_t k = 0; k < expected.size(); ++k) {
    EXPECT_DOUBLE_EQ(eval[k].value, expected[k]) << eval[k].domain;
    EXPECT_DOUBLE_EQ(predict[k].value, expected[k]) << predict[k].domain;
  }
}

// A regression of two targets by a perceptron, written by version 0.1.0, the first with format 4:
//   grm train --dataset ./costs --method erm --set method.backbone=mlp --set method.hidden=4 --epochs 40
//     --set method.lr=0.03
// The numbers are NumPy's in double, from the arrays of the file: batch norm, ReLU, a linear map, and
// the scale of the targets.
TEST(OldModelOfNumbers, StillGivesItsValues) {
  const ModelFile file = read_model(kNumbersModel);
  EXPECT_EQ(file.about.format, 4);
  EXPECT_EQ(file.about.metric, MetricKind::rmse);
  Model model(file);
  const torch::Tensor x = torch::tensor({{0.5, -1.0, 2.0}, {0.0, 0.0, 0.0}, {-1.5, 0.25, 1.0}});
  const torch::Tensor none = torch::empty({2, 0}, torch::kInt64);
  const torch::Tensor values = model.predict(make_graph(none, x.to(torch::kFloat32))).values;
  const double expected[3][2] = {
      {113.52858185, 2.85004021}, {99.04168538, 2.72838851}, {64.45158101, 1.87694175}};
  for (int64_t k = 0; k < 3; ++k) {
    for (int64_t t = 0; t < 2; ++t) {
      EXPECT_NEAR(values[k][t].item<double>(), expected[k][t], 1e-5 * expected[k][t]);
    }
  }
}

class ChangedModel : public testing::Test {
 protected:
  // The old model with its description changed.
  std::string with(const std::function<void(nlohmann::json&)>& change) {
    io::TensorFile file = io::read_safetensors(kOldModel);
    nlohmann::json about = nlohmann::json::parse(file.metadata["grm"]);
    change(about);
    file.metadata["grm"] = about.dump();
    io::write_safetensors(folder_.file("model.safetensors"), file);
    return folder_.file("model.safetensors");
  }
  test::TempFolder folder_;
};

TEST_F(ChangedModel, ANewerFormatSaysWhichVersionItNeeds) {
  const std::string path = with([](auto& j) { j["format"] = 5, j["grm"] = "7.1.0"; });
  const std::string message = error_of(ErrorKind::data, [&] { read_model(path); });
  EXPECT_THAT(message, HasSubstr("format 5, written by grm 7.1.0"));
  EXPECT_THAT(message, HasSubstr("reads formats 1 to 4"));
}

TEST_F(ChangedModel, DamagedDescriptionsAreErrorsOfTheData) {
  const std::vector<std::function<void(nlohmann::json&)>> damages = {
      [](auto& j) { j.erase("config"); },
      [](auto& j) { j["classes"] = 0; },
      [](auto& j) { j["features"] = "many"; },
      [](auto& j) { j["features"] = int64_t{1} << 60; },
      [](auto& j) { j["metric"] = "beauty"; },
      [](auto& j) { j["config"] = "[dataset"; },
      [](auto& j) { j["config"] = "[method]\nname = \"grm\"\n"; },
      [](auto& j) { j["config"] = "[dataset]\nname = \"nothing\"\n[method]\nname = \"grm\"\n"; },
      [](auto& j) { j = 3; },
  };
  for (size_t k = 0; k < damages.size(); ++k) {
    const std::string path = with(damages[k]);
    EXPECT_THAT(error_of(ErrorKind::data, [&] { read_model(path); }), HasSubstr(path)) << k;
  }
}

TEST_F(ChangedModel, WeightsOfAnotherShapeAreNamed) {
  const std::string path = with([](auto& j) { j["features"] = 41; });
  const std::string message = error_of(ErrorKind::data, [&] { restore_method(read_model(path)); });
  EXPECT_THAT(message, HasSubstr("model.safetensors"));
  EXPECT_THAT(message, HasSubstr("has shape [40, 8]"));
}

TEST_F(ChangedModel, AFolderWithoutAModelAndAnotherFileAreErrors) {
  EXPECT_THAT(error_of(ErrorKind::data, [&] { read_model(folder_.path()); }),
              HasSubstr("holds no model.safetensors"));
  io::write_safetensors(folder_.file("other.safetensors"), {{{"a", torch::ones({2})}}, {}});
  EXPECT_THAT(error_of(ErrorKind::data, [&] { read_model(folder_.file("other.safetensors")); }),
              HasSubstr("not a model of this program"));
}

}  // namespace
}  // namespace grm::model_file_tests
