#include "train/bench.h"

#include <fmt/core.h>
#include <torch/types.h>

#include <algorithm>
#include <ctime>

#include "core/clock.h"
#include "dist/sharded_sum.h"
#include "grm/graph/device.h"
#include "train/evaluate.h"
#include "train/same_run.h"
#include "train/sampling.h"

namespace grm {
namespace {

constexpr int64_t kRows = 10000, kWidth = 128;  // the SGEMM that rates are compared with
constexpr int64_t kCopied = int64_t{64} << 20, kCopiedOnGpu = int64_t{512} << 20;
constexpr int64_t kSquare = 4096;
constexpr double kSeconds = 20.0;  // spent on epochs where their number is not given
constexpr int64_t kFewest = 5, kMost = 50;
constexpr int kRatesAnEpoch = 3;

double median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<int64_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// One epoch that was timed.
struct Epoch {
  double seconds = 0;
  std::vector<StageTime> stages;
};

// The epoch of median duration: its stages add up to its own time.
const Epoch& middle_of(const std::vector<Epoch>& epochs) {
  std::vector<const Epoch*> sorted;
  for (const Epoch& epoch : epochs) sorted.push_back(&epoch);
  std::sort(sorted.begin(), sorted.end(),
            [](const Epoch* a, const Epoch* b) { return a->seconds < b->seconds; });
  return *sorted[(sorted.size() - 1) / 2];
}

class Bench {
 public:
  Bench(const RunConfig& config, const Task& task, const BenchOptions& options)
      : config_(config),
        task_(task),
        options_(options),
        device_(compute_device()),
        group_(dist::group_or_alone(options.group)),
        run_(task, config.train.epochs, sampling_of(config)) {
    check_parts(config, task, options.group);
    check_sharding(config, options.group, &task);
    const MemoryEstimate estimate = check_memory(config, task, device_);
    report_.memory = estimate.parts;
    report_.estimated_mib = (device_.is_cuda() ? estimate.device() : estimate.host()) / cost::kMiB;
    reset_peak_memory(device_);
    TrainView view = task.train_view();
    view.sampling = run_.sampling;
    view.validate = [&task, &options](const Predictor& predict) {
      return mean_score(evaluate(predict, task, Role::validation, options.group));
    };
    view.sharding = {config.train.shards, options.group};
    method_ = config.method.build(view, Rng(static_cast<uint64_t>(options.seed)));
  }

  BenchReport operator()() {
    set_up();
    measure_epochs();
    if (device_.is_cuda()) measure_stages();
    if (options_.evaluate && !stopped()) measure_evaluation();
    report_.processes = group_.world();
    report_.host_peak_memory_mib = peak_memory_mib();
    report_.peak_memory_mib = device_.is_cuda()
                                  ? static_cast<double>(device_memory(device_).peak) / cost::kMiB
                                  : report_.host_peak_memory_mib;
    // Formulas are for whole graphs.
    if (!run_.sampling.on()) report_.work = config_.method.recipe().work(run_);
    report_.targets_per_epoch = config_.method.recipe().epoch(run_.training).targets;
    return report_;
  }

 private:
  void say(const std::string& text) const {
    if (options_.say) options_.say(text);
  }
  // One of the processes, all of them.
  bool stopped() const {
    const bool wanted = options_.interrupted && options_.interrupted();
    return group_.gather(torch::full({1}, int64_t{wanted}, torch::kInt64)).max().item<int64_t>() >
           0;
  }

  double epoch_seconds() {
    synchronise(device_);
    const Stopwatch watch;
    method_->train_epoch(++epoch_);
    synchronise(device_);
    return watch.seconds();
  }

  // The first epoch computes what later ones only read; the second fills what is left.
  void set_up() {
    say("first epoch");
    {
      const StageRecorder recorder;
      first_seconds_ = epoch_seconds();
      run_.noted = recorder.sizes();
    }
    // A GPU looks at two more steps before it records one and repeats the record from then on.
    for (int k = device_.is_cuda() ? 4 : 1; k > 0 && !stopped(); --k)
      second_seconds_ = epoch_seconds();
  }

