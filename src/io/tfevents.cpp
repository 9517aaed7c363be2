#include "io/tfevents.h"

#include <array>
#include <cstring>

namespace grm::io {
namespace {

std::array<uint32_t, 256> crc_table() {
  constexpr uint32_t kPolynomial = 0x82F63B78;  // Castagnoli's, bits reversed
  std::array<uint32_t, 256> table{};
  for (uint32_t n = 0; n < 256; ++n) {
    uint32_t c = n;
    for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? (c >> 1) ^ kPolynomial : c >> 1;
    table[n] = c;
  }
  return table;
}

// Little-endian, as all machines that we run on are.
template <class T>
std::string bytes_of(T value) {
  std::string text(sizeof value, '\0');
  std::memcpy(text.data(), &value, sizeof value);
  return text;
}

std::string varint(uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7) text += static_cast<char>((value & 0x7F) | 0x80);
  return text + static_cast<char>(value);
}

// Wire types of protocol buffers: 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes.
std::string key(uint32_t field, uint32_t wire) {
  return varint((field << 3) | wire);
}
std::string text_field(uint32_t field, const std::string& text) {
  return key(field, 2) + varint(text.size()) + text;
}

std::string record(const std::string& payload) {
  const std::string length = bytes_of(static_cast<uint64_t>(payload.size()));
  return length + bytes_of(masked_crc32c(length)) + payload + bytes_of(masked_crc32c(payload));
}

std::string event_head(double wall) {
  return key(1, 1) + bytes_of(wall);  // Event.wall_time
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static const std::array<uint32_t, 256> table = crc_table();
  uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

uint32_t masked_crc32c(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8;
}

std::string tfevents_version(double wall) {
  return record(event_head(wall) + text_field(3, "brain.Event:2"));  // Event.file_version
}

std::string tfevents_scalars(double wall, int64_t step,
                             const std::vector<std::pair<std::string, double>>& scalars) {
  std::string summary;
  for (const auto& [tag, value] : scalars) {
    // Summary.Value: tag, simple_value.
    summary += text_field(1, text_field(1, tag) + key(2, 5) + bytes_of(static_cast<float>(value)));
  }
  return record(event_head(wall) + key(2, 0) + varint(static_cast<uint64_t>(step)) +
                text_field(5, summary));
}

}  // namespace grm::io
