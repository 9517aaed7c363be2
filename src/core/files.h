#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace grm {

/// Whole file as bytes. Error(io) names the path and the system's reason.
std::string read_file(const std::string& path);

/// Writes to a temporary name beside `path`, flushes it to disk, then renames: whoever reads `path`
/// sees the old content or the new one, never a part. Creates missing parent folders. A failure
/// removes the temporary; a killed process leaves it behind.
void write_file_atomic(const std::string& path, std::string_view content);

/// A fresh file beside `path`, open for writing, under a name that nobody can guess and prepare:
/// what is there already, a link too, is never written through. Error(io).
struct Temporary {
  std::string path;
  int descriptor;
};
Temporary create_temporary(const std::string& path);
/// A number that others cannot guess, for names.
uint64_t unpredictable();

/// Whether a file name is one that write_file_atomic gives to its temporaries.
bool is_temporary(const std::string& name);

/// SHA-256 (FIPS 180-4) as 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);
std::string sha256_file(const std::string& path);

/// Full path of an executable in $PATH, or "".
std::string find_program(const std::string& name);

/// Folder for caches: $GRM_CACHE, else $XDG_CACHE_HOME/grm, else .cache/grm in $HOME or in the home
/// of the account; empty where there is none: nothing is cached then.
std::string cache_folder();
/// A file in a part of the cache, "" without a cache.
std::string cache_file(const std::string& part, const std::string& name);

}  // namespace grm
