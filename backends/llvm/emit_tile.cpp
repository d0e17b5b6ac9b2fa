// Tile operations of a warp: fragments are what each thread holds of them, in its registers.
#include "backends/llvm/internal/kernel_emitter.h"

namespace plumb::backends::codegen {

namespace {

constexpr std::int64_t edge = 16;

}  // namespace

const kir::Buffer& KernelEmitter::tile_fragment(kir::BufferId b) const {
  need_grid("tile operations");
  const auto& f = info(b);
  const bool factor = f.dtype == DType::bf16 || f.dtype == DType::f16;
  if (f.extents.size() != 2 || f.extents[0] != edge || f.extents[1] != edge || (!factor && f.dtype != DType::f32))
    fail_unsupported("kernel " + k_.name + " holds a fragment that is not 16 × 16 elements of bf16 or f16, or sums in f32; the matrix units of this target take no other");
  return f;
}

/// Its registers: 4 of two factors each, or 8 sums. Slots that only constants index become registers.
void KernelEmitter::allocate_fragment(kir::BufferId buffer) {
  const auto& f = tile_fragment(buffer);
  llvm::IRBuilder<> entry(&frame_.function->getEntryBlock(), frame_.function->getEntryBlock().begin());
  auto* type = f.dtype == DType::f32 ? llvm::ArrayType::get(entry.getFloatTy(), 8) : llvm::ArrayType::get(entry.getInt32Ty(), 4);
  Value*& slot = frame_.slots[{buffer, 0}];
  if (!slot) slot = entry.CreateAlloca(type, nullptr, f.name);
  pointers_[static_cast<std::size_t>(buffer)] = slot;
}

Value* KernelEmitter::fragment_register(kir::BufferId buffer, unsigned i) {
  return b_.CreateConstGEP1_64(info(buffer).dtype == DType::f32 ? b_.getFloatTy() : b_.getInt32Ty(), pointers_[static_cast<std::size_t>(buffer)], i);
}
llvm::SmallVector<Value*, 8> KernelEmitter::fragment_values(kir::BufferId buffer) {
  llvm::SmallVector<Value*, 8> r;
  const bool sums = info(buffer).dtype == DType::f32;
  for (unsigned i = 0; i < (sums ? 8U : 4U); ++i) r.push_back(b_.CreateLoad(sums ? b_.getFloatTy() : b_.getInt32Ty(), fragment_register(buffer, i)));
  return r;
}

/// Whether some product takes the fragment as its second factor.
bool KernelEmitter::second_factor(kir::BufferId buffer) const {
  bool second = false;
  walk(k_.body, [&](const kir::Stmt& s) {
    if (auto* m = std::get_if<kir::TileMma>(&s.node)) second = second || m->b == buffer;
  });
  return second;
}

void KernelEmitter::emit_node(const kir::TileFill& s) {
  const auto& f = tile_fragment(s.fragment);
  Value* v = scalar(s.value);
  if (f.dtype != DType::f32) {
    Value* low = b_.CreateZExt(v, b_.getInt32Ty());
    v = b_.CreateOr(low, b_.CreateShl(low, 16));
  }
  for (unsigned i = 0; i < (f.dtype == DType::f32 ? 8U : 4U); ++i) b_.CreateStore(v, fragment_register(s.fragment, i));
}

void KernelEmitter::emit_node(const kir::TileLoad& s) {
  const auto& f = tile_fragment(s.fragment);
  const auto& from = info(s.from);
  if (from.space != kir::Space::shared || f.dtype == DType::f32) fail_unsupported("kernel " + k_.name + " loads a fragment that is not a factor in shared memory");
  const auto values = options_.grid->load_tile(b_, tile_pointer(s.from, s.index), from.extents.back(), second_factor(s.fragment), s.transposed);
  for (unsigned i = 0; i < 4; ++i) b_.CreateStore(values[i], fragment_register(s.fragment, i));
}

/// The tile's first element.
Value* KernelEmitter::tile_pointer(kir::BufferId buffer, const kir::Indices& index) {
  const auto a = address(buffer, index);
  require(a.access == Access::uniform, "a tile's place is the same for all lanes");
  return pointer(buffer, a);
}

void KernelEmitter::emit_node(const kir::TileMma& s) {
  if (s.scope != kir::Scope::warp) fail_unsupported("kernel " + k_.name + " multiplies tiles by warpgroups, which this target does not");
  for (auto f : {s.d, s.a, s.b}) tile_fragment(f);
  const auto sums = options_.grid->multiply_tiles(b_, fragment_values(s.d), fragment_values(s.a), fragment_values(s.b), info(s.a).dtype);
  for (unsigned i = 0; i < 8; ++i) b_.CreateStore(sums[i], fragment_register(s.d, i));
}

void KernelEmitter::emit_node(const kir::TileStore& s) {
  const auto& f = tile_fragment(s.fragment);
  if (f.dtype != DType::f32) fail_unsupported("kernel " + k_.name + " stores a fragment that is not of sums");
  options_.grid->store_tile(b_, tile_pointer(s.to, s.index), info(s.to).extents.back(), fragment_values(s.fragment));
}

}  // namespace plumb::backends::codegen
