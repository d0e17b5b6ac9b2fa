#include "lowering/emit.h"

#include <cmath>
#include <cstring>

#include "ir/scalar/storage.h"
#include "ir/tensor/op_table.h"

namespace plumb::lowering {

using ir::Node;
using ir::OpClass;
using ir::ValueId;

bool is_splat(const ir::Literal& l) {
  const auto size = static_cast<std::size_t>(byte_size(l.dtype()));
  const auto* bytes = static_cast<const std::uint8_t*>(l.raw());
  for (std::int64_t i = 1; i < l.elements(); ++i)
    if (std::memcmp(bytes, bytes + static_cast<std::size_t>(i) * size, size) != 0) return false;
  return l.elements() > 0;
}

Indices delinearize(const Affine& flat, std::span<const std::int64_t> extents, const kir::AtomRange& ranges) {
  Indices index(extents.size());
  Affine rest = flat;
  for (std::size_t d = extents.size(); d-- > 0;) {
    const std::int64_t n = std::max<std::int64_t>(extents[d], 1);
    index[d] = d == 0 ? rest : kir::mod(rest, n, ranges);
    if (d > 0) rest = kir::floor_div(rest, n, ranges);
  }
  return index;
}

Indices view_operand_index(const ir::Function& f, const Node& n, const Indices& index, const kir::AtomRange& ranges) {
  const auto op = ir::name(n);
  const auto& operand = f.type(n.operands[0]);
  if (op == "broadcast") {
    Indices r;
    const auto& dims = n.attrs.ints("dims");
    for (std::size_t k = 0; k < dims.size(); ++k) r.push_back(operand.shape[k] == ir::Dim(1) ? Affine(0) : index[static_cast<std::size_t>(dims[k])]);
    return r;
  }
  if (op == "reshape") {
    const auto to = f.type(n.results[0]).extents(), from = operand.extents();
    const auto strides = row_major_strides(to);
    Affine flat;
    for (std::size_t d = 0; d < to.size(); ++d) flat = flat + index[d] * strides[d];
    return delinearize(kir::recombine(flat), from, ranges);
  }
  Indices r(operand.rank());
  if (op == "transpose") {
    const auto& perm = n.attrs.ints("perm");
    for (std::size_t k = 0; k < perm.size(); ++k) r[static_cast<std::size_t>(perm[k])] = index[k];
  } else if (op == "slice") {
    const auto &start = n.attrs.ints("start"), &stride = n.attrs.ints("stride");
    for (std::size_t d = 0; d < r.size(); ++d) r[d] = index[d] * (stride.empty() ? 1 : stride[d]) + start[d];
  } else if (op == "reverse") {
    r = index;
    for (auto a : n.attrs.ints("axes")) r[static_cast<std::size_t>(a)] = Affine(operand.shape[static_cast<std::size_t>(a)].size() - 1) - index[static_cast<std::size_t>(a)];
  } else {
    fail_internal("not a plain view: " + std::string(op));
  }
  return r;
}

Indices Emitter::buffer_index(const Placed& p, const Indices& index) const {
  const std::size_t axes = p.merged.empty() ? 0 : static_cast<std::size_t>(p.merged.back()) + 1;
  Indices r(axes);
  for (std::size_t d = 0; d < p.merged.size(); ++d) {
    auto& to = r[static_cast<std::size_t>(p.merged[d])];
    const bool continues = d > 0 && p.merged[d] == p.merged[d - 1];
    to = continues ? to * p.shape[d] + index[d] : index[d];
  }
  for (auto& i : r) i = kir::recombine(i);
  return r;
}

ScalarId Emitter::rounded(ScalarId s, DType t) { return is_narrow_float(t) ? b_.convert(b_.convert(s, t), compute_dtype(t)) : s; }

ScalarId Emitter::load_placed(const Placed& p, const Indices& index, std::optional<ScalarId> other) {
  const DType stored = b_.info(p.buffer).dtype;
  const auto at = buffer_index(p, index);
  if (guard_.empty()) return b_.convert(b_.load(p.buffer, at), compute_dtype(stored));
  ScalarId fallback = other ? b_.convert(*other, stored) : b_.constant(stored, 0);
  return b_.convert(b_.load(p.buffer, at, guard_, fallback), compute_dtype(stored));
}

void Emitter::store(const Placed& to, const Indices& index, ScalarId value, DType dtype) {
  b_.store(to.buffer, buffer_index(to, index), b_.convert(value, dtype));
}

namespace {
bool same(const kir::Predicate& a, const kir::Predicate& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) { return x.equality == y.equality && x.expr == y.expr; });
}
}  // namespace

