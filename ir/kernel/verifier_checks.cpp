// One statement at a time: dtypes, shapes, bounds.
#include "ir/kernel/verifier_parts.h"
#include "ir/kernel/walk.h"

namespace plumb::kir {

BufferId written_by(const Stmt& s) {
  if (auto* x = std::get_if<Store>(&s.node)) return x->buffer;
  if (auto* x = std::get_if<Combine>(&s.node)) return x->buffer;
  if (auto* x = std::get_if<AsyncCopy>(&s.node)) return x->to;
  if (auto* x = std::get_if<TileStore>(&s.node)) return x->to;
  if (auto* x = std::get_if<TileFill>(&s.node)) return x->fragment;
  if (auto* x = std::get_if<TileLoad>(&s.node)) return x->fragment;
  return -1;
}

void Verifier::same(DType a, DType b, const char* what) const {
  if (a != b) broken("S2: " + std::string(what) + ": " + std::string(name(a)) + " against " + std::string(name(b)));
}

void Verifier::reduction(int r) const {
  if (r < -1 || r >= static_cast<int>(k_.reductions.size())) broken("R1: there is no reduction " + std::to_string(r));
}

void Verifier::check(const Apply& a) const {
  if (a.fn >= AllFns::rows.size()) broken("S2: there is no such scalar function");
  const auto& r = row(a.fn);
  if (static_cast<int>(a.args.size()) != r.arity) broken("S2: " + std::string(r.name) + " takes " + std::to_string(r.arity) + " arguments");
  for (auto x : a.args) same(dtype(x), dtype(a.args[0]), "arguments share a dtype");
  if (!takes(a.fn, dtype(a.args[0]))) broken("S2: " + std::string(r.name) + " does not take " + std::string(name(dtype(a.args[0]))));
  same(dtype(a.result), result_dtype(a.fn, dtype(a.args[0])), "the result's dtype is the function's");
}

void Verifier::check(const Convert& c) const {
  const DType from = dtype(c.arg), to = dtype(c.result);
  if (c.bits && (is_bool(from) || is_bool(to) || byte_size(from) != byte_size(to))) broken("S2: a bitcast keeps the width and takes no bool: " + std::string(name(from)) + " against " + std::string(name(to)));
}

void Verifier::check(const Select& s) const {
  same(dtype(s.condition), DType::boolean, "a condition is a bool");
  same(dtype(s.on_true), dtype(s.on_false), "both values of a select share a dtype");
  same(dtype(s.result), dtype(s.on_true), "a select gives its values' dtype");
}

void Verifier::check(const IndexValue& i) {
  same(dtype(i.result), DType::i64, "an index is an i64");
  bounds_.define(i.result, bounds_.range(i.expr));
}
void Verifier::check(const Test& t) const { same(dtype(t.result), DType::boolean, "a test gives a bool"); }

void Verifier::check(const Load& l) {
  plain(l.buffer, l.index);
  readable(l.buffer);
  const DType t = k_.buffers[static_cast<std::size_t>(l.buffer)].dtype;
  same(dtype(l.result), t, "a load gives its buffer's dtype");
  if (!l.guard.empty()) same(dtype(l.other), t, "a guarded load's other value has the buffer's dtype");
  const auto m = bounds_.mark();
  bounds_.assume(l.guard);
  bounds(l.buffer, l.index);
  bounds_.forget(m);
}

void Verifier::check(const Shuffle& s) const {
  same(dtype(s.result), dtype(s.arg), "a shuffle keeps the dtype");
  if (!inside(LoopKind::gpu_thread)) broken("B1: a shuffle stands outside a gpu_thread nest");
  no_lanes("a shuffle");
}

void Verifier::check(const Store& s) {
  plain(s.buffer, s.index);
  writable(s.buffer);
  same(dtype(s.value), k_.buffers[static_cast<std::size_t>(s.buffer)].dtype, "a stored value has its buffer's dtype");
  bounds(s.buffer, s.index);
}

void Verifier::check(const Combine& c) {
  plain(c.buffer, c.index);
  writable(c.buffer);
  const DType t = k_.buffers[static_cast<std::size_t>(c.buffer)].dtype;
  if (c.fn >= AllFns::rows.size()) broken("S2: there is no such scalar function");
  const bool fused = c.fn == fn_id<scalar::Fma>;
  if (row(c.fn).arity != (fused ? 3 : 2) || row(c.fn).gives != Gives::same || !takes(c.fn, t)) broken("S2: " + std::string(row(c.fn).name) + " does not combine " + std::string(name(t)));
  if (fused != (c.b >= 0)) broken("S2: fma combines two operands, other functions one");
  same(dtype(c.a), t, "a combined value has its buffer's dtype");
  if (c.b >= 0) same(dtype(c.b), t, "a combined value has its buffer's dtype");
  reduction(c.reduction);
  // A combine is itself a write, but not one that it may follow.
  auto& w = writes_[static_cast<std::size_t>(c.buffer)];
  const auto self = std::find(w.begin(), w.end(), place_);
  if (self != w.end()) w.erase(self);
  readable(c.buffer);
  bounds(c.buffer, c.index);
}

void Verifier::check(const CheckIndex& c) {
  same(dtype(c.value), DType::i64, "a checked index is an i64");
  same(dtype(c.result), DType::i64, "a checked index is an i64");
  if (c.extent < 0) broken("R1: a check's extent is negative");
  if (c.site < 0 || c.site >= static_cast<int>(k_.sites.size())) broken("R1: there is no site " + std::to_string(c.site));
  bounds_.define(c.result, Range{0, std::max<std::int64_t>(c.extent - 1, 0)});
}

void Verifier::check(const Alloc& a) {
  if (a.buffer < 0 || a.buffer >= static_cast<BufferId>(k_.buffers.size())) broken("K2: buffer id " + std::to_string(a.buffer) + " lies outside the table");
  const auto b = static_cast<std::size_t>(a.buffer);
  if (k_.buffers[b].space == Space::global) broken("K2: an Alloc of a global buffer");
  if (allocated_[b]++) broken("K2: a second Alloc of " + printer_.buffer(a.buffer));
  if (k_.buffers[b].space != Space::local) no_lanes("an Alloc of shared memory or a fragment");
  in_scope_[b] = true;
  alloc_depth_[b] = loops_.size();
  allocs_.push_back(a.buffer);
}

void Verifier::check(const AsyncWait& w) const {
  asynchronous();
  if (w.pending < 0) broken("T1: a negative number of groups");
}

void Verifier::asynchronous() const {
  if (!inside(LoopKind::gpu_thread)) broken("B1: an async copy, commit or wait stands outside a gpu_thread nest");
}

void Verifier::check(const AsyncCopy& c) {
  asynchronous();
  plain(c.to, c.to_index);
  plain(c.from, c.from_index);
  readable(c.from);
  writable(c.to);
  const auto &to = k_.buffers[static_cast<std::size_t>(c.to)], &from = k_.buffers[static_cast<std::size_t>(c.from)];
  if (to.space != Space::shared) broken("T1: an async copy goes into shared memory");
  same(to.dtype, from.dtype, "an async copy keeps the dtype");
  if (c.tile.size() > to.extents.size() || c.tile.size() > from.extents.size()) broken("T1: the tile has more axes than a buffer");
  for (auto e : c.tile)
    if (e < 1) broken("T1: an empty tile");
  bounds(c.to, c.to_index, c.tile);
  // Elements outside `from` read as zero, along the tile's axes only.
  bounds(c.from, Indices(c.from_index.begin(), c.from_index.end() - static_cast<std::ptrdiff_t>(c.tile.size())));
}

const Buffer& Verifier::fragment(BufferId b, std::size_t rank_of) {
  const auto& info = buffer(b);
  if (info.space != Space::fragment) broken("M1: " + printer_.buffer(b) + " is no fragment");
  if (rank_of && info.extents.size() != rank_of) broken("T1: fragment " + printer_.buffer(b) + " has not " + std::to_string(rank_of) + " axes");
  no_lanes("a tile operation");
  return info;
}

void Verifier::tile_access(BufferId b, const Indices& index, Extents tile) {
  const auto& info = buffer(b);
  if (info.space == Space::fragment) broken("M1: a tile moves between a fragment and memory");
  rank(info, b, index);
  if (index.size() < tile.size()) broken("T1: " + printer_.buffer(b) + " has fewer axes than the tile");
  bounds(b, index, tile);
}

void Verifier::check(const TileFill& t) { same(dtype(t.value), fragment(t.fragment, 0).dtype, "a fill has its fragment's dtype"); }

void Verifier::check(const TileLoad& t) {
  const auto& f = fragment(t.fragment, 2);
  same(f.dtype, buffer(t.from).dtype, "a tile load keeps the dtype");
  readable(t.from);
  Extents tile = f.extents;
  if (t.transposed) std::swap(tile[0], tile[1]);
  tile_access(t.from, t.index, tile);
}

void Verifier::check(const TileStore& t) {
  const auto& f = fragment(t.fragment, 2);
  same(f.dtype, buffer(t.to).dtype, "a tile store keeps the dtype");
  readable(t.fragment);
  writable(t.to);
  tile_access(t.to, t.index, f.extents);
}

void Verifier::check(const TileMma& t) {
  const auto &d = fragment(t.d, 2), &a = fragment(t.a, 2), &b = fragment(t.b, 2);
  if (a.extents[0] != d.extents[0] || b.extents[1] != d.extents[1] || a.extents[1] != b.extents[0]) broken("T1: fragments are [m,k], [k,n] and [m,n]");
  same(a.dtype, b.dtype, "factors share a dtype");
  if (is_float(a.dtype) != is_float(d.dtype) || is_bool(a.dtype) || is_bool(d.dtype)) broken("T1: the accumulators' dtype does not suit the factors'");
  reduction(t.reduction);
  for (auto f : {t.d, t.a, t.b}) readable(f);
}

/// X1 for one access; a tile covers [index, index + extent) along the trailing axes.
void Verifier::bounds(BufferId b, const Indices& index, const Extents& tile) {
  if (!options_.bounds || bounds_.unreachable()) return;
  const auto& extents = k_.buffers[static_cast<std::size_t>(b)].extents;
  for (std::size_t d = 0; d < index.size(); ++d) {
    const auto from_end = index.size() - d;
    const std::int64_t last = extents[d] - (from_end <= tile.size() ? tile[tile.size() - from_end] : 1);
    const auto r = bounds_.range(index[d]);
    const auto where = [&] { return printer_.access(b, index) + ", axis " + std::to_string(d) + ": " + printer_.affine(index[d]) + " in [" + std::to_string(r->low) + ", " + std::to_string(r->high) + "], extent " + std::to_string(extents[d]); };
    if (r && r->low >= 0 && r->high <= last) {
      ++result_.shown;
      continue;
    }
    if (r && (r->low > last || r->high < 0)) broken("X1: always out of bounds: " + where());
    if (r && bounds_.attains_extremes(index[d]) && conditions_ == 0) broken("X1: out of bounds: " + where());
    result_.not_shown.push_back({printer_.statement(*current_), printer_.access(b, index), static_cast<int>(d)});
  }
}

}  // namespace plumb::kir
