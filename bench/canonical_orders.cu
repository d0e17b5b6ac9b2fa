// Do the canonical orders of sum and dot run at full speed on a GPU? Hand-written kernels that follow them, timed against a
// device-to-device copy and against the same kernels without the order's constraint; each answer is compared bit for bit
// with the order as written in ir/tensor/ops/{reduce,contract}.h, on the host.
//
//   nvcc -O3 -std=c++20 -arch=sm_90a bench/canonical_orders.cu -o canonical_orders && ./canonical_orders > canonical_orders_h200.json
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    const cudaError_t status = (call);                                                           \
    if (status != cudaSuccess) {                                                                 \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));       \
      std::exit(3);                                                                              \
    }                                                                                            \
  } while (false)

constexpr int chunk = 4096, lanes = 256;

// ── the order, on the host ──
float canonical_chunk(const float* x, std::int64_t n, std::int64_t stride) {
  float lane[lanes];
  for (int l = 0; l < lanes; ++l) lane[l] = -0.0f;
  for (std::int64_t i = 0; i < n; ++i) lane[i % lanes] = i < lanes ? x[i * stride] : lane[i % lanes] + x[i * stride];
  for (int h = lanes / 2; h >= 1; h /= 2)
    for (int l = 0; l < h; ++l) lane[l] = lane[l] + lane[l + h];
  return lane[0];
}
float canonical_sum(const float* x, std::int64_t n, std::int64_t stride = 1) {
  std::vector<float> level;
  for (std::int64_t i = 0; i < n; i += chunk) level.push_back(canonical_chunk(x + i * stride, std::min<std::int64_t>(chunk, n - i), stride));
  return level.size() == 1 ? level[0] : canonical_sum(level.data(), static_cast<std::int64_t>(level.size()));
}
float canonical_dot(const float* a, const float* b, std::int64_t k, std::int64_t b_stride) {
  float total = -0.0f, block = -0.0f;
  for (std::int64_t first = 0; first < k; first += 128) {
    float chain = 0;
    for (std::int64_t i = first; i < std::min(k, first + 128); ++i) chain = std::fma(a[i], b[i * b_stride], chain);
    block += chain;
    if ((first + 128) % 4096 == 0 || first + 128 >= k) total += block, block = -0.0f;
  }
  return total;
}

// ── sums ──
/// The halvings 64 … 1 of 128 lanes that a warp holds, lanes 4t … 4t+3 in thread t.
__device__ float halve(float4 v) {
  for (int step = 16; step >= 1; step /= 2) {
    v.x += __shfl_down_sync(~0u, v.x, step);
    v.y += __shfl_down_sync(~0u, v.y, step);
    v.z += __shfl_down_sync(~0u, v.z, step);
    v.w += __shfl_down_sync(~0u, v.w, step);
  }
  return (v.x + v.z) + (v.y + v.w);
}
__device__ float4 add(float4 a, float4 b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }

