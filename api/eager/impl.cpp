#include "api/eager/impl.h"

#include <atomic>
#include <cstring>
#include <numeric>

#include "ir/support/index_space.h"
#include "ir/tensor/builder.h"

namespace plumb::eager {
namespace {

std::atomic<std::uint64_t> storage_count{0};

std::shared_ptr<TensorImpl> fresh(ir::Type type) {
  auto impl = std::make_shared<TensorImpl>();
  impl->storage = std::make_shared<Storage>();
  impl->storage->birth = ++storage_count;
  impl->dtype = type.dtype;
  for (const auto& d : type.shape) impl->sizes.push_back(d.size());
  impl->strides = row_major(impl->sizes);
  impl->storage->type = std::move(type);
  return impl;
}

/// Calls f(offset in memory) for each element in row-major order, runs of the last axis at once: f(offset, count, stride).
template <class F> void each_run(const TensorImpl& t, F f) {
  if (count(t.sizes) == 0) return;
  if (t.sizes.empty()) return f(t.offset, std::int64_t{1}, std::int64_t{1});
  const auto inner = t.sizes.size() - 1;
  Sizes at(inner, 0);
  std::int64_t offset = t.offset;
  while (true) {
    f(offset, t.sizes[inner], t.strides[inner]);
    std::size_t d = inner;
    while (d > 0) {
      --d;
      offset += t.strides[d];
      if (++at[d] < t.sizes[d]) break;
      offset -= t.strides[d] * t.sizes[d];
      at[d] = 0;
      if (d == 0) return;
    }
    if (inner == 0) return;
  }
}

template <class Word> void read_words(const TensorImpl& t, Word* out) {
  const auto* memory = t.storage->value.data<Word>();
  each_run(t, [&](std::int64_t offset, std::int64_t n, std::int64_t stride) {
    for (std::int64_t i = 0; i < n; ++i) *out++ = memory[offset + i * stride];
  });
}
template <class Word> void write_words(const TensorImpl& t, const Word* in) {
  auto* memory = t.storage->value.mutable_data<Word>();
  each_run(t, [&](std::int64_t offset, std::int64_t n, std::int64_t stride) {
    for (std::int64_t i = 0; i < n; ++i) memory[offset + i * stride] = *in++;
  });
}

struct Wide { std::uint64_t low, high; };
template <class F> void by_width(int bytes, F f) {
  switch (bytes) {
    case 1: return f(std::uint8_t{});
    case 2: return f(std::uint16_t{});
    case 4: return f(std::uint32_t{});
    case 8: return f(std::uint64_t{});
    default: return f(Wide{});
  }
}

}  // namespace

std::int64_t count(const Sizes& sizes) { return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>()); }

Sizes row_major(const Sizes& sizes) {
  Sizes s(sizes.size(), 1);
  for (std::size_t d = sizes.size(); d-- > 1;) s[d - 1] = s[d] * std::max<std::int64_t>(sizes[d], 1);
  return s;
}

ir::Type type_of(const TensorImpl& t) { return {t.dtype, ir::to_shape(t.sizes)}; }

bool contiguous(const TensorImpl& t) {
  std::int64_t expected = 1;
  for (std::size_t d = t.sizes.size(); d-- > 0;) {
    if (t.sizes[d] == 0) return true;
    if (t.sizes[d] != 1 && t.strides[d] != expected) return false;
    expected *= t.sizes[d];
  }
  return true;
}

bool TensorImpl::whole() const { return !view || (offset == 0 && contiguous(*this) && count(sizes) == storage->type.elements()); }

Tensor wrap(ir::Literal value) {
  auto impl = fresh(value.type());
  impl->storage->value = std::move(value);
  return Tensor(std::move(impl));
}

Tensor wrap_traced(std::shared_ptr<Trace> trace, ir::ValueId value, const ir::Type& type) {
  auto impl = fresh(type);
  impl->storage->trace = std::move(trace);
  impl->storage->traced = value;
  return Tensor(std::move(impl));
}

