// The structure of a Hopper product, by hand: C[m,n] = A[m,k] · B[n,k], bf16, persistent blocks of a producer warpgroup and two
// consumers, a ring of stages filled by tensor copies; with and without sums that leave the unit after 128 terms.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>
#define C(x) do { auto e = (x); if (e) { printf("%s line %d error %d\n", #x, __LINE__, (int)e); exit(1); } } while (0)
template <int N> struct Mma;
template <> struct Mma<128> { static __device__ __forceinline__ void run(float (&d)[64], uint64_t a, uint64_t b, int scale) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, p, 1, 1, 0, 0; }" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]) : "l"(a), "l"(b), "r"(scale)); } };
template <> struct Mma<256> { static __device__ __forceinline__ void run(float (&d)[128], uint64_t a, uint64_t b, int scale) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %130, 0; wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, p, 1, 1, 0, 0; }" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127]) : "l"(a), "l"(b), "r"(scale)); } };

__device__ __forceinline__ uint32_t sptr(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(uint64_t* b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(sptr(b)), "r"(n)); }
__device__ __forceinline__ void expect(uint64_t* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(sptr(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void arrive(uint64_t* b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(sptr(b)) : "memory"); }
__device__ __forceinline__ void wait(uint64_t* b, int phase) {
  uint32_t done = 0;
  while (!done) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(sptr(b)), "r"(phase) : "memory");
}
__device__ __forceinline__ void load(void* to, const CUtensorMap* m, uint64_t* b, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(sptr(to)), "l"(m), "r"(sptr(b)), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ uint64_t descriptor(const void* p) { return (uint64_t)((sptr(p) & 0x3ffff) >> 4) | (uint64_t)1 << 16 | (uint64_t)64 << 32 | (uint64_t)1 << 62; }
constexpr int BM = 128, BK = 64;
template <int BN> constexpr int stages = BN == 256 ? 4 : 6;
template <int BN> constexpr int stage_bytes = (BM + BN) * BK * 2;
template <int BN> constexpr int shared_bytes = 1024 + stages<BN> * stage_bytes<BN> + 256;

template <int BN, bool promote> __global__ void __launch_bounds__(384, 1) product(const __grid_constant__ CUtensorMap ta, const __grid_constant__ CUtensorMap tb, __nv_bfloat16* c, int m, int n, int k) {
  extern __shared__ uint8_t raw[];
  uint8_t* s = (uint8_t*)(((uintptr_t)raw + 1023) & ~(uintptr_t)1023);
  constexpr int S = stages<BN>;
  uint64_t* full = (uint64_t*)(s + S * stage_bytes<BN>);
  uint64_t* empty = full + S;
  if (threadIdx.x == 0) {
    for (int i = 0; i < S; ++i) init(full + i, 1), init(empty + i, 2);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int tm = m / BM, tn = n / BN, tiles = tm * tn, steps = k / BK, group = 16;
  auto place = [&](int t, int& y, int& x) {
    const int per = group * tn, g = t / per, first = g * group, rows = min(group, tm - first), in = t - g * per;
    y = first + in % rows, x = in / rows;
  };
  const int wg = threadIdx.x / 128;
  int stage = 0, phase = 0;
  if (wg == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0)
      for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        int y, x;
        place(t, y, x);
        for (int i = 0; i < steps; ++i) {
          wait(empty + stage, phase ^ 1);
          expect(full + stage, stage_bytes<BN>);
          uint8_t* p = s + stage * stage_bytes<BN>;
          load(p, &ta, full + stage, i * BK, y * BM);
          load(p + BM * BK * 2, &tb, full + stage, i * BK, x * BN);
          if (++stage == S) stage = 0, phase ^= 1;
        }
      }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  const int w = wg - 1, lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    int y, x;
    place(t, y, x);
    float d[BN / 2], sum[promote ? BN / 2 : 1];
    if (promote)
      for (auto& v : sum) v = 0;
    for (int i = 0; i < steps; ++i) {
      wait(full + stage, phase);
      const uint8_t* p = s + stage * stage_bytes<BN>;
      const uint64_t a = descriptor(p + w * 64 * BK * 2), b = descriptor(p + BM * BK * 2);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int j = 0; j < 4; ++j) Mma<BN>::run(d, a + 2 * j, b + 2 * j, promote ? (i % 2 != 0 || j != 0) : (i != 0 || j != 0));
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      if (promote && i % 2 == 1) {
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        if (threadIdx.x % 128 == 0) arrive(empty + (stage + S - 1) % S), arrive(empty + stage);
#pragma unroll
        for (int e = 0; e < BN / 2; ++e) { asm volatile("" : "+f"(d[e])); sum[promote ? e : 0] += d[e]; }
      } else if (!promote) {
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (i > 0 && threadIdx.x % 128 == 0) arrive(empty + (stage + S - 1) % S);
      }
      if (++stage == S) stage = 0, phase ^= 1;
    }
    if (!promote) {
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      if (threadIdx.x % 128 == 0) arrive(empty + (stage + S - 1) % S);
    }
#pragma unroll
    for (int e = 0; e < BN / 2; ++e) asm volatile("" : "+f"(d[e]));
    __nv_bfloat16* out = c + (size_t)(y * BM + w * 64 + warp * 16 + lane / 4) * n + x * BN + lane % 4 * 2;
#pragma unroll
    for (int e = 0; e < BN / 8; ++e)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float u = promote ? sum[promote ? e * 4 + h * 2 : 0] : d[e * 4 + h * 2], v = promote ? sum[promote ? e * 4 + h * 2 + 1 : 0] : d[e * 4 + h * 2 + 1];
        *(__nv_bfloat162*)(out + (size_t)h * 8 * n + e * 8) = __floats2bfloat162_rn(u, v);
      }
  }
}
CUtensorMap map(void* p, int rows, int k, int box) {
  CUtensorMap m;
  cuuint64_t size[] = {(cuuint64_t)k, (cuuint64_t)rows}, stride[] = {(cuuint64_t)k * 2};
  cuuint32_t b[] = {BK, (cuuint32_t)box}, step[] = {1, 1};
  C(cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p, size, stride, b, step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return m;
}
__global__ void fillb(__nv_bfloat16* p, size_t n, unsigned seed) { for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) { unsigned h = ((unsigned)i + seed) * 2654435761u; h ^= h >> 15; h *= 2246822519u; h ^= h >> 13; h *= 3266489917u; h ^= h >> 16; p[i] = __float2bfloat16((int)h * 0x1p-31f); } }
template <int BN, bool promote> void run(int m, int n, int k) {
  __nv_bfloat16 *a, *b, *c;
  C(cudaMalloc(&a, (size_t)m * k * 2)); C(cudaMalloc(&b, (size_t)n * k * 2)); C(cudaMalloc(&c, (size_t)m * n * 2));
  fillb<<<1024, 256>>>(a, (size_t)m * k, 1); fillb<<<1024, 256>>>(b, (size_t)n * k, 77);
  auto f = product<BN, promote>;
  constexpr int bytes = shared_bytes<BN>;
  C(cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes<BN>));
  const auto ta = map(a, m, k, BM), tb = map(b, n, k, BN);
  cudaEvent_t e0, e1; cudaEventCreate(&e0); cudaEventCreate(&e1); std::vector<float> t;
  for (int i = 0; i < 23; ++i) { cudaEventRecord(e0); f<<<132, 384, bytes>>>(ta, tb, c, m, n, k); cudaEventRecord(e1); C(cudaEventSynchronize(e1)); float ms; cudaEventElapsedTime(&ms, e0, e1); if (i > 2) t.push_back(ms); }
  std::sort(t.begin(), t.end());
  std::vector<__nv_bfloat16> ha(k), hb((size_t)k), hc(1);
  double worst = 0;
  for (int q = 0; q < 40; ++q) {
    const int i = (int)((long)q * 2654435 % m), j = (int)((long)q * 40503 * 7 % n);
    C(cudaMemcpy(ha.data(), a + (size_t)i * k, k * 2, cudaMemcpyDeviceToHost)); C(cudaMemcpy(hb.data(), b + (size_t)j * k, k * 2, cudaMemcpyDeviceToHost)); C(cudaMemcpy(hc.data(), c + (size_t)i * n + j, 2, cudaMemcpyDeviceToHost));
    double sum = 0, mag = 0;
    for (int e = 0; e < k; ++e) { const double p = (double)__bfloat162float(ha[e]) * __bfloat162float(hb[e]); sum += p, mag += std::fabs(p); }
    worst = std::max(worst, std::fabs(sum - __bfloat162float(hc[0])) / (std::fabs(sum) / 256 + mag * 1e-5));
  }
  printf("wgmma 128x%d %s %dx%dx%d: %.4f ms (p10 %.4f p90 %.4f) %.1f TFLOP/s, worst error %.3f (of allowed 1)\n", BN, promote ? "sums leave after 128" : "one chain", m, n, k, t[10], t[2], t[18], 2e-9 * m * n * k / t[10], worst);
  cudaFree(a); cudaFree(b); cudaFree(c);
}
int main() {
  C(cudaFree(0));
  for (int n : {4096, 8192}) { run<256, false>(n, n, n); run<128, false>(n, n, n); run<128, true>(n, n, n); }
}
