#pragma once

#include <cstdint>
#include <vector>

namespace grm::own {

/// The numbers of one column, exactly, and as small as they allow: where most are zero only the
/// others are kept, and single precision holds what it can hold.
class Numbers {
 public:
  void add(double value);
  void add_zeros(int64_t count);

  int64_t size() const { return size_; }
  /// How many are not zero (or NaN).
  int64_t nonzeros() const { return nonzeros_; }

  /// Reads numbers by row: at once in ascending order, by a search elsewhere.
  class Reader {
   public:
    explicit Reader(const Numbers& numbers) : numbers_(numbers) {}
    double operator()(int64_t row);

   private:
    const Numbers& numbers_;
    size_t next_ = 0;  // sparse: of the first kept row that is not before the last one asked for
  };

 private:
  double kept(size_t k) const { return wide_ ? doubles_[k] : static_cast<double>(floats_[k]); }
  void keep(double value);
  void spread();  // from sparse to one number for each row

  int64_t size_ = 0, nonzeros_ = 0;
  bool sparse_ = true, wide_ = false;
  std::vector<int32_t> rows_;  // sparse: of the numbers that are kept, ascending
  std::vector<float> floats_;
  std::vector<double> doubles_;  // wide
};

}  // namespace grm::own
