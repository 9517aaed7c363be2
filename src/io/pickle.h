#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace grm::io {

/// Data of a Python pickle (protocols 2 to 4), as far as the Planetoid files and single NumPy
/// arrays go. Nothing is executed: the few classes below are known by name, everything else is
/// refused.
///
///     tuple, list   items
///     dict          items: key, value, key, value, ...      (dict and collections.defaultdict)
///     dtype         text: "i4"                              (numpy.dtype, little-endian)
///     array         items: shape, dtype, fortran, bytes     (numpy.ndarray)
///     csr           items: the dictionary of its members    (scipy.sparse.csr_matrix)
enum class PickleKind {
  none,
  boolean,
  integer,
  text,
  tuple,
  list,
  dict,
  global,
  dtype,
  array,
  csr
};

using PickleRef = uint32_t;

struct PickleValue {
  PickleKind kind = PickleKind::none;
  int64_t number = 0;            // boolean and integer
  std::string_view text;         // text and dtype; a global's "module\nname"
  std::vector<PickleRef> items;  // positions in the pickle's table of values
};

/// Reads and interprets the file at once. Error(data) names file, byte and opcode. Every value,
/// memo and stack entry is paid for by at least one byte of the file, and there is a bound on their
/// number. Values refer to each other by position, so no depth is too deep.
class Pickle {
 public:
  explicit Pickle(const std::string& path);
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  const std::string& path() const { return path_; }
  const PickleValue& root() const { return values_[root_]; }
  const PickleValue& at(PickleRef ref) const { return values_[ref]; }

 private:
  friend class PickleMachine;
  std::string path_;
  std::string bytes_;  // texts are views into it
  std::deque<PickleValue> values_;
  PickleRef root_ = 0;
};

}  // namespace grm::io
