#include "data/sources.h"

#include <fmt/ranges.h>
#include <torch/types.h>

#include <algorithm>
#include <filesystem>

#include "core/files.h"
#include "grm/core/error.h"
#include "io/csv.h"

namespace grm {
namespace {

std::string use_text(const Source& source) {
  switch (source.use) {
    case Use::all:
      return "needed by every domain";
    case Use::training:
      return "training domain " + source.domain;
    case Use::validation:
      return "validation domain " + source.domain;
    case Use::test:
      return "test domain " + source.domain;
    case Use::vocabulary:
      return "feature vocabulary, " + source.domain;
  }
  throw InternalError("use_text: unknown use");
}

bool exists(const DataContext& context, const std::string& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(full_path(context, file), ignored);
}

// The name under which the file exists, or "".
std::string find(const DataContext& context, const SourceFile& file) {
  if (exists(context, file.path)) return file.path;
  if (!file.other.empty() && exists(context, file.other)) return file.other;
  return "";
}

struct Split {
  std::vector<Source> present;
  std::vector<Source> missing;
  std::vector<std::string> lines;  // one for each missing file
};

Split split_sources(const DataContext& context, const std::vector<Source>& sources) {
  Split split;
  for (const Source& source : sources) {
    Source found = source;
    bool complete = true;
    for (SourceFile& file : found.files) {
      const std::string name = find(context, file);
      if (name.empty()) {
        complete = false;
        std::string line = "  " + full_path(context, file.path);
        if (!file.other.empty()) line += "\n    or " + full_path(context, file.other);
        split.lines.push_back(line + " (" + use_text(source) + ")");
      }
      file = {name};
    }
    (complete ? split.present : split.missing).push_back(complete ? found : source);
  }
  return split;
}

[[noreturn]] void fail_missing(const Split& split, bool can_go_on, const Task& task) {
  std::vector<std::string> runnable;
  for (const Source& source : split.present) {
    if (source.use == Use::test) runnable.push_back(source.domain);
  }
  const std::string advice =
      can_go_on
          ? fmt::format("Test domains that can run without them: {}; --allow-missing runs those.",
                        fmt::join(runnable, ", "))
          : "No test domain can run without them.";
  fail(ErrorKind::data, "{}: {} missing:\n{}\nPublished at: {}\n{}", task.name,
       split.lines.size() == 1 ? "a file is" : "files are", fmt::join(split.lines, "\n"),
       find_dataset(task.name).published_at, advice);
}

}  // namespace

std::string full_path(const DataContext& context, const std::string& file) {
  return (std::filesystem::path(context.root) / file).string();
}

std::string path_in(const std::string& folder, const std::string& file) {
  return (std::filesystem::path(folder) / file.substr(file.find('/') + 1)).string();
}

std::vector<std::string> files_in(const std::string& folder, const std::string& ending) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() >= ending.size() &&
        name.compare(name.size() - ending.size(), ending.size(), ending) == 0) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> paths_of(const std::vector<Source>& sources) {
  std::vector<std::string> paths;
  for (const Source& source : sources) {
    for (const SourceFile& file : source.files) paths.push_back(file.path);
  }
  return paths;
}

std::vector<Source> require_sources(const DataContext& context, const std::vector<Source>& sources,
                                    Task& task) {
  if (context.root.empty()) {
    fail(ErrorKind::data,
         "{}: no data folder is given: set GRM_DATA or --data-root to the folder that holds {}\n"
         "Published at: {}",
         task.name, sources.front().files.front().path, find_dataset(task.name).published_at);
  }
  const Split split = split_sources(context, sources);
  // Going on takes a test domain, and everything that is not one.
  bool can_go_on = std::any_of(split.present.begin(), split.present.end(),
                               [](const Source& source) { return source.use == Use::test; });
  for (const Source& source : split.missing) {
    can_go_on = can_go_on && (source.use == Use::test || source.use == Use::vocabulary);
  }
  if (!split.missing.empty() && !(context.allow_missing && can_go_on)) {
    fail_missing(split, can_go_on, task);
  }
  for (const Source& source : split.missing) {
    if (source.use == Use::test) task.missing.push_back(source.domain);
    task.notes.push_back(fmt::format("left out, its files are missing: {}", use_text(source)));
  }
  for (const Source& source : split.present) {
    for (const SourceFile& file : source.files) {
      task.hashes[file.path] = sha256_file(full_path(context, file.path));
    }
  }
  return split.present;
}

std::map<std::string, std::string> hashes_of(const Source& source,
                                             const std::map<std::string, std::string>& hashes) {
  std::map<std::string, std::string> result;
  for (const SourceFile& file : source.files) result[file.path] = hashes.at(file.path);
  return result;
}

void add_domain(Task& task, Use use, Domain domain) {
  switch (use) {
    case Use::training:
      return task.training.push_back(std::move(domain));
    case Use::validation:
      return task.validation.push_back(std::move(domain));
    case Use::test:
      return task.test.push_back(std::move(domain));
    case Use::all:
    case Use::vocabulary:
      break;
  }
  throw InternalError("add_domain: not the use of a single domain");
}

AdjacencyPtr adjacency_of_file(const std::string& path, int64_t rows, int64_t cols,
                               const torch::Tensor& source, const torch::Tensor& target) {
  try {
    return make_adjacency(rows, cols, source, target);
  } catch (const Error& error) {
    fail(ErrorKind::data, "{}: {}", path, error.what());
  }
}

AdjacencyPtr read_edge_csv(const std::string& path, int64_t n,
                           std::initializer_list<std::string_view> header, char separator) {
  std::vector<int64_t> source, target;
  io::read_csv(
      path,
      [&](const io::CsvRow& row) {
        if (row.line == 1 && header.size() > 0) return row.expect(header);
        row.expect_size(2);
        source.push_back(row.parse_int(0));
        target.push_back(row.parse_int(1));
        if (std::min(source.back(), target.back()) < 0 ||
            std::max(source.back(), target.back()) >= n) {
          fail(ErrorKind::data, "{}:{}: the edge {} -> {} leaves the nodes 0..{}", path, row.line,
               source.back(), target.back(), n - 1);
        }
      },
      separator);
  return adjacency_of_file(path, n, n, torch::tensor(source, torch::kInt64),
                           torch::tensor(target, torch::kInt64));
}

}  // namespace grm
