#pragma once

#include <string>

#include "io/safetensors.h"

namespace grm {

/// Metadata entry that holds the digest of the rest of the file.
constexpr const char* kDigestEntry = "digest";

/// SHA-256 of everything a model file says: of the lines
///   text LENGTH NAME SHA256        for each other metadata entry, by name
///   tensor LENGTH NAME TYPE SIZES SHA256   for each tensor, by name
/// where LENGTH is that of the name in bytes, TYPE and SIZES (divided by commas) are those of the
/// header, and SHA256 is that of the text or of the tensor's bytes. It tells damage and changes
/// made by mistake; it is no signature.
std::string model_digest(const io::TensorFile& file);

}  // namespace grm
