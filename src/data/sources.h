#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grm/data/dataset.h"
#include "grm/graph/adjacency.h"

namespace grm {

/// What a source is needed for. Test domains can be left out; a vocabulary is smaller without some
/// of its sources; everything else stops without its files.
enum class Use { all, training, validation, test, vocabulary };

/// A file relative to the data root, and a second name under which it is also handed out.
struct SourceFile {
  std::string path;
  std::string other = {};
};

/// The files of one domain (or of the whole dataset: Use::all).
struct Source {
  std::string domain;
  Use use = Use::all;
  std::vector<SourceFile> files;
};

/// All files that they name.
std::vector<std::string> paths_of(const std::vector<Source>& sources);

/// The sources whose files all exist, each with the names found; their hashes go to task.hashes. If
/// some are missing and may not be left out, Error(data) lists the paths looked for, where they are
/// published, and which test domains can run without them. Left-out ones go to task.missing/notes.
std::vector<Source> require_sources(const DataContext& context, const std::vector<Source>& sources,
                                    Task& task);

/// Where a relative file lies.
std::string full_path(const DataContext& context, const std::string& file);

/// A file of a dataset in another folder, which stands for the first folder of its name:
/// "molhiv/raw/edge.csv.gz" in new/ is new/raw/edge.csv.gz.
std::string path_in(const std::string& folder, const std::string& file);

/// Files with this ending in a folder, sorted; none if it is no folder.
std::vector<std::string> files_in(const std::string& folder, const std::string& ending);

/// The entries of `hashes` that belong to a source.
std::map<std::string, std::string> hashes_of(const Source& source,
                                             const std::map<std::string, std::string>& hashes);

/// Adds a domain where its use wants it: training, validation or test.
void add_domain(Task& task, Use use, Domain domain);

/// make_adjacency of the pairs of a file: its errors name the file.
AdjacencyPtr adjacency_of_file(const std::string& path, int64_t rows, int64_t cols,
                               const torch::Tensor& source, const torch::Tensor& target);

/// The edges of a two-column CSV file of node ids below n, with or without a header line. Errors
/// name file and line.
AdjacencyPtr read_edge_csv(const std::string& path, int64_t n,
                           std::initializer_list<std::string_view> header = {},
                           char separator = ',');

}  // namespace grm
