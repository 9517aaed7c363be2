#include "data/memory.h"

#include "grm/core/error.h"

namespace grm {
namespace {

thread_local const Task* t_task = nullptr;

class MemoryDataset final : public Dataset {
 public:
  Task load(const DataContext& /*context*/) const override {
    if (t_task) return *t_task;
    fail(ErrorKind::data,
         "the data was handed over in memory, as from Python, and is in no file: name the data to "
         "use ('grm predict MODEL --data ...')");
  }
};

std::unique_ptr<Dataset> make_memory() {
  return std::make_unique<MemoryDataset>();
}

}  // namespace

std::string memory_name(Level level) {
  return level == Level::node ? "in-memory" : "in-memory-graphs";
}

const DatasetEntry* memory_entry(const std::string& name) {
  static const DatasetEntry entries[] = {
      {memory_name(Level::node), "tensors that a program handed over", "", make_memory},
      {memory_name(Level::graph), "sets of graphs that a program handed over", "", make_memory,
       Level::graph}};
  for (const DatasetEntry& entry : entries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

MemoryTask::MemoryTask(const Task& task) : outer_(t_task) {
  t_task = &task;
}

MemoryTask::~MemoryTask() {
  t_task = outer_;
}

}  // namespace grm
