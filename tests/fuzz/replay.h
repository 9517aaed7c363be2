#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/target.h"
#include "grm/core/error.h"

// The kept inputs of the fuzzers as ordinary tests: each file is read or refused with grm::Error.
namespace grm::fuzz {

inline void replay(const Target& target) {
  const std::string folder = std::string(GRM_SOURCE_DIR) + "/tests/fuzz/corpus/" + target.name;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  ASSERT_GE(files.size(), 2u) << folder;
  int64_t read = 0;
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    try {
      target.read(file);
      ++read;
    } catch (const Error& error) {
      EXPECT_STRNE(error.what(), "");
    } catch (const std::exception& error) {
      ADD_FAILURE() << "not an Error: " << error.what();
    }
  }
  EXPECT_GE(read, 1) << "no file of " << folder << " is whole";
}

inline std::string name_of(const testing::TestParamInfo<Target>& each) {
  return each.param.name;
}

}  // namespace grm::fuzz
