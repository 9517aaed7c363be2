#include "io/mat_frame.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "grm/core/error.h"
#include "io/mat_bytes.h"

namespace grm::io {
namespace {

// Data types and array classes of the format.
enum Type : uint32_t { kInt8 = 1, kInt32 = 5, kUInt32 = 6, kMatrix = 14, kCompressed = 15 };
enum Class : uint32_t { kSparse = 5, kFirstNumeric = 6, kLastNumeric = 15 };

constexpr int64_t kPiece = 4096;  // bytes

// Bytes of one number of a data type; 0 if it is not a number.
int64_t type_size(uint32_t type) {
  constexpr int64_t kSizes[] = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8};
  return type < std::size(kSizes) ? kSizes[type] : 0;
}

// Data of a part, a block at a time; a block holds whole numbers of the part's type.
using Use = std::function<void(uint32_t type, const char* data, int64_t size)>;

const Use kSkip = [](uint32_t, const char*, int64_t) {};

// The parts of one matrix, in order.
class MatrixParts {
 public:
  MatrixParts(Bytes& bytes, int64_t size, const std::string& path)
      : bytes_(bytes), left_(size), path_(path) {}

  struct Part {
    uint32_t type;
    int64_t size;  // bytes of data
  };

  Part next(const Use& use) {
    uint32_t words[2];
    take(words, 8);
    if (words[0] >> 16 != 0) {  // small part: size and type share a word, the data follow it
      const Part part{words[0] & 0xFFFF, words[0] >> 16};
      if (part.size > 4) broken("a small element holds more than four bytes");
      use(part.type, reinterpret_cast<const char*>(words + 1), part.size);
      return part;
    }
    const Part part{words[0], words[1]};
    const int64_t padded = (part.size + 7) / 8 * 8;
    if (padded > left_) broken("a part is larger than the matrix");
    char block[kPiece];
    for (int64_t at = 0; at < part.size;) {
      const int64_t size = std::min(part.size - at, kPiece);
      take(block, size);
      use(part.type, block, size);
      at += size;
    }
    take(block, padded - part.size);
    return part;
  }

  // A short part as it is: flags, dimensions, a name.
  std::string text(uint32_t type) {
    std::string content;
    const Part part = next([&](uint32_t, const char* data, int64_t size) {
      content.append(data, static_cast<size_t>(size));
      if (content.size() > kPiece) broken("its name or its dimensions are too long");
    });
    if (part.type != type) broken("it does not begin with flags, dimensions and a name");
    return content;
  }

  int64_t left() const { return left_; }
  void skip_rest() {
    char block[kPiece];
    while (left_ > 0) take(block, std::min(left_, kPiece));
  }

  [[noreturn]] void broken(const char* what) const {
    fail(ErrorKind::data, "{}: a matrix is damaged: {}", path_, what);
  }

 private:
  void take(void* out, int64_t size) {
    if (size > left_) broken("it ends inside a part");
    bytes_.read(out, size);
    left_ -= size;
  }

