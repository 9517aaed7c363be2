#pragma once

#include <zlib.h>

#include <memory>
#include <string>

namespace grm::io {

/// A plain or gzipped file, open to read: zlib's gz functions read both. Error(io) if it cannot be.
using GzFile = std::unique_ptr<gzFile_s, int (*)(gzFile)>;
GzFile open_gz(const std::string& path);

}  // namespace grm::io
