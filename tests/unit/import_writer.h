// Writes small ONNX files by protobuf's wire format, so that tests need no ONNX library and can write wrong files, too.
// Field numbers are those of onnx.proto.
#pragma once
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace plumb::onnx_test {

/// A protobuf message being written.
struct Message {
  std::string bytes;
  Message& varint(int field, std::uint64_t v) { return key(field, 0).raw_varint(v); }
  Message& text(int field, std::string_view s) {
    key(field, 2).raw_varint(s.size());
    bytes += s;
    return *this;
  }
  Message& message(int field, const Message& m) { return text(field, m.bytes); }
  Message& float32(int field, float f) {
    key(field, 5);
    char b[4];
    std::memcpy(b, &f, 4);
    bytes.append(b, 4);
    return *this;
  }

 private:
  Message& key(int field, int wire) { return raw_varint(static_cast<std::uint64_t>(field * 8 + wire)); }
  Message& raw_varint(std::uint64_t v) {
    for (; v >= 128; v >>= 7) bytes += static_cast<char>(v | 128);
    bytes += static_cast<char>(v);
    return *this;
  }
};

inline constexpr int f32 = 1, i32 = 6, i64 = 7, string_type = 8, boolean = 9;  // TensorProto.DataType

// ── attributes ──
inline Message attribute(std::string_view name, int type) { return Message().text(1, name).varint(20, static_cast<std::uint64_t>(type)); }
inline Message integer(std::string_view name, std::int64_t v) { return attribute(name, 2).varint(3, static_cast<std::uint64_t>(v)); }
inline Message real(std::string_view name, float v) { return attribute(name, 1).float32(2, v); }
inline Message word(std::string_view name, std::string_view v) { return attribute(name, 3).text(4, v); }
inline Message ints(std::string_view name, const std::vector<std::int64_t>& vs) {
  Message m = attribute(name, 7);
  for (auto v : vs) m.varint(8, static_cast<std::uint64_t>(v));
  return m;
}
inline Message graph(std::string_view name, const Message& g) { return attribute(name, 5).message(6, g); }
inline Message reference(std::string_view name, int type, std::string_view to) { return attribute(name, type).text(21, to); }

// ── tensors, nodes, graphs ──
inline Message tensor_of(std::string_view name, int type, const std::vector<std::int64_t>& dims, std::string_view raw) {
  Message m;
  for (auto d : dims) m.varint(1, static_cast<std::uint64_t>(d));
  return m.varint(2, static_cast<std::uint64_t>(type)).text(8, name).text(9, raw);
}
template <class T> Message tensor(std::string_view name, int type, const std::vector<std::int64_t>& dims, const std::vector<T>& values) {
  std::string raw(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(raw.data(), values.data(), raw.size());
  return tensor_of(name, type, dims, raw);
}
inline Message vector(std::string_view name, const std::vector<std::int64_t>& values) { return tensor(name, i64, {static_cast<std::int64_t>(values.size())}, values); }

struct NodeText {
  std::string op, domain, name;
  std::vector<std::string> inputs, outputs;
  std::vector<Message> attributes;
};
inline Message node(const NodeText& n) {
  Message m;
  for (const auto& i : n.inputs) m.text(1, i);
  for (const auto& o : n.outputs) m.text(2, o);
  m.text(3, n.name).text(4, n.op);
  for (const auto& a : n.attributes) m.message(5, a);
  return m.text(7, n.domain);
}

/// A dimension: a size, or a symbol.
struct Size {
  std::int64_t size = 0;
  std::string symbol;
  Size(std::int64_t n) : size(n) {}               // NOLINT: reads as a size
  Size(const char* s) : symbol(s) {}              // NOLINT: reads as a symbol
};
inline Message value_info(std::string_view name, int type, const std::vector<Size>& dims) {
  Message shape;
  for (const auto& d : dims) shape.message(1, d.symbol.empty() ? Message().varint(1, static_cast<std::uint64_t>(d.size)) : Message().text(2, d.symbol));
  return Message().text(1, name).message(2, Message().message(1, Message().varint(1, static_cast<std::uint64_t>(type)).message(2, shape)));
}

/// A graph, and the model around it.
class Graph {
 public:
  Graph& input(std::string_view name, int type, const std::vector<Size>& dims) { return add(11, value_info(name, type, dims)); }
  Graph& output(std::string_view name) { return add(12, Message().text(1, name)); }
  Graph& initializer(const Message& t) { return add(5, t); }
  Graph& node(std::string_view op, std::vector<std::string> inputs, std::vector<std::string> outputs, std::vector<Message> attributes = {}, std::string domain = "") {
    return add(1, onnx_test::node({std::string(op), std::move(domain), std::string(op) + "_" + std::to_string(count_++), std::move(inputs), std::move(outputs), std::move(attributes)}));
  }
  const Message& message() const { return g_; }
  /// The file; `functions` are FunctionProtos of domain "local".
  std::string model(int opset, const std::vector<Message>& functions = {}) const {
    Message m = Message().varint(1, 8).message(7, g_).message(8, opset_id("", opset));
    if (!functions.empty()) m.message(8, opset_id("local", 1));
    for (const auto& f : functions) m.message(25, f);
    return m.bytes;
  }
  static Message opset_id(std::string_view domain, int version) { return Message().text(1, domain).varint(2, static_cast<std::uint64_t>(version)); }

 private:
  Graph& add(int field, const Message& m) {
    g_.message(field, m);
    return *this;
  }
  Message g_;
  int count_ = 0;
};

/// A model function of domain "local".
inline Message function(std::string_view name, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs, const std::vector<std::string>& attributes,
                        const std::vector<NodeText>& nodes, int opset, const std::vector<Message>& defaults = {}) {
  Message m = Message().text(1, name);
  for (const auto& i : inputs) m.text(4, i);
  for (const auto& o : outputs) m.text(5, o);
  for (const auto& a : attributes) m.text(6, a);
  for (const auto& n : nodes) m.message(7, node(n));
  for (const auto& a : defaults) m.message(11, a);
  return m.message(9, Graph::opset_id("", opset)).text(10, "local");
}

}  // namespace plumb::onnx_test
