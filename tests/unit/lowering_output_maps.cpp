// Inverse maps: each output element is written by exactly one store, at the loop values that its map gives.
#include <gtest/gtest.h>

#include <map>

#include "ir/kernel/text.h"
#include "ir/kernel/walk.h"
#include "ir/support/index_space.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"

namespace plumb {
namespace {

using kir::Affine;
using Values = std::map<kir::VarId, std::int64_t>;

std::int64_t at_coordinates(const Affine& a, const Index& element) {
  const auto r = kir::substitute(a, [&](const kir::Atom& x) -> std::optional<Affine> {
    if (x.kind == kir::Atom::Kind::coordinate) return Affine(element[static_cast<std::size_t>(x.id)]);
    return std::nullopt;
  });
  EXPECT_TRUE(r.is_constant());
  return r.constant();
}
std::int64_t at_values(const Affine& a, const Values& values) {
  const auto r = kir::substitute(a, [&](const kir::Atom& x) -> std::optional<Affine> {
    if (x.kind == kir::Atom::Kind::var) return Affine(values.at(x.id));
    return std::nullopt;
  });
  EXPECT_TRUE(r.is_constant());
  return r.constant();
}

/// A store to the output with what stands around it.
struct Site {
  const kir::Store* store = nullptr;
  std::vector<const kir::For*> loops;
  kir::Predicate conditions;
};

void collect(const kir::Kernel& k, const kir::Block& block, Site around, std::vector<Site>& sites) {
  for (const auto& s : block) {
    if (const auto* store = std::get_if<kir::Store>(&s.node); store && store->buffer == k.outputs.at(0)) {
      sites.push_back(around);
      sites.back().store = store;
    } else if (const auto* f = std::get_if<kir::For>(&s.node)) {
      auto inner = around;
      inner.loops.push_back(f);
      collect(k, f->body, inner, sites);
    } else if (const auto* i = std::get_if<kir::If>(&s.node)) {
      auto inner = around;
      inner.conditions.insert(inner.conditions.end(), i->condition.begin(), i->condition.end());
      collect(k, i->then, inner, sites);
      ASSERT_TRUE(i->otherwise.empty());
    }
  }
}

bool writes(const Site& site, const kir::OutputMap& map, const Index& element) {
  Values values;
  for (const auto& [v, a] : map.inverse) values[v] = at_coordinates(a, element);
  for (const auto* f : site.loops) {
    const auto found = values.find(f->var);
    if (found == values.end()) {
      ADD_FAILURE() << "the map names no value of a loop around its store";
      return false;
    }
    if (found->second < 0 || found->second >= at_values(f->extent, values)) return false;
  }
  for (const auto& c : site.conditions) {
    const auto v = at_values(c.expr, values);
    if (c.equality ? v != 0 : v < 0) return false;
  }
  for (std::size_t d = 0; d < element.size(); ++d)
    if (at_values(site.store->index[d], values) != element[d]) return false;
  return true;
}

void expect_maps(const kir::Kernel& k) {
  std::vector<Site> sites;
  collect(k, k.body, {}, sites);
  ASSERT_EQ(sites.size(), k.output_maps.size()) << kir::print(k);
  const auto& extents = k.buffers[static_cast<std::size_t>(k.outputs.at(0))].extents;
  for (std::int64_t e = 0; e < element_count(extents); ++e) {
    const auto element = delinearize(e, extents);
    int written = 0;
    for (std::size_t s = 0; s < sites.size(); ++s) written += writes(sites[s], k.output_maps[s], element);
    ASSERT_EQ(written, 1) << "element " << e << "\n" << kir::print(k);
  }
}

struct Case {
  std::string schedule, grid_schedule, text;
};
const Case cases[] = {
    {"pointwise", "pointwise", "func @f(%x: f32[3,5,130], %y: f32[130]) -> (f32[3,5,130]) { %0 = broadcast(%y) {dims=[2]} : f32[3,5,130] %1 = add(%x, %0) : f32[3,5,130] return %1 }"},
    {"pointwise", "pointwise", "func @f(%x: f32[20000]) -> (f32[20000]) { %0 = neg(%x) : f32[20000] return %0 }"},
    {"pointwise", "pointwise", "func @f(%x: f32[7,9,3]) -> (f32[3,7,9]) { %0 = transpose(%x) {perm=[2,0,1]} : f32[3,7,9] return %0 }"},
    {"concat", "pointwise", "func @f(%x: f32[4,5,6], %y: f32[4,2,6], %z: f32[4,1,6]) -> (f32[4,8,6]) { %0 = concat(%x, %y, %z) {axis=1} : f32[4,8,6] return %0 }"},
    {"reduce", "grid_reduce", "func @f(%x: f32[3,4,300]) -> (f32[3,4]) { %0 = reduce_sum(%x) {axes=[2]} : f32[3,4] return %0 }"},
    {"reduce", "reduce", "func @f(%x: f32[30,70]) -> (f32[70]) { %0 = reduce_max(%x) {axes=[0]} : f32[70] return %0 }"},
    {"arg_reduce", "arg_reduce", "func @f(%x: f32[30,7]) -> (i64[7]) { %0 = argmax(%x) {axis=0} : i64[7] return %0 }"},
    {"window", "window", "func @f(%x: f32[2,3,9,9]) -> (f32[2,3,4,4]) { %0 = reduce_window_max(%x) {window=[1,1,3,3], stride=[1,1,2,2]} : f32[2,3,4,4] return %0 }"},
    {"scan", "scan", "func @f(%x: f32[3,20,5]) -> (f32[3,20,5]) { %0 = cumsum(%x) {axis=1, reverse=true} : f32[3,20,5] return %0 }"},
    {"scatter", "scatter", "func @f(%x: f32[9,5], %i: i64[4], %u: f32[4,5]) -> (f32[9,5]) { %0 = scatter_add(%x, %i, %u) {axis=0} : f32[9,5] return %0 }"},
    {"dot_direct", "dot_direct", "func @f(%x: f32[2,3,7], %w: f32[2,7,5]) -> (f32[2,3,5]) { %0 = dot_general(%x, %w) {lhs_batch=[0], rhs_batch=[0], lhs_contract=[2], rhs_contract=[1]} : f32[2,3,5] return %0 }"},
    {"dot_tiled", "grid_dot", "func @f(%x: f32[2,37,40], %w: f32[2,40,71]) -> (f32[2,37,71]) { %0 = dot_general(%x, %w) {lhs_batch=[0], rhs_batch=[0], lhs_contract=[2], rhs_contract=[1]} : f32[2,37,71] return %0 }"},
    {"dot_tiled", "grid_dot_registers", "func @f(%x: f32[2,70,40], %w: f32[2,40,71]) -> (f32[2,70,71]) { %0 = dot_general(%x, %w) {lhs_batch=[0], rhs_batch=[0], lhs_contract=[2], rhs_contract=[1]} : f32[2,70,71] return %0 }"},
    {"dot_tiled", "grid_dot_tiles", "func @f(%x: bf16[2,70,48], %w: bf16[2,48,72]) -> (bf16[2,70,72]) { %0 = dot_general(%x, %w) {lhs_batch=[0], rhs_batch=[0], lhs_contract=[2], rhs_contract=[1]} : bf16[2,70,72] return %0 }"},
    {"convolution_tiled", "grid_convolution_registers", "func @f(%x: f32[1,8,9,9], %w: f32[50,8,3,3]) -> (f32[1,50,7,7]) { %0 = convolution(%x, %w) : f32[1,50,7,7] return %0 }"},
    {"convolution_tiled", "grid_convolution", "func @f(%x: f32[2,8,13,13], %w: f32[24,4,3,3]) -> (f32[2,24,7,7]) { %0 = convolution(%x, %w) {low=[1,1], high=[1,1], stride=[2,2], groups=2} : f32[2,24,7,7] return %0 }"},
    {"convolution_tiled", "grid_convolution", "func @f(%x: f32[1,16,8,8], %w: f32[40,16,1,1]) -> (f32[1,40,8,8]) { %0 = convolution(%x, %w) : f32[1,40,8,8] %1 = relu(%0) : f32[1,40,8,8] return %1 }"},
};

class OutputMaps : public testing::TestWithParam<std::pair<Case, bool>> {};

TEST_P(OutputMaps, NameTheOneStoreOfEachElement) {
  const auto& [c, grid] = GetParam();
  lowering::Options o;
  o.target.vector_bytes = 32;
  o.target.threads = 3;
  o.target.grid = grid;
  const auto program = lowering::lower(ir::parse(c.text, "test"), o);
  ASSERT_EQ(program->kernels.size(), 1U);
  EXPECT_EQ(program->kernels[0]->schedule, grid ? c.grid_schedule : c.schedule);
  expect_maps(*program->kernels[0]);
}

std::vector<std::pair<Case, bool>> both() {
  std::vector<std::pair<Case, bool>> r;
  for (const auto& c : cases) r.emplace_back(c, false), r.emplace_back(c, true);
  return r;
}
INSTANTIATE_TEST_SUITE_P(Schedules, OutputMaps, testing::ValuesIn(both()), [](const auto& i) { return i.param.first.schedule + (i.param.second ? "_grid_" : "_") + std::to_string(i.index); });

}  // namespace
}  // namespace plumb
