// The .npy format: NumPy's numpy/lib/format.py describes versions 1.0 to 3.0.
#include "io/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "grm/core/error.h"

namespace grm::io {
namespace {

// Reads the few Python literals that can stand in a header.
class HeaderText {
 public:
  HeaderText(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) broken(fmt::format("'{}' is missing", c));
  }

  std::string quoted() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') broken("a quoted word is missing");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) broken("a quote is not closed");
    const std::string word(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return word;
  }

  // A quoted dtype, or the text of a list or tuple that describes a record.
  std::string dtype() {
    skip_space();
    if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) return quoted();
    const size_t begin = at_;
    int depth = 0;
    do {
      skip_space();
      if (at_ == text_.size()) broken("the dtype does not end");
      const char c = text_[at_];
      if (c == '\'' || c == '"') {
        quoted();
        continue;
      }
      depth += (c == '[' || c == '(') - (c == ']' || c == ')');
      ++at_;
    } while (depth > 0);
    return std::string(text_.substr(begin, at_ - begin));
  }

  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    broken("fortran_order is neither True nor False");
  }

  std::vector<int64_t> shape() {
    expect('(');
    std::vector<int64_t> sizes;
    while (!accept(')')) {
      skip_space();
      int64_t size = 0;
      const auto [end, code] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (code != std::errc()) broken("the shape is not a tuple of whole numbers");
      at_ = static_cast<size_t>(end - text_.data());
      accept('L');  // Python 2 wrote long numbers so
      sizes.push_back(size);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }

  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }

  [[noreturn]] void broken(const std::string& what) const {
    fail(ErrorKind::data, "{}: the npy header is malformed at character {}: {}", where_, at_, what);
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) && text_[at_]) ++at_;
  }

  std::string_view text_;
  const std::string& where_;
  size_t at_ = 0;
};

}  // namespace

NpyPrefix parse_npy_prefix(std::string_view bytes, const std::string& where) {
  if (bytes.size() < 10 || bytes.substr(0, 6) != "\x93NUMPY") {
    fail(ErrorKind::data, "{}: is not a npy array (its first bytes are not \\x93NUMPY)", where);
  }
  const auto byte = [&](size_t i) { return static_cast<int64_t>(static_cast<uint8_t>(bytes[i])); };
  const int64_t version = byte(6);
  if (version < 1 || version > 3) {
    fail(ErrorKind::data, "{}: npy version {}.{} is unknown, 1.0 to 3.0 are read", where, version,
         byte(7));
  }
  if (version == 1) return {10, byte(8) | byte(9) << 8};
  if (bytes.size() < 12) fail(ErrorKind::data, "{}: ends inside the npy header", where);
  return {12, byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24};
}

NpyHeader parse_npy_header(std::string_view text, const std::string& where) {
  HeaderText in(text, where);
  NpyHeader header;
  bool seen[3] = {};
  in.expect('{');
  while (!in.accept('}')) {
    const std::string key = in.quoted();
    in.expect(':');
    if (key == "descr") {
      header.dtype = in.dtype();
      seen[0] = true;
    } else if (key == "fortran_order") {
      header.fortran = in.boolean();
      seen[1] = true;
    } else if (key == "shape") {
      header.shape = in.shape();
      seen[2] = true;
    } else {
      in.broken(fmt::format("key '{}' is unknown", key));
    }
    if (!in.accept(',')) {
      in.expect('}');
      break;
    }
  }
  if (!in.at_end()) in.broken("there is text after the dictionary");
  if (!(seen[0] && seen[1] && seen[2])) in.broken("descr, fortran_order or shape is missing");
  return header;
}

std::optional<NpyType> npy_type(const std::string& dtype) {
  // One-byte types carry '|' as byte order, but '<' is as clear.
  if (dtype.size() != 3 || (dtype[0] != '<' && !(dtype[0] == '|' && dtype[2] == '1'))) {
    return std::nullopt;
  }
  const std::string kind = dtype.substr(1);
  if (kind == "b1") return NpyType{torch::kUInt8, torch::kBool, false, true};
  if (kind == "i1") return NpyType{torch::kInt8, torch::kInt8, false, false};
  if (kind == "i2") return NpyType{torch::kInt16, torch::kInt16, false, false};
  if (kind == "i4") return NpyType{torch::kInt32, torch::kInt32, false, false};
  if (kind == "i8") return NpyType{torch::kInt64, torch::kInt64, false, false};
  if (kind == "u1") return NpyType{torch::kUInt8, torch::kInt16, false, false};
  if (kind == "u2") return NpyType{torch::kInt16, torch::kInt32, true, false};
  if (kind == "u4") return NpyType{torch::kInt32, torch::kInt64, true, false};
  if (kind == "u8") return NpyType{torch::kInt64, torch::kInt64, true, false};
  if (kind == "f2") return NpyType{torch::kHalf, torch::kFloat32, false, false};
  if (kind == "f4") return NpyType{torch::kFloat32, torch::kFloat32, false, false};
  if (kind == "f8") return NpyType{torch::kFloat64, torch::kFloat64, false, false};
  return std::nullopt;
}

torch::Tensor npy_numbers(torch::Tensor stored, const NpyType& type, const std::string& where) {
  torch::Tensor result = type.is_bool ? stored.ne(0) : stored.to(type.result);
  if (type.is_unsigned && type.stored == torch::kInt64) {
    if (result.numel() > 0 && result.min().item<int64_t>() < 0) {
      fail(ErrorKind::data, "{}: holds numbers beyond 2^63 - 1, which int64 cannot", where);
    }
  } else if (type.is_unsigned) {
    result.bitwise_and_(type.stored == torch::kInt16 ? int64_t{0xFFFF} : int64_t{0xFFFFFFFF});
  }
  return result;
}

torch::Tensor npy_shaped(const torch::Tensor& numbers, const NpyHeader& header) {
  if (header.fortran && header.shape.size() > 1) {
    // Fortran order is the C order of the reversed shape.
    std::vector<int64_t> reversed(header.shape.rbegin(), header.shape.rend());
    std::vector<int64_t> axes(header.shape.size());
    for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(axes.size() - 1 - i);
    return numbers.view(reversed).permute(axes).contiguous();
  }
  return numbers.view(header.shape);
}

}  // namespace grm::io
