// Updates by index, combined in the order of the indices.
#include "ir/tensor/op_table.h"
#include "lowering/templates/bands.h"

namespace plumb::lowering {
namespace {

struct Scatter {
  explicit Scatter(KernelContext& context) : c(context), n(c.anchor_node()), fn(ir::row(n.op).fn), axis(static_cast<std::size_t>(n.attrs.integer("axis"))), x(n.operands[0]), indices(n.operands[1]), updates(n.operands[2]),
        count(c.spec.type(indices).shape[0].size()), t(c.spec.type(x).dtype), acc(c.accumulator_dtype(t)) {
    reduction = c.declare_reduction(fn, accumulator(t), count + 1, count);
    c.kernel->sites.push_back({std::string(ir::name(n)), n.where});
    site = static_cast<int>(c.kernel->sites.size()) - 1;
  }

  ScalarId index(const Affine& u) const {
    auto i = c.e.at(indices, {u});
    if (c.b.dtype(i) == DType::u64) i = c.b.apply<scalar::Minimum>(i, c.b.constant_bits(DType::u64, 0x7fffffffffffffff));
    return c.b.check_index(c.b.convert(i, DType::i64), c.shape[axis], site);
  }

  KernelContext& c;
  const ir::Node& n;
  FnId fn;
  std::size_t axis;
  ir::ValueId x, indices, updates;
  std::int64_t count;
  DType t, acc;
  int reduction = -1, site = -1;
};

/// Each destination looks at every index: nothing races, whatever the threads, at the price of destinations times updates.
void by_destination(const Scatter& s) {
  auto& c = s.c;
  for_each_output(c, [&](const Indices& out) {
    const auto acc = c.b.alloc("acc", s.acc, {1});
    c.b.store(acc, {0}, c.b.convert(c.e.at(s.x, out), s.acc));
    c.b.loop("u", s.count, kir::LoopKind::serial, [&](Affine u) {
      c.e.enter_block();
      const auto i = s.index(u);
      auto from = out;
      from[s.axis] = u;
      const auto hit = c.b.apply<scalar::Eq>(i, c.b.index_value(out[s.axis]));
      const auto update = c.b.convert(c.e.at(s.updates, from), s.acc);
      c.b.when_value(hit, [&] { c.b.combine(acc, {0}, s.fn, update, s.reduction); });
    });
    c.e.enter_block();
    c.finish(out, c.b.convert(c.b.load(acc, {0}), Emitter::compute_dtype(s.t)));
  });
}

/// Bands of columns: x is copied, then the updates go one after another to where they belong. Where the accumulator is
/// wider than the result, or more follows, they go to a buffer of the band's own, which is written out at the end.
void by_update(const Scatter& s, bool in_place) {
  auto& c = s.c;
  for_each_band(c, s.axis, [&](const Band& band) {
    const std::int64_t size = c.shape[s.axis];
    const auto own = in_place ? -1 : c.b.alloc("acc", s.acc, {size, band.width});
    const auto to = in_place ? c.output.buffer : own;
    const auto at = [&](const Affine& place, const Affine& j) { return in_place ? c.e.buffer_index(c.output, band.element(place, j)) : Indices{place, j}; };
    const auto map = [&](const Affine& place, const Inverse& columns) {
      auto inverse = columns;
      inverse.emplace_back(loop_var(place), band.place_of_output);
      c.kernel->output_maps.push_back({c.output.buffer, std::move(inverse)});
    };
    const auto every_place = [&](const std::function<void(const Affine&, const Affine&, const Inverse&)>& body) {
      c.b.loop("i", size, band.width == 1 ? kir::LoopKind::vector : kir::LoopKind::serial, [&](Affine place) {
        each_column(c, band, [&](const Affine& j, const Inverse& columns) { body(place, j, columns); });
      }, band.width == 1 ? c.width() : 1);
    };
    every_place([&](const Affine& place, const Affine& j, const Inverse& columns) {
      c.b.store(to, at(place, j), c.b.convert(c.e.at(s.x, band.element(place, j)), s.acc));
      if (in_place) map(place, columns);
    });
    if (s.count > 0) c.b.loop("u", s.count, kir::LoopKind::serial, [&](Affine u) {
      c.e.enter_block();
      const auto place = Affine::value(s.index(u));
      each_column(c, band, [&](const Affine& j, const Inverse&) { c.b.combine(to, at(place, j), s.fn, c.b.convert(c.e.at(s.updates, band.element(u, j)), s.acc), s.reduction); });
    });
    if (in_place) return;
    every_place([&](const Affine& place, const Affine& j, const Inverse& columns) {
      c.finish(band.element(place, j), c.b.convert(c.b.load(own, {place, j}), Emitter::compute_dtype(s.t)));
      map(place, columns);
    });
  });
}

}  // namespace

void lower_scatter(KernelContext& c) {
  c.kernel->schedule = "scatter";
  c.place_buffers(std::vector<bool>(c.shape.size() - 1, false));
  if (element_count(c.shape) == 0) return;
  Scatter s(c);
  // A product into the output could not be run modulo a prime, where each step takes a remainder (verify/retype.h).
  const bool in_place = s.acc == s.t && s.fn != fn_id<scalar::Mul> && c.root == s.n.results[0];
  constexpr std::int64_t largest_band = std::int64_t{4} << 20;
  const bool fits = in_place || c.shape[s.axis] * 64 * byte_size(s.acc) <= largest_band;
  !c.options.target.grid && fits ? by_update(s, in_place) : by_destination(s);
}

}  // namespace plumb::lowering
