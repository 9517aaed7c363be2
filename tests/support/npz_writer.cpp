#include "support/npz_writer.h"

#include <zlib.h>

#include <cstdint>
#include <stdexcept>

namespace grm::test {
namespace {

void put(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

std::string deflate_raw(const std::string& data) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::string out(deflateBound(&stream, data.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

std::string npy_with_header(const std::string& header, const std::string& data, int version) {
  std::string out = "\x93NUMPY";
  put(out, version, 1);
  put(out, 0, 1);
  put(out, header.size() + 1, version == 1 ? 2 : 4);
  return out + header + "\n" + data;
}

std::string npy(const std::string& dtype, const std::string& shape, const std::string& data,
                bool fortran, int version) {
  return npy_with_header("{'descr': '" + dtype + "', 'fortran_order': " +
                             (fortran ? "True" : "False") + ", 'shape': " + shape + ", }",
                         data, version);
}

std::string zip(const std::vector<std::pair<std::string, std::string>>& entries, bool deflated) {
  std::string out, directory;
  for (const auto& [name, data] : entries) {
    const std::string body = deflated ? deflate_raw(data) : data;
    const size_t start = out.size();
    std::string common;
    put(common, 20, 2);                // version needed
    put(common, 0, 2);                 // flags
    put(common, deflated ? 8 : 0, 2);  // method
    put(common, 0, 2);                 // time
    put(common, 0x21, 2);              // date: 1 January 1980
    put(common, crc32(0, reinterpret_cast<const Bytef*>(data.data()), data.size()), 4);
    put(common, body.size(), 4);
    put(common, data.size(), 4);
    put(common, name.size(), 2);
    put(common, 0, 2);  // extra
    put(out, 0x04034b50, 4);
    out += common + name + body;
    put(directory, 0x02014b50, 4);
    put(directory, 20, 2);  // made by
    directory += common;
    put(directory, 0, 2);  // comment
    put(directory, 0, 2);  // disk
    put(directory, 0, 2);  // internal attributes
    put(directory, 0, 4);  // external attributes
    put(directory, start, 4);
    directory += name;
  }
  const size_t start = out.size();
  out += directory;
  put(out, 0x06054b50, 4);
  put(out, 0, 4);  // disks
  put(out, entries.size(), 2);
  put(out, entries.size(), 2);
  put(out, directory.size(), 4);
  put(out, start, 4);
  put(out, 0, 2);
  return out;
}

}  // namespace grm::test