Tensor view_of(const Tensor& t, Sizes sizes, Sizes strides, std::int64_t offset) {
  const auto& from = *t.impl();
  auto impl = std::make_shared<TensorImpl>();
  impl->storage = from.storage;
  impl->dtype = from.dtype;
  impl->sizes = std::move(sizes);
  impl->strides = std::move(strides);
  impl->offset = offset;
  impl->view = true;
  impl->base = from.view ? from.base : t.impl();
  impl->seen_graph = from.storage->graph_version;
  return Tensor(std::move(impl));
}

std::uint64_t storages_made() { return storage_count; }

Tensor tensor_of(const Operand& x) {
  if (const auto* t = std::get_if<Tensor>(&x.value())) return *t;
  ir::Literal l;
  if (const auto* b = std::get_if<bool>(&x.value())) l = ir::scalar_literal(DType::boolean, *b ? 1 : 0);
  else if (const auto* i = std::get_if<std::int64_t>(&x.value())) l = ir::Literal::of<std::int64_t>(DType::i64, {}, {{*i}});
  else l = ir::scalar_literal(DType::f64, std::get<double>(x.value()));
  auto t = wrap(std::move(l));
  t.impl()->weak = true;
  return t;
}

ir::Literal literal_of(const TensorImpl& t) {
  const auto& memory = t.storage->value;
  if (!t.view) return memory;
  if (contiguous(t) && (t.offset * byte_size(t.dtype)) % 64 == 0) {
    auto* data = static_cast<std::byte*>(const_cast<void*>(memory.raw())) + t.offset * byte_size(t.dtype);
    return ir::Literal::alias(type_of(t), data, t.storage);
  }
  return copy_of(t);
}

ir::Literal copy_of(const TensorImpl& t) {
  ir::Literal l(type_of(t));
  const auto width = byte_size(t.dtype);
  if (contiguous(t)) {
    if (l.bytes()) std::memcpy(l.mutable_raw(), static_cast<const std::byte*>(t.storage->value.raw()) + t.offset * width, static_cast<std::size_t>(l.bytes()));
    return l;
  }
  by_width(width, [&]<class Word>(Word) { read_words<Word>(t, l.mutable_data<Word>()); });
  return l;
}

void store(const TensorImpl& to, const ir::Literal& from) {
  const auto width = byte_size(to.dtype);
  if (contiguous(to)) {
    if (from.bytes()) std::memmove(static_cast<std::byte*>(to.storage->value.mutable_raw()) + to.offset * width, from.raw(), static_cast<std::size_t>(from.bytes()));
    return;
  }
  by_width(width, [&]<class Word>(Word) { write_words<Word>(to, from.data<Word>()); });
}

bool overlaps_itself(const TensorImpl& t) {
  // Sorted by stride, each axis must step over all that lies below it. Strides that interleave without meeting are refused too.
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::size_t d = 0; d < t.sizes.size(); ++d) {
    if (t.sizes[d] == 0) return false;
    if (t.sizes[d] > 1) axes.emplace_back(std::abs(t.strides[d]), t.sizes[d]);
  }
  std::sort(axes.begin(), axes.end());
  std::int64_t reach = 0;
  for (const auto& [stride, size] : axes) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

SourceLocation place(Here here) { return {here.file_name(), static_cast<int>(here.line()), 0}; }

std::string describe(const Tensor& t) { return t.defined() ? type_of(*t.impl()).str() : "undefined"; }

void fail(Here here, const std::string& message) { fail_input(message, place(here)); }

const TensorImpl& get(const Tensor& t, Here here, const char* op) {
  if (!t.defined()) fail(here, std::string(op) + ": the tensor is undefined; assign one to it first");
  return *t.impl();
}

std::int64_t wrap_axis(std::int64_t dim, std::int64_t rank, Here here, const char* op) {
  const auto r = std::max<std::int64_t>(rank, 1);   // axis 0 of a number is allowed, as LibTorch allows it
  if (dim < -r || dim >= r) fail(here, std::string(op) + ": there is no axis " + std::to_string(dim) + " in rank " + std::to_string(rank) + "; axes go from " + std::to_string(-r) + " to " + std::to_string(r - 1));
  return dim < 0 ? dim + r : dim;
}

}  // namespace plumb::eager
