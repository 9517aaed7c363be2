#include "report/figure.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "core/files.h"
#include "support/expect_error.h"
#include "support/path_guard.h"
#include "support/temp_folder.h"

namespace grm::report {
namespace {

using test::PathGuard;
using testing::HasSubstr;
using testing::Not;

bool in_path(const std::string& name) {
  std::string rest = std::getenv("PATH");
  while (!rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    if (access((rest.substr(0, colon) + "/" + name).c_str(), X_OK) == 0) return true;
    rest.erase(0, colon + 1);
  }
  return false;
}

Figure lines() {
  Figure figure;
  figure.name = "fig-shift";
  figure.title = "it's `date` $HOME \"x\"\nsystem 'id'";
  figure.x_label = "bias ratio";
  figure.y_label = "accuracy_percent";
  figure.series = {{"erm", {{0.0, 80.5, 1.25, 5}, {0.5, 60.0, 2.0, 5}}},
                   {"empty", {}},
                   {"grm's", {{0.0, 90.0, 0.5, 5}, {0.5, 85.0, 1.0, 4}}}};
  return figure;
}

Figure bars() {
  Figure figure;
  figure.name = "fig-ablation";
  figure.title = "Ablation";
  figure.y_label = "percent";
  figure.categories = {"cora", "twitch_gamers"};
  figure.series = {{"GRM", {{0, 81.2, 1.5, 5}, {1, 56.7, 1.0, 5}}},
                   {"GRM\\R", {{0, 78.0, 1.5, 5}, {1, 52.7, 1.0, 5}}}};
  return figure;
}

TEST(Figure, DataFileHasTheNumbersInBlocks) {
  EXPECT_EQ(figure_data(lines()),
            "# it's `date` $HOME \"x\" system 'id'\n"
            "# x: bias ratio; mean: accuracy_percent\n"
            "# block 0: erm\n"
            "# x mean deviation low high runs\n"
            "0 80.5 1.25 79.25 81.75 5\n"
            "0.5 60 2 58 62 5\n"
            "\n\n"
            "# block 1: empty\n"
            "# x mean deviation low high runs\n"
            "NaN NaN NaN NaN NaN 0\n"
            "\n\n"
            "# block 2: grm's\n"
            "# x mean deviation low high runs\n"
            "0 90 0.5 89.5 90.5 5\n"
            "0.5 85 1 84 86 4\n");
}

TEST(Figure, BandOnALogarithmicAxisStaysPositive) {
  Figure figure = lines();
  figure.logarithmic = true;
  figure.series = {{"loss", {{1, 2.0, 5.0, 3}}}};
  EXPECT_THAT(figure_data(figure), HasSubstr("1 2 5 0.02 7 3"));
}

TEST(Figure, TextIsQuotedSoThatNothingOfItIsACommand) {
  const std::string script = figure_script(lines());
  EXPECT_THAT(script, HasSubstr("set title 'it''s `date` $HOME \"x\" system ''id''' noenhanced"));
  EXPECT_THAT(script, HasSubstr("title 'grm''s'"));
  EXPECT_THAT(script, HasSubstr("filledcurves fillstyle transparent"));
}

TEST(Figure, NoTwoKindsOfBarsLookAlike) {
  Figure figure = bars();
  while (figure.series.size() < 18) figure.series.push_back(figure.series.front());
  const std::string script = figure_script(figure);
  std::set<std::string> looks;
  for (size_t at = 0; (at = script.find("fillstyle", at)) != std::string::npos; ++at) {
    looks.insert(script.substr(at, script.find(" title", at) - at));
  }
  EXPECT_EQ(looks.size(), 18u);
}

TEST(Figure, FileNamesHaveNoOddCharacters) {
  EXPECT_EQ(file_stem("cora-grm:centred #2/../x"), "cora-grm-centred--2-..-x");
  EXPECT_EQ(file_stem(".."), "figure..");
}

// gnuplot runs where it is installed; elsewhere the message must say how to get it.
TEST(Figure, PicturesAreDrawnByGnuplotOrTheMessageSaysHow) {
  const test::TempFolder folder;
  for (const Figure& figure : {lines(), bars()}) {
    const FigureFiles files = write_figure(figure, folder.path());
    if (in_path("gnuplot")) {
      EXPECT_EQ(files.message, "");
      ASSERT_EQ(files.written.size(), 4u);
      EXPECT_THAT(read_file(folder.file(figure.name + ".svg")), HasSubstr("</svg>"));
      EXPECT_EQ(read_file(folder.file(figure.name + ".pdf")).substr(0, 5), "%PDF-");
    } else {
      EXPECT_EQ(files.written.size(), 2u);
      EXPECT_THAT(files.message, HasSubstr("install gnuplot-nox"));
    }
  }
}

TEST(Figure, WithoutGnuplotTheDataAndScriptRemainAndOldPicturesGo) {
  const test::TempFolder folder;
  folder.write("fig-shift.svg", "of older numbers");
  const PathGuard guard(folder.path());
  const FigureFiles files = write_figure(lines(), folder.path());
  EXPECT_EQ(files.written.size(), 2u);
  EXPECT_THAT(files.message, HasSubstr("install gnuplot-nox, then: cd " + folder.path() +
                                       " && gnuplot fig-shift.gp"));
  EXPECT_EQ(read_file(folder.file("fig-shift.dat")), figure_data(lines()));
  EXPECT_FALSE(std::filesystem::exists(folder.file("fig-shift.svg")));
}

TEST(Figure, FailureOfGnuplotIsReported) {
  const test::TempFolder folder;
  const std::string fake =
      folder.write("bin/gnuplot", "#!/bin/sh\necho \"line 7: no such terminal\" >&2\nexit 3\n");
  std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
  const PathGuard guard(folder.file("bin"));
  const FigureFiles files = write_figure(bars(), folder.path());
  EXPECT_THAT(files.message, HasSubstr("no such terminal"));
  EXPECT_EQ(files.written.size(), 2u);
}

}  // namespace
}  // namespace grm::report
