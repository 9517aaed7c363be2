#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace grm {

/// Work space that is dear to allocate, handed from one chunk of a parallel loop to the next: as
/// many are made as chunks ever run at once.
template <class Scratch>
class ScratchPool {
 public:
  explicit ScratchPool(std::function<std::unique_ptr<Scratch>()> make) : make_(std::move(make)) {}

  template <class Body>
  void use(const Body& body) {
    std::unique_ptr<Scratch> scratch = take();
    body(*scratch);
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(scratch));
  }

 private:
  std::unique_ptr<Scratch> take() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<Scratch> scratch = std::move(free_.back());
        free_.pop_back();
        return scratch;
      }
    }
    return make_();
  }

  std::function<std::unique_ptr<Scratch>()> make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> free_;
};

}  // namespace grm
