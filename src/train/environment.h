#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "grm/data/dataset.h"

namespace grm {

/// What a run was made with, as env.json keeps it: versions, threads, device, data hashes, and one
/// leg for each process that trained a part of it. The keys at the top are those of the first leg.
std::string environment_json(const Task& task);

/// The same environment with another leg, of this process, that trains from `from_epoch` on. Legs
/// whose epochs were lost with their process are dropped. Error(data) names `origin`.
std::string with_leg(const std::string& environment, int64_t from_epoch, const std::string& origin);

/// What decides about bits and is another now than in some leg of the run that counts for epochs
/// before `from_epoch`: "threads: 2, now 1". Empty where the arithmetic is the same.
std::vector<std::string> other_arithmetic(const std::string& environment, int64_t from_epoch,
                                          const std::string& origin);

/// The same between the legs of a run: "threads: 2, from epoch 17 on 1". Empty for one arithmetic,
/// and for text that is no environment.
std::vector<std::string> mixed_arithmetic(const std::string& environment);

/// File -> SHA-256, as in Task::hashes.
using Hashes = std::map<std::string, std::string>;

/// The hashes of the data that a run was made with. Error(data) names `origin`.
Hashes recorded_hashes(const std::string& environment, const std::string& origin);

/// The one answer to "is this the same data?": the files that differ, with what became of them:
/// "nodes.csv (changed)", "b.npz (gone)", "c.npz (new)". Empty: the same.
struct DataChange {
  std::string file, what;
  std::string text() const { return file + " (" + what + ")"; }
};
std::vector<DataChange> data_changes(const Hashes& then, const Hashes& now);
/// "a, b and 3 more", for messages.
std::string changes_text(const std::vector<DataChange>& changes);

/// Hashes files on disk, each once.
class DataOnDisk {
 public:
  explicit DataOnDisk(DataContext context) : context_(std::move(context)) {}
  /// What became of the recorded files of a dataset, named as a configuration names it. Files that
  /// are not there tell nothing: the data may be elsewhere today.
  std::vector<DataChange> changes(const std::string& dataset, const Hashes& then);

 private:
  DataContext context_;
  Hashes known_;  // by full path
};

}  // namespace grm
