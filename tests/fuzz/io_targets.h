#pragma once

#include <string>

#include "fuzz/parts.h"
#include "fuzz/target.h"
#include "grm/core/error.h"
#include "io/csv.h"
#include "io/idx.h"
#include "io/json_lists.h"
#include "io/mat.h"
#include "io/npz.h"
#include "io/planetoid.h"
#include "io/safetensors.h"
#include "io/sst2_graph.h"

// What a fuzzer does with one input file, by reader of io. Each may throw grm::Error and nothing
// else.
namespace grm::fuzz {

inline void npz(const std::string& path) {
  io::read_npz(path);
}

inline void csv(const std::string& path) {
  double sum = 0;
  io::read_csv(path, [&](const io::CsvRow& row) {
    for (int64_t k = 0; k < row.size(); ++k) {
      try {
        sum += row.parse_double(k) + static_cast<double>(row.parse_int(k));
      } catch (const Error&) {
        // Text is fine; the file goes on.
      }
    }
  });
}

inline void idx(const std::string& path) {
  for (const int64_t dimensions : {1, 3}) {
    try {
      io::read_idx(path, dimensions);
    } catch (const Error&) {
      if (dimensions == 3) throw;
    }
  }
}

inline void mat(const std::string& path) {
  try {
    io::read_mat_sparse(path, "A");
  } catch (const Error&) {
    io::read_mat_integers(path, "x");
  }
}

inline void json_lists(const std::string& path) {
  io::read_json_lists(path);
}

inline void sst2(const std::string& path) {
  io::read_sentence_trees(path);
}

inline void safetensors(const std::string& path) {
  io::read_safetensors(path);
}

inline void pickle(const std::string& path) {
  try {
    io::read_pickled_csr(path);
  } catch (const Error&) {
    io::read_pickled_array(path);
  }
}

inline void planetoid(const std::string& path) {
  const Folder folder;
  write_parts(path, folder, "ind.f.", {"allx", "tx", "ally", "ty", "test.index", "graph"}, true);
  io::read_planetoid(folder.path(), "f");
}

inline constexpr Target kTargets[] = {
    {"csv", csv},
    {"npz", npz},
    {"idx", idx},
    {"mat", mat},
    {"json_lists", json_lists},
    {"sst2", sst2},
    {"safetensors", safetensors},
    {"pickle", pickle},
    {"planetoid", planetoid},
};

}  // namespace grm::fuzz
