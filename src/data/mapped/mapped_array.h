#pragma once

#include <fmt/format.h>
#include <torch/types.h>

#include <atomic>
#include <memory>
#include <string>

#include "core/system/mapped_file.h"
#include "data/mapped/head.h"
#include "grm/core/threads.h"

namespace grm::mapped {

/// One array of a folder, mapped.
class MappedArray {
 public:
  /// Error(data) for a file that is missing or of another size.
  MappedArray(const std::string& path, const Array& about);
  /// Error(data) at the first number for which `fine` says no.
  template <class Fine>
  void check(int64_t count, const char* what, const Fine& fine) const {
    constexpr int64_t kRowsAtOnce = 1 << 16;
    std::atomic<int64_t> first{count};
    parallel_chunks(count, kRowsAtOnce, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        if (fine(k)) continue;
        int64_t known = first.load();
        while (k < known && !first.compare_exchange_weak(known, k)) {
        }
        return;
      }
    });
    if (first.load() < count) damaged(fmt::format("entry {} {}", first.load(), what));
  }
  [[noreturn]] void damaged(const std::string& why) const;
  /// What was looked through is given up; training comes here and there.
  void rest() const;
  void forget() const { file_->forget(); }
  std::string checksum() const;

  torch::Tensor tensor;

 private:
  std::string path_;
  std::shared_ptr<MappedFile> file_;
};

/// Error(data) unless the offsets ascend over all entries, and entries inside a row ascend below
/// `cols`.
void check_rows(const MappedArray& offsets, const MappedArray& indices, int64_t rows, int64_t cols);

}  // namespace grm::mapped
