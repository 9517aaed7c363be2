// Event files against a decoder written here from the documents of the formats: TFRecord (length,
// masked CRC-32C, payload, masked CRC-32C) and protocol buffers (Event: 1 wall_time double, 2 step
// int64, 3 file_version string, 5 summary; Summary: 1 repeated value; Value: 1 tag, 2 simple_value).
#include "io/tfevents.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace grm::tfevents_tests {
namespace {

// Bit by bit, from the definition: no table.
uint32_t slow_crc32c(const std::string& bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int k = 0; k < 8; ++k) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
  }
  return ~crc;
}

template <class T>
T number(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

uint32_t masked(const std::string& bytes) {
  const uint32_t crc = slow_crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

std::vector<std::string> payloads(const std::string& file) {
  std::vector<std::string> all;
  for (size_t at = 0; at < file.size();) {
    const auto length = number<uint64_t>(file, at);
    EXPECT_EQ(number<uint32_t>(file, at + 8), masked(file.substr(at, 8)));
    all.push_back(file.substr(at + 12, length));
    EXPECT_EQ(number<uint32_t>(file, at + 12 + length), masked(all.back()));
    at += 16 + length;
  }
  return all;
}

uint64_t varint(const std::string& text, size_t& at) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(text[at++]);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
}

std::multimap<uint64_t, std::string> fields(const std::string& message) {
  std::multimap<uint64_t, std::string> all;
  for (size_t at = 0; at < message.size();) {
    const uint64_t key = varint(message, at), wire = key & 7;
    uint64_t length = wire == 1 ? 8 : wire == 5 ? 4 : 0;
    if (wire == 0) {
      const uint64_t value = varint(message, at);
      std::string bytes(8, '\0');
      std::memcpy(bytes.data(), &value, 8);
      all.emplace(key >> 3, bytes);
      continue;
    }
    if (wire == 2) length = varint(message, at);
    all.emplace(key >> 3, message.substr(at, length));
    at += length;
  }
  return all;
}

// Values of RFC 3720, appendix B.4.
TEST(Crc32c, HasTheValuesOfTheStandard) {
  EXPECT_EQ(io::crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(io::crc32c(std::string(32, '\xff')), 0x62A8AB43U);
  EXPECT_EQ(io::crc32c("123456789"), 0xE3069283U);
}

TEST(TfEvents, AreReadBackByADecoderOfTheDocuments) {
  const std::string file = io::tfevents_version(12.5) +
                           io::tfevents_scalars(13.25, 300, {{"loss/total", 0.5}, {"é", -2.0}});
  const std::vector<std::string> records = payloads(file);
  ASSERT_EQ(records.size(), 2u);
  const auto first = fields(records[0]);
  EXPECT_EQ(number<double>(first.find(1)->second, 0), 12.5);
  EXPECT_EQ(first.find(3)->second, "brain.Event:2");
  const auto second = fields(records[1]);
  EXPECT_EQ(number<double>(second.find(1)->second, 0), 13.25);
  EXPECT_EQ(number<uint64_t>(second.find(2)->second, 0), 300u);
  const auto summary = fields(second.find(5)->second);
  std::map<std::string, float> scalars;
  for (auto [at, end] = summary.equal_range(1); at != end; ++at) {
    const auto value = fields(at->second);
    scalars[value.find(1)->second] = number<float>(value.find(2)->second, 0);
  }
  EXPECT_EQ(scalars, (std::map<std::string, float>{{"loss/total", 0.5F}, {"é", -2.0F}}));
}

}  // namespace
}  // namespace grm::tfevents_tests
