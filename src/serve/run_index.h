#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace grm::serve {

/// A run folder as its files tell without being opened.
struct IndexedRun {
  std::string path;   // from the folder of the index
  std::string state;  // "done", "running" (its log grew a moment ago) or "unfinished"
  int64_t changed = 0;
};

/// The runs below a folder. Finding them opens no file, so that ten thousand are found in a blink; what
/// a run says is read when somebody looks at it, and kept. For several threads.
class RunIndex {
 public:
  explicit RunIndex(std::string folder);
  const std::string& folder() const { return folder_; }

  /// Sorted by path. Looked for anew if the last look is a second old, or twenty times as long as
  /// looking takes.
  std::vector<IndexedRun> runs();
  /// The folder of a run that was found, on disk; "" for any other text.
  std::string find(const std::string& path);
  /// Configuration and result of a run in a few words, as JSON text.
  std::string words_of(const IndexedRun& run);

 private:
  void look();
  void walk(const std::string& from, int depth, std::vector<IndexedRun>& found) const;

  std::string folder_;
  std::mutex mutex_;
  std::vector<IndexedRun> runs_;
  double looked_ = -1e9, took_ = 0.0;
  struct Kept {
    int64_t changed;
    std::string text;
  };
  std::map<std::string, Kept> kept_;
};

}  // namespace grm::serve
