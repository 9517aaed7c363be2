#include "io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/files.h"
#include "core/json.h"
#include "grm/core/error.h"
#include "io/shapes.h"

namespace grm::io {
namespace {

using Json = nlohmann::json;  // keeps keys sorted

struct TensorType {
  const char* name;
  torch::ScalarType scalar;
};
constexpr TensorType kTypes[] = {{"F64", torch::kFloat64}, {"F32", torch::kFloat32},
                                 {"I64", torch::kInt64},   {"I32", torch::kInt32},
                                 {"U8", torch::kUInt8},    {"BOOL", torch::kBool}};
constexpr const char* kMetadata = "__metadata__";
constexpr int64_t kLengthBytes = 8;

std::optional<torch::ScalarType> scalar_type(const std::string& name) {
  for (const TensorType& type : kTypes) {
    if (name == type.name) return type.scalar;
  }
  return std::nullopt;
}

// Where one tensor lies in the data section.
struct Slot {
  std::string name;
  torch::ScalarType scalar;
  std::vector<int64_t> shape;
  int64_t begin = 0;
  int64_t end = 0;
};

// A value for a message. Lists and objects by their name only: they may be nested so deeply that
// writing them out, which is recursive, would not end well.
std::string shown(const Json& value) {
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  return value.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 80);
}

int64_t whole_number(const Json& value, const std::string& where) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > uint64_t{INT64_MAX}) {
    fail(ErrorKind::data, "{} is {}, expected a whole number that is not negative", where,
         shown(value));
  }
  return value.get<int64_t>();
}

Slot parse_slot(const std::string& name, const Json& entry, const std::string& origin) {
  const std::string where = fmt::format("{}: tensor '{}'", origin, name);
  if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") ||
      !entry.contains("shape") || !entry.contains("data_offsets")) {
    fail(ErrorKind::data, "{}: expected exactly dtype, shape and data_offsets", where);
  }
  Slot slot;
  slot.name = name;
  const Json& dtype = entry["dtype"];
  const auto scalar = dtype.is_string() ? scalar_type(dtype.get<std::string>())
                                        : std::optional<torch::ScalarType>();
  if (!scalar) {
    fail(ErrorKind::data, "{}: dtype {} is not one of F64, F32, I64, I32, U8, BOOL", where,
         shown(dtype));
  }
  slot.scalar = *scalar;
  const Json& shape = entry["shape"];
  const Json& offsets = entry["data_offsets"];
  if (!shape.is_array()) fail(ErrorKind::data, "{}: shape is not a list", where);
  if (!offsets.is_array() || offsets.size() != 2) {
    fail(ErrorKind::data, "{}: data_offsets is not a pair", where);
  }
  for (const Json& size : shape) slot.shape.push_back(whole_number(size, where + ": a size"));
  slot.begin = whole_number(offsets[0], where + ": the first offset");
  slot.end = whole_number(offsets[1], where + ": the second offset");
  if (slot.end < slot.begin || !fills(slot.shape, static_cast<int64_t>(torch::elementSize(*scalar)),
                                      slot.end - slot.begin)) {
    fail(ErrorKind::data, "{}: its shape and dtype do not fill bytes {} to {}", where, slot.begin,
         slot.end);
  }
  return slot;
}

std::map<std::string, std::string> parse_metadata(const Json& entry, const std::string& origin) {
  if (!entry.is_object()) fail(ErrorKind::data, "{}: {} is not an object", origin, kMetadata);
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : entry.items()) {
    if (!value.is_string()) {
      fail(ErrorKind::data, "{}: {}.{} is not a text", origin, kMetadata, key);
    }
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

Json parse_header(std::string_view bytes, const std::string& origin) {
  if (bytes.size() < kLengthBytes) {
    fail(ErrorKind::data, "{}: {} bytes are too few for a safetensors file", origin, bytes.size());
  }
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > bytes.size() - kLengthBytes) {
    fail(ErrorKind::data,
         "{}: its header claims {} bytes but the file has {}; it is truncated or "
         "not a safetensors file",
         origin, length, bytes.size());
  }
  const std::string_view text = bytes.substr(kLengthBytes, length);
  if (text.empty() || text[0] != '{') {
    fail(ErrorKind::data, "{}: the safetensors header does not begin with '{{'", origin);
  }
  try {
    return parse_json<Json>(text, origin);
  } catch (const Json::exception& error) {
    fail(ErrorKind::data, "{}: the safetensors header is not valid JSON: {}", origin, error.what());
  }
}

