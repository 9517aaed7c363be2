#pragma once

#include <torch/types.h>
#include <zlib.h>

#include <stdexcept>
#include <string>

namespace grm::test {

/// Bytes of an IDX file of unsigned bytes, written by hand; `values` is a uint8 tensor.
inline std::string idx_bytes(const torch::Tensor& values) {
  std::string bytes = {0, 0, 8, static_cast<char>(values.dim())};
  for (const int64_t size : values.sizes()) {
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(size >> shift & 0xff);
  }
  const torch::Tensor plain = values.contiguous();
  return bytes.append(reinterpret_cast<const char*>(plain.data_ptr<uint8_t>()), plain.nbytes());
}

/// The same bytes as a gzip file.
inline std::string gzipped(const std::string& bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace grm::test
