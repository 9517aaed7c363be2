#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Event files as TensorBoard reads them: records of a length, its checksum, a payload and its
// checksum; a payload is a protocol buffer of the type tensorflow.Event. Written without either
// library; only scalars.
namespace grm::io {

/// CRC-32C (Castagnoli), and as records store it: rotated and offset, so that a checksum of data
/// that holds checksums is still one.
uint32_t crc32c(std::string_view bytes);
uint32_t masked_crc32c(std::string_view bytes);

/// The first record of a file, and one with scalars of a step. `wall` is in seconds since 1970.
std::string tfevents_version(double wall);
std::string tfevents_scalars(double wall, int64_t step,
                             const std::vector<std::pair<std::string, double>>& scalars);

}  // namespace grm::io
