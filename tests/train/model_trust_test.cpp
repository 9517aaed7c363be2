// What a model file may not do: hold weights that are no numbers, change unnoticed, or ask for more
// memory than its own size justifies.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>

#include "core/files.h"
#include "grm/core/log.h"
#include "grm/train/model_file.h"
#include "grm/train/predict.h"
#include "io/safetensors.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"
#include "train/checkpoint.h"
#include "train/trainer.h"

namespace grm {
namespace {

using test::error_of;
using testing::HasSubstr;

constexpr const char* kModels = GRM_SOURCE_DIR "/tests/fixtures/models/";

RunConfig small_config(const std::string& method = "erm") {
  RunConfig config("sbm", method);
  config.set("dataset.nodes", "40");
  config.set("dataset.words", "30");
  config.set("method.hidden", "8");
  return config;
}

class TrustModel : public testing::Test {
 protected:
  TrustModel() {
    RunConfig config = small_config();
    const Task task = config.dataset.load({});
    write_model(path(), *config.method.build(task.train_view(), Rng(3)), config, task, 3, 1);
  }
  std::string path() const { return folder_.file("model.safetensors"); }

  // The model as format 2, which has no digest: what a patient attacker would write.
  template <class Change>
  void change(Change&& change) {
    io::TensorFile file = io::read_safetensors(path());
    nlohmann::json about = nlohmann::json::parse(file.metadata["grm"]);
    about["format"] = 2;
    change(file.tensors, about);
    file.metadata = {{"grm", about.dump()}};
    io::write_safetensors(path(), file);
  }
  // The message with which every way in refuses the model.
  std::string refusal() const {
    const std::string used = error_of(ErrorKind::data, [&] { restore_method(read_model(path())); });
    EXPECT_EQ(error_of(ErrorKind::data, [&] { load_model(path(), {}); }), used);
    EXPECT_THAT(used, HasSubstr(path()));
    return used;
  }
  test::TempFolder folder_;
};

using Trust16Weights = TrustModel;
using Trust16Digest = TrustModel;
using Trust15Models = TrustModel;
using Tensors = std::map<std::string, torch::Tensor>;

TEST_F(Trust16Weights, ThatAreNotFiniteAreRefused) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    std::string name;
    change([&](Tensors& tensors, auto&) {
      name = tensors.rbegin()->first;
      tensors.rbegin()->second.view(-1)[0] = bad;
    });
    EXPECT_THAT(refusal(), testing::AllOf(HasSubstr(name), HasSubstr("not finite")));
  }
}

TEST_F(Trust16Weights, OfAnotherTypeAreRefused) {
  for (const torch::Dtype type : {torch::kFloat64, torch::kInt32, torch::kUInt8}) {
    change([&](Tensors& tensors, auto&) {
      torch::Tensor& weight = tensors.begin()->second;
      weight = weight.to(type);
    });
    EXPECT_THAT(refusal(), HasSubstr("of type"));
  }
}

// Finite one by one, but not what comes of them.
TEST_F(Trust16Weights, ThatOverflowGiveNoPredictions) {
  change([&](Tensors& tensors, auto&) {
    for (auto& entry : tensors) entry.second.fill_(-1e38f);
  });
  Model model = load(path());
  const Task task = small_config().dataset.load({});
  EXPECT_THAT(error_of(ErrorKind::data, [&] { model.predict(task.test[0].graph); }),
              testing::AllOf(HasSubstr(path()), HasSubstr("not numbers")));
}

TEST_F(Trust16Weights, OfACheckpointAreCheckedToo) {
  RunConfig config = small_config();
  const Task task = config.dataset.load({});
  const std::unique_ptr<Method> method = config.method.build(task.train_view(), Rng(3));
  TrainingState state;
  state.epoch = 1;
  state.best_epoch = 1;
  state.history = {{1, 50.0, {}}};
  for (const bool best : {false, true}) {
    state.best = method->parameters().snapshot();
    const std::string path = folder_.file("state.safetensors");
    write_checkpoint(path, *method, state);
    EXPECT_NO_THROW(read_checkpoint(path, *method));
    io::TensorFile file = io::read_safetensors(path);
    file.tensors.lower_bound(best ? "best/" : "model/")->second.fill_(NAN);
    io::write_safetensors(path, file);
    EXPECT_THAT(error_of(ErrorKind::data, [&] { read_checkpoint(path, *method); }),
                testing::AllOf(HasSubstr(path), HasSubstr("not finite")));
  }
}