/// One warp a chunk; thread t holds lanes 4t … 4t+3 and 128+4t … 128+4t+3. Rows of `row` elements, a multiple of 4, are
/// each cut into chunks; sums[row][chunk].
__global__ void __launch_bounds__(256) sum_chunks(const float* __restrict__ x, float* __restrict__ sums, std::int64_t row, std::int64_t chunks_a_row, std::int64_t total) {
  const std::int64_t unit = blockIdx.x * 8ll + threadIdx.x / 32;
  if (unit >= total) return;
  const int t = threadIdx.x % 32;
  const std::int64_t c = unit % chunks_a_row, n = min(static_cast<std::int64_t>(chunk), row - c * chunk);
  const float* base = x + unit / chunks_a_row * row + c * chunk;
  const float4 none{-0.0f, -0.0f, -0.0f, -0.0f};
  float4 low = none, high = none;
  if (n == chunk) {
    const auto* v = reinterpret_cast<const float4*>(base);
#pragma unroll 4
    for (int i = 0; i < 16; i += 2) {
      const float4 a = v[i * 64 + t], b = v[i * 64 + 32 + t], c2 = v[i * 64 + 64 + t], d = v[i * 64 + 96 + t];
      low = add(add(low, a), c2);
      high = add(add(high, b), d);
    }
  } else {
    for (int i = 0; i < 16; ++i) {
      const int first = i * 256 + 4 * t;
      low = add(low, first < n ? *reinterpret_cast<const float4*>(base + first) : none);
      high = add(high, first + 128 < n ? *reinterpret_cast<const float4*>(base + first + 128) : none);
    }
  }
  const float r = halve(add(low, high));
  if (t == 0) sums[unit] = r;
}
/// Any order: grid-stride, as a library would.
__global__ void __launch_bounds__(256) sum_free(const float4* __restrict__ x, float* __restrict__ sums, std::int64_t n) {
  float4 a{}, b{};
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  for (; i + stride < n; i += 2 * stride) a = add(a, x[i]), b = add(b, x[i + stride]);
  if (i < n) a = add(a, x[i]);
  const float r = halve(add(a, b));
  if (threadIdx.x % 32 == 0) sums[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = r;
}
/// Columns: a warp walks 32 lanes of residue w mod 8 in bit-reversed order over 128 columns with a stack of partial sums;
/// the block's 8 warps meet in shared memory. grid: (columns/128, chunks).
__global__ void __launch_bounds__(256) sum_columns(const float* __restrict__ x, float* __restrict__ sums, std::int64_t rows, std::int64_t columns) {
  __shared__ float4 part[8][32];
  const int t = threadIdx.x % 32, w = threadIdx.x / 32;
  const std::int64_t first = blockIdx.y * static_cast<std::int64_t>(chunk);
  const float* base = x + first * columns + blockIdx.x * 128 + 4 * t;
  const int n = static_cast<int>(min(static_cast<std::int64_t>(chunk), rows - first));
  float4 stack[6];
#pragma unroll
  for (int k = 0; k < 32; ++k) {
    const int lane = (__brev(k) >> 27) * 8 + w;
    float4 v{-0.0f, -0.0f, -0.0f, -0.0f};
#pragma unroll 8
    for (int i = 0; i < 16; ++i)
      if (i * 256 + lane < n) v = add(v, *reinterpret_cast<const float4*>(base + (i * 256ll + lane) * columns));
#pragma unroll
    for (int level = 0; level < 5; ++level)
      if ((k >> level & 1) && (k & ((1 << level) - 1)) == (1 << level) - 1) v = add(stack[level], v);
    int free = 0;
    for (; free < 5 && (k >> free & 1); ++free) {}
    stack[free] = v;
  }
  part[w][t] = stack[5];
  __syncthreads();
  if (w == 0) {
    float4 h[4];
    for (int l = 0; l < 4; ++l) h[l] = add(part[l][t], part[l + 4][t]);
    const float4 r = add(add(h[0], h[2]), add(h[1], h[3]));
    *reinterpret_cast<float4*>(sums + blockIdx.y * columns + blockIdx.x * 128 + 4 * t) = r;
  }
}
/// The second level where there are at most 16 chunk sums; chunk l of sum i lies at l*chunk_stride + i*sum_stride.
__global__ void finish(const float* __restrict__ sums, float* __restrict__ out, int chunks, std::int64_t chunk_stride, std::int64_t sum_stride, std::int64_t count) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i >= count) return;
  float lane[16];
  for (int l = 0; l < 16; ++l) lane[l] = l < chunks ? sums[l * chunk_stride + i * sum_stride] : -0.0f;
  for (int h = 8; h >= 1; h /= 2)
    for (int l = 0; l < h; ++l) lane[l] += lane[l + h];
  out[i] = lane[0];
}