ScalarId Emitter::at(ValueId v, const Indices& index) {
  if (auto s = bound_.find(v); s != bound_.end()) return s->second;
  for (const auto& [key, s] : memo_)
    if (key.value == v && key.index == index && same(key.guard, guard_)) return s;
  ScalarId s;
  if (auto p = placed_.find(v); p != placed_.end()) {
    s = load_placed(p->second, index, std::nullopt);
  } else {
    const auto node = spec_.value(v).node;
    require(node >= 0, "a parameter of a kernel's specification has a buffer");
    s = emit_node(spec_.nodes[static_cast<std::size_t>(node)], v, index);
  }
  memo_.push_back({{v, index, guard_}, s});
  return s;
}

ScalarId Emitter::emit_node(const Node& n, ValueId v, const Indices& index) {
  const auto& row = ir::row(n.op);
  const DType t = spec_.type(v).dtype;
  switch (row.op_class) {
    case OpClass::elementwise: return emit_elementwise(n, index);
    case OpClass::convert: return emit_convert(n, index);
    case OpClass::select: {
      const auto c = at(n.operands[0], index), x = at(n.operands[1], index), y = at(n.operands[2], index);
      return b_.select(c, x, y);
    }
    case OpClass::source: {
      if (row.name == "iota") {
        const auto i = b_.index_value(index[static_cast<std::size_t>(n.attrs.integer("axis"))]);
        return is_float(t) ? b_.convert(b_.convert(i, t), compute_dtype(t)) : b_.convert(i, t);
      }
      const auto& l = n.attrs.get<ir::Literal>("value");
      require(is_splat(l), "only splat constants are inlined");
      std::uint64_t bits = 0;
      std::memcpy(&bits, l.raw(), static_cast<std::size_t>(byte_size(t)));
      return b_.convert(b_.constant_bits(t, bits), compute_dtype(t));
    }
    case OpClass::view:
      if (row.name == "pad") return emit_pad(n, index);
      if (row.name == "concat") return emit_concat(n, index);
      return at(n.operands[0], view_operand_index(spec_, n, index, b_.ranges()));
    case OpClass::gather: return emit_gather(n, index);
    default: fail_internal("'" + std::string(row.name) + "' is not evaluated element by element");
  }
}

ScalarId Emitter::emit_elementwise(const Node& n, const Indices& index) {
  std::vector<ScalarId> args;
  for (auto o : n.operands) args.push_back(at(o, index));
  const DType t = spec_.type(n.operands[0]).dtype;
  const auto& row = ir::row(n.op);
  if (contract_ != Contract::strict || !is_narrow_float(t) || plumb::row(row.fn).gives != Gives::same) return b_.apply(row.fn, args);
  for (auto& s : args) s = b_.convert(s, t);
  return b_.convert(b_.apply(row.fn, args), compute_dtype(t));
}

ScalarId Emitter::emit_convert(const Node& n, const Indices& index) {
  const auto s = at(n.operands[0], index);
  const DType from = spec_.type(n.operands[0]).dtype, to = spec_.type(n.results[0]).dtype;
  if (ir::name(n) == "bitcast") {
    const auto bits = b_.bitcast(b_.convert(s, from), to);
    if (!is_float(from) || is_float(to)) return b_.convert(bits, compute_dtype(to));
    return b_.select(b_.apply<scalar::IsNan>(s), b_.constant_bits(to, encode_float(from, std::nan(""))), bits);
  }
  return b_.convert(b_.convert(s, to), compute_dtype(to));  // an explicit convert always rounds
}

