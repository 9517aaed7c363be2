#include "io/npz_archive.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "grm/core/error.h"
#include "io/npy.h"
#include "io/shapes.h"

#ifdef GRM_WITH_LIBZIP
#include <zip.h>
#endif

namespace grm::io {

#ifdef GRM_WITH_LIBZIP
namespace {

constexpr int64_t kBlock = int64_t{1} << 20;  // bytes that are unpacked at a time

// One array inside the archive, read front to back.

// Declared size of an entry, once it is known to be possible: sizes come from the archive's
// directory, which may lie, and memory is allocated by them.
int64_t believable_size(const zip_stat_t& stat, int64_t archive_size, const std::string& where) {
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if ((stat.valid & kNeeded) != kNeeded) {
    fail(ErrorKind::data, "{}: the archive does not say its size", where);
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

}  // namespace

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

struct NpzArchive::Archive {
  std::unique_ptr<zip_t, void (*)(zip_t*)> zip{nullptr, [](zip_t* open) { zip_discard(open); }};
  int64_t bytes = 0;
  std::map<std::string, zip_uint64_t> index_of;

  // An array that is open behind its header.
  struct Opened {
    Entry entry;
    NpyHeader header;
    int64_t data_bytes = 0;
  };

  Opened open(const std::string& name, const std::string& where) const {
    const zip_uint64_t index = index_of.at(name);
    zip_stat_t stat;
    if (zip_stat_index(zip.get(), index, 0, &stat) != 0) {
      fail(ErrorKind::data, "{}: cannot be read: {}", where, zip_strerror(zip.get()));
    }
    const int64_t size = believable_size(stat, bytes, where);
    Opened opened{Entry(zip.get(), index, where), {}, 0};
    std::string prefix(static_cast<size_t>(std::min(size, kNpyPrefixSize)), '\0');
    opened.entry.read(prefix.data(), static_cast<int64_t>(prefix.size()));
    const NpyPrefix at = parse_npy_prefix(prefix, where);
    const int64_t data_offset = at.text_offset + at.text_size;
    if (data_offset > size) fail(ErrorKind::data, "{}: ends inside the npy header", where);
    if (at.text_size > kBlock) {
      fail(ErrorKind::data, "{}: has a npy header of {} bytes", where, at.text_size);
    }
    // The prefix of version 1.0 is shorter, so up to two bytes of the text are already here.
    std::string text = prefix.substr(
        static_cast<size_t>(at.text_offset),
        static_cast<size_t>(std::min<int64_t>(at.text_size, kNpyPrefixSize - at.text_offset)));
    const auto known = static_cast<int64_t>(text.size());
    text.resize(static_cast<size_t>(at.text_size));
    opened.entry.read(text.data() + known, at.text_size - known);
    opened.header = parse_npy_header(text, where);
    opened.data_bytes = size - data_offset;
    return opened;
  }

  // The same for numbers, once shape and bytes are known to fit.
  Opened open_numbers(const std::string& name, const std::string& where, NpyType& type) const {
    Opened opened = open(name, where);
    const auto known = npy_type(opened.header.dtype);
    if (!known) {
      fail(ErrorKind::data,
           "{} has dtype {}, which is not a little-endian boolean, integer or float", where,
           opened.header.dtype);
    }
    type = *known;
    if (!fills(opened.header.shape, static_cast<int64_t>(torch::elementSize(type.stored)),
               opened.data_bytes)) {
      fail(ErrorKind::data, "{}: shape ({}) of dtype {} does not fill the {} bytes of data present",
           where, fmt::join(opened.header.shape, ", "), opened.header.dtype, opened.data_bytes);
    }
    return opened;
  }

  void expect_bounded(int64_t count, torch::ScalarType type, const std::string& where) const {
    const auto needed = count * static_cast<int64_t>(torch::elementSize(type));
    if (needed <= kTimesFile * bytes + kAnyFile) return;
    fail(ErrorKind::data,
         "{} would take {} MiB of memory, out of all proportion to the {} KiB of the file; save it "
         "with numpy.savez, which does not pack the numbers",
         where, needed >> 20, (bytes + 1023) >> 10);
  }
};

NpzArchive::NpzArchive(const std::string& path)
    : path_(path), archive_(std::make_unique<Archive>()) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    fail(ErrorKind::io, "{}: is a folder, a .npz file is needed", path);
  }
  int code = 0;
  archive_->zip.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive_->zip) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    const bool system = code == ZIP_ER_NOENT || code == ZIP_ER_OPEN || code == ZIP_ER_READ;
    fail(system ? ErrorKind::io : ErrorKind::data, "{}: cannot be read as a .npz archive: {}", path,
         reason);
  }
  archive_->bytes = static_cast<int64_t>(std::filesystem::file_size(path));
  const zip_int64_t count = zip_get_num_entries(archive_->zip.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const char* given = zip_get_name(archive_->zip.get(), index, 0);
    if (given == nullptr) {
      fail(ErrorKind::data, "{}: entry {} cannot be read: {}", path, i,
           zip_strerror(archive_->zip.get()));
    }
    std::string name = given;
    if (name.size() < 4 || name.compare(name.size() - 4, 4, ".npy") != 0) continue;
    name.resize(name.size() - 4);
    if (!archive_->index_of.emplace(name, index).second) {
      fail(ErrorKind::data, "{}: array '{}': occurs twice", path, name);
    }
  }
  for (const auto& entry : archive_->index_of) names_.push_back(entry.first);
}

