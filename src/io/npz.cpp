#include "grm/io/npz.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "grm/core/error.h"
#include "npy.h"
#include "shapes.h"

#ifdef GRM_WITH_LIBZIP
#include <zip.h>
#endif

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

#ifdef GRM_WITH_LIBZIP
namespace {

using Archive = std::unique_ptr<zip_t, void (*)(zip_t*)>;

Archive open_archive(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    fail(ErrorKind::io, "{}: is a folder, a .npz file is needed", path);
  }
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (archive == nullptr) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    const bool system = code == ZIP_ER_NOENT || code == ZIP_ER_OPEN || code == ZIP_ER_READ;
    fail(system ? ErrorKind::io : ErrorKind::data, "{}: cannot be read as a .npz archive: {}", path,
         reason);
  }
  return Archive(archive, [](zip_t* open) { zip_discard(open); });
}

// One array inside the archive, read front to back.
class Entry {
 public:
  Entry(zip_t* archive, zip_uint64_t index, const std::string& where)
      : where_(where), file_(zip_fopen_index(archive, index, 0), zip_fclose) {
    if (!file_) fail(ErrorKind::data, "{}: cannot be read: {}", where, zip_strerror(archive));
  }

  void read(void* out, int64_t size) {
    const int64_t got =
        size == 0 ? 0 : zip_fread(file_.get(), out, static_cast<zip_uint64_t>(size));
    if (got != size) fail(ErrorKind::data, "{}: is truncated or damaged: {}", where_, reason());
  }

  // Reaching the end is what makes libzip compare the checksum.
  void expect_end() {
    char byte;
    if (zip_fread(file_.get(), &byte, 1) != 0) {
      fail(ErrorKind::data, "{}: is damaged: {}", where_, reason());
    }
  }

 private:
  std::string reason() {
    const std::string text = zip_file_strerror(file_.get());
    return text == "No error" ? "the entry does not end where the archive says" : text;
  }

  const std::string& where_;
  std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file_;
};

// Declared size of an entry, once it is known to be possible: sizes come from the archive's
// directory, which may lie, and memory is allocated by them.
int64_t believable_size(const zip_stat_t& stat, int64_t archive_size, const std::string& where) {
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if ((stat.valid & kNeeded) != kNeeded) {
    fail(ErrorKind::data, "{}: the archive does not tell its size", where);
  }
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    fail(ErrorKind::data, "{}: compression method {} is not read, only stored and deflated entries",
         where, stat.comp_method);
  }
  // Deflate cannot expand by more than 1032 to 1.
  const zip_uint64_t most_expansion = stat.comp_method == ZIP_CM_STORE ? 1 : 1032;
  if (stat.comp_size > static_cast<zip_uint64_t>(archive_size) ||
      stat.size > stat.comp_size * most_expansion) {
    fail(ErrorKind::data, "{}: declares {} bytes from {} packed ones in a file of {} bytes", where,
         stat.size, stat.comp_size, archive_size);
  }
  return static_cast<int64_t>(stat.size);
}

void read_array(zip_t* archive, zip_uint64_t index, const std::string& name, int64_t size,
                const std::string& where, Npz& npz) {
  Entry entry(archive, index, where);
  std::string prefix(static_cast<size_t>(std::min(size, kNpyPrefixSize)), '\0');
  entry.read(prefix.data(), static_cast<int64_t>(prefix.size()));
  const NpyPrefix at = parse_npy_prefix(prefix, where);
  const int64_t data_offset = at.text_offset + at.text_size;
  if (data_offset > size) fail(ErrorKind::data, "{}: ends inside the npy header", where);

  // The prefix of version 1.0 is shorter, so up to two bytes of the text are already here.
  std::string text = prefix.substr(
      static_cast<size_t>(at.text_offset),
      static_cast<size_t>(std::min<int64_t>(at.text_size, kNpyPrefixSize - at.text_offset)));
  const auto known = static_cast<int64_t>(text.size());
  text.resize(static_cast<size_t>(at.text_size));
  entry.read(text.data() + known, at.text_size - known);
  const NpyHeader header = parse_npy_header(text, where);

  const auto type = npy_type(header.dtype);
  if (!type) {
    npz.unread[name] = header.dtype;
    return;
  }
  const auto item = static_cast<int64_t>(torch::elementSize(type->stored));
  if (!fills(header.shape, item, size - data_offset)) {
    fail(ErrorKind::data, "{}: shape ({}) of dtype {} does not fill the {} bytes of data present",
         where, fmt::join(header.shape, ", "), header.dtype, size - data_offset);
  }
  torch::Tensor stored = torch::empty({*element_count(header.shape)}, type->stored);
  entry.read(stored.data_ptr(), size - data_offset);
  entry.expect_end();
  npz.arrays[name] = npy_result(std::move(stored), *type, header, where);
}

}  // namespace

Npz read_npz(const std::string& path) {
  const Archive archive = open_archive(path);
  const auto archive_size = static_cast<int64_t>(std::filesystem::file_size(path));
  Npz npz;
  npz.path = path;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    zip_stat_t stat;
    if (zip_stat_index(archive.get(), index, 0, &stat) != 0 || !(stat.valid & ZIP_STAT_NAME)) {
      fail(ErrorKind::data, "{}: entry {} cannot be read: {}", path, i,
           zip_strerror(archive.get()));
    }
    std::string name = stat.name;
    if (name.size() < 4 || name.compare(name.size() - 4, 4, ".npy") != 0) continue;
    name.resize(name.size() - 4);
    const std::string where = fmt::format("{}: array '{}'", path, name);
    if (npz.arrays.count(name) > 0 || npz.unread.count(name) > 0) {
      fail(ErrorKind::data, "{}: occurs twice", where);
    }
    read_array(archive.get(), index, name, believable_size(stat, archive_size, where), where, npz);
  }
  return npz;
}

#else

Npz read_npz(const std::string& path) {
  fail(ErrorKind::config,
       "{}: .npz files need libzip; this program was built without it: install libzip-dev and "
       "configure with -DGRM_WITH_LIBZIP=ON",
       path);
}

#endif

}  // namespace grm::io