torch::Tensor copy_tensor(const Slot& slot, std::string_view data, const std::string& origin) {
  const std::string_view raw = data.substr(slot.begin, slot.end - slot.begin);
  if (slot.scalar == torch::kBool &&
      std::any_of(raw.begin(), raw.end(), [](char c) { return c != 0 && c != 1; })) {
    fail(ErrorKind::data, "{}: tensor '{}' has a BOOL that is neither 0 nor 1", origin, slot.name);
  }
  torch::Tensor tensor = torch::empty(slot.shape, slot.scalar);
  if (!raw.empty()) std::memcpy(tensor.data_ptr(), raw.data(), raw.size());
  return tensor;
}

}  // namespace

const char* safetensors_type(torch::ScalarType scalar) {
  for (const TensorType& type : kTypes) {
    if (type.scalar == scalar) return type.name;
  }
  return nullptr;
}

std::string to_safetensors(const TensorFile& file) {
  std::vector<std::pair<std::string, torch::Tensor>> ordered;
  for (const auto& [name, tensor] : file.tensors) {
    if (!tensor.defined() || safetensors_type(tensor.scalar_type()) == nullptr ||
        name == kMetadata) {
      fail(ErrorKind::data, "safetensors: '{}' cannot be stored: {}", name,
           !tensor.defined()   ? std::string("the tensor is undefined")
           : name == kMetadata ? std::string("the name is reserved")
                               : fmt::format("dtype {} is not one of F64, F32, I64, I32, U8, BOOL",
                                             torch::toString(tensor.scalar_type())));
    }
    ordered.emplace_back(name, tensor.detach().to(torch::kCPU).contiguous());
  }
  // Wide elements first keeps every tensor aligned for readers that map the file; within a width
  // the names stay sorted.
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return a.second.element_size() > b.second.element_size();
  });
  Json header = Json::object();
  if (!file.metadata.empty()) header[kMetadata] = file.metadata;
  int64_t at = 0;
  for (const auto& [name, tensor] : ordered) {
    const auto size = static_cast<int64_t>(tensor.nbytes());
    header[name] = {{"dtype", safetensors_type(tensor.scalar_type())},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {at, at + size}}};
    at += size;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception& error) {
    fail(ErrorKind::data, "safetensors: a name or text is not UTF-8: {}", error.what());
  }
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  const uint64_t length = text.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  bytes.reserve(kLengthBytes + text.size() + static_cast<size_t>(at));
  bytes += text;
  for (const auto& [name, tensor] : ordered) {
    bytes.append(static_cast<const char*>(tensor.data_ptr()), tensor.nbytes());
  }
  return bytes;
}

TensorFile from_safetensors(std::string_view bytes, const std::string& origin) {
  const Json header = parse_header(bytes, origin);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  const std::string_view data = bytes.substr(kLengthBytes + length);

  TensorFile file;
  std::vector<Slot> slots;
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadata) {
      file.metadata = parse_metadata(entry, origin);
    } else {
      slots.push_back(parse_slot(name, entry, origin));
    }
  }
  std::sort(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  int64_t at = 0;
  for (const Slot& slot : slots) {
    if (slot.begin != at) {
      fail(ErrorKind::data,
           "{}: tensor '{}' begins at byte {} of the data, but the one before it "
           "ends at {}",
           origin, slot.name, slot.begin, at);
    }
    at = slot.end;
  }
  if (at != static_cast<int64_t>(data.size())) {
    fail(ErrorKind::data,
         "{}: the tensors take {} bytes but {} follow the header; it is truncated "
         "or damaged",
         origin, at, data.size());
  }
  for (const Slot& slot : slots) file.tensors[slot.name] = copy_tensor(slot, data, origin);
  return file;
}

void write_safetensors(const std::string& path, const TensorFile& file) {
  write_file_atomic(path, to_safetensors(file));
}

TensorFile read_safetensors(const std::string& path) {
  return from_safetensors(read_file(path), path);
}

}  // namespace grm::io
