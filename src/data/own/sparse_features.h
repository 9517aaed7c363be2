#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/own/tables.h"

// Features that are given number by number: a table id,feature,value, or a libsvm file. Each becomes
// a column as those of a wide table are; what is not given is zero.
namespace grm::own {

/// Whether a table of nodes of this name is a libsvm file.
bool is_libsvm(const std::string& name);

/// Names of all features in the training domains, whole numbers by size, others by letters.
/// Problems where there are too many.
std::vector<std::string> sparse_names(const ReadContext& context, const std::string& folder);

/// The table id,feature,value for nodes that were read: a column for each sparse entry of the plan
/// is added to theirs. Features that the plan does not know are counted in a note.
void read_sparse_table(const ReadContext& context, const std::string& path, const Plan& plan,
                       NodeTables& tables);

/// The nodes of a libsvm file, "label index:value index:value ...", called 0, 1, 2, ...; the label
/// "?" is none.
void read_libsvm(const ReadContext& context, const std::string& path, const Plan& plan,
                 NodeTables& tables);

}  // namespace grm::own
