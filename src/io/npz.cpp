#include "io/npz.h"

#include <fmt/ranges.h>

#include "grm/core/error.h"
#include "io/npz_archive.h"

namespace grm::io {

const torch::Tensor& Npz::at(const std::string& name) const {
  const auto found = arrays.find(name);
  if (found != arrays.end()) return found->second;
  const auto other = unread.find(name);
  if (other != unread.end()) {
    fail(ErrorKind::data,
         "{}: array '{}' has dtype {}, which is not a little-endian boolean, integer or float",
         path, name, other->second);
  }
  std::vector<std::string> names;
  for (const auto& entry : arrays) names.push_back(entry.first);
  fail(ErrorKind::data, "{}: has no array '{}'; it holds {}", path, name,
       names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

Npz read_npz(const std::string& path, const std::vector<std::string>& wanted) {
  const NpzArchive archive(path);
  Npz npz;
  npz.path = path;
  for (const std::string& name : wanted.empty() ? archive.names() : wanted) {
    if (!archive.has(name)) continue;
    const NpzAbout about = archive.about(name);
    if (about.numeric) {
      npz.arrays[name] = archive.read(name);
    } else {
      npz.unread[name] = about.dtype;
    }
  }
  return npz;
}

}  // namespace grm::io
