#pragma once

#include <set>
#include <string>
#include <vector>

namespace grm::study {

/// How datasets are called in tables, in the order of `names`, which configurations give them:
/// "cora", "./a", "/data/b/dataset.toml". Built-in ones keep their names. Own data is called as its
/// dataset.toml says, or as its folder where that file cannot be read. Where several folders share
/// a name, or it is that of a built-in dataset or one of `taken`, the folder follows in brackets:
/// "payments (a)". One folder has one label, however it is written.
std::vector<std::string> dataset_labels(const std::vector<std::string>& names,
                                        const std::set<std::string>& taken = {});

}  // namespace grm::study
