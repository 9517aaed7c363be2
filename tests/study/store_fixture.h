#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "study/database.h"
#include "study/store.h"
#include "support/temp_folder.h"

// An empty result database and what is put into it: a file, or with GRM_TEST_DATABASE=postgresql://...
// the database of a server, whose tables are dropped.
namespace grm::study::store_tests {

inline StudySpec study_named(const std::string& name) {
  StudySpec spec;
  spec.name = name;
  return spec;
}

inline std::vector<PlannedCell> cells(int64_t count, const std::string& mark = "") {
  std::vector<PlannedCell> list;
  for (int64_t seed = 0; seed < count; ++seed) {
    list.push_back({"sbm", "erm", "", 0, seed, mark + "config of seed " + std::to_string(seed)});
  }
  return list;
}

inline const auto kAnyFits = [](const CellRow&) { return true; };

inline CellResult result(const std::string& folder, double validation = 50) {
  RunRecord record;
  record.chosen["val"] = {3, validation, {{"T1", 40.5}}};
  CellResult r;
  r.folder = folder;
  r.record = to_json_text(record);
  r.environment = "{}";
  r.metric = "accuracy";
  r.seconds = 2;
  r.peak_mib = 300;
  return r;
}

// An owner that lives as long as this test.
inline std::string self() {
  std::ifstream boot("/proc/sys/kernel/random/boot_id"), stat("/proc/self/stat");
  std::string id, field;
  boot >> id;
  std::vector<std::string> fields;
  while (stat >> field) fields.push_back(field);
  return id + "/" + std::to_string(getpid()) + "/" + fields.at(21);
}

// An empty database: a file, or that of a server.
inline std::string fresh_database(const test::TempFolder& folder) {
  const char* server = std::getenv("GRM_TEST_DATABASE");
  if (!server) return folder.file("results.db");
  open_database(server, Access::create)
      ->run("DROP TABLE IF EXISTS cell, study, worker, grm_results");
  return server;
}

class StoreTest : public testing::Test {
 protected:
  std::string join(Store& store, double patience = 60) { return store.join("", "", 1, patience); }
  test::TempFolder folder_;
  std::string path_ = fresh_database(folder_);
  Store store_{path_, Open::create};
  const std::string me_ = join(store_);
};

}  // namespace grm::study::store_tests