  void measure_epochs() {
    int64_t wanted = options_.epochs;
    if (wanted == 0) {
      const double each = std::max(second_seconds_, 1e-6);
      wanted = std::clamp(static_cast<int64_t>(kSeconds / each), kFewest, kMost);
    }
    const torch::Tensor of_first = torch::full({1}, wanted, torch::kInt64);
    group_.broadcast(of_first, 0);
    wanted = of_first.item<int64_t>();
    std::vector<double> products, copies, cpu;
    std::vector<Epoch> epochs;
    // On the CPU marks cost nothing, so the stages are those of the very epochs that are timed.
    // A GPU must not have a recorder: it would run step by step what it else repeats as a whole.
    std::optional<StageRecorder> recorder;
    if (!device_.is_cuda()) recorder.emplace();
    for (int64_t k = 0; k < wanted && (k == 0 || !stopped()); ++k) {
      for (int r = 0; r < kRatesAnEpoch; ++r) {
        products.push_back(product_rate(kRows, kWidth, kWidth, device_));
      }
      copies.push_back(copy_rate(device_.is_cuda() ? kCopiedOnGpu : kCopied, device_));
      if (recorder) recorder->reset();
      const std::clock_t before = std::clock();
      const double seconds = epoch_seconds();
      cpu.push_back(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
      epochs.push_back({seconds, recorder ? recorder->times() : std::vector<StageTime>()});
      say(fmt::format("epoch {} of {}: {:.4f} s", k + 1, wanted, epochs.back().seconds));
    }
    const Epoch& middle = middle_of(epochs);
    report_.epochs = static_cast<int64_t>(epochs.size());
    report_.seconds_per_epoch = middle.seconds;
    report_.fastest_epoch =
        std::min_element(epochs.begin(), epochs.end(), [](const Epoch& a, const Epoch& b) {
          return a.seconds < b.seconds;
        })->seconds;
    report_.setup_seconds = std::max(0.0, first_seconds_ - middle.seconds);
    report_.cpu_seconds_per_epoch = median(cpu);
    report_.sgemm_gflops = median(products);
    report_.copy_gbytes = median(copies);
    take_stages(middle);
  }

  // On a GPU the host runs ahead: stages are known only to a host that waits at every mark.
  void measure_stages() {
    report_.matmul_gflops = product_rate(kSquare, kSquare, kSquare, device_);
    const torch::Device device = device_;
    std::vector<Epoch> epochs;
    {
      StageRecorder recorder([device] { synchronise(device); });
      for (int64_t k = 0; k < kFewest && (k == 0 || !stopped()); ++k) {
        recorder.reset();
        const double seconds = epoch_seconds();
        epochs.push_back({seconds, recorder.times()});
      }
    }
    take_stages(middle_of(epochs));
    // Profiling makes an epoch longer, kernels not: their time is compared with the plain epoch.
    // The profiler waits at its end, and so do we around an epoch: two waits are not training's.
    report_.device_work = device_work([&] { epoch_seconds(); });
    if (report_.device_work) {
      report_.kernel_share = report_.device_work->busy / report_.seconds_per_epoch;
    }
  }

  void take_stages(const Epoch& epoch) {
    report_.stages = epoch.stages;
    report_.staged_seconds = epoch.seconds;
    double known = 0;
    for (const StageTime& stage : epoch.stages) known += stage.seconds;
    report_.stages.push_back({"other", std::max(0.0, epoch.seconds - known), 1});
  }

  void measure_evaluation() {
    say("evaluation");
    method_->prepare_evaluation(epoch_);
    // The first pass fills caches; on a GPU the second is recorded for those that follow.
    const int passes = device_.is_cuda() ? 3 : 2;
    for (int pass = 0; pass < passes && (pass == 0 || !stopped()); ++pass) {
      synchronise(device_);
      const Stopwatch watch;
      evaluate(*method_, task_, Role::validation, options_.group);
      evaluate(*method_, task_, Role::test, options_.group);
      synchronise(device_);
      report_.evaluate_seconds = watch.seconds();
    }
    for (const Role role : {Role::validation, Role::test}) {
      for (const Domain& domain : task_.domains(role)) {
        report_.evaluated_items += static_cast<double>(domain.labels.evaluate.numel());
      }
    }
  }

  const RunConfig& config_;
  const Task& task_;
  const BenchOptions& options_;
  torch::Device device_;
  dist::Group& group_;
  std::unique_ptr<Method> method_;
  int64_t epoch_ = 0;
  double first_seconds_ = 0, second_seconds_ = 0;
  RunShape run_;
  BenchReport report_;
};

}  // namespace

std::optional<double> BenchReport::share_of_sgemm() const {
  if (!work || seconds_per_epoch <= 0 || sgemm_gflops <= 0) return std::nullopt;
  return work->flops() * 1e-9 / seconds_per_epoch / sgemm_gflops;
}

std::optional<double> BenchReport::share_of_copy() const {
  if (!work || seconds_per_epoch <= 0 || copy_gbytes <= 0) return std::nullopt;
  return work->bytes() * 1e-9 / seconds_per_epoch / copy_gbytes;
}

double BenchReport::communication_share() const {
  for (const StageTime& stage : stages) {
    if (stage.name == dist::kCommunicate) return stage.seconds / std::max(1e-12, staged_seconds);
  }
  return 0.0;
}

BenchReport run_bench(const RunConfig& config, const Task& task, const BenchOptions& options) {
  return Bench(config, task, options)();
}

}  // namespace grm
