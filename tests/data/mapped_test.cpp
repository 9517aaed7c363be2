// Mapped graphs are the task that they were written from; damaged ones are refused.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include "core/files.h"
#include "core/system/mapped_file.h"
#include "core/system/temporary_folder.h"
#include "data/describe.h"
#include "data/mapped/head.h"
#include "data/mapped/read.h"
#include "data/mapped/write.h"
#include "grm/data/dataset.h"
#include "grm/data/own_data.h"
#include "support/expect_error.h"

namespace grm::mapped_tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

DatasetChoice chosen(const std::string& name,
                     const std::vector<std::pair<std::string, std::string>>& values) {
  DatasetChoice choice(name);
  for (const auto& [key, value] : values) choice.options().set("dataset", key, value);
  return choice;
}

const std::vector<std::pair<std::string, std::string>> kScale = {
    {"nodes", "9000"}, {"mean_degree", "5"}, {"features", "3"}, {"labelled", "0.3"}};

class Mapped : public testing::Test {
 protected:
  Mapped() : folder_(temporary_.path() + "/graphs") {}

  void change(const std::string& file, const std::function<void(std::string&)>& edit) const {
    std::string bytes = read_file(folder_ + "/" + file);
    edit(bytes);
    std::ofstream(folder_ + "/" + file, std::ios::binary) << bytes;
  }

  TemporaryFolder temporary_{"grm-mapped"};
  std::string folder_;
};

TEST_F(Mapped, AreTheTaskThatWasWritten) {
  Task task = chosen("sbm", {{"nodes", "120"}, {"centre", "domain"}}).load({});
  Graph& graph = task.training[0].graph;
  graph.edge_weights = torch::rand({graph.edges->nnz()});
  graph.edge_x.dense = torch::rand({graph.edges->nnz(), 2});
  mapped::write_task(task, folder_, "a test", false);
  EXPECT_EQ(fingerprint(mapped::load(folder_)), fingerprint(task));
  mapped::verify(folder_);
  const Task again = DatasetChoice(folder_).load({});  // as other data of the user's own
  EXPECT_EQ(fingerprint(again), fingerprint(task));
  EXPECT_EQ(again.name, "sbm");
  EXPECT_TRUE(check_own(folder_).empty());
  // Domains on one graph share what was written.
  const torch::Tensor values = again.training[0].graph.x.sparse->in.indices;
  EXPECT_TRUE(in_mapped_file(values.data_ptr()));
  EXPECT_FALSE(in_mapped_file(task.training[0].graph.x.sparse->in.indices.data_ptr()));
}

TEST_F(Mapped, WrittenPieceByPieceAreTheSame) {
  const DatasetChoice choice = chosen("scale", kScale);
  const Task task = choice.load({});
  ASSERT_TRUE(choice.dataset().write_mapped(folder_, "a test", false));
  EXPECT_EQ(fingerprint(mapped::load(folder_)), fingerprint(task));
  const auto counted = static_cast<double>(task.training[0].labels.loss.numel());
  EXPECT_NEAR(counted, 0.3 * 9000, 5 * std::sqrt(9000 * 0.21));
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_NE(entry.path().filename().string()[0], '.') << entry.path();  // nothing is left behind
  }
  EXPECT_THAT(
      test::error_of(ErrorKind::config, [&] { choice.dataset().write_mapped(folder_, "", false); }),
      HasSubstr("--force"));
}

TEST_F(Mapped, OfOtherTargetsAreRefused) {
  const Task task = chosen("spmotif", {{"train_per_class", "3"}}).load({});
  EXPECT_THAT(
      test::error_of(ErrorKind::config, [&] { mapped::write_task(task, folder_, "", false); }),
      HasSubstr("mapped graphs hold classes of nodes"));
}

TEST_F(Mapped, CutShortOrMissingFilesAreNamed) {
  chosen("scale", kScale).dataset().write_mapped(folder_, "", false);
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().filename() != mapped::kHeadFile) files.push_back(entry.path().filename());
  }
  ASSERT_EQ(files.size(), 24U);
  for (const std::string& file : files) {
    const std::string kept = read_file(folder_ + "/" + file);
    change(file, [](std::string& bytes) { bytes.pop_back(); });
    const std::string message = test::error_of(ErrorKind::data, [&] { mapped::load(folder_); });
    EXPECT_THAT(message, HasSubstr(file));
    EXPECT_THAT(message, HasSubstr("cut short"));
    fs::remove(folder_ + "/" + file);
    EXPECT_THAT(test::error_of(ErrorKind::data, [&] { mapped::load(folder_); }),
                HasSubstr(file + ": the file is missing"));
    std::ofstream(folder_ + "/" + file, std::ios::binary) << kept;
  }
  EXPECT_NO_THROW(mapped::verify(folder_));
}

