#include "io/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/files.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace grm::io::safetensors_tests {
namespace {

using test::error_of;
using ::testing::HasSubstr;

TensorFile sample() {
  TensorFile file;
  file.tensors["weight"] = torch::tensor({1.5f, -2.0f, 0.25f, 3.0f, 4.0f, 5.0f}).view({2, 3});
  file.tensors["double"] = torch::tensor({0.1, 1e-300}, torch::kFloat64);
  file.tensors["count"] = torch::tensor({int64_t{-7}}, torch::kInt64).view({});
  file.tensors["short"] = torch::tensor({1, 2, 3}, torch::kInt32);
  file.tensors["bytes"] = torch::tensor({0, 255, 7}, torch::kUInt8);
  file.tensors["mask"] = torch::tensor({1, 0, 1}, torch::kUInt8).to(torch::kBool);
  file.tensors["empty"] = torch::empty({0, 4});
  file.metadata = {{"format", "pt"}, {"note", "quotes \" and \xc3\xa9"}};
  return file;
}

void expect_equal(const TensorFile& a, const TensorFile& b) {
  EXPECT_EQ(a.metadata, b.metadata);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const auto& [name, tensor] : a.tensors) {
    ASSERT_EQ(b.tensors.count(name), 1u) << name;
    const torch::Tensor& other = b.tensors.at(name);
    EXPECT_EQ(tensor.scalar_type(), other.scalar_type()) << name;
    EXPECT_EQ(tensor.sizes(), other.sizes()) << name;
    EXPECT_TRUE(tensor.equal(other)) << name;
  }
}

// A file from a header and data, as the format's description lays it out.
std::string raw(const std::string& header, const std::string& data) {
  std::string bytes(8, '\0');
  const uint64_t size = header.size();
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + data;
}

std::string refusal(const std::string& header, const std::string& data) {
  const std::string message =
      error_of(ErrorKind::data, [&] { from_safetensors(raw(header, data), "here"); });
  EXPECT_THAT(message, HasSubstr("here")) << header;
  return message;
}

TEST(Safetensors, RoundTripKeepsEveryTypeShapeAndText) {
  const TensorFile file = sample();
  expect_equal(file, from_safetensors(to_safetensors(file), "memory"));
  const test::TempFolder folder;
  write_safetensors(folder.file("deep/er/a.safetensors"), file);
  expect_equal(file, read_safetensors(folder.file("deep/er/a.safetensors")));
  expect_equal(TensorFile{}, from_safetensors(to_safetensors(TensorFile{}), "memory"));
}

TEST(Safetensors, StoresTransposedAndGradTensorsByValue) {
  TensorFile file;
  file.tensors["t"] = torch::arange(6, torch::kFloat64).view({2, 3}).t().requires_grad_();
  const TensorFile read = from_safetensors(to_safetensors(file), "memory");
  EXPECT_TRUE(read.tensors.at("t").equal(file.tensors.at("t").detach()));
}

TEST(Safetensors, EqualContentGivesEqualBytes) {
  TensorFile backwards;
  const TensorFile file = sample();
  for (auto it = file.tensors.rbegin(); it != file.tensors.rend(); ++it) {
    backwards.tensors[it->first] = it->second.clone();
  }
  backwards.metadata = file.metadata;
  EXPECT_EQ(to_safetensors(file), to_safetensors(backwards));
}

TEST(Safetensors, DataBeginsAtAMultipleOfEightAndEveryTensorIsAligned) {
  TensorFile file;
  file.tensors["a"] = torch::zeros({3}, torch::kUInt8);
  file.tensors["b"] = torch::full({1}, 2.0, torch::kFloat64);
  for (int extra = 0; extra < 8; ++extra) {
    file.metadata["pad"] = std::string(extra, 'x');
    const std::string bytes = to_safetensors(file);
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    EXPECT_EQ(length % 8, 0u);
    double first = 0;  // the wide tensor comes first, so that the narrow one cannot shift it
    std::memcpy(&first, bytes.data() + 8 + length, 8);
    EXPECT_EQ(first, 2.0);
  }
}

// The example of the format's own description.
TEST(Safetensors, ReadsAFileWrittenByHand) {
  const std::string data("\x00\x00\x80\x3f\x00\x00\x00\x40\x01\x00", 10);
  const TensorFile file =
      from_safetensors(raw("{\"b\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[8,10]},"
                           "\"a\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[0,8]}}   ",
                           data),
                       "here");
  EXPECT_TRUE(file.tensors.at("a").equal(torch::tensor({{1.0f, 2.0f}})));
  EXPECT_TRUE(file.tensors.at("b").equal(torch::tensor({true, false})));
}

