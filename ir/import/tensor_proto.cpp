#include "ir/import/tensor_proto.h"

#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "ir/import/onnx.h"

namespace plumb::ir::onnx_import {
namespace {

struct DataType {
  int number;
  const char* name;
  std::optional<DType> dtype;
};
// ONNX's numbers; later ones than this build's onnx.proto knows arrive as plain integers.
constexpr DataType data_types[] = {
    {0, "UNDEFINED", {}},       {1, "FLOAT", DType::f32},     {2, "UINT8", DType::u8},       {3, "INT8", DType::i8},
    {4, "UINT16", DType::u16},  {5, "INT16", DType::i16},     {6, "INT32", DType::i32},      {7, "INT64", DType::i64},
    {8, "STRING", {}},          {9, "BOOL", DType::boolean},  {10, "FLOAT16", DType::f16},   {11, "DOUBLE", DType::f64},
    {12, "UINT32", DType::u32}, {13, "UINT64", DType::u64},   {14, "COMPLEX64", DType::c64}, {15, "COMPLEX128", DType::c128},
    {16, "BFLOAT16", DType::bf16}, {17, "FLOAT8E4M3FN", DType::f8e4m3fn}, {18, "FLOAT8E4M3FNUZ", {}}, {19, "FLOAT8E5M2", DType::f8e5m2},
    {20, "FLOAT8E5M2FNUZ", {}}, {21, "UINT4", {}},            {22, "INT4", {}},              {23, "FLOAT4E2M1", {}},
};

Shape dims_of(const ::onnx::TensorProto& t, const SourceLocation& where) {
  Shape shape;
  if (t.dims_size() > static_cast<int>(max_rank)) fail_unsupported("tensor '" + t.name() + "' has rank " + std::to_string(t.dims_size()), where);
  for (auto d : t.dims()) {
    if (d < 0 || d > max_dim) fail_input("tensor '" + t.name() + "' has a dimension of size " + std::to_string(d), where);
    shape.push_back(d);
  }
  return shape;
}

/// The bytes that an external tensor names; its file must lie in the model's folder.
std::string external_bytes(const ::onnx::TensorProto& t, const std::filesystem::path& folder, std::int64_t want, const SourceLocation& where) {
  std::string location;
  std::int64_t offset = 0, length = -1;
  for (const auto& e : t.external_data()) {
    if (e.key() == "location") location = e.value();
    if (e.key() != "offset" && e.key() != "length") continue;
    std::istringstream digits(e.value());
    if (!(digits >> (e.key() == "offset" ? offset : length)) || !digits.eof() || offset < 0) fail_input("external data of '" + t.name() + "' has " + e.key() + " '" + e.value() + "'", where);
  }
  const std::filesystem::path file(location);
  bool confined = !location.empty() && !file.is_absolute() && location.find('\\') == std::string::npos && location.find('\0') == std::string::npos;
  for (const auto& part : file) confined = confined && part != "..";
  if (!confined) fail_input("external data of '" + t.name() + "' is at '" + location + "', which is not a file within the model's folder", where);
  std::error_code error;
  const auto resolved = std::filesystem::weakly_canonical(folder / file, error), root = std::filesystem::weakly_canonical(folder.empty() ? "." : folder, error);
  const auto inside = resolved.lexically_relative(root);
  if (error || inside.empty() || *inside.begin() == "..") fail_input("external data of '" + t.name() + "' leads outside the model's folder", where);
  std::ifstream in(resolved, std::ios::binary | std::ios::ate);
  if (!in || !std::filesystem::is_regular_file(resolved)) fail_input("external data of '" + t.name() + "': cannot read '" + location + "'", where);
  const auto size = static_cast<std::int64_t>(in.tellg());
  if (length < 0) length = want;
  if (length != want) fail_input("external data of '" + t.name() + "' has " + std::to_string(length) + " bytes; its type needs " + std::to_string(want), where);
  if (offset > size || want > size - offset) fail_input("external data of '" + t.name() + "' ends beyond its file '" + location + "'", where);
  std::string bytes(static_cast<std::size_t>(want), '\0');
  in.seekg(offset);
  if (!in.read(bytes.data(), want)) fail_input("external data of '" + t.name() + "': cannot read '" + location + "'", where);
  return bytes;
}

Literal from_bytes(Type type, const std::string& bytes, const ::onnx::TensorProto& t, const SourceLocation& where) {
  if (static_cast<std::int64_t>(bytes.size()) != type.bytes())
    fail_input("tensor '" + t.name() + "' " + type.str() + " holds " + std::to_string(bytes.size()) + " bytes, not " + std::to_string(type.bytes()), where);
  Literal l(std::move(type));
  if (!bytes.empty()) std::memcpy(l.mutable_raw(), bytes.data(), bytes.size());
  // A bool is 0 or 1 everywhere in Plumb; a file may hold any byte.
  if (l.dtype() == DType::boolean)
    for (std::int64_t i = 0; i < l.elements(); ++i) l.mutable_data<std::uint8_t>()[i] = l.data<std::uint8_t>()[i] != 0;
  return l;
}

template <class To, class Field> Literal from_field(Type type, const Field& field, const ::onnx::TensorProto& t, const SourceLocation& where) {
  if (field.size() != type.elements())
    fail_input("tensor '" + t.name() + "' " + type.str() + " holds " + std::to_string(field.size()) + " elements, not " + std::to_string(type.elements()), where);
  Literal l(std::move(type));
  for (int i = 0; i < field.size(); ++i) l.mutable_data<To>()[i] = static_cast<To>(field[i]);
  return l;
}

Literal from_typed_data(Type type, const ::onnx::TensorProto& t, const SourceLocation& where) {
  // Complex tensors list their parts, in the field of the parts' dtype.
  if (is_complex(type.dtype)) return from_typed_data(parts_type(type), t, where).viewed_as(type);
  switch (type.dtype) {
    case DType::f32: return from_field<float>(std::move(type), t.float_data(), t, where);
    case DType::f64: return from_field<double>(std::move(type), t.double_data(), t, where);
    case DType::i64: return from_field<std::int64_t>(std::move(type), t.int64_data(), t, where);
    case DType::u64: return from_field<std::uint64_t>(std::move(type), t.uint64_data(), t, where);
    case DType::u32: return from_field<std::uint32_t>(std::move(type), t.uint64_data(), t, where);
    case DType::i32: return from_field<std::int32_t>(std::move(type), t.int32_data(), t, where);
    case DType::i16: return from_field<std::int16_t>(std::move(type), t.int32_data(), t, where);
    case DType::boolean: return from_field<bool>(std::move(type), t.int32_data(), t, where);
    case DType::i8: return from_field<std::int8_t>(std::move(type), t.int32_data(), t, where);
    case DType::u8: case DType::f8e4m3fn: case DType::f8e5m2: return from_field<std::uint8_t>(std::move(type), t.int32_data(), t, where);
    case DType::u16: case DType::f16: case DType::bf16: return from_field<std::uint16_t>(std::move(type), t.int32_data(), t, where);
    case DType::c64: case DType::c128: break;
  }
  fail_internal("a dtype without a TensorProto field");
}

}  // namespace

std::optional<DType> dtype_of(int data_type) {
  for (const auto& d : data_types)
    if (d.number == data_type) return d.dtype;
  return std::nullopt;
}
std::string data_type_name(int data_type) {
  for (const auto& d : data_types)
    if (d.number == data_type) return d.name;
  return "number " + std::to_string(data_type);
}
int data_type_of(DType dtype) {
  for (const auto& d : data_types)
    if (d.dtype == dtype) return d.number;
  fail_internal("a dtype without an ONNX number");
}
DType require_dtype(int data_type, const std::string& what, const SourceLocation& where) {
  if (auto t = dtype_of(data_type)) return *t;
  if (data_type <= 0 || data_type > 23) fail_input(what + " has element type " + data_type_name(data_type), where);
  fail_unsupported(what + " has element type " + data_type_name(data_type) + ", which is not supported", where);
}

Literal to_literal(const ::onnx::TensorProto& t, const std::filesystem::path& folder, const SourceLocation& where) {
  Type type{require_dtype(t.data_type(), "tensor '" + t.name() + "'", where), dims_of(t, where)};
  if (t.has_segment()) fail_unsupported("tensor '" + t.name() + "' is stored in segments", where);
  const std::int64_t bytes = type.bytes();
  if (t.data_location() == ::onnx::TensorProto::EXTERNAL) return from_bytes(type, external_bytes(t, folder, bytes, where), t, where);
  if (t.has_raw_data()) return from_bytes(type, t.raw_data(), t, where);
  return from_typed_data(std::move(type), t, where);
}

void to_proto(const Literal& value, std::string_view name, ::onnx::TensorProto& out) {
  out.set_name(std::string(name));
  out.set_data_type(data_type_of(value.dtype()));
  for (auto d : value.extents()) out.add_dims(d);
  out.set_raw_data(value.raw(), static_cast<std::size_t>(value.bytes()));
}

bool parse_message(::google::protobuf::MessageLite& message, std::string_view bytes) {
  const ::google::protobuf::LogSilencer silence;
  return bytes.size() < (std::size_t{1} << 31) && message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

std::string read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) fail_input("there is no file '" + path.string() + "'");
  std::ifstream in(path, std::ios::binary);
  if (!in || !std::filesystem::is_regular_file(path, error)) fail_input("cannot read '" + path.string() + "'");
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  if (in.bad()) fail_input("cannot read '" + path.string() + "'");
  return bytes;
}

}  // namespace plumb::ir::onnx_import

namespace plumb::ir {

Literal load_tensor_pb(const std::filesystem::path& path) {
  const auto bytes = onnx_import::read_file(path);
  ::onnx::TensorProto t;
  if (!onnx_import::parse_message(t, bytes)) fail_input("not an ONNX TensorProto", {path.string(), 0, 0});
  return onnx_import::to_literal(t, path.parent_path(), {path.string(), 0, 0});
}

void save_tensor_pb(const std::filesystem::path& path, const Literal& value, std::string_view name) {
  ::onnx::TensorProto t;
  onnx_import::to_proto(value, name, t);
  std::ofstream out(path, std::ios::binary);
  if (!out || !t.SerializeToOstream(&out) || !out.flush()) fail_input("cannot write '" + path.string() + "'");
}

}  // namespace plumb::ir
