#include "data/own/numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace grm::own {
namespace {

bool is_zero(double value) {
  return value == 0.0 && !std::signbit(value);
}

bool fits_float(double value) {
  return std::isnan(value) || static_cast<double>(static_cast<float>(value)) == value;
}

}  // namespace

void Numbers::keep(double value) {
  if (!wide_ && !fits_float(value)) {
    doubles_.assign(floats_.begin(), floats_.end());
    floats_ = {};
    wide_ = true;
  }
  if (wide_) {
    doubles_.push_back(value);
  } else {
    floats_.push_back(static_cast<float>(value));
  }
}

void Numbers::spread() {
  const auto fill = [&](auto& numbers) {
    std::decay_t<decltype(numbers)> all(static_cast<size_t>(size_), 0);
    for (size_t k = 0; k < rows_.size(); ++k) all[static_cast<size_t>(rows_[k])] = numbers[k];
    numbers = std::move(all);
  };
  if (wide_) {
    fill(doubles_);
  } else {
    fill(floats_);
  }
  rows_ = {};
  sparse_ = false;
}

void Numbers::add(double value) {
  if (is_zero(value)) return add_zeros(1);
  // A kept number costs its row, too; beyond half of them one for each row is smaller.
  constexpr int64_t kFew = 8;
  if (sparse_ &&
      (2 * nonzeros_ > size_ + kFew || size_ > std::numeric_limits<int32_t>::max() - 1)) {
    spread();
  }
  if (sparse_) rows_.push_back(static_cast<int32_t>(size_));
  keep(value);
  ++size_;
  ++nonzeros_;
}

void Numbers::add_zeros(int64_t count) {
  if (!sparse_) {
    for (int64_t k = 0; k < count; ++k) keep(0.0);
  }
  size_ += count;
}

double Numbers::Reader::operator()(int64_t row) {
  if (!numbers_.sparse_) return numbers_.kept(static_cast<size_t>(row));
  const std::vector<int32_t>& rows = numbers_.rows_;
  if (next_ > 0 && rows[next_ - 1] >= row) {  // a step back
    next_ = static_cast<size_t>(std::lower_bound(rows.begin(), rows.end(), row) - rows.begin());
  }
  while (next_ < rows.size() && rows[next_] < row) ++next_;
  return next_ < rows.size() && rows[next_] == row ? numbers_.kept(next_) : 0.0;
}

}  // namespace grm::own
