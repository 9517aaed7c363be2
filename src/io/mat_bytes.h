#pragma once

#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <string>

#include "grm/core/error.h"

namespace grm::io {

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

}  // namespace grm::io
