// Bands of neighbouring lines.
#include "lowering/templates/bands.h"

namespace plumb::lowering {

namespace {

/// Wide enough that a row of a band is some cache lines, narrow enough that there is a band for each thread.
std::int64_t band_width(const KernelContext& c, std::int64_t outer, std::int64_t columns) {
  const std::int64_t lanes = 4 * c.width(), wanted = (columns * outer + 2 * c.options.target.threads - 1) / (2 * c.options.target.threads);
  return std::min(columns, std::clamp((wanted + lanes - 1) / lanes * lanes, std::int64_t{64}, std::int64_t{512}));
}

}  // namespace

void for_each_band(KernelContext& c, std::size_t axis, const std::function<void(const Band&)>& body) {
  const Extents behind(c.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, c.shape.end());
  const std::int64_t columns = element_count(behind), outer = element_count({c.shape.begin(), axis});
  if (columns * outer == 0) return;
  Band band;
  band.width = band_width(c, outer, columns);
  const auto coordinates = output_coordinates(c);
  const Affine column = flat_index(Indices(coordinates.begin() + static_cast<std::ptrdiff_t>(axis) + 1, coordinates.end()), behind);
  band.place_of_output = coordinates[axis];
  band.column_of_output = kir::mod(column, band.width);
  std::function<void(Indices)> nest = [&](Indices at) {
    if (at.size() < axis)
      return c.b.loop("o" + std::to_string(at.size()), c.shape[at.size()], kir::LoopKind::parallel, [&](Affine o) {
        band.inverse.emplace_back(loop_var(o), coordinates[at.size()]);
        auto deeper = at;
        deeper.push_back(o);
        nest(std::move(deeper));
      });
    const auto within = [&](const Affine& first) {
      band.element = [&c, behind, at, first](const Affine& place, const Affine& j) {
        Indices full = at;
        full.push_back(place);
        for (auto& i : delinearize(first + j, behind, c.b.ranges())) full.push_back(i);
        return full;
      };
      const bool full = columns % band.width == 0;
      band.within = [first, full, columns](const Affine& j) { return full ? kir::Predicate{} : kir::Predicate{kir::below(first + j, columns)}; };
      c.e.enter_block();
      body(band);
    };
    if (columns == band.width) return within(0);
    c.b.loop("band", (columns + band.width - 1) / band.width, kir::LoopKind::parallel, [&](Affine p) {
      band.inverse.emplace_back(loop_var(p), kir::floor_div(column, band.width));
      within(p * band.width);
    });
  };
  nest({});
}

void each_column(KernelContext& c, const Band& band, const std::function<void(const Affine&, const Inverse&)>& body) {
  if (band.width == 1) {
    c.e.enter_block();
    return body(0, band.inverse);
  }
  c.b.loop("j", band.width, kir::LoopKind::vector, [&](Affine j) {
    auto inverse = band.inverse;
    inverse.emplace_back(loop_var(j), band.column_of_output);
    const auto one = [&] {
      c.e.enter_block();
      body(j, inverse);
    };
    const auto within = band.within(j);
    within.empty() ? one() : c.b.when(within, one);
  }, c.width());
}

}  // namespace plumb::lowering