TEST_F(Trust16Digest, EveryChangeIsNoticed) {
  const std::string whole = read_file(path());
  uint64_t header = 0;
  std::memcpy(&header, whole.data(), sizeof header);
  // A bit of every weight's lowest byte in turn: finite numbers all of them.
  for (size_t at = sizeof header + header; at < whole.size(); at += 4 * 97) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    folder_.write("model.safetensors", bytes);
    EXPECT_THAT(error_of(ErrorKind::data, [&] { read_model(path()); }), HasSubstr("digest")) << at;
  }
  // The description, a name, the digest itself, or none.
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string bytes = whole;
    const size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    ASSERT_EQ(from.size(), to.size());
    bytes.replace(at, from.size(), to);
    folder_.write("model.safetensors", bytes);
    EXPECT_THAT(error_of(ErrorKind::data, [&] { read_model(path()); }), HasSubstr("digest"));
  };
  replaced("\\\"epoch\\\":1", "\\\"epoch\\\":2");
  replaced("\"digest\"", "\"digets\"");
  const std::string tensor = io::read_safetensors(path()).tensors.begin()->first;
  folder_.write("model.safetensors", whole);
  replaced("\"" + tensor + "\"", "\"" + std::string(tensor.size(), 'x') + "\"");
  folder_.write("model.safetensors", whole);
  EXPECT_NO_THROW(read_model(path()));
}

// As src/train/model_digest.h describes it, put together from the file's own pieces.
TEST_F(Trust16Digest, IsWhatIsDocumented) {
  const io::TensorFile file = io::read_safetensors(path());
  std::string lines = "text 3 grm " + sha256(file.metadata.at("grm")) + "\n";
  for (const auto& [name, tensor] : file.tensors) {
    lines += "tensor " + std::to_string(name.size()) + " " + name + " F32 ";
    for (int64_t d = 0; d < tensor.dim(); ++d) {
      lines += (d ? "," : "") + std::to_string(tensor.size(d));
    }
    lines += " " + sha256({static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()}) + "\n";
  }
  EXPECT_EQ(file.metadata.at("digest"), sha256(lines));
}

TEST(Trust16OldFormats, LoadWithANote) {
  for (const int format : {1, 2}) {
    std::vector<std::string> notes;
    set_log_sink([&](LogLevel, const std::string& text) { notes.push_back(text); });
    const ModelFile file =
        read_model(kModels + ("sbm-grm-format" + std::to_string(format) + ".safetensors"));
    set_log_sink({});
    EXPECT_EQ(file.about.format, format);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_THAT(notes[0], HasSubstr("no digest"));
    EXPECT_GT(restore_method(file)->parameters().count(), 0);
  }
}

// Kilobytes of a line of /proc/self/status.
int64_t status_kib(const std::string& key) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, key.size() + 1, key + ":") == 0)
      return std::stoll(line.substr(key.size() + 1));
  }
  return -1;
}

// How far the resident memory rose above its present size during an action.
template <class Action>
int64_t peak_kib(Action&& action) {
  std::ofstream("/proc/self/clear_refs") << "5";  // forgets the peak so far
  const int64_t before = status_kib("VmRSS");
  action();
  return status_kib("VmHWM") - before;
}

TEST_F(Trust15Models, OptionsThatAskForMoreThanTheWeightsAreRefusedBeforeAnythingIsBuilt) {
  const auto size = static_cast<int64_t>(read_file(path()).size());
  for (const auto& [hidden, layers] :
       {std::pair<const char*, const char*>{"8192", "8"}, {"65536", "3"}, {"512", "1024"}}) {
    change([&, hidden = hidden, layers = layers](Tensors&, nlohmann::json& about) {
      std::string config = about["config"];
      config = std::regex_replace(config, std::regex("\nhidden = \\d+"),
                                  std::string("\nhidden = ") + hidden);
      about["config"] = std::regex_replace(config, std::regex("\nlayers = \\d+"),
                                           std::string("\nlayers = ") + layers);
    });
    std::string message;
    const int64_t peak = peak_kib([&] { message = refusal(); });
    EXPECT_THAT(message, HasSubstr("far larger model")) << hidden;
    EXPECT_LT(peak, 4 * size / 1024 + 64 * 1024) << hidden;
  }
}

// ERM is a method of both levels: what the model says has to fit the data that it names.
TEST_F(Trust15Models, OfAnotherLevelThanTheirDataAreRefused) {
  change([&](Tensors&, nlohmann::json& about) { about["level"] = "graph"; });
  EXPECT_THAT(error_of(ErrorKind::data, [&] { load_model(path(), {}); }),
              testing::AllOf(HasSubstr(path()), HasSubstr("classifies graphs")));
}

TEST_F(Trust15Models, SoAreShapesOfTheProblem) {
  const std::string whole = read_file(path());
  for (const char* key : {"features", "classes"}) {
    folder_.write("model.safetensors", whole);
    change([&](Tensors&, nlohmann::json& about) { about[key] = (int64_t{1} << 31) - 1; });
    std::string message;
    const int64_t peak = peak_kib(
        [&] { message = error_of(ErrorKind::data, [&] { restore_method(read_model(path())); }); });
    EXPECT_THAT(message, HasSubstr("far larger model")) << key;
    EXPECT_LT(peak, 64 * 1024) << key;
  }
}

}  // namespace
}  // namespace grm