// ── dot: a plain SIMT product, 128×128×8 a block, 8×8 a thread; `cut` terms a chain (0: one chain). Sums of chains live in
// registers, or in shared memory, which leaves registers for a second block on the multiprocessor. ──
template <int cut, bool shared_sums> __global__ void __launch_bounds__(256, cut && !shared_sums ? 1 : 2) product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  __shared__ float as[2][8][128 + 4], bs[2][8][128];
  extern __shared__ float sums[];   // [64][256]: element (i, j) of thread t at (8 i + j, t)
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const float* ap = a + (blockIdx.y * 128ll + t / 2) * n + t % 2 * 4;
  const float* bp = b + (t / 32) * static_cast<std::int64_t>(n) + blockIdx.x * 128 + t % 32 * 4;
  float chain[8][8] = {}, block[8][8];
  if (cut)
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j)
        if (shared_sums) sums[(8 * i + j) * 256 + t] = -0.0f;
        else block[i][j] = -0.0f;
  auto stage = [&](int s, float4 av, float4 bv) {
    as[s][t % 2 * 4 + 0][t / 2] = av.x, as[s][t % 2 * 4 + 1][t / 2] = av.y, as[s][t % 2 * 4 + 2][t / 2] = av.z, as[s][t % 2 * 4 + 3][t / 2] = av.w;
    *reinterpret_cast<float4*>(&bs[s][t / 32][t % 32 * 4]) = bv;
  };
  stage(0, *reinterpret_cast<const float4*>(ap), *reinterpret_cast<const float4*>(bp));
  __syncthreads();
  for (int k = 0, s = 0; k < n; k += 8, s ^= 1) {
    float4 an{}, bn{};
    const bool more = k + 8 < n;
    if (more) an = *reinterpret_cast<const float4*>(ap + k + 8), bn = *reinterpret_cast<const float4*>(bp + (k + 8) * static_cast<std::int64_t>(n));
#pragma unroll
    for (int kk = 0; kk < 8; ++kk) {
      float av[8], bv[8];
      *reinterpret_cast<float4*>(av) = *reinterpret_cast<const float4*>(&as[s][kk][ty * 4]);
      *reinterpret_cast<float4*>(av + 4) = *reinterpret_cast<const float4*>(&as[s][kk][64 + ty * 4]);
      *reinterpret_cast<float4*>(bv) = *reinterpret_cast<const float4*>(&bs[s][kk][tx * 4]);
      *reinterpret_cast<float4*>(bv + 4) = *reinterpret_cast<const float4*>(&bs[s][kk][64 + tx * 4]);
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) chain[i][j] = fmaf(av[i], bv[j], chain[i][j]);
    }
    if (cut && (k + 8) % cut == 0) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          if (shared_sums) sums[(8 * i + j) * 256 + t] += chain[i][j];
          else block[i][j] += chain[i][j];
          chain[i][j] = 0;
        }
    }
    if (more) stage(s ^ 1, an, bn);
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      c[(blockIdx.y * 128ll + (i / 4) * 64 + ty * 4 + i % 4) * n + blockIdx.x * 128 + (j / 4) * 64 + tx * 4 + j % 4] = !cut ? chain[i][j] : -0.0f + (shared_sums ? sums[(8 * i + j) * 256 + t] : block[i][j]);
}

// ── measuring ──
double median_ms(const std::function<void()>& f) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (int r = 0; r < 23; ++r) {
    CHECK(cudaEventRecord(begin));
    f();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (r >= 3) times.push_back(ms);
  }
  CHECK(cudaGetLastError());
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}
bool same_bits(float a, float b) { return std::memcmp(&a, &b, 4) == 0; }
std::vector<float> from_device(const float* p, std::size_t n) {
  std::vector<float> v(n);
  CHECK(cudaMemcpy(v.data(), p, n * 4, cudaMemcpyDeviceToHost));
  return v;
}
int failures = 0;
bool first_row = true;
void report(const std::string& name, double ms, double work, const char* unit, double against, const char* what, int compared, int differ) {
  std::printf("%s\n  {\"case\": \"%s\", \"ms\": %.4f, \"%s\": %.1f, \"of_%s\": %.3f, \"compared\": %d, \"differ\": %d}", first_row ? "" : ",", name.c_str(), ms, unit, work / ms * 1e-9, what, against / ms, compared, differ);
  first_row = false;
  failures += differ;
}

