#include "io/idx.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "grm/core/error.h"
#include "io/gz_file.h"

namespace grm::io {
namespace {

constexpr size_t kIdxChunk = size_t{1} << 20;
constexpr int64_t kMostBytes = int64_t{1} << 32;  // more is a broken header, not data
constexpr int kUnsignedByte = 8;                  // the format's number for this type

// The bytes of a plain or gzipped file.
class ByteReader {
 public:
  explicit ByteReader(const std::string& path) : path_(path), file_(open_gz(path)) {}

  // The next bytes, fewer than `count` at the end of the file only. Memory grows with what comes,
  // not with what a header promises.
  std::vector<uint8_t> next(size_t count) {
    std::vector<uint8_t> bytes;
    size_t filled = 0;
    while (filled < count) {
      const size_t wanted = std::min(kIdxChunk, count - filled);
      bytes.resize(filled + wanted);
      const int got = gzread(file_.get(), bytes.data() + filled, static_cast<unsigned>(wanted));
      filled += static_cast<size_t>(std::max(got, 0));
      bytes.resize(filled);
      if (got == static_cast<int>(wanted)) continue;
      check_end();
      break;
    }
    return bytes;
  }

 private:
  // A gzip stream that stops early is only visible as an error code beside the short read.
  void check_end() const {
    int code = Z_OK;
    const char* text = gzerror(file_.get(), &code);
    if (code == Z_OK || code == Z_STREAM_END) return;
    fail(code == Z_ERRNO ? ErrorKind::io : ErrorKind::data, "{}: reading failed: {}", path_,
         code == Z_BUF_ERROR ? "the gzip stream is truncated" : text);
  }

  const std::string& path_;
  GzFile file_;
};

int64_t big_endian(const uint8_t* byte) {
  return int64_t{byte[0]} << 24 | int64_t{byte[1]} << 16 | int64_t{byte[2]} << 8 | byte[3];
}

}  // namespace

torch::Tensor read_idx(const std::string& path, int64_t dimensions) {
  ensure(dimensions >= 1 && dimensions <= 255, "read_idx: one byte counts the dimensions");
  ByteReader file(path);
  const std::vector<uint8_t> magic = file.next(4);
  if (magic.size() < 4) fail(ErrorKind::data, "{}: ends inside its first four bytes", path);
  if (magic[0] != 0 || magic[1] != 0 || magic[2] != kUnsignedByte || magic[3] != dimensions) {
    fail(ErrorKind::data,
         "{}: begins with {:02x}{:02x}{:02x}{:02x}, expected 0000{:02x}{:02x}: "
         "an IDX file of bytes in {} dimensions",
         path, magic[0], magic[1], magic[2], magic[3], kUnsignedByte, dimensions, dimensions);
  }
  const std::vector<uint8_t> header = file.next(static_cast<size_t>(4 * dimensions));
  if (header.size() < static_cast<size_t>(4 * dimensions)) {
    fail(ErrorKind::data, "{}: ends inside the sizes of its dimensions", path);
  }
  std::vector<int64_t> sizes;
  int64_t count = 1;
  for (int64_t k = 0; k < dimensions; ++k) {
    const int64_t size = big_endian(header.data() + 4 * k);
    if (size == 0 || size > kMostBytes / count) {
      fail(ErrorKind::data, "{}: dimension {} has size {}, expected 1 and more, {} bytes in all",
           path, k + 1, size, kMostBytes);
    }
    sizes.push_back(size);
    count *= size;
  }
  const std::vector<uint8_t> bytes = file.next(static_cast<size_t>(count) + 1);
  if (static_cast<int64_t>(bytes.size()) != count) {
    fail(ErrorKind::data, "{}: {} bytes after the header, which announces {}", path,
         static_cast<int64_t>(bytes.size()) > count ? "more" : std::to_string(bytes.size()), count);
  }
  torch::Tensor values = torch::empty(sizes, torch::kUInt8);
  std::memcpy(values.data_ptr<uint8_t>(), bytes.data(), bytes.size());
  return values;
}

}  // namespace grm::io