ScalarId Emitter::emit_pad(const Node& n, const Indices& index) {
  const auto &low = n.attrs.ints("low"), &interior = n.attrs.ints("interior");
  const auto extents = spec_.type(n.operands[0]).extents();
  const auto padding = at(n.operands[1], {});
  kir::Predicate inside;
  Indices at_x;
  const auto ranges = b_.ranges();
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const std::int64_t step = interior.empty() ? 1 : interior[d] + 1;
    const Affine shifted = index[d] - low[d];
    const auto r = kir::range(shifted, ranges);
    if (!r || r->low < 0) inside.push_back(kir::at_least(shifted, 0));
    if (!r || r->high > (extents[d] - 1) * step) inside.push_back(kir::below(shifted, (extents[d] - 1) * step + 1));
    if (step > 1) inside.push_back({kir::mod(shifted, step, ranges), true});
    at_x.push_back(kir::floor_div(shifted, step, ranges));
  }
  return at_guarded(n.operands[0], at_x, inside, padding);
}

ScalarId Emitter::at_guarded(ValueId v, const Indices& index, const kir::Predicate& inside, ScalarId other) {
  if (inside.empty()) return at(v, index);
  const std::size_t outer = guard_.size();
  guard_.insert(guard_.end(), inside.begin(), inside.end());
  const auto placed = placed_.find(v);
  const bool direct = placed != placed_.end() && outer == 0;
  const auto s = direct ? load_placed(placed->second, index, other) : at(v, index);
  guard_.resize(outer);
  return direct ? s : b_.select(b_.test(inside), s, other);
}

ScalarId Emitter::emit_concat(const Node& n, const Indices& index) {
  const auto axis = static_cast<std::size_t>(n.attrs.integer("axis"));
  ScalarId s = -1;
  std::int64_t start = 0;
  for (auto o : n.operands) {
    const std::int64_t size = spec_.type(o).shape[axis].size();
    Indices at_o = index;
    at_o[axis] = index[axis] - start;
    const kir::Predicate inside{kir::at_least(at_o[axis], 0), kir::below(at_o[axis], size)};
    start += size;
    if (size == 0) continue;
    const std::size_t outer = guard_.size();
    guard_.insert(guard_.end(), inside.begin(), inside.end());
    const auto piece = at(o, at_o);
    guard_.resize(outer);
    s = s < 0 ? piece : b_.select(b_.test(inside), piece, s);
  }
  return s < 0 ? constant(spec_.type(n.results[0]).dtype, 0) : s;
}

ScalarId Emitter::checked_index(const Node& n, ScalarId i, std::int64_t extent) {
  auto& sites = b_.kernel().sites;
  const int site = static_cast<int>(sites.size());
  sites.push_back({std::string(ir::name(n)), n.where});
  i = b_.dtype(i) == DType::u64 ? b_.apply<scalar::Minimum>(i, b_.constant_bits(DType::u64, 0x7fffffffffffffff)) : i;
  i = b_.convert(i, DType::i64);
  if (!guard_.empty()) i = b_.select(b_.test(guard_), i, b_.constant(DType::i64, 0));
  return b_.check_index(i, extent, site);
}

ScalarId Emitter::emit_gather(const Node& n, const Indices& index) {
  const auto axis = static_cast<std::size_t>(n.attrs.integer("axis"));
  const auto x = n.operands[0], indices = n.operands[1];
  const std::int64_t extent = spec_.type(x).shape[axis].size();
  Indices at_x;
  if (ir::name(n) == "gather") {
    const std::size_t inner = spec_.type(indices).rank();
    const Indices at_i(index.begin() + static_cast<std::ptrdiff_t>(axis), index.begin() + static_cast<std::ptrdiff_t>(axis + inner));
    const auto i = checked_index(n, at(indices, at_i), extent);
    at_x.assign(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(axis));
    at_x.push_back(Affine::value(i));
    at_x.insert(at_x.end(), index.begin() + static_cast<std::ptrdiff_t>(axis + inner), index.end());
  } else {
    at_x = index;
    at_x[axis] = Affine::value(checked_index(n, at(indices, index), extent));
  }
  if (extent > 0) return at(x, at_x);
  // No element to read: the check has reported it, unless there is nothing to gather at all.
  return constant(spec_.type(x).dtype, 0);
}

}  // namespace plumb::lowering
