#include "lowering/templates/contraction.h"

#include "ir/tensor/op_table.h"
#include "lowering/templates/grid.h"

namespace plumb::lowering {
namespace {

std::int64_t entry(const ir::Node& n, const char* which, std::size_t d, std::int64_t fallback) {
  const auto& v = n.attrs.ints(which);
  return v.empty() ? fallback : v[d];
}
bool has(const ir::Ints& v, std::size_t d) { return std::count(v.begin(), v.end(), static_cast<std::int64_t>(d)) > 0; }

/// Sizes of the operand's axes that are neither batch nor contracted.
Extents free_axes(const Extents& all, const ir::Ints& batch, const ir::Ints& contract) {
  Extents r;
  for (std::size_t d = 0; d < all.size(); ++d)
    if (!has(batch, d) && !has(contract, d)) r.push_back(all[d]);
  return r;
}
Indices assemble(std::size_t rank, const ir::Ints& batch, const ir::Ints& contract, const Indices& b, const Indices& k, const Indices& free) {
  Indices at(rank);
  for (std::size_t i = 0; i < batch.size(); ++i) at[static_cast<std::size_t>(batch[i])] = b[i];
  for (std::size_t i = 0; i < contract.size(); ++i) at[static_cast<std::size_t>(contract[i])] = k[i];
  for (std::size_t d = 0, f = 0; d < rank; ++d)
    if (!has(batch, d) && !has(contract, d)) at[d] = free[f++];
  return at;
}

}  // namespace

Contraction::Contraction(KernelContext& c) : c_(c), x_(c.anchor_node().operands[0]), w_(c.anchor_node().operands[1]) {
  const auto& node = c.anchor_node();
  const auto x = c.spec.type(x_).extents(), w = c.spec.type(w_).extents();
  dtype = Emitter::compute_dtype(c.spec.type(x_).dtype);
  convolution = ir::name(node) == "convolution";
  if (convolution) {
    const std::int64_t groups = node.attrs.integer("groups");
    per_group_in = w[1];
    per_group_out = w[0] / groups;
    batch = Extents{x[0], groups};
    m = Extents{per_group_out};
    const auto out = c.spec.type(node.results[0]).extents();
    for (std::size_t d = 2; d < out.size(); ++d) n.push_back(out[d]);
    for (std::size_t d = 1; d < w.size(); ++d) k.push_back(w[d]);
    return;
  }
  const auto &lb = node.attrs.ints("lhs_batch"), &lc = node.attrs.ints("lhs_contract");
  const auto &rb = node.attrs.ints("rhs_batch"), &rc = node.attrs.ints("rhs_contract");
  for (auto d : lb) batch.push_back(x[static_cast<std::size_t>(d)]);
  for (auto d : lc) k.push_back(x[static_cast<std::size_t>(d)]);
  m = free_axes(x, lb, lc);
  n = free_axes(w, rb, rc);
}

ScalarId Contraction::lhs(const Indices& b, const Indices& mi, const Indices& ki, const kir::Predicate& wanted) const {
  const auto& node = c_.anchor_node();
  const auto element = [&](ir::ValueId v, const Indices& at) { return wanted.empty() ? c_.e.at(v, at) : c_.e.at_guarded(v, at, wanted, c_.b.constant(dtype, 0)); };
  if (!convolution) return element(x_, assemble(c_.spec.type(x_).rank(), node.attrs.ints("lhs_batch"), node.attrs.ints("lhs_contract"), b, ki, mi));
  Indices at{b[1] * per_group_out + mi[0]};
  at.insert(at.end(), ki.begin(), ki.end());
  if (c_.options.fault == Fault::swapped_axes && at.size() == 4 && k[1] == k[2]) std::swap(at[2], at[3]);
  return element(w_, at);
}

ScalarId Contraction::rhs(const Indices& b, const Indices& ki, const Indices& ni, const kir::Predicate& wanted) const {
  const auto& node = c_.anchor_node();
  const auto zero = [&] { return c_.b.constant(dtype, 0); };
  if (!convolution) {
    auto contract = node.attrs.ints("rhs_contract");
    if (c_.options.fault == Fault::swapped_axes && contract.size() == 1 && n.size() == 1 && n[0] == k[0] && node.attrs.ints("rhs_batch").empty()) contract[0] = 1 - contract[0];
    const auto at = assemble(c_.spec.type(w_).rank(), node.attrs.ints("rhs_batch"), contract, b, ki, ni);
    return wanted.empty() ? c_.e.at(w_, at) : c_.e.at_guarded(w_, at, wanted, zero());
  }
  Indices at{b[0], b[1] * per_group_in + ki[0]};
  kir::Predicate inside = wanted;
  const auto ranges = c_.b.ranges();
  const auto in = c_.spec.type(x_).extents();
  for (std::size_t d = 0; d < n.size(); ++d) {
    const std::int64_t step = entry(node, "lhs_dilation", d, 1), last = (in[d + 2] - 1) * step;
    const Affine position = ni[d] * entry(node, "stride", d, 1) + ki[d + 1] * entry(node, "rhs_dilation", d, 1) - entry(node, "low", d, 0);
    const auto r = kir::range(position, ranges);
    if (!r || r->low < 0) inside.push_back(kir::at_least(position, 0));
    if (!r || r->high > last) inside.push_back(kir::below(position, last + 1));
    if (step > 1) inside.push_back({kir::mod(position, step, ranges), true});
    at.push_back(kir::floor_div(position, step, ranges));
  }
  return inside.empty() ? c_.e.at(x_, at) : c_.e.at_guarded(x_, at, inside, zero());
}

Indices Contraction::output(const Indices& b, const Indices& mi, const Indices& ni) const {
  Indices at;
  if (convolution) at = {b[0], b[1] * per_group_out + mi[0]};
  else {
    at = b;
    at.insert(at.end(), mi.begin(), mi.end());
  }
  at.insert(at.end(), ni.begin(), ni.end());
  return at;
}

void Contraction::coordinates(const Indices& out, Indices& b, Indices& mi, Indices& ni) const {
  const auto ranges = c_.b.ranges();
  if (convolution) {
    b = {out[0], kir::floor_div(out[1], per_group_out, ranges)};
    mi = {kir::mod(out[1], per_group_out, ranges)};
    ni.assign(out.begin() + 2, out.end());
    return;
  }
  auto next = out.begin();
  auto take = [&](Indices& to, std::size_t count) {
    to.assign(next, next + static_cast<std::ptrdiff_t>(count));
    next += static_cast<std::ptrdiff_t>(count);
  };
  take(b, batch.size());
  take(mi, m.size());
  take(ni, n.size());
}

bool Contraction::flat_n() const {
  if (!convolution) return true;
  const auto& node = c_.anchor_node();
  for (std::size_t d = 0; d < n.size(); ++d)
    if (k[d + 1] != 1 || entry(node, "stride", d, 1) != 1 || entry(node, "low", d, 0) != 0 || entry(node, "high", d, 0) != 0 || entry(node, "lhs_dilation", d, 1) != 1) return false;
  return true;
}

bool Contraction::lhs_along_k() const {
  if (convolution) return true;
  const auto& contract = c_.anchor_node().attrs.ints("lhs_contract");
  return !contract.empty() && contract.back() == static_cast<std::int64_t>(c_.spec.type(x_).rank()) - 1;
}
bool Contraction::rhs_along_k() const {
  if (convolution) return false;
  const auto& contract = c_.anchor_node().attrs.ints("rhs_contract");
  return !contract.empty() && contract.back() == static_cast<std::int64_t>(c_.spec.type(w_).rank()) - 1;
}

std::int64_t contraction_height(std::int64_t terms) {
  auto up = [](std::int64_t x, std::int64_t y) { return (x + y - 1) / y; };
  return std::min(terms, chain_steps) + std::min(up(terms, chain_steps), block_terms / chain_steps) + up(terms, block_terms);
}

void lower_contraction(KernelContext& c) {
  const Contraction p(c);
  const std::int64_t terms = p.terms(), rows = element_count(p.m), columns = element_count(p.n);
  const int id = c.declare_reduction(fn_id<scalar::Add>, accumulator(c.spec.type(c.anchor_node().operands[0]).dtype), terms, contraction_height(terms));
  const bool grid = c.options.target.grid;
  const bool tiled = grid ? rows >= 8 && columns >= 8 && terms >= 8 : rows >= 4 && columns >= c.width() / 2 && terms >= 4 && rows * columns * terms >= 4096;
  auto merge = mergeable_axes(c.spec, c.anchor);
  const std::size_t first_n = c.shape.size() - p.n.size();
  // Neighbouring axes of n join when the tile treats them as one; the others are loops of their own.
  const bool join = tiled || p.flat_n() || (!c.shape.empty() && c.shape.back() < c.width());
  for (std::size_t d = 0; d < merge.size(); ++d) merge[d] = merge[d] && d >= first_n && join;
  c.place_contraction(merge, p.convolution, p.flat_n());
  if (tiled && grid && worth_register_tiles(p)) return fits_matrix_units(c, p) ? lower_grid_tiles(c, p, id) : lower_grid_registers(c, p, id);
  if (tiled && grid) return lower_grid_contraction(c, p, id);
  if (tiled) return lower_tiled(c, p, id);
  lower_direct(c, p, id);
}

}  // namespace plumb::lowering