  Bytes& bytes_;
  int64_t left_;
  const std::string& path_;
};

struct Head {
  std::string name;
  uint32_t array_class;
  bool complex;
  std::vector<int32_t> dims;
};

Head read_head(MatrixParts& parts) {
  const std::string flags = parts.text(kUInt32);
  const std::string dims = parts.text(kInt32);
  const std::string name = parts.text(kInt8);
  if (flags.size() != 8 || dims.size() < 8 || dims.size() % 4 != 0) {
    parts.broken("it does not begin with flags, dimensions and a name");
  }
  uint32_t word = 0;
  std::memcpy(&word, flags.data(), 4);
  // Names may be padded with zeros.
  Head head{name.substr(0, name.find('\0')), word & 0xFF, (word & 0x0800) != 0, {}};
  head.dims.resize(dims.size() / 4);
  std::memcpy(head.dims.data(), dims.data(), dims.size());
  return head;
}

// What follows the head of the wanted matrix, read to the end.
MatMatrix check_matrix(MatrixParts& parts, const Head& head, const std::string& path) {
  const bool sparse = head.array_class == kSparse;
  if (head.dims.size() != 2 || head.dims[0] < 0 || head.dims[1] < 0 || head.complex ||
      !(sparse || (head.array_class >= kFirstNumeric && head.array_class <= kLastNumeric))) {
    fail(ErrorKind::data, "{}: variable '{}' is not a real matrix of numbers", path, head.name);
  }
  MatMatrix found;
  found.sparse = sparse;
  found.rows = head.dims[0];
  found.cols = head.dims[1];
  if (sparse) {
    const auto rows = parts.next(kSkip);
    const auto starts = parts.next(kSkip);
    if (rows.type != kInt32 || starts.type != kInt32 || rows.size % 4 != 0 ||
        starts.size != 4 * (found.cols + 1)) {
      parts.broken("its row numbers or column starts do not have their size");
    }
    found.counts = {rows.size / 4, starts.size / 4};
  }
  const auto data = parts.next(kSkip);
  const int64_t item = type_size(data.type);
  if (item == 0 || data.size % item != 0 || parts.left() != 0 ||
      (!sparse && data.size / item != found.rows * found.cols)) {
    fail(ErrorKind::data, "{}: variable '{}': {} x {} numbers do not have {} bytes", path,
         head.name, found.rows, found.cols, data.size);
  }
  found.counts.push_back(data.size / item);
  return found;
}

template <class T>
void convert(const char* data, int64_t count, double* out) {
  for (int64_t i = 0; i < count; ++i) {
    T number;
    std::memcpy(&number, data + i * static_cast<int64_t>(sizeof number), sizeof number);
    out[i] = static_cast<double>(number);
  }
}

using Convert = void (*)(const char*, int64_t, double*);
constexpr Convert kConvert[] = {
    nullptr,          convert<int8_t>,   convert<uint8_t>, convert<int16_t>, convert<uint16_t>,
    convert<int32_t>, convert<uint32_t>, convert<float>,   nullptr,          convert<double>,
    nullptr,          nullptr,           convert<int64_t>, convert<uint64_t>};

// An element at the top of the file: the matrix in it, plain or packed.
struct Element {
  Element(std::ifstream& in, const std::string& path, int64_t at, int64_t file_size)
      : tag(read_tag(in, path, at, file_size)),
        bytes(in, path, tag[1], tag[0] == kCompressed),
        end(at + 8 + int64_t{tag[1]}) {
    if (tag[0] == kCompressed) bytes.read(tag.data(), 8);
    if (tag[0] != kMatrix) {
      fail(ErrorKind::data, "{}: the element at byte {} has type {}, expected a matrix", path, at,
           tag[0]);
    }
  }

  static std::array<uint32_t, 2> read_tag(std::ifstream& in, const std::string& path, int64_t at,
                                          int64_t file_size) {
    std::array<uint32_t, 2> words{};
    if (!in.read(reinterpret_cast<char*>(words.data()), 8) || words[1] > file_size - at - 8) {
      fail(ErrorKind::data, "{}: is truncated at byte {}", path, at);
    }
    return words;
  }

  std::array<uint32_t, 2> tag;
  Bytes bytes;
  int64_t end;
};

}  // namespace

MatMatrix find_mat_matrix(const std::string& path, const std::string& name) {
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
  MatMatrix found;
  for (int64_t at = sizeof header; at < file_size;) {
    Element element(in, path, at, file_size);
    MatrixParts parts(element.bytes, element.tag[1], path);
    const Head head = read_head(parts);
    if (head.name == name) {
      found = check_matrix(parts, head, path);
      found.at = at;
    }
    parts.skip_rest();
    element.bytes.expect_end();
    names.push_back(head.name);
    at = element.end;
  }
  if (std::count(names.begin(), names.end(), name) != 1) {
    fail(ErrorKind::data, "{}: does not have exactly one variable '{}'; it holds {}", path, name,
         names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  }
  return found;
}

void read_mat_matrix(const std::string& path, const MatMatrix& matrix,
                     const std::vector<MatSink>& sinks) {
  std::ifstream in(path, std::ios::binary);
  in.seekg(matrix.at);
  Element element(in, path, matrix.at, static_cast<int64_t>(std::filesystem::file_size(path)));
  MatrixParts parts(element.bytes, element.tag[1], path);
  read_head(parts);
  for (size_t i = 0; i < sinks.size(); ++i) {
    int64_t done = 0;
    parts.next([&](uint32_t type, const char* data, int64_t size) {
      const int64_t count = type_size(type) == 0 ? 0 : size / type_size(type);
      if (count == 0 || done + count > matrix.counts[i]) {
        parts.broken("the file changed while it was read");
      }
      double numbers[kPiece];
      kConvert[type](data, count, numbers);
      sinks[i](done, numbers, count);
      done += count;
    });
    if (done != matrix.counts[i]) parts.broken("the file changed while it was read");
  }
}

}  // namespace grm::io
