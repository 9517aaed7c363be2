#pragma once

#include <string>
#include <vector>

#include "grm/data/dataset.h"
#include "grm/train/predict.h"

// What data will need of memory, told from the sizes of its files before one of them is opened: a
// container that kills a process for its memory gives no reason.
namespace grm {

/// The memory that reading these files takes, at the least: tables of text two and a half times
/// their size, arrays one and a half times, other files their size.
double memory_to_read(const std::vector<std::string>& files);

/// The files of own data: `path` is a folder (with the folders of its domains), its dataset.toml or
/// one .npz.
std::vector<std::string> own_input_files(const std::string& path);

/// Error(memory) if the files of `what` cannot be read within memory_limit().
void check_memory_to_read(const std::string& what, const std::vector<std::string>& files);

/// Loads a dataset after that check.
Task load_within_memory(const DatasetChoice& dataset, const DataContext& context);

/// Error(memory) if one pass of a model over the largest of these graphs does not fit beside them.
void check_memory_to_predict(Model& model, const std::vector<Asked>& data);

}  // namespace grm
