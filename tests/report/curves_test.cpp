#include "report/curves.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace grm::report {
namespace {

using testing::HasSubstr;

std::string config(int seed, const std::string& lr = "0.1") {
  return "seed = " + std::to_string(seed) +
         "\n\n[dataset]\nname = \"sbm\"\n\n[method]\nname = \"grm\"\npreset = \"paper\"\nlr = " +
         lr + "\n";
}

TEST(Curves, RunsOfOneConfigurationAreOneLineWithABand) {
  const test::TempFolder folder;
  folder.write("a/config.toml", config(1));
  folder.write("a/metrics.jsonl",
               "{\"epoch\":1,\"loss\":{\"total\":3.0,\"kl\":1.0}}\n"
               "{\"epoch\":2,\"loss\":{\"total\":2.0,\"kl\":1.0},\"validation\":70.0}\n");
  folder.write("b/config.toml", config(2));
  folder.write("b/metrics.jsonl",
               "{\"epoch\":1,\"loss\":{\"total\":5.0,\"kl\":2.0}}\n"
               "{\"epoch\":2,\"loss\":{\"total\":2.0,\"kl\":1.0},\"validation\":80.0}\n"
               "{\"epoch\":3,\"lo");  // its process was killed
  const std::vector<std::string> runs = find_runs({folder.path()});
  ASSERT_EQ(runs.size(), 2u);
  const std::vector<Figure> figures = training_curves(runs);
  ASSERT_EQ(figures.size(), 2u);
  const Figure& loss = figures[0];
  EXPECT_EQ(loss.name, "sbm-grm-paper-loss");
  ASSERT_EQ(loss.series.size(), 2u);
  EXPECT_EQ(loss.series[0].name, "total");
  EXPECT_DOUBLE_EQ(loss.series[0].points[0].mean, 4.0);
  EXPECT_DOUBLE_EQ(loss.series[0].points[0].deviation, std::sqrt(2.0));
  EXPECT_EQ(loss.series[0].points[0].runs, 2);
  const Figure& validation = figures[1];
  EXPECT_EQ(validation.name, "sbm-validation");
  ASSERT_EQ(validation.series.size(), 1u);
  EXPECT_EQ(validation.series[0].name, "grm:paper");
  ASSERT_EQ(validation.series[0].points.size(), 1u);
  EXPECT_DOUBLE_EQ(validation.series[0].points[0].x, 2.0);
  EXPECT_DOUBLE_EQ(validation.series[0].points[0].mean, 75.0);
}

TEST(Curves, OtherOptionValuesAreAnotherLine) {
  const test::TempFolder folder;
  for (const std::string lr : {"0.1", "0.2"}) {
    folder.write(lr + "/config.toml", config(1, lr));
    folder.write(lr + "/metrics.jsonl",
                 "{\"epoch\":1,\"loss\":{\"total\":1.0},\"validation\":50}\n");
  }
  const std::vector<Figure> figures = training_curves(find_runs({folder.path()}));
  ASSERT_EQ(figures.size(), 3u);
  ASSERT_EQ(figures[2].series.size(), 2u);
  EXPECT_EQ(figures[2].series[0].name, "grm:paper");
  EXPECT_EQ(figures[2].series[1].name, "grm:paper #2");
}

TEST(Curves, DamagedLinesAndEmptyFoldersAreNamed) {
  using test::error_of;
  const test::TempFolder folder;
  EXPECT_THAT(error_of(ErrorKind::data, [&] { find_runs({folder.path()}); }),
              HasSubstr("no run here"));
  folder.write("a/config.toml", config(1));
  folder.write("a/metrics.jsonl", "{\"epoch\":1}\nnonsense\n{\"epoch\":2}\n");
  EXPECT_THAT(error_of(ErrorKind::data, [&] { training_curves({folder.file("a")}); }),
              HasSubstr("metrics.jsonl:2"));
}

}  // namespace
}  // namespace grm::report
