#include "data/mapped/mapped_array.h"

#include <algorithm>
#include <filesystem>

#include "grm/core/error.h"

namespace grm::mapped {
namespace fs = std::filesystem;
namespace {

torch::ScalarType type_of(Number type) {
  if (type == Number::f32) return torch::kFloat32;
  return type == Number::i32 ? torch::kInt32 : torch::kInt64;
}

}  // namespace

MappedArray::MappedArray(const std::string& path, const Array& about) : path_(path) {
  std::error_code code;
  if (!fs::exists(path, code)) {
    fail(ErrorKind::data, "{}: the file is missing; write the data again", path);
  }
  file_ = std::make_shared<MappedFile>(path);
  const auto expected = static_cast<size_t>(about.count * size_of(about.type));
  if (file_->size() != expected) {
    fail(ErrorKind::data,
         "{}: {} bytes, expected {}: the file was cut short or belongs to other data; write the "
         "data again",
         path, file_->size(), expected);
  }
  tensor = torch::empty({0}, type_of(about.type));
  if (about.count > 0) {
    auto* bytes = const_cast<char*>(file_->bytes());  // NOLINT: nobody writes to data
    tensor = torch::from_blob(
        bytes, {about.count}, [file = file_](void*) {}, type_of(about.type));
  }
  file_->read_in_order();
}

void MappedArray::damaged(const std::string& why) const {
  fail(ErrorKind::data, "{}: {}: the file is damaged; write the data again", path_, why);
}

void MappedArray::rest() const {
  file_->forget();
  file_->read_here_and_there();
}

std::string MappedArray::checksum() const {
  constexpr size_t kPiece = size_t{1} << 26;
  Checksum sum;
  for (size_t at = 0; at < file_->size(); at += kPiece) {
    sum.add(file_->bytes() + at, std::min(kPiece, file_->size() - at));
  }
  file_->forget();
  return sum.text();
}

void check_rows(const MappedArray& offsets, const MappedArray& indices, int64_t rows,
                int64_t cols) {
  const auto* offset = offsets.tensor.data_ptr<int64_t>();
  const int64_t count = indices.tensor.numel();
  offsets.check(rows + 1, "does not ascend from 0 to the number of entries", [&](int64_t k) {
    return k == 0 ? offset[0] == 0
                  : offset[k] >= offset[k - 1] && offset[k] <= count &&
                        (k < rows || offset[k] == count);
  });
  if (rows == 0 && offset[0] != count) offsets.damaged("it does not end at the last entry");
  const int32_t* index = count > 0 ? indices.tensor.data_ptr<int32_t>() : nullptr;
  indices.check(rows, "(a row) does not ascend inside the graph", [&](int64_t i) {
    int32_t before = -1;
    for (int64_t e = offset[i]; e < offset[i + 1]; ++e) {
      if (index[e] <= before || index[e] >= cols) return false;
      before = index[e];
    }
    return true;
  });
  offsets.rest();
  indices.rest();
}

}  // namespace grm::mapped
