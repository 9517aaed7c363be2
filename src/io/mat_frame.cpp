#include "mat_frame.h"

#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "grm/core/error.h"

namespace grm::io {
namespace {

// Data types and array classes of the format.
enum Type : uint32_t { kInt8 = 1, kInt32 = 5, kUInt32 = 6, kMatrix = 14, kCompressed = 15 };
enum Class : uint32_t { kChar = 4, kSparse = 5, kFirstNumeric = 6, kLastNumeric = 15 };

// Bytes of one number of a data type; 0 if it is not a number.
int64_t type_size(uint32_t type) {
  constexpr int64_t kSizes[] = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8};
  return type < std::size(kSizes) ? kSizes[type] : 0;
}

// A part of the file, plain or inflated on the way.
class Bytes {
 public:
  Bytes(std::ifstream& in, const std::string& path, int64_t size, bool packed)
      : in_(in), path_(path), left_(size), packed_(packed) {
    if (packed && inflateInit(&stream_) != Z_OK) throw std::bad_alloc();
  }
  ~Bytes() {
    if (packed_) inflateEnd(&stream_);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  void read(void* out, int64_t size) {
    if (packed_) {
      stream_.next_out = static_cast<Bytef*>(out);
      stream_.avail_out = static_cast<uInt>(size);
      while (stream_.avail_out > 0) inflate_some();
      return;
    }
    if (size > left_) truncated();
    left_ -= size;
    if (!in_.read(static_cast<char*>(out), size)) truncated();
  }

  void skip(int64_t size) {
    char buffer[4096];
    for (; size > 0; size -= std::min<int64_t>(size, sizeof buffer)) {
      read(buffer, std::min<int64_t>(size, sizeof buffer));
    }
  }

  // Nothing may follow; for compressed data this also compares the checksum.
  void expect_end() {
    if (packed_ && !ended_) {
      Bytef beyond;
      stream_.next_out = &beyond;
      stream_.avail_out = 1;
      while (!ended_ && stream_.avail_out > 0) inflate_some();
    }
    if ((packed_ && !ended_) || left_ != 0 || stream_.avail_in != 0) truncated();
  }

 private:
  void inflate_some() {
    if (ended_) truncated();
    if (stream_.avail_in == 0) {
      const int64_t take = std::min<int64_t>(left_, sizeof input_);
      if (take == 0 || !in_.read(input_, take)) truncated();
      left_ -= take;
      stream_.next_in = reinterpret_cast<Bytef*>(input_);
      stream_.avail_in = static_cast<uInt>(take);
    }
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END) truncated();
    ended_ = code == Z_STREAM_END;
  }

  [[noreturn]] void truncated() const {
    fail(ErrorKind::data, "{}: is truncated or damaged: an element's data do not have their size",
         path_);
  }

  std::ifstream& in_;
  const std::string& path_;
  int64_t left_;
  bool packed_;
  bool ended_ = false;
  z_stream stream_{};
  char input_[1 << 14];
};

struct Tag {
  uint32_t type;
  int64_t size;         // bytes of data
  std::string content;  // of elements small enough to matter: flags, dimensions, names
};

// The elements inside one matrix, in order.
class MatrixParts {
 public:
  MatrixParts(Bytes& bytes, int64_t size, const std::string& path)
      : bytes_(bytes), left_(size), path_(path) {}

  Tag next(bool keep) {
    uint32_t words[2];
    take(words, 8);
    if (words[0] >> 16 != 0) {  // small element: size and type share a word, the data follow it
      const int64_t size = words[0] >> 16;
      if (size > 4) broken("a small element holds more than four bytes");
      return {words[0] & 0xFFFF, size,
              std::string(reinterpret_cast<const char*>(words + 1), static_cast<size_t>(size))};
    }
    Tag tag{words[0], words[1], ""};
    const int64_t padded = (tag.size + 7) / 8 * 8;
    if (padded > left_) broken("a part is larger than the matrix");
    if (keep) {
      if (tag.size > 4096) broken("its name or its dimensions are too long");
      tag.content.resize(static_cast<size_t>(tag.size));
      take(tag.content.data(), tag.size);
      skip(padded - tag.size);
    } else {
      skip(padded);
    }
    return tag;
  }

  int64_t left() const { return left_; }
  void skip_rest() { skip(left_); }

  [[noreturn]] void broken(const char* what) const {
    fail(ErrorKind::data, "{}: a matrix is damaged: {}", path_, what);
  }

 private:
  void take(void* out, int64_t size) {
    if (size > left_) broken("it ends inside a part");
    bytes_.read(out, size);
    left_ -= size;
  }
  void skip(int64_t size) {
    bytes_.skip(size);
    left_ -= size;
  }

