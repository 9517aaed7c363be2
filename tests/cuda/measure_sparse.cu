// Times of sparse products and searches on a pattern like that of Twitch.
#include "graph/kernels.h"
#include "measure.h"

namespace test {
namespace {

namespace kernels = grm::kernels;

// Every warp reads rows of 512 bytes at random, eight in flight, and does nothing with them: what
// the cache can give to a product with a sparse matrix of 128 columns.
__global__ void gather_only(const float4* x, const int32_t* index, int64_t n, float4* out) {
  const int64_t warp = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (warp * 32 >= n) return;
  const int32_t mine = warp * 32 + lane < n ? index[warp * 32 + lane] : 0;
  float4 sum = {0, 0, 0, 0};
#pragma unroll 8
  for (int k = 0; k < 32; ++k) {
    const float4 v = x[static_cast<int64_t>(__shfl_sync(0xFFFFFFFFu, mine, k)) * 32 + lane];
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
  }
  if (sum.x == 12345.678f) out[lane] = sum;
}

// 9,498 rows, 306,276 entries, degrees falling as a power with a largest one of about 4,000.
HostPattern twitch_like(Random& random) {
  const int64_t rows = 9498, entries = 306276;
  std::vector<double> share(rows);
  double total = 0.0;
  for (int64_t i = 0; i < rows; ++i)
    total += share[i] = std::pow(static_cast<double>(i) + 8.0, -0.8);
  std::vector<int64_t> length(rows, 1);
  int64_t left = entries - rows;
  for (int64_t i = 0; i < rows; ++i) {
    const auto take = std::min(left, static_cast<int64_t>(share[i] / total * (entries - rows)) + 1);
    length[i] += take;
    left -= take;
  }
  length[rows - 1] += left;
  std::shuffle(length.begin(), length.end(), random);
  // Sources follow the degrees as well, as in a symmetric graph.
  std::vector<int32_t> ends;
  for (int64_t i = 0; i < rows; ++i) ends.insert(ends.end(), length[i], static_cast<int32_t>(i));
  std::shuffle(ends.begin(), ends.end(), random);
  HostPattern p;
  p.rows = p.cols = rows;
  for (const int64_t n : length) p.offset.push_back(p.offset.back() + n);
  p.index = ends;
  for (int64_t i = 0; i < rows; ++i) {
    std::sort(p.index.begin() + p.offset[i], p.index.begin() + p.offset[i + 1]);
  }
  return p;
}

void sparse(Random& random) {
  const HostPattern p = twitch_like(random), t = transposed(p);
  int64_t longest = 0;
  for (int64_t i = 0; i < p.rows; ++i) longest = std::max(longest, p.offset[i + 1] - p.offset[i]);
  std::printf("Twitch-like pattern: %ld rows, %ld entries, longest row %ld; float\n",
              static_cast<long>(p.rows), static_cast<long>(p.entries()),
              static_cast<long>(longest));
  const DevicePattern in(p), out(t);
  const int64_t nnz = p.entries();
  {
    const Array<float> x(uniform<float>(random, p.cols * 128));
    line("rows gathered and dropped, d = 128", time_of([&] {
           gather_only<<<static_cast<unsigned>((nnz + 255) / 256), 256, 0, stream()>>>(
               reinterpret_cast<const float4*>(x.get()), in.index.get(), nnz, nullptr);
         }),
         nnz * 512.0, 0, "gathered bytes");
  }
  for (const int64_t d : {128, 2}) {
    const Array<float> w(uniform<float>(random, nnz)), x(uniform<float>(random, p.cols * d));
    const Array<float> left(uniform<float>(random, p.rows * d));
    Array<float> y(p.rows * d), s(nnz);
    const double rows_read = static_cast<double>(nnz * d * 4), entry = static_cast<double>(nnz);
    const double dense = static_cast<double>(p.rows * d * 4);
    const std::string tail = ", d = " + std::to_string(d);
    line(("spmm" + tail).c_str(),
         time_of([&] { gpu<kernels::spmm<float>>(in.get(), w.get(), x.get(), d, y.get()); }),
         rows_read + entry * 8 + dense, 2.0 * entry * d, "gathered bytes");
    line(("spmm, rows uncut" + tail).c_str(),
         time_of([&] { gpu<kernels::spmm<float>>(in.get(0), w.get(), x.get(), d, y.get()); }),
         rows_read + entry * 8 + dense, 2.0 * entry * d, "gathered bytes");
    line(("spmm over the transpose" + tail).c_str(),
         time_of([&] { gpu<kernels::spmm<float>>(out.get(), w.get(), x.get(), d, y.get()); }),
         rows_read + entry * 16 + dense, 2.0 * entry * d, "gathered bytes");
    line(("sddmm" + tail).c_str(),
         time_of([&] { gpu<kernels::sddmm<float>>(in.get(), left.get(), x.get(), d, s.get()); }),
         rows_read + entry * 8 + dense, 2.0 * entry * d, "gathered bytes");
    line(("spmm_sddmm over the transpose" + tail).c_str(), time_of([&] {
           gpu<kernels::spmm_sddmm<float>>(out.get(), w.get(), left.get(), x.get(), d, y.get(),
                                           s.get());
         }),
         rows_read + entry * 20 + 2 * dense, 4.0 * entry * d, "gathered bytes");
  }
  const Array<float> w(uniform<float>(random, nnz, 0.1, 1.0));
  Array<float> scale(p.rows), y(nnz);
  line("normalise",
       time_of([&] { gpu<kernels::normalise<float>>(in.get(), w.get(), scale.get(), y.get()); }),
       nnz * 16.0, 0, "2 launches");
  std::vector<int64_t> index(p.index.begin(), p.index.end());
  const Array<int64_t> di(index);
  Array<int64_t> starts(p.cols + 1);
  Array<int32_t> place(nnz);
  line("positions_by_value", time_of([&] {
         gpu<kernels::positions_by_value>(di.get(), nnz, p.cols, starts.get(), place.get());
       }),
       nnz * 12.0, 0, "7 launches");
  line("positions_by_value, 10,500 of them", time_of([&] {
         gpu<kernels::positions_by_value>(di.get(), 10500, p.cols, starts.get(), place.get());
       }),
       10500 * 12.0, 0, "5 launches");
  const Array<float> dy(uniform<float>(random, nnz));
  line("normalise_backward", time_of([&] {
         gpu<kernels::normalise_backward<float>>(in.get(), out.get(), w.get(), scale.get(),
                                                 dy.get(), y.get());
       }),
       nnz * 36.0, 0, "");
  line("row_softmax, 1 head",
       time_of([&] { gpu<kernels::row_softmax<float>>(in.get(), w.get(), 1, y.get()); }), nnz * 8.0,
       0, "");
}

// Exact influence sets: all nodes as sources, in rounds of 32 blocks.
void influence(Random& random) {
  const HostPattern p = twitch_like(random);
  const DevicePattern lists(p);
  const int64_t all = (p.rows + 63) / 64, at_once = 32;
  Array<char> work(kernels::path_workspace_bytes<float>(p.rows, at_once));
  Array<int32_t> inexact(at_once);
  Array<uint64_t> sure(p.rows * all), unsure(p.rows * all);
  const kernels::NeighbourLists graph{p.rows, lists.offset.get(), lists.index.get()};
  line("influence of all 9,498 nodes, exact",
       time_of(
           [&] {
             for (int64_t b = 0; b < all; b += at_once) {
               const int64_t blocks = std::min(at_once, all - b);
               gpu<kernels::path_search<float>>(graph, b * 64, blocks, 5, work.get(),
                                                inexact.get());
               gpu<kernels::path_judge<float>>(graph, p.rows, blocks, {3.0, std::log2(1.5)},
                                               work.get(), sure.get() + b, unsure.get() + b, all);
             }
           },
           1),
       static_cast<double>(all) * p.entries() * (5 * 256 + 192), 0, "at most");
}

}  // namespace

void measure_sparse(Random& random) {
  sparse(random);
  influence(random);
}

}  // namespace test
