// Lines that lie side by side in memory, for operations whose outputs along an axis depend on one another.
#pragma once
#include "lowering/templates/grid.h"

namespace plumb::lowering {

using Line = std::function<Indices(const Affine&)>;   ///< the element of a line at a place
using Inverse = std::vector<std::pair<kir::VarId, Affine>>;

/// The axes behind `axis`, flattened, in bands of up to `width` columns. One band is one parallel task; what is done at each
/// place of the axis is done in all its columns.
struct Band {
  std::int64_t width = 1;
  std::function<Indices(const Affine& place, const Affine& column)> element;
  std::function<kir::Predicate(const Affine& column)> within;   ///< empty where every band is full
  Affine place_of_output, column_of_output;                     ///< for the element at coordinate(0), …
  Inverse inverse;                                              ///< of the loops around the band
};
void for_each_band(KernelContext& c, std::size_t axis, const std::function<void(const Band&)>& body);
/// In vector steps over the columns of a band; `body` also gets the inverse of all loops around it but the caller's own.
void each_column(KernelContext& c, const Band& band, const std::function<void(const Affine&, const Inverse&)>& body);

}  // namespace plumb::lowering