bool NpzArchive::has(const std::string& name) const {
  return archive_->index_of.count(name) > 0;
}

NpzAbout NpzArchive::about(const std::string& name) const {
  const std::string where = fmt::format("{}: array '{}'", path_, name);
  NpyHeader header = archive_->open(name, where).header;
  const bool numeric = npy_type(header.dtype).has_value();
  return {std::move(header.dtype), numeric, header.fortran, std::move(header.shape)};
}

torch::Tensor NpzArchive::read(const std::string& name) const {
  const std::string where = fmt::format("{}: array '{}'", path_, name);
  NpyType type;
  Archive::Opened opened = archive_->open_numbers(name, where, type);
  const int64_t count = *element_count(opened.header.shape);
  archive_->expect_bounded(count, type.result, where);
  torch::Tensor numbers = torch::empty({count}, type.result);
  const int64_t step = kBlock / static_cast<int64_t>(torch::elementSize(type.stored));
  for (int64_t begin = 0; begin < count; begin += step) {
    torch::Tensor block = torch::empty({std::min(step, count - begin)}, type.stored);
    opened.entry.read(block.data_ptr(), static_cast<int64_t>(block.nbytes()));
    numbers.narrow(0, begin, block.numel()).copy_(npy_numbers(std::move(block), type, where));
  }
  opened.entry.expect_end();
  return npy_shaped(numbers, opened.header);
}

void NpzArchive::read_rows(const std::string& name,
                           const std::function<bool(const torch::Tensor& rows)>& each) const {
  const std::string where = fmt::format("{}: array '{}'", path_, name);
  NpyType type;
  Archive::Opened opened = archive_->open_numbers(name, where, type);
  ensure(opened.header.shape.size() == 2 && !opened.header.fortran, "read_rows: not in rows");
  const int64_t rows = opened.header.shape[0], columns = opened.header.shape[1];
  if (columns == 0) return;
  archive_->expect_bounded(columns, type.result, where);
  const int64_t item = static_cast<int64_t>(torch::elementSize(type.stored));
  const int64_t step = std::max<int64_t>(1, kBlock / (columns * item));
  for (int64_t begin = 0; begin < rows; begin += step) {
    const int64_t count = std::min(step, rows - begin);
    torch::Tensor block = torch::empty({count * columns}, type.stored);
    opened.entry.read(block.data_ptr(), static_cast<int64_t>(block.nbytes()));
    if (!each(npy_numbers(std::move(block), type, where).view({count, columns}))) return;
  }
  opened.entry.expect_end();
}

#else

struct NpzArchive::Archive {};

NpzArchive::NpzArchive(const std::string& path) : path_(path) {
  fail(ErrorKind::config,
       "{}: .npz files need libzip; this program was built without it: install libzip-dev and "
       "configure with -DGRM_WITH_LIBZIP=ON",
       path);
}
bool NpzArchive::has(const std::string&) const {
  return false;
}
NpzAbout NpzArchive::about(const std::string&) const {
  return {};
}
torch::Tensor NpzArchive::read(const std::string&) const {
  return {};
}
void NpzArchive::read_rows(const std::string&,
                           const std::function<bool(const torch::Tensor&)>&) const {}

#endif

NpzArchive::~NpzArchive() = default;
NpzArchive::NpzArchive(NpzArchive&&) noexcept = default;

}  // namespace grm::io