TEST(Safetensors, RefusesOffsetsThatOverlapLeaveHolesOrLeaveTheFile) {
  const auto header = [](const char* a, const char* b) {
    return fmt::format(
        "{{\"a\":{{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":{}}},"
        "\"b\":{{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":{}}}}}",
        a, b);
  };
  const std::string eight(8, 'x');
  from_safetensors(raw(header("[4,8]", "[0,4]"), eight), "here");
  refusal(header("[0,4]", "[0,4]"), eight);
  refusal(header("[0,4]", "[3,7]"), eight);
  refusal(header("[0,4]", "[5,9]"), std::string(9, 'x'));
  refusal(header("[1,5]", "[5,9]"), std::string(9, 'x'));
  refusal(header("[0,4]", "[4,8]"), std::string(9, 'x'));
  refusal(header("[0,4]", "[4,8]"), std::string(7, 'x'));
  refusal(header("[0,4]", "[8,4]"), eight);
  refusal(header("[0,4]", "[4,8,9]"), eight);
  refusal(header("[0,4]", "[-4,0]"), eight);
  refusal(header("[0,4]", "[4.0,8]"), eight);
  refusal(header("[0,4]", "[18446744073709551612,18446744073709551615]"), eight);
}

TEST(Safetensors, RefusesBadShapesTypesAndHeaders) {
  const auto header = [](const char* dtype, const char* shape) {
    return fmt::format("{{\"a\":{{\"dtype\":{},\"shape\":{},\"data_offsets\":[0,8]}}}}", dtype,
                       shape);
  };
  const std::string eight(8, '\0');
  from_safetensors(raw(header("\"F32\"", "[2]"), eight), "here");
  for (const char* shape :
       {"[1]", "[3]", "[-2]", "[-1,-2]", "2", "[\"2\"]", "[2.0]", "[null]",
        "[4611686018427387905,4]", "[9223372036854775807,2,0]", "[18446744073709551615]", "[0]"}) {
    refusal(header("\"F32\"", shape), eight);
  }
  for (const char* dtype : {"\"F16\"", "\"f32\"", "32", "null", "\"\""}) {
    refusal(header(dtype, "[2]"), eight);
  }
  refusal("", "");
  refusal("[]", "");
  refusal(" {}", "");
  refusal("{", "");
  refusal("{} x", "");
  refusal("{\"a\":1}", "");
  refusal("{\"a\":{\"dtype\":\"U8\",\"shape\":[0]}}", "");
  refusal("{\"__metadata__\":{\"k\":1}}", "");
  refusal("{\"__metadata__\":[]}", "");
  refusal("{\"\xff\":1}", "");
  EXPECT_THAT(refusal(header("\"BOOL\"", "[8]"), std::string(8, '\x02')), HasSubstr("BOOL"));
}

TEST(Safetensors, RefusesToWriteWhatTheFormatCannotHold) {
  TensorFile file;
  file.tensors["half"] = torch::zeros({1}, torch::kHalf);
  EXPECT_THAT(error_of(ErrorKind::data, [&] { to_safetensors(file); }), HasSubstr("half"));
  file.tensors = {{"none", torch::Tensor()}};
  EXPECT_THAT(error_of(ErrorKind::data, [&] { to_safetensors(file); }), HasSubstr("none"));
  file.tensors = {{"__metadata__", torch::zeros({1})}};
  EXPECT_THAT(error_of(ErrorKind::data, [&] { to_safetensors(file); }), HasSubstr("reserved"));
  file.tensors = {{"bad\xff", torch::zeros({1})}};
  EXPECT_THAT(error_of(ErrorKind::data, [&] { to_safetensors(file); }), HasSubstr("UTF-8"));
}

TEST(Safetensors, TruncationAnywhereIsAnError) {
  const std::string bytes = to_safetensors(sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(test::throws_error([&] {
      from_safetensors(std::string_view(bytes).substr(0, size), "cut");
    })) << size;
  }
}

TEST(Safetensors, FlippedBitsGiveAnErrorOrTensorsButNeverACrash) {
  const std::string bytes = to_safetensors(sample());
  int errors = 0;
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    errors += test::throws_error([&] { from_safetensors(damaged, "flip"); });
  }
  EXPECT_GT(errors, 0);
}

TEST(Safetensors, MissingFileIsAnErrorOfKindIo) {
  const test::TempFolder folder;
  EXPECT_THAT(error_of(ErrorKind::io, [&] { read_safetensors(folder.file("none")); }),
              HasSubstr("none"));
}

}  // namespace
}  // namespace grm::io::safetensors_tests
