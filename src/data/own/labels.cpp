#include "data/own/labels.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "grm/core/options.h"

namespace grm::own {
namespace {

constexpr int64_t kMostClasses = 100000;
constexpr int64_t kNoLabel = -1, kNoClass = -2;

// Whole numbers; spreadsheets and pandas write 1.0 for 1 where other labels are missing.
bool is_whole(const std::string& text, double& value) {
  return read_number(text, value) == Number::ok && value == std::floor(value) &&
         std::abs(value) < 1e15;
}

int64_t class_of(const std::string& text, const Classes& classes) {
  const auto found = std::find(classes.names.begin(), classes.names.end(), text);
  if (found != classes.names.end()) return found - classes.names.begin();
  double value = 0;
  const bool numbered =
      std::any_of(classes.names.begin(), classes.names.end(), [](const std::string& name) {
        double ignored = 0;
        return is_whole(name, ignored);
      });
  if (numbered || !is_whole(text, value)) return kNoClass;
  if (value < 0) return kNoLabel;
  const auto number = static_cast<int64_t>(value);
  return classes.count == 0 || number < classes.count ? number : kNoClass;
}

// Texts of the labels that training rows have.
std::vector<std::string> training_texts(const std::vector<const RawDomain*>& training,
                                        std::string& file, int64_t& column) {
  std::set<std::string> seen;
  for (const RawDomain* raw : training) {
    if (!raw->label_texts) continue;
    file = raw->label_texts->file;
    column = raw->label_texts->column;
    const int64_t* row = raw->label_rows.data_ptr<int64_t>();
    for (int64_t i = 0; i < raw->label_rows.numel(); ++i) {
      const int32_t code = raw->label_texts->codes[row[i]];
      if (code >= 0) seen.insert(raw->label_texts->texts[code]);
    }
  }
  return {seen.begin(), seen.end()};
}

// Small letters, without any blank: what a reader would take for the same.
std::string folded(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == ' ' || c == '\t') continue;
    result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

// Line where the text comes first, or 1.
int64_t line_of(const std::vector<const RawDomain*>& training, const std::string& text) {
  for (const RawDomain* raw : training) {
    if (!raw->label_texts) continue;
    const int64_t code = raw->label_texts->texts.find(text);
    if (code >= 0) return raw->label_texts->first_line[static_cast<size_t>(code)];
  }
  return 1;
}

void warn_of_twins(const std::vector<const RawDomain*>& training, const Classes& classes,
                   const std::string& file, int64_t column, Problems& problems) {
  std::map<std::string, std::string> seen;
  for (const std::string& name : classes.names) {
    const auto [twin, is_new] = seen.emplace(folded(name), name);
    if (is_new) continue;
    const int64_t line = std::max(line_of(training, name), line_of(training, twin->second));
    problems.warn({file, line, column,
                   fmt::format("the labels '{}' and '{}' are two classes; they differ in capital "
                               "letters or blanks alone",
                               shown(twin->second), shown(name)),
                   "write both in the same way, if they mean the same"});
  }
}

// Classes from the texts of a table: numbers count classes, words are their names.
void classes_of_texts(const Description& d, const std::vector<std::string>& texts,
                      const std::string& file, int64_t column, Classes& classes,
                      Problems& problems) {
  int64_t whole = 0, fractions = 0;
  double largest = -1;
  for (const std::string& text : texts) {
    double value = 0;
    if (is_whole(text, value)) {
      ++whole;
      largest = std::max(largest, value);
    } else if (read_number(text, value) == Number::ok) {
      ++fractions;
    }
  }
  if (fractions > 0 && whole + fractions == static_cast<int64_t>(texts.size())) {
    problems.add({file, 1, column, "the labels are numbers with fractions, classes are needed",
                  "cut the numbers into classes 0, 1, 2, ..."});
  } else if (whole == static_cast<int64_t>(texts.size())) {
    classes.count = d.classes > 0 ? d.classes : static_cast<int64_t>(largest) + 1;
  } else {
    classes.names = texts;
    classes.count = static_cast<int64_t>(texts.size());
    if (d.classes > 0 && d.classes != classes.count) {
      problems.add(
          d.problem(d.classes_place,
                    fmt::format("classes = {}, but the training labels are {}: {}", d.classes,
                                classes.count, shown(fmt::format("{}", fmt::join(texts, ", ")))),
                    "name all classes in their order: labels = [\"...\"]"));
    }
  }
}

}  // namespace

Classes find_classes(const Description& d, const std::vector<const RawDomain*>& training,
                     Problems& problems) {
  Classes classes;
  classes.names = d.labels;
  classes.count = d.classes;
  if (training.empty()) return classes;
  const int64_t before = problems.count();
  std::string file = training.front()->file;
  int64_t column = 0;
  const std::vector<std::string> texts = training_texts(training, file, column);
  int64_t largest = -1;
  for (const RawDomain* raw : training) {
    if (raw->y.defined() && raw->y.numel() > 0) {
      largest = std::max(largest, raw->y.max().item<int64_t>());
    }
  }
  if (texts.empty() && largest < 0) {
    problems.add({file, 0, 0, "no training item has a label", "training needs labels"});
    return classes;
  }
  if (d.labels.empty()) {
    if (!texts.empty()) classes_of_texts(d, texts, file, column, classes, problems);
    if (texts.empty() && d.classes == 0) classes.count = largest + 1;
  }
  if (problems.count() > before) return classes;
  warn_of_twins(training, classes, file, column, problems);
  if (classes.count > kMostClasses) {
    problems.add({file, 0, 0,
                  fmt::format("the largest training label is {}, which makes {} classes",
                              classes.count - 1, classes.count),
                  "number the classes 0, 1, 2, ..."});
  } else if (classes.count < 2) {
    problems.add({file, 0, 0, "all training labels are of one class",
                  "training needs at least two; with others to come, name them all in 'labels'"});
  } else if (classes.count != 2) {
    const auto for_two = [&](const char* key, const std::string& word, Place place,
                             const char* fix) {
      problems.add(d.problem(
          place,
          fmt::format("{} = \"{}\" is for 2 classes, there are {}", key, word, classes.count),
          fix));
    };
    if (d.loss == LossKind::binary_pair) {
      for_two("loss", to_string(d.loss), d.loss_place, "write loss = \"softmax\"");
    }
    if (d.metric == MetricKind::roc_auc || d.metric == MetricKind::average_precision) {
      for_two("metric", to_string(d.metric), d.metric_place,
              "write metric = \"accuracy\" or \"macro_f1\"");
    }
  }
  return classes;
}

torch::Tensor class_numbers(const RawDomain& raw, const Classes& classes, Purpose purpose,
                            Problems& problems) {
  const bool training = purpose == Purpose::training;
  if (raw.y.defined()) {
    if (classes.count == 0) return raw.y;
    const torch::Tensor wrong = raw.y.ge(classes.count);
    if (!wrong.any().item<bool>()) return raw.y;
    if (!training) return raw.y.masked_fill(wrong, -1);
    const int64_t at = torch::nonzero(wrong)[0].item<int64_t>();
    problems.add(
        {raw.file, 0, 0,
         fmt::format("y[{}] is {}, but the classes are 0..{}; {} such labels in all", at,
                     raw.y[at].item<int64_t>(), classes.count - 1, wrong.sum().item<int64_t>()),
         "write classes = ... in dataset.toml if training domains lack a class"});
    return raw.y;
  }
  torch::Tensor y = torch::full({raw.items()}, kNoLabel, torch::kInt64);
  if (!raw.label_texts) return y;
  const LabelTexts& labels = *raw.label_texts;
  std::vector<int64_t> number(labels.texts.size(), kNoLabel);
  for (int64_t code = 0; code < labels.texts.size(); ++code) {
    number[code] = class_of(labels.texts[code], classes);
  }
  const int64_t* row = raw.label_rows.data_ptr<int64_t>();
  int64_t* out = y.data_ptr<int64_t>();
  std::set<int32_t> told;
  for (int64_t i = 0; i < y.numel(); ++i) {
    const int32_t code = labels.codes[row[i]];
    if (code < 0) continue;
    out[i] = std::max(number[code], kNoLabel);
    if (number[code] != kNoClass || !training || !told.insert(code).second) continue;
    const std::string known = classes.names.empty()
                                  ? fmt::format("0..{}", classes.count - 1)
                                  : shown(fmt::format("{}", fmt::join(classes.names, ", ")));
    problems.add(
        {labels.file, labels.first_line[code], labels.column,
         fmt::format("the label '{}' is none of the classes {}{}", shown(labels.texts[code]), known,
                     did_you_mean(labels.texts[code], classes.names)),
         "correct it; if training domains lack a class, name all in 'labels'"});
  }
  return y;
}

void set_labels(Domain& domain, const RawDomain& raw, torch::Tensor y) {
  const torch::Tensor known = y.dim() == 2 ? y.isnan().all(1).logical_not() : y.ge(0);
  const auto counted = [&](const torch::Tensor& mask) {
    return torch::nonzero(mask.defined() ? mask.logical_and(known) : known).reshape({-1});
  };
  domain.labels.loss = counted(raw.loss_mask);
  domain.labels.evaluate = counted(raw.eval_mask);
  domain.labels.y = std::move(y);
}

}  // namespace grm::own