  Bytes& bytes_;
  int64_t left_;
  const std::string& path_;
};

// Checks one matrix and returns its name. Only the wanted one must be of a kind that can be read;
// those before it (`passed`) must not be of a kind for whose parts matio reserves memory on its
// way.
std::string check_matrix(MatrixParts parts, const std::string& path, const std::string& wanted,
                         bool passed) {
  const Tag flags = parts.next(true);
  const Tag dims = parts.next(true);
  const Tag name = parts.next(true);
  if (flags.type != kUInt32 || flags.size != 8 || dims.type != kInt32 || dims.size < 8 ||
      dims.size % 4 != 0 || name.type != kInt8) {
    parts.broken("it does not begin with flags, dimensions and a name");
  }
  // Names may be padded with zeros.
  const std::string text = name.content.substr(0, name.content.find('\0'));
  uint32_t flag_word = 0;
  int32_t size[2];
  std::memcpy(&flag_word, flags.content.data(), 4);
  std::memcpy(size, dims.content.data(), 8);
  const uint32_t array_class = flag_word & 0xFF;
  if (text != wanted) {
    if (passed && (array_class < kChar || array_class > kLastNumeric)) {
      fail(ErrorKind::data,
           "{}: '{}' stands before '{}' and is no plain array (a cell, a structure or an object); "
           "save the matrices alone, or first",
           path, text, wanted);
    }
    parts.skip_rest();
    return text;
  }
  const bool complex = flag_word & 0x0800;
  const bool sparse = array_class == kSparse;
  if (dims.size != 8 || size[0] < 0 || size[1] < 0 || complex ||
      !(sparse || (array_class >= kFirstNumeric && array_class <= kLastNumeric))) {
    fail(ErrorKind::data, "{}: variable '{}' is not a real matrix of numbers", path, wanted);
  }
  if (sparse) {
    const Tag rows = parts.next(false);
    const Tag starts = parts.next(false);
    if (rows.type != kInt32 || starts.type != kInt32 || rows.size % 4 != 0 ||
        starts.size != 4 * (int64_t{size[1]} + 1)) {
      parts.broken("its row numbers or column starts do not have their size");
    }
  }
  const Tag data = parts.next(false);
  const int64_t item = type_size(data.type);
  const int64_t count = int64_t{size[0]} * size[1];
  if (item == 0 || (sparse ? data.size % item != 0 : data.size / item != count) ||
      (!sparse && data.size % item != 0) || parts.left() != 0) {
    fail(ErrorKind::data, "{}: variable '{}': {} x {} numbers do not have {} bytes", path, wanted,
         size[0], size[1], data.size);
  }
  return text;
}

}  // namespace

void check_mat_frame(const std::string& path, const std::string& name) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) {
    fail(ErrorKind::io, "{}: is a folder, a .mat file is needed", path);
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(ErrorKind::io, "{}: cannot be opened: {}", path, std::strerror(errno));
  const auto file_size = static_cast<int64_t>(std::filesystem::file_size(path));
  char header[128] = {};
  in.read(header, sizeof header);
  if (!in || std::memcmp(header, "MATLAB 5.0", 10) != 0 ||
      std::memcmp(header + 124, "\x00\x01IM", 4) != 0) {
    fail(ErrorKind::data, "{}: is not a little-endian MATLAB version 5 file", path);
  }
  std::vector<std::string> names;
  int64_t at = sizeof header;
  while (at < file_size) {
    uint32_t words[2];
    if (!in.read(reinterpret_cast<char*>(words), 8) || words[1] > file_size - at - 8) {
      fail(ErrorKind::data, "{}: is truncated at byte {}", path, at);
    }
    const bool packed = words[0] == kCompressed;
    Bytes bytes(in, path, words[1], packed);
    uint32_t inner[2] = {words[0], words[1]};
    if (packed) bytes.read(inner, 8);
    if (inner[0] != kMatrix) {
      fail(ErrorKind::data, "{}: the element at byte {} has type {}, expected a matrix", path, at,
           inner[0]);
    }
    const bool passed = std::find(names.begin(), names.end(), name) == names.end();
    names.push_back(check_matrix(MatrixParts(bytes, inner[1], path), path, name, passed));
    bytes.expect_end();
    at += 8 + int64_t{words[1]};
  }
  if (std::count(names.begin(), names.end(), name) != 1) {
    fail(ErrorKind::data, "{}: does not have exactly one variable '{}'; it holds {}", path, name,
         names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  }
}

}  // namespace grm::io
