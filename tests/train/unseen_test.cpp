// Graphs of a known dataset that were no part of it, in their publisher's format: what --data reads
// for a trained model.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <filesystem>

#include "data/fb100_files.h"
#include "data/twitch_files.h"
#include "grm/train/predict.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"
#include "train/trainer.h"

namespace grm::unseen_tests {
namespace {

using testing::HasSubstr;

class Unseen : public testing::Test {
 protected:
  Unseen() {
    setenv("GRM_CACHE", folder_.path().c_str(), 1);
    context_.root = folder_.path();
  }
  std::string train(const std::string& dataset) {
    RunConfig config(dataset, "erm");
    for (const auto& [key, value] : std::map<std::string, std::string>{
             {"method.hidden", "8"}, {"train.epochs", "2"}, {"dataset.centre", "domain"}}) {
      config.set(key, value);
    }
    const RunFolder run = create_run_folder(folder_.file("runs"), config, 7);
    train_run(config, config.dataset.load(context_), 7, run);
    return run.path();
  }
  std::string fb100_run() {
    for (const std::string& file : DatasetChoice("fb100").files()) {
      folder_.write(file, test::university());
    }
    return train("fb100");
  }

  test::TempFolder folder_;
  DataContext context_;
};

// A university of the dataset, given as a file, has the logits that the dataset itself gives it:
// the vocabulary comes from the model, centring from its options.
TEST_F(Unseen, AKnownUniversityAsAFileIsPredictedAsInTheDataset) {
  Model model = load(fb100_run());
  const std::vector<Asked> known = data_to_predict(model, "fb100", context_);
  const std::vector<Asked> file =
      data_to_predict(model, folder_.file("facebook100/Penn94.mat"), {});
  ASSERT_EQ(file.size(), 1u);
  ASSERT_EQ(known[0].domain.name, "Penn94");
  EXPECT_EQ(file[0].domain.name, "Penn94");
  EXPECT_TRUE(torch::equal(file[0].domain.labels.y, known[0].domain.labels.y));
  EXPECT_TRUE(torch::equal(model.predict_prepared(file[0].domain.graph, file[0].items).logits,
                           model.predict_prepared(known[0].domain.graph, known[0].items).logits));
  // All files of a folder, by name.
  EXPECT_EQ(data_to_predict(model, folder_.file("facebook100/"), {}).size(), 14u);
}

TEST_F(Unseen, AFileOfAnotherPublisherIsNamedInTheError) {
  test::write_twitch(folder_);
  Model model = load(train("twitch"));
  folder_.write("new/Reed98.mat", test::university());
  EXPECT_THAT(
      test::error_of(ErrorKind::data,
                     [&] { data_to_predict(model, folder_.file("new/Reed98.mat"), context_); }),
      HasSubstr("has the form in which fb100 is published, but the model was trained on twitch"));
  test::write_twitch_region(folder_, "NL");
  const std::vector<Asked> asked = data_to_predict(model, folder_.file("twitch/NL"), {});
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].domain.labels.evaluate.numel(), 3);
  EXPECT_EQ(model.predict_prepared(asked[0].domain.graph, asked[0].items).items(), 3);
}

}  // namespace
}  // namespace grm::unseen_tests
