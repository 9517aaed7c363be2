#pragma once

#include <string>

#include "grm/data/dataset.h"

// Data that a program hands over as tensors, in the place of files: what Python does.
namespace grm {

/// The name of such data in configurations and model files.
std::string memory_name(Level level);
/// Its entry, or null for another name.
const DatasetEntry* memory_entry(const std::string& name);

/// While it lives, this thread loads `task` where a configuration names data in memory.
class MemoryTask {
 public:
  explicit MemoryTask(const Task& task);
  ~MemoryTask();
  MemoryTask(const MemoryTask&) = delete;
  MemoryTask& operator=(const MemoryTask&) = delete;

 private:
  const Task* outer_;
};

}  // namespace grm
