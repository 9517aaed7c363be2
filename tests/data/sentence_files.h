#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/npz_writer.h"

namespace grm::test {

inline std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (size_t k = 0; k < hex.size(); k += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(k, 2), nullptr, 16));
  }
  return bytes;
}

// A float32 array of `rows` (below 256) times two as Python 3 pickles it: the bytes around rows and
// data were written by Python's own pickle module with NumPy's names.
inline std::string pickled(int protocol, size_t rows, const std::string& data) {
  const std::string size = bytes_of<int32_t>({static_cast<int32_t>(data.size())});
  if (protocol == 3) {
    return from_hex(
               "8003636e756d70792e636f72652e6d756c746961727261790a5f7265636f6e7374727563740a7100636"
               "e"
               "756d70790a6e6461727261790a71014b008571024301627103877104527105284b014b") +
           static_cast<char>(rows) +
           from_hex(
               "4b02867106636e756d70790a64747970650a7107580200000066347108898887710952710a284b03580"
               "1"
               "0000003c710b4e4e4e4affffffff4affffffff4b0074710c628942") +
           size + data + from_hex("710d74710e622e");
  }
  return from_hex(
             "800495ee090000000000008c156e756d70792e636f72652e6d756c74696172726179948c0c5f7265636f6"
             "e"
             "7374727563749493948c056e756d7079948c076e6461727261799493944b0085944301629487945294284"
             "b"
             "014b") +
         static_cast<char>(rows) +
         from_hex(
             "4b02869468038c0564747970659493948c02663494898887945294284b038c013c944e4e4e4affffffff4"
             "a"
             "ffffffff4b007494628942") +
         size + data + from_hex("947494622e");
}

}  // namespace grm::test
