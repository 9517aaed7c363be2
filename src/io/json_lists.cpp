#include "io/json_lists.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/json.h"
#include "grm/core/error.h"

namespace grm::io {
namespace {

// Receives the parser's events. A method that returns false stops the parser.
class ListEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  ListEvents(const std::string& path, std::istream& in) : path_(path), in_(in) {}

  bool start_object(size_t) override {
    if (depth_ != 0) unexpected("an object");
    depth_ = 1;
    return true;
  }
  bool key(std::string& text) override {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), key_);
    if (code != std::errc() || end != text.data() + text.size()) {
      fail(ErrorKind::data, "{}: byte {}: key '{}' is not a whole number", path_, position(),
           text.substr(0, 60));
    }
    return true;
  }
  bool start_array(size_t) override {
    if (depth_ != 1) unexpected("a list");
    depth_ = 2;
    return true;
  }
  bool number_integer(int64_t value) override {
    if (depth_ != 2) unexpected("a number");
    keys_.push_back(key_);
    values_.push_back(value);
    return true;
  }
  bool number_unsigned(uint64_t value) override {
    if (value > uint64_t{INT64_MAX}) unexpected("a number beyond 2^63 - 1");
    return number_integer(static_cast<int64_t>(value));
  }
  bool end_array() override {
    depth_ = 1;
    return true;
  }
  bool end_object() override {
    depth_ = 0;
    return true;
  }
  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a boolean"); }
  bool number_float(double, const std::string&) override { unexpected("a fraction"); }
  bool string(std::string&) override { unexpected("a text"); }
  bool binary(nlohmann::json::binary_t&) override { unexpected("binary data"); }
  bool parse_error(size_t byte, const std::string&,
                   const nlohmann::json::exception& error) override {
    fail(ErrorKind::data, "{}: byte {}: is not valid JSON: {}", path_, byte, error.what());
  }

  IntLists finish() const {
    return {torch::tensor(keys_, torch::kInt64), torch::tensor(values_, torch::kInt64)};
  }

 private:
  [[noreturn]] void unexpected(const char* what) const {
    fail(ErrorKind::data,
         "{}: byte {}: met {}, expected an object of lists of whole numbers like {{\"0\": [1, 2]}}",
         path_, position(), what);
  }

  // Where the parser has read to, which is just behind the value that it reports.
  int64_t position() const { return in_.rdbuf()->pubseekoff(0, std::ios::cur, std::ios::in); }

  const std::string& path_;
  std::istream& in_;
  int depth_ = 0;
  int64_t key_ = 0;
  std::vector<int64_t> keys_;
  std::vector<int64_t> values_;
};

}  // namespace

IntLists read_json_lists(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    fail(ErrorKind::io, "{}: is a folder, a file is needed", path);
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(ErrorKind::io, "{}: cannot be opened: {}", path, std::strerror(errno));
  ListEvents events(path, in);
  nlohmann::json::sax_parse(in, &events);
  return events.finish();
}

}  // namespace grm::io
