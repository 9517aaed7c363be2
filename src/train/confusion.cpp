#include "train/confusion.h"

#include <torch/types.h>

#include <cmath>
#include <limits>

#include "grm/core/error.h"

namespace grm {
namespace {

double percent_of(double part, double whole) {
  return whole == 0.0 ? std::numeric_limits<double>::quiet_NaN() : 100.0 * part / whole;
}

// Mean of what is a number; 0 for nothing.
template <class Of>
double mean_of_classes(int64_t classes, const Of& of) {
  double sum = 0.0, known = 0.0;
  for (int64_t c = 0; c < classes; ++c) {
    const double value = of(c);
    if (std::isnan(value)) continue;
    sum += value;
    known += 1.0;
  }
  return known == 0.0 ? 0.0 : sum / known;
}

}  // namespace

Confusion::Confusion(int64_t classes)
    : classes_(classes), count_(static_cast<size_t>(classes * classes), 0.0) {}

Confusion::Confusion(const torch::Tensor& predicted, const torch::Tensor& y, int64_t classes,
                     const ItemCounts& counts)
    : Confusion(classes) {
  const torch::Tensor guess = predicted.to(torch::kInt64).contiguous();
  const torch::Tensor truth = y.to(torch::kInt64).contiguous();
  ensure(guess.numel() == truth.numel(), "Confusion: a prediction for each label");
  for (int64_t i = 0; i < truth.numel(); ++i) {
    add(truth.data_ptr<int64_t>()[i], guess.data_ptr<int64_t>()[i],
        counts.empty() ? 1.0 : static_cast<double>(counts[static_cast<size_t>(i)]));
  }
}

void Confusion::add(int64_t truth, int64_t predicted, double times) {
  ensure(truth >= 0 && truth < classes_ && predicted >= 0 && predicted < classes_,
         "Confusion: a class out of range");
  count_[static_cast<size_t>(truth * classes_ + predicted)] += times;
}

double Confusion::count(int64_t truth, int64_t predicted) const {
  return count_.at(static_cast<size_t>(truth * classes_ + predicted));
}

double Confusion::items_of(int64_t truth) const {
  double sum = 0.0;
  for (int64_t c = 0; c < classes_; ++c) sum += count(truth, c);
  return sum;
}

double Confusion::predicted_as(int64_t predicted) const {
  double sum = 0.0;
  for (int64_t c = 0; c < classes_; ++c) sum += count(c, predicted);
  return sum;
}

double Confusion::items() const {
  double sum = 0.0;
  for (const double each : count_) sum += each;
  return sum;
}

double Confusion::precision(int64_t c) const {
  return percent_of(count(c, c), predicted_as(c));
}

double Confusion::recall(int64_t c) const {
  return percent_of(count(c, c), items_of(c));
}

double Confusion::f1(int64_t c) const {
  return percent_of(2.0 * count(c, c), items_of(c) + predicted_as(c));
}

double Confusion::accuracy() const {
  double right = 0.0;
  for (int64_t c = 0; c < classes_; ++c) right += count(c, c);
  return percent_of(right, items());
}

double Confusion::balanced_accuracy() const {
  return mean_of_classes(classes_, [this](int64_t c) { return recall(c); });
}

double Confusion::macro_f1() const {
  return mean_of_classes(classes_, [this](int64_t c) { return f1(c); });
}

double Confusion::matthews() const {
  const double n = items();
  double right = 0.0, both = 0.0, truths = 0.0, guesses = 0.0;
  for (int64_t c = 0; c < classes_; ++c) {
    const double t = items_of(c), p = predicted_as(c);
    right += count(c, c);
    both += t * p;
    truths += t * t;
    guesses += p * p;
  }
  const double norm = (n * n - truths) * (n * n - guesses);
  return norm <= 0.0 ? 0.0 : (n * right - both) / std::sqrt(norm);
}

}  // namespace grm
