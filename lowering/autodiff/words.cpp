#include "lowering/autodiff/words.h"

#include <algorithm>

namespace plumb::lowering::autodiff {

ValueId Words::slice(ValueId x, const Ints& start, const Ints& limit, const Ints& stride) const {
  return b.op("slice", {x}, attrs({{"start", start}, {"limit", limit}, {"stride", stride}}));
}

ValueId Words::pad(ValueId x, double value, const Ints& low, const Ints& high, const Ints& interior) const {
  const auto none = [](const Ints& v) { return std::all_of(v.begin(), v.end(), [](auto n) { return n == 0; }); };
  if (none(low) && none(high) && none(interior)) return x;
  return b.op("pad", {x, b.scalar(type(x).dtype, value)}, attrs({{"low", low}, {"high", high}, {"interior", interior}}));
}

ValueId Words::transpose(ValueId x, const Ints& perm) const { return perm == numbers(0, perm.size()) ? x : b.transpose(x, perm); }

Ints numbers(std::size_t from, std::size_t to) {
  Ints r;
  for (auto k = from; k < to; ++k) r.push_back(static_cast<std::int64_t>(k));
  return r;
}

Ints all_axes(const Type& t) { return numbers(0, t.rank()); }

Ints others(const Ints& axes, std::size_t rank) {
  Ints r;
  for (auto k : numbers(0, rank))
    if (std::find(axes.begin(), axes.end(), k) == axes.end()) r.push_back(k);
  return r;
}

Ints entries(const ir::AttrMap& a, std::string_view name, std::size_t count, std::int64_t filler) {
  const auto& v = a.ints(name);
  return v.empty() ? Ints(count, filler) : v;
}

}  // namespace plumb::lowering::autodiff
