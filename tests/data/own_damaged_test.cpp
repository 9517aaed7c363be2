// Whatever bytes a folder holds, loading ends in a task or in an Error, and checking in a list.
#include <gtest/gtest.h>

#include "grm/core/rng.h"
#include "own_files.h"

namespace grm {
namespace {

using test::Files;

// Cuts, doubles, swaps or overwrites a piece of one file.
void damage(Files& files, Stream& draws) {
  auto file = files.begin();
  std::advance(file, static_cast<int64_t>(draws.below(files.size())));
  std::string& text = file->second;
  if (text.empty()) return;
  const size_t at = draws.below(text.size());
  const size_t length = 1 + draws.below(std::min<size_t>(text.size() - at, 12));
  switch (draws.below(5)) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text.insert(at, text.substr(at, length));
      break;
    case 2:
      text[at] = static_cast<char>(draws.below(256));
      break;
    case 3:
      text[at] = ",\n\"-019.=[]"[draws.below(11)];
      break;
    default:
      text.resize(at);
  }
}

TEST(OwnDamagedFolder, EndsInATaskOrAnError) {
  const std::vector<Files> folders = {test::table_folder(), test::shared_folder(),
                                      test::graph_tables(), test::array_folder(),
                                      test::graph_array_folder()};
  int64_t refused = 0;
  for (int64_t round = 0; round < 400; ++round) {
    Stream draws = Rng(7).stream("damage", static_cast<uint64_t>(round));
    Files files = folders[static_cast<size_t>(round) % folders.size()];
    for (uint64_t k = 0; k <= draws.below(3); ++k) damage(files, draws);
    const test::TempFolder folder;
    const std::string path = test::write_files(folder, files);
    const bool failed = test::throws_error([&] { load_own(path); });
    EXPECT_EQ(failed, !check_own(path).empty()) << "round " << round;
    refused += failed;
  }
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace grm
