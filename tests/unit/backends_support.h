// Small kernels, compiled and run on the cpu backend.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "backends/backend.h"
#include "ir/kernel/builder.h"
#include "ir/scalar/storage.h"

namespace plumb::backends {

using kir::Affine;
using kir::Kernel;
using kir::KernelBuilder;
using kir::LoopKind;
using kir::ScalarId;

/// Memory of a tensor, as a backend wants it: dense and aligned, with guard bytes that a stray store would change.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes), data_((bytes + 63) / 64 * 64 + 192, static_cast<char>(0xa5)) {
    const auto address = reinterpret_cast<std::uintptr_t>(data_.data());
    offset_ = 64 + (64 - address % 64) % 64;
  }
  template <class T> static Memory of(const std::vector<T>& v) {
    Memory m(v.size() * sizeof(T));
    if (!v.empty()) std::memcpy(m.data(), v.data(), m.bytes_);
    return m;
  }
  char* data() { return data_.data() + offset_; }
  template <class T> std::vector<T> as() {
    std::vector<T> v(bytes_ / sizeof(T));
    if (!v.empty()) std::memcpy(v.data(), data(), bytes_);
    return v;
  }
  bool guards_intact() const {
    for (std::size_t i = 0; i < data_.size(); ++i)
      if ((i < offset_ || i >= offset_ + bytes_) && data_[i] != static_cast<char>(0xa5)) return false;
    return true;
  }

 private:
  std::size_t bytes_, offset_;
  std::vector<char> data_;
};

inline std::shared_ptr<Backend> cpu(int vector_bytes = 0, int threads = 1) {
  static std::map<std::pair<int, int>, std::shared_ptr<Backend>> all;
  auto& b = all[{vector_bytes, threads}];
  if (!b) b = make_cpu_backend({threads, vector_bytes});
  return b;
}
/// The widths that this machine has, in bytes.
inline std::vector<int> widths() {
  std::vector<int> w;
  for (int bytes : {16, 32, 64})
    if (bytes <= cpu()->facts().vector_bytes) w.push_back(bytes);
  return w;
}

/// Compiles and runs a kernel on memory for its inputs, then its outputs.
inline void run(const Kernel& k, std::vector<Memory*> memory, const std::shared_ptr<Backend>& backend = cpu()) {
  const Kernel* one = &k;
  auto executable = backend->compile({&one, 1});
  std::vector<void*> pointers;
  for (auto* m : memory) pointers.push_back(m->data());
  executable->launch(0, pointers);
  for (auto* m : memory) EXPECT_TRUE(m->guards_intact()) << "a store outside its buffer";
}

/// y[i] = f(x0[i], x1[i], …) over n elements, in vectors of `width`.
inline Kernel map_kernel(std::vector<DType> in, DType out, std::int64_t n, int width, const std::function<ScalarId(KernelBuilder&, const std::vector<ScalarId>&)>& f,
                         LoopKind kind = LoopKind::vector) {
  Kernel k;
  k.name = "map";
  KernelBuilder b(k);
  std::vector<kir::BufferId> inputs;
  for (auto t : in) inputs.push_back(b.input("x", t, {n}));
  const auto y = b.output("y", out, {n});
  b.loop("i", n, kind, [&](Affine i) {
    std::vector<ScalarId> args;
    for (auto x : inputs) args.push_back(b.load(x, {i}));
    b.store(y, {i}, f(b, args));
  }, width);
  return k;
}

}  // namespace plumb::backends