TEST_F(Mapped, DamagedNumbersAreFound) {
  chosen("scale", kScale).dataset().write_mapped(folder_, "", false);
  const auto refused = [&](const std::string& file, size_t at, char value, bool when_loaded) {
    const std::string kept = read_file(folder_ + "/" + file);
    change(file, [&](std::string& bytes) { bytes[at] = static_cast<char>(bytes[at] ^ value); });
    const std::vector<Problem> problems = check_own(folder_);
    ASSERT_EQ(problems.size(), 1U) << file;
    EXPECT_THAT(problems[0].what, HasSubstr(file));
    if (when_loaded) {
      EXPECT_THAT(test::error_of(ErrorKind::data, [&] { mapped::load(folder_); }),
                  HasSubstr("damaged"));
    } else {
      EXPECT_NO_THROW(mapped::load(folder_));
    }
    std::ofstream(folder_ + "/" + file, std::ios::binary) << kept;
  };
  refused("graph0.in_offsets.i64", 8 * 4000 + 3, 1, true);  // far beyond the last entry
  refused("graph0.in_offsets.i64", 0, 1, true);             // does not begin at 0
  refused("graph0.in_indices.i32", 4 * 900 + 3, 64, true);  // no node of the graph
  refused("graph1.y.i64", 8 * 17 + 6, 1, true);             // no class
  refused("domain0.loss.i64", 8 * 5 + 2, 1, true);          // no node
  refused("graph2.x.f32", 4001, 1, false);                  // a feature: found by its checksum
}

TEST_F(Mapped, HeadsThatDoNotFitAreRefused) {
  chosen("scale", kScale).dataset().write_mapped(folder_, "", false);
  const std::string kept = read_file(folder_ + "/" + mapped::kHeadFile);
  const auto message = [&](const std::string& from, const std::string& to) {
    std::string text = kept;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    return test::error_of(ErrorKind::data, [&] { mapped::head_from_json(text, "graph.json"); });
  };
  EXPECT_THAT(message("\"version\": 1", "\"version\": 2"), HasSubstr("version 2 of the form"));
  EXPECT_THAT(message("\"nodes\": 9000", "\"nodes\": 9001"),
              HasSubstr("expected 9002 numbers i64"));
  EXPECT_THAT(message("\"nodes\": 9000", "\"nodes\": -1"), HasSubstr("allowed are 1"));
  EXPECT_THAT(message("\"nodes\": 9000", "\"nodes\": 1e99"), HasSubstr("no whole number"));
  EXPECT_THAT(message("\"in_indices\"", "\"in_indice\""), HasSubstr("has no array 'in_indices'"));
  EXPECT_THAT(message("\"graph\": 3", "\"graph\": 4"), HasSubstr("which is not there"));
  EXPECT_THAT(message("\"role\": \"validation\"", "\"role\": \"val\""), HasSubstr("not known"));
  EXPECT_THAT(message("grm mapped graphs", "something"), HasSubstr("no head of mapped graphs"));
}

TEST(MappedFile, KnowsItsAddressesWhileItLives) {
  const TemporaryFolder folder("grm-mapped");
  const std::string path = folder.path() + "/file";
  std::ofstream(path) << "some bytes";
  const char* at = nullptr;
  {
    const MappedFile file(path);
    at = file.bytes();
    EXPECT_EQ(std::string(file.bytes(), file.size()), "some bytes");
    EXPECT_TRUE(in_mapped_file(at) && in_mapped_file(at + 9));
    EXPECT_FALSE(in_mapped_file(at + 10) || in_mapped_file(&path));
  }
  EXPECT_FALSE(in_mapped_file(at));
  EXPECT_THAT(test::error_of(ErrorKind::io, [&] { MappedFile(folder.path()); }),
              HasSubstr("not a plain file"));
}

}  // namespace
}  // namespace grm::mapped_tests
