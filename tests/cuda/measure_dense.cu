// Times of the generator, of dense layers and of the optimiser.
#include "core/kernels.h"
#include "measure.h"
#include "nn/kernels.h"

namespace test {
namespace {

namespace kernels = grm::kernels;

void generator(Random& random) {
  const int64_t graphs = 500, n = 21, rows = graphs * n, de = 128;
  std::printf("Generator batch: %ld graphs of %ld nodes, edge width %ld; float\n",
              static_cast<long>(graphs), static_cast<long>(n), static_cast<long>(de));
  std::vector<int64_t> offset(graphs + 1);
  for (int64_t g = 0; g <= graphs; ++g) offset[g] = g * n;
  const Array<int64_t> starts(offset);
  const Array<float> f(uniform<float>(random, rows * de, -0.4, 0.4));
  for (const int64_t d : {128, 2}) {
    const Array<float> x(uniform<float>(random, rows * d)), dy(uniform<float>(random, rows * d));
    const Array<float> dkl(uniform<float>(random, graphs));
    Array<float> y(rows * d), kl(graphs), df(rows * de), dx(rows * d);
    const kernels::GeneratorBatch b{graphs, starts.get(), n, de, d, 0.3, true, true};
    const double pairs = static_cast<double>(graphs * n * n);
    const std::string tail = ", width " + std::to_string(d);
    line(("generate_forward" + tail).c_str(), time_of([&] {
           gpu<kernels::generate_forward<float>>(b, f.get(), x.get(), y.get(), kl.get());
         }),
         rows * (de + 2.0 * d) * 4, 2.0 * pairs * (de + d), "each row once");
    line(("generate_backward" + tail).c_str(), time_of([&] {
           gpu<kernels::generate_backward<float>>(b, f.get(), x.get(), dy.get(), dkl.get(),
                                                  df.get(), dx.get());
         }),
         rows * (2.0 * de + 3.0 * d) * 4, 2.0 * pairs * (2.0 * de + 2.0 * d), "each row once");
  }
  // The same forward pass through single kernels over all pairs.
  std::vector<int64_t> lengths(rows, n);
  HostPattern p = make_pattern(random, lengths, rows);
  for (int64_t k = 0; k < p.entries(); ++k) {
    p.index[k] = static_cast<int32_t>(k / n / n * n + k % n);
  }
  const DevicePattern in(p);
  const int64_t nnz = p.entries();
  const Array<float> x(uniform<float>(random, rows * 128));
  Array<float> s(nnz), e(nnz), kl(nnz), scale(rows), a(nnz), y(rows * 128);
  line("the same forward by single kernels", time_of([&] {
         gpu<kernels::sddmm<float>>(in.get(), f.get(), f.get(), de, s.get());
         gpu<kernels::bernoulli_forward<float>>(s.get(), nnz, 0.3, e.get(), kl.get());
         gpu<kernels::normalise<float>>(in.get(), e.get(), scale.get(), a.get());
         gpu<kernels::spmm<float>>(in.get(0), a.get(), x.get(), 128, y.get());
       }),
       rows * 3.0 * 128 * 4, 4.0 * nnz * 128, "5 launches, no mean");
}

void dense(Random& random) {
  const int64_t rows = 10500, cols = 128;
  const Array<float> x(uniform<float>(random, rows * cols)), g(uniform<float>(random, cols));
  Array<float> y(rows * cols), dx(rows * cols), dg(cols), db(cols);
  Array<double> mean(cols), inverse(cols);
  const double matrix = static_cast<double>(rows * cols * 4);
  const kernels::BatchNormState<float> state{g.get(), g.get(), mean.get(), inverse.get(),
                                             nullptr, nullptr, 1e-5,       0.1};
  line("batch_norm_forward, 10,500 x 128", time_of([&] {
         gpu<kernels::batch_norm_forward<float>>(x.get(), rows, cols, state, nullptr, y.get());
       }),
       3 * matrix, 0, "3 launches");
  line("batch_norm_backward, 10,500 x 128", time_of([&] {
         gpu<kernels::batch_norm_backward<float>>(x.get(), y.get(), rows, cols, g.get(), mean.get(),
                                                  inverse.get(), nullptr, dx.get(), dg.get(),
                                                  db.get());
       }),
       5 * matrix, 0, "3 launches");
  line("dropout, 10,500 x 128",
       time_of([&] { gpu<kernels::dropout<float>>(x.get(), rows * cols, 0.3, {7}, y.get()); }),
       2 * matrix, 0, "");
  line("philox_normal, 10,500 x 128",
       time_of([&] { gpu<kernels::philox_normal<float>>(y.get(), rows * cols, {7}, 0); }), matrix,
       0, "");
}

void optimiser(Random& random) {
  const kernels::AdamStep step{0.9, 0.999, 1e-8, 1.0, 1e-3, 0.02, 1.7};
  // GRM's parameters on Twitch (3,170 columns), and one list far larger than the cache.
  const std::vector<int64_t> grm = {3170 * 128, 128, 128 * 128, 128, 3170 * 128, 128,
                                    128 * 128,  128, 256 * 256, 256, 256 * 128,  128,
                                    256 * 128,  128, 128 * 128, 128, 128 * 128,  128,
                                    128 * 128,  128, 128,       128, 128 * 2,    2};
  for (const bool large : {false, true}) {
    const std::vector<int64_t> sizes = large ? std::vector<int64_t>(8, 1 << 24) : grm;
    std::vector<std::unique_ptr<Array<float>>> arrays;
    std::vector<kernels::AdamTensor<float>> list;
    double total = 0.0;
    const std::vector<float> values =
        uniform<float>(random, large ? 1 << 24 : 3170 * 128, 0.0, 1.0);
    for (const int64_t n : sizes) {
      for (int k = 0; k < 4; ++k) {
        arrays.push_back(
            std::make_unique<Array<float>>(std::vector<float>(values.begin(), values.begin() + n)));
      }
      const size_t base = arrays.size() - 4;
      list.push_back({arrays[base]->get(), arrays[base + 1]->get(), arrays[base + 2]->get(),
                      arrays[base + 3]->get(), n});
      total += static_cast<double>(n);
    }
    const std::string what = "adam, " + std::to_string(sizes.size()) + " tensors, " +
                             std::to_string(static_cast<int64_t>(total)) + " numbers";
    line(what.c_str(),
         time_of([&] { gpu<kernels::adam<float>>(list, step, nullptr); }, large ? 2 : 20),
         28.0 * total, 0, "4 read, 3 written");
  }
}

}  // namespace

void measure_dense(Random& random) {
  generator(random);
  dense(random);
  optimiser(random);
}

}  // namespace test
