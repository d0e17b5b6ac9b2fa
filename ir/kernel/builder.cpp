#include "ir/kernel/builder.h"

#include "ir/scalar/storage.h"

namespace plumb::kir {

ScalarId KernelBuilder::fresh(DType dtype) {
  k_.scalars.push_back(dtype);
  return static_cast<ScalarId>(k_.scalars.size() - 1);
}

BufferId KernelBuilder::buffer(std::string_view name, DType dtype, Extents extents, Space space) {
  k_.buffers.push_back({std::string(name), dtype, extents, space});
  return static_cast<BufferId>(k_.buffers.size() - 1);
}
BufferId KernelBuilder::input(std::string_view name, DType dtype, Extents extents) {
  k_.inputs.push_back(buffer(name, dtype, extents));
  return k_.inputs.back();
}
BufferId KernelBuilder::output(std::string_view name, DType dtype, Extents extents) {
  k_.outputs.push_back(buffer(name, dtype, extents));
  return k_.outputs.back();
}
BufferId KernelBuilder::alloc(std::string_view name, DType dtype, Extents extents, Space space) {
  const auto b = buffer(name, dtype, extents, space);
  emit(Alloc{b});
  return b;
}

void KernelBuilder::loop(std::string_view name, Affine extent, LoopKind kind, const Body& body, int width) {
  const auto v = static_cast<VarId>(k_.vars.size());
  k_.vars.emplace_back(name);
  For f{v, extent, kind, width, {}};
  Block* outer = block_;
  block_ = &f.body;
  if (auto n = extent.as_constant()) scope_.emplace_back(v, *n);
  const std::size_t depth = scope_.size();
  body(Affine::var(v));
  require(scope_.size() == depth, "loops nest");
  if (extent.is_constant()) scope_.pop_back();
  block_ = outer;
  emit(std::move(f));
}

void KernelBuilder::when(Predicate condition, const std::function<void()>& then) {
  If s{std::move(condition), {}, {}};
  Block* outer = block_;
  block_ = &s.then;
  then();
  block_ = outer;
  emit(std::move(s));
}

void KernelBuilder::when_value(ScalarId condition, const std::function<void()>& then) {
  IfValue s{condition, {}};
  Block* outer = block_;
  block_ = &s.then;
  then();
  block_ = outer;
  emit(std::move(s));
}

ScalarId KernelBuilder::constant(DType dtype, double value) {
  std::uint64_t bits = 0;
  store_element(dtype, &bits, 0, value);
  return constant_bits(dtype, bits);
}
ScalarId KernelBuilder::constant_bits(DType dtype, std::uint64_t bits) {
  const auto r = fresh(dtype);
  emit(Constant{r, bits});
  return r;
}

ScalarId KernelBuilder::apply(FnId fn, std::initializer_list<ScalarId> args) { return apply(fn, std::span(args.begin(), args.size())); }
ScalarId KernelBuilder::apply(FnId fn, std::span<const ScalarId> args) {
  for (auto a : args) require(dtype(a) == dtype(args[0]), "a scalar function's arguments share a dtype");
  require(takes(fn, dtype(args[0])), "a scalar function takes its arguments' dtype");
  const auto r = fresh(result_dtype(fn, dtype(args[0])));
  emit(Apply{r, fn, SmallVector<ScalarId, 3>(args.begin(), args.end())});
  return r;
}

ScalarId KernelBuilder::convert(ScalarId x, DType to) {
  if (dtype(x) == to) return x;
  const auto r = fresh(to);
  emit(Convert{r, x});
  return r;
}
ScalarId KernelBuilder::narrow(ScalarId x, DType to) {
  const auto* made = block_->empty() ? nullptr : std::get_if<Convert>(&block_->back().node);
  return made && made->result == x && !made->bits && dtype(made->arg) == to ? made->arg : convert(x, to);
}
ScalarId KernelBuilder::bitcast(ScalarId x, DType to) {
  if (dtype(x) == to) return x;
  const auto r = fresh(to);
  emit(Convert{r, x, true});
  return r;
}
ScalarId KernelBuilder::select(ScalarId condition, ScalarId on_true, ScalarId on_false) {
  const auto r = fresh(dtype(on_true));
  emit(Select{r, condition, on_true, on_false});
  return r;
}
ScalarId KernelBuilder::index_value(Affine expr) {
  const auto r = fresh(DType::i64);
  emit(IndexValue{r, std::move(expr)});
  return r;
}
ScalarId KernelBuilder::test(Predicate p) {
  const auto r = fresh(DType::boolean);
  emit(Test{r, std::move(p)});
  return r;
}
ScalarId KernelBuilder::load(BufferId b, Indices index) {
  const auto r = fresh(info(b).dtype);
  emit(Load{r, b, std::move(index), {}, -1});
  return r;
}
ScalarId KernelBuilder::load(BufferId b, Indices index, Predicate guard, ScalarId other) {
  if (guard.empty()) return load(b, std::move(index));
  const auto r = fresh(info(b).dtype);
  emit(Load{r, b, std::move(index), std::move(guard), other});
  return r;
}
ScalarId KernelBuilder::shuffle(ScalarId x, ShuffleMode mode, Affine lane) {
  const auto r = fresh(dtype(x));
  emit(Shuffle{r, x, mode, std::move(lane)});
  return r;
}
ScalarId KernelBuilder::check_index(ScalarId value, std::int64_t extent, int site) {
  const auto r = fresh(DType::i64);
  emit(CheckIndex{r, value, extent, site});
  return r;
}
void KernelBuilder::store(BufferId b, Indices index, ScalarId value) {
  require(dtype(value) == info(b).dtype, "a stored value has its buffer's dtype");
  emit(Store{b, std::move(index), value});
}
void KernelBuilder::combine(BufferId b, Indices index, FnId fn, ScalarId a, int reduction) { emit(Combine{b, std::move(index), fn, a, -1, reduction}); }
void KernelBuilder::combine_fma(BufferId b, Indices index, ScalarId x, ScalarId y, int reduction) {
  emit(Combine{b, std::move(index), fn_id<scalar::Fma>, x, y, reduction});
}
void KernelBuilder::barrier(Scope scope) { emit(Barrier{scope}); }

AtomRange KernelBuilder::ranges() const {
  auto scope = scope_;
  return [scope](const Atom& a) -> std::optional<Range> {
    if (a.kind != Atom::Kind::var) return std::nullopt;
    for (const auto& [v, n] : scope)
      if (v == a.id && n > 0) return Range{0, n - 1};
    return std::nullopt;
  };
}

}  // namespace plumb::kir
