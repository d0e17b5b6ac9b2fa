#include "interpreter/tensor/demand.h"

#include "interpreter/tensor/evaluate.h"

namespace plumb::interp {

std::vector<Number> evaluate_at(const ir::Function& f, std::span<const ir::Literal> inputs, std::size_t result, std::span<const std::int64_t> places) {
  return Demand<Rounded>({}, f, inputs).at(f.results.at(result), Places(places.begin(), places.end()));
}

std::vector<Enclosed> evaluate_enclosure_at(const ir::Function& f, std::span<const ir::Literal> inputs, std::size_t result, std::span<const std::int64_t> places, const EnclosureOptions& options) {
  return Demand<Enclosure>({options.allow}, f, inputs, options.declared).at(f.results.at(result), Places(places.begin(), places.end()));
}

}  // namespace plumb::interp
