// The .npy format is described in NumPy's numpy/lib/format.py, the zip format in PKWARE's
// APPNOTE.TXT (sections 4.3.7 local header, 4.3.12 central directory, 4.3.16 end record).
#include "io/npz_write.h"

#include <zlib.h>

#include "core/files.h"
#include "grm/core/error.h"

namespace grm::io {
namespace {

constexpr size_t kAlign = 64;  // NumPy lets the data of a .npy file begin at a multiple of this
constexpr size_t kNpyPrefix = 10;
constexpr size_t kLocalHeader = 30, kDirectoryHeader = 46, kEndRecord = 22;
constexpr uint64_t kZipLimit = 0xFFFFFFFF;  // sizes and offsets are 32 bits wide
constexpr size_t kMostEntries = 0xFFFF;

const char* dtype_of(torch::ScalarType type) {
  switch (type) {
    case torch::kBool:
      return "|b1";
    case torch::kUInt8:
      return "|u1";
    case torch::kInt8:
      return "|i1";
    case torch::kInt16:
      return "<i2";
    case torch::kInt32:
      return "<i4";
    case torch::kInt64:
      return "<i8";
    case torch::kFloat32:
      return "<f4";
    case torch::kFloat64:
      return "<f8";
    default:
      return nullptr;
  }
}

void put(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

std::string npy_header(const torch::Tensor& array, const std::string& where) {
  const char* dtype = dtype_of(array.scalar_type());
  if (dtype == nullptr) {
    fail(ErrorKind::data, "{}: type {} cannot be written to a .npz archive", where,
         c10::toString(array.scalar_type()));
  }
  std::string shape;  // as Python writes a tuple: (), (3,), (2, 3)
  for (int64_t k = 0; k < array.dim(); ++k) {
    shape += fmt::format("{}{}", k > 0 ? ", " : "", array.size(k));
  }
  if (array.dim() == 1) shape += ",";
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", dtype, shape);
  const size_t used = kNpyPrefix + text.size() + 1;
  text.append((kAlign - used % kAlign) % kAlign, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  put(header, text.size(), 2);
  return header + text;
}

// What the local header and the directory say alike of an entry, from "version needed" on.
std::string entry_fields(uint32_t crc, uint64_t size, size_t name_size) {
  std::string fields;
  put(fields, 20, 2);    // version needed
  put(fields, 0, 2);     // flags
  put(fields, 0, 2);     // method: stored
  put(fields, 0, 2);     // time
  put(fields, 0x21, 2);  // date: 1 January 1980, so that equal arrays give equal bytes
  put(fields, crc, 4);
  put(fields, size, 4);  // packed
  put(fields, size, 4);  // unpacked
  put(fields, name_size, 2);
  put(fields, 0, 2);  // extra
  return fields;
}

uint32_t checksum(uint32_t crc, const void* data, size_t size) {
  return static_cast<uint32_t>(crc32_z(crc, static_cast<const Bytef*>(data), size));
}

// Size of the archive, once it is known to be possible; no array has been copied by then.
uint64_t archive_size(const std::map<std::string, torch::Tensor>& arrays,
                      const std::string& origin) {
  uint64_t total = kEndRecord;
  for (const auto& [name, array] : arrays) {
    const std::string where = fmt::format("{}: array '{}'", origin, name);
    ensure(array.defined(), "to_npz: an array is undefined");
    const uint64_t header = npy_header(array, where).size();
    total += kLocalHeader + kDirectoryHeader + 2 * (name.size() + 4) + header +
             static_cast<uint64_t>(array.numel()) * array.element_size();
    if (total > kZipLimit) {
      fail(ErrorKind::data,
           "{}: with it the archive has {} bytes, a .npz file of this kind can hold 4 GiB; cut the "
           "domain into several",
           where, total);
    }
  }
  if (arrays.size() > kMostEntries) {
    fail(ErrorKind::data, "{}: {} arrays, a .npz file can hold {}", origin, arrays.size(),
         kMostEntries);
  }
  return total;
}

}  // namespace

std::string to_npz(const std::map<std::string, torch::Tensor>& arrays, const std::string& origin) {
  std::string out, directory;
  out.reserve(archive_size(arrays, origin));
  for (const auto& [name, array] : arrays) {
    const torch::Tensor plain = array.contiguous();
    const std::string header = npy_header(plain, origin);
    const size_t data = plain.nbytes();
    uint32_t crc = checksum(0, header.data(), header.size());
    if (data > 0) crc = checksum(crc, plain.data_ptr(), data);
    const std::string file = name + ".npy";
    const std::string fields = entry_fields(crc, header.size() + data, file.size());
    put(directory, 0x02014b50, 4);
    put(directory, 20, 2);  // made by
    directory += fields;
    put(directory, 0, 2);  // comment
    put(directory, 0, 2);  // disk
    put(directory, 0, 2);  // internal attributes
    put(directory, 0, 4);  // external attributes
    put(directory, out.size(), 4);
    directory += file;
    put(out, 0x04034b50, 4);
    out += fields + file + header;
    if (data > 0) out.append(static_cast<const char*>(plain.data_ptr()), data);
  }
  const size_t start = out.size();
  out += directory;
  put(out, 0x06054b50, 4);
  put(out, 0, 4);  // disks
  put(out, arrays.size(), 2);
  put(out, arrays.size(), 2);
  put(out, directory.size(), 4);
  put(out, start, 4);
  put(out, 0, 2);  // comment
  return out;
}

void write_npz(const std::string& path, const std::map<std::string, torch::Tensor>& arrays) {
  write_file_atomic(path, to_npz(arrays, path));
}

}  // namespace grm::io