int main() {
  constexpr std::int64_t n = 1ll << 28;
  std::vector<float> host(n);
  std::mt19937_64 random(1);
  for (std::int64_t i = 0; i < n; i += 2) {
    const auto r = random();
    host[i] = static_cast<float>(static_cast<std::int32_t>(r)) * 0x1p-31f;
    host[i + 1] = static_cast<float>(static_cast<std::int32_t>(r >> 32)) * 0x1p-30f;
  }
  float *x, *y, *sums, *more, *out;
  CHECK(cudaMalloc(&x, n * 4));
  CHECK(cudaMalloc(&y, n * 4));
  CHECK(cudaMalloc(&sums, n / 8));
  CHECK(cudaMalloc(&more, n / 8));
  CHECK(cudaMalloc(&out, n / 8));
  CHECK(cudaMemcpy(x, host.data(), n * 4, cudaMemcpyHostToDevice));
  cudaDeviceProp device{};
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::printf("{\"device\": \"%s\", \"floor\": \"bytes read at the speed of a device-to-device copy; products: the same kernel with one chain\", \"results\": [", device.name);
  const double copy = median_ms([&] { CHECK(cudaMemcpyAsync(y, x, n * 4, cudaMemcpyDeviceToDevice)); });
  report("copy of 1 GiB", copy, 8.0 * n, "TB_s", copy, "floor", 0, 0);
  const double read = copy / 2;

  const double anyhow = median_ms([&] {
    sum_free<<<132 * 8, 256>>>(reinterpret_cast<const float4*>(x), sums, n / 4);
    sum_free<<<1, 256>>>(reinterpret_cast<const float4*>(sums), more, 132 * 64 / 4);
  });
  report("sum of 2^28, any order", anyhow, 4.0 * n, "TB_s", read, "floor", 0, 0);
  for (const std::int64_t size : {n, n - 4 * 12345}) {
    float* level = sums;
    auto run = [&] {
      const float* in = x;
      level = sums;
      for (std::int64_t left = size; left > 1;) {
        const std::int64_t units = (left + chunk - 1) / chunk;
        sum_chunks<<<static_cast<unsigned>((units + 7) / 8), 256>>>(in, level, left, units, units);
        in = level;
        level = level == sums ? more : sums;
        left = units;
      }
    };
    const double ms = median_ms(run);
    level = level == sums ? more : sums;
    const bool same = same_bits(from_device(level, 1)[0], canonical_sum(host.data(), size));
    report("sum of " + std::to_string(size) + ", canonical", ms, 4.0 * size, "TB_s", read * size / n, "floor", 1, !same);
  }
  for (const auto& [rows, row] : std::vector<std::pair<std::int64_t, std::int64_t>>{{65536, 4096}, {262144, 1024}, {5340, 50256}}) {
    const std::int64_t chunks = (row + chunk - 1) / chunk, units = rows * chunks;
    const double ms = median_ms([&] {
      sum_chunks<<<static_cast<unsigned>((units + 7) / 8), 256>>>(x, chunks == 1 ? out : sums, row, chunks, units);
      if (chunks > 1) finish<<<static_cast<unsigned>((rows + 255) / 256), 256>>>(sums, out, static_cast<int>(chunks), 1, chunks, rows);
    });
    const auto got = from_device(out, static_cast<std::size_t>(rows));
    int compared = 0, differ = 0;
    for (std::int64_t r = 0; r < rows; r += 97, ++compared) differ += !same_bits(got[r], canonical_sum(host.data() + r * row, row));
    report("row sums of [" + std::to_string(rows) + "," + std::to_string(row) + "]", ms, 4.0 * rows * row, "TB_s", read * rows * row / n, "floor", compared, differ);
  }
  {
    const std::int64_t rows = 16384, columns = 16384, chunks = rows / chunk;
    const double ms = median_ms([&] {
      sum_columns<<<dim3(static_cast<unsigned>(columns / 128), static_cast<unsigned>(chunks)), 256>>>(x, sums, rows, columns);
      finish<<<static_cast<unsigned>(columns / 256), 256>>>(sums, out, static_cast<int>(chunks), columns, 1, columns);
    });
    const auto got = from_device(out, static_cast<std::size_t>(columns));
    int compared = 0, differ = 0;
    for (std::int64_t c = 0; c < columns; c += 101, ++compared) differ += !same_bits(got[c], canonical_sum(host.data() + c, rows, columns));
    report("column sums of [16384,16384]", ms, 4.0 * n, "TB_s", read, "floor", compared, differ);
  }
  {
    const int m = 4096;
    const dim3 grid(m / 128, m / 128);
    const double flops = 2.0 * m * m * m;
    const int bytes = 64 * 256 * 4;
    CHECK(cudaFuncSetAttribute(product<128, true>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const double one = median_ms([&] { product<0, false><<<grid, 256>>>(x, x + m * m, y, m); });
    report("product of 4096^3, one chain", one, flops, "TFLOP_s", one, "one_chain", 0, 0);
    const auto check = [&](const char* name, double ms) {
      const auto got = from_device(y, static_cast<std::size_t>(m) * m);
      int compared = 0, differ = 0;
      for (int i = 0; i < m; i += 61)
        for (int j = 7; j < m; j += 509, ++compared) differ += !same_bits(got[static_cast<std::size_t>(i) * m + j], canonical_dot(host.data() + static_cast<std::int64_t>(i) * m, host.data() + static_cast<std::int64_t>(m) * m + j, m, m));
      report(name, ms, flops, "TFLOP_s", one, "one_chain", compared, differ);
    };
    check("product of 4096^3, canonical chains of 128, summed in registers", median_ms([&] { product<128, false><<<grid, 256>>>(x, x + m * m, y, m); }));
    check("product of 4096^3, canonical chains of 128, summed in shared memory", median_ms([&] { product<128, true><<<grid, 256, bytes>>>(x, x + m * m, y, m); }));
  }
  std::printf("\n]}\n");
  return failures ? 1 : 0;
}
