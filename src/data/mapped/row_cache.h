#pragma once

#include <cstdint>
#include <vector>

namespace grm::mapped {

/// Keeps rows of other processes within a bound of memory: those that are asked for again and again.
/// A row has eight places where it may be; a new one takes that of the row asked for least, and what
/// stays grows old with each that comes.
class RowCache {
 public:
  /// Rows of up to `most_words` words; longer ones are not kept. Memory is taken with the first row.
  RowCache(int64_t bytes, int64_t most_words);
  /// The row's words, or null. Valid until the next add().
  const int32_t* find(int64_t node);
  void add(int64_t node, const int32_t* words, int64_t count);

  int64_t asked() const { return asked_; }
  int64_t found() const { return found_; }

 private:
  struct Slot {
    int64_t node = -1;
    uint32_t uses = 0;
  };
  size_t first_slot(int64_t node) const;

  int64_t most_words_;
  size_t sets_;
  std::vector<Slot> slots_;
  std::vector<int32_t> words_;
  int64_t asked_ = 0, found_ = 0;
};

}  // namespace grm::mapped
