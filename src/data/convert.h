#pragma once

#include <map>
#include <string>

#include "grm/data/task.h"

namespace grm {

/// Error(config) unless `folder` is absent or empty, or `force` is set; Error(io) if it is a file.
void require_free_folder(const std::string& folder, bool force);

/// The arrays of one domain in the form of own data. Features stay as they are kept: sparse columns
/// as x_indptr, x_indices and x_data, the constant row as x_shift, dense columns as x.
std::map<std::string, torch::Tensor> own_arrays(const Domain& domain);

/// dataset.toml of a task. `origin` and the task's notes become comments at its top.
std::string own_description(const Task& task, const std::string& origin);

/// Writes a task as a folder of own data: one .npz for each domain, then dataset.toml, so that a
/// folder that has it is whole. What load_own reads from it equals the task but for notes, hashes
/// and the names of items and columns, which the form has no place for. Every file is logged.
void write_own(const Task& task, const std::string& folder, const std::string& origin, bool force);

}  // namespace grm
