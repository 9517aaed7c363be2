// The part of 'grm doctor' that looks at files: datasets and the cache.
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "cli/doctor.h"
#include "core/files.h"
#include "core/json.h"
#include "grm/core/error.h"

namespace grm::cli {
namespace {
namespace fs = std::filesystem;
using Mark = Finding::Mark;

// The largest description that a file of parsed data carries; more is not one of ours.
constexpr uint64_t kLargestHeader = 16 << 20;

// File name -> hashes under which files of the cache were made from it.
using Known = std::map<std::string, std::set<std::string>>;

// The lines "file hash" in the description of one file of parsed data; its tensors are not read.
void add_sources(const fs::path& path, Known& known) {
  std::ifstream in(path, std::ios::binary);
  uint64_t length = 0;
  if (!in.read(reinterpret_cast<char*>(&length), sizeof length) || length > kLargestHeader) return;
  std::string text(length, '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(length))) return;
  const ordered_json header = try_json<ordered_json>(text);
  if (!header.is_object() || !header.contains("__metadata__")) return;
  const ordered_json& metadata = header["__metadata__"];
  if (!metadata.is_object() || !metadata.contains("sources")) return;
  std::istringstream lines(metadata["sources"].is_string() ? metadata["sources"].get<std::string>()
                                                           : std::string());
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.rfind(' ');
    if (space != std::string::npos && line.size() - space - 1 == 64) {
      known[line.substr(0, space)].insert(line.substr(space + 1));
    }
  }
}

Known known_hashes(const std::string& folder) {
  Known known;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".safetensors") add_sources(entry.path(), known);
  }
  return known;
}

// Adds the hash of each file that is there and tells which differ from what the cache remembers.
void compare_hashes(const std::string& root, const std::vector<std::string>& files,
                    const Known& known, const std::string& published_at, Finding& finding) {
  std::vector<std::string> changed;
  int64_t agree = 0;
  for (const std::string& file : files) {
    const std::string path = (fs::path(root) / file).string();
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) continue;
    const std::string hash = sha256_file(path);
    const auto remembered = known.find(file);
    const char* state = "not read before";
    if (remembered != known.end()) {
      const bool same = remembered->second.count(hash) > 0;
      state = same ? "as when it was read" : "changed";
      agree += same ? 1 : 0;
      if (!same) changed.push_back(file);
    }
    finding.files.push_back({{"file", file}, {"sha256", hash}, {"state", state}});
  }
  if (agree > 0) finding.value += fmt::format(", {} as when they were read", agree);
  if (changed.empty()) return;
  finding.level = Mark::fix;
  finding.advice =
      fmt::format("{} changed since it was read; unless you changed it, fetch it again from {}",
                  changed.front(), published_at);
}

Finding examine_dataset(const std::string& root, const DatasetEntry& entry,
                        const std::vector<std::string>& files) {
  std::vector<std::string> missing;
  double bytes = 0;
  for (const std::string& file : files) {
    std::error_code code;
    const uintmax_t size = fs::file_size(fs::path(root) / file, code);
    if (code) {
      missing.push_back(file);
    } else {
      bytes += static_cast<double>(size);
    }
  }
  Finding finding;
  finding.what = "data " + entry.name;
  finding.value = fmt::format("{} of {} files", files.size() - missing.size(), files.size());
  if (missing.size() < files.size()) finding.value += ", " + bytes_text(bytes);
  if (!missing.empty()) {
    // Nothing there: nobody asked for it. A part: somebody did.
    finding.level = missing.size() == files.size() ? Mark::note : Mark::fix;
    finding.advice =
        fmt::format("missing {}{}; published at {}{}", missing.front(),
                    missing.size() > 1 ? fmt::format(" and {} more", missing.size() - 1) : "",
                    entry.published_at,
                    missing.size() < files.size() ? "; --allow-missing trains without" : "");
  }
  return finding;
}

}  // namespace

std::string bytes_text(double bytes) {
  for (const char* unit : {"B", "KiB", "MiB"}) {
    if (bytes < 1000) return fmt::format("{:.0f} {}", bytes, unit);
    bytes /= 1024;
  }
  return fmt::format("{:.1f} GiB", bytes);
}

std::vector<Finding> examine_data(const Common& common, bool hashes) {
  const DataContext context = common.data_context();
  const std::string& root = context.root;
  std::error_code ignored;
  Finding folder{"data root", root.empty() ? "not set" : root, Mark::ok, "", {}};
  if (root.empty()) {
    folder.level = Mark::note;
    folder.advice = "set GRM_DATA or --data-root for the published datasets";
  } else if (!fs::is_directory(root, ignored)) {
    folder.level = Mark::fix;
    folder.advice = "is not a folder; set GRM_DATA or --data-root to the one with the datasets";
  }
  std::vector<Finding> found = {folder};
  if (root.empty() || folder.level != Mark::ok) return found;
  const Known known = hashes ? known_hashes(context.cache) : Known();
  for (const DatasetEntry& entry : datasets()) {
    const std::vector<std::string> files = DatasetChoice(entry.name).files();
    if (files.empty()) continue;
    found.push_back(examine_dataset(root, entry, files));
    if (!hashes) continue;
    try {
      compare_hashes(root, files, known, entry.published_at, found.back());
    } catch (const Error& error) {
      found.back().level = Mark::fix;
      found.back().advice = error.what();
    }
  }
  return found;
}

Finding examine_cache() {
  const std::string folder = cache_folder();
  Finding finding{"cache", folder, Mark::ok, "", {}};
  if (folder.empty()) {
    finding.value = "none";
    finding.level = Mark::note;
    finding.advice =
        "HOME is not set and the account has no home: nothing is cached; set GRM_CACHE";
    return finding;
  }
  try {
    write_file_atomic(folder + "/.writable", "");
    fs::remove(folder + "/.writable");
  } catch (const std::exception& error) {
    finding.level = Mark::fix;
    finding.advice = fmt::format("{}; set GRM_CACHE to a folder that can be written", error.what());
    return finding;
  }
  std::error_code code;
  double bytes = 0, leftover = 0;
  int64_t leftovers = 0;
  for (fs::recursive_directory_iterator at(folder, code), end; !code && at != end;
       at.increment(code)) {
    std::error_code ignored;
    if (!at->is_regular_file(ignored)) continue;
    const auto size = static_cast<double>(at->file_size(ignored));
    bytes += size;
    if (is_temporary(at->path().filename().string())) {
      leftover += size;
      ++leftovers;
    }
  }
  finding.value += ", " + bytes_text(bytes);
  if (leftovers > 0) {
    finding.level = Mark::note;
    finding.advice = fmt::format(
        "{} unfinished file{} ({}) of writers that were killed; while no grm runs: find '{}' -name "
        "'*.tmp*-*' -delete",
        leftovers, leftovers == 1 ? "" : "s", bytes_text(leftover), folder);
  }
  return finding;
}

}  // namespace grm::cli
