// From the command line to a subcommand, and from whatever goes wrong to one message and an exit code.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>

#include "ir/support/error.h"
#include "tools/cli.h"

namespace plumb::tools {

const std::vector<Command>& commands() {
  static const std::vector<Command> list{
      {"run", "FILE|DIR [--inputs F… | --random SEED] [--expect F…] [--target T] [--check off|sample|kernel|full] [--contract C] [--output DIR]", "run a program, checked", &run_command},
      {"explain", "FILE --stage S [--target T]", "print a stage of the compilation", &explain_command},
      {"grad", "FILE [-o OUT] [--wrt NAME…] [--dim NAME=SIZE…]", "write the program with its gradients", &grad_command},
      {"targets", "[--json]", "list the targets of this machine", &targets_command},
      {"ops", "[--json]", "list the operations", &ops_command},
      {"compile", "FILE -o OUT [--target T]", "compile ahead of time", nullptr},
      {"fuzz", "[--targets T,…] [--seconds N | --programs N] [--seed S] [--out DIR]", "random programs, every kernel checked", &fuzz_command},
      {"reduce", "REPRO", "shrink a failure", nullptr},
      {"bisect", "REPRO", "name the step that is wrong", nullptr},
      {"faults", "[--list | --score]", "score the checks on seeded faults", nullptr},
      {"prove", "--functions [--function F] [--dtype T] [--inputs N] [--shard I/N] [--out FILE] [--merge FILE…]", "prove elementary functions against the reference", &prove_command},
      {"spec", "[--out FILE]", "print the specification: every operation's meaning, edges and accuracy", &spec_command},
      {"sensitivity", "[--op OP] [--dtype T] [--k K] [--trials N --faults N | --seconds N] [--seed S] [--target T] [--out FILE]", "measure what the checks reject, of right kernels and of faulty ones", &sensitivity_command},
      {"equal", "A B", "are two programs equal on all inputs", nullptr},
      {"gate", "DIR [--baseline F] [--junit F] [--sarif F] [--html F]", "regression gate", nullptr},
      {"bench", "[CASE…] [--target T] [--contract C] [--dim NAME=SIZE…] [--seconds S] [--list] [--json]", "time programs, tensors kept where the kernels reach them", &bench_command},
  };
  return list;
}

const Command& command(const std::string& name) {
  for (const auto& c : commands())
    if (c.name == name) return c;
  fail_input("there is no command '" + name + "'; plumb --help lists them");
}

namespace {

constexpr const char* later = " (not in this version)";

void usage(std::ostream& out) {
  out << "plumb: a tensor compiler checked against a reference interpreter\n\nusage: plumb COMMAND …   (plumb COMMAND --help says more)\n\n";
  for (const auto& c : commands()) out << "  " << c.name << std::string(13 - c.name.size(), ' ') << c.what << (c.run ? "" : later) << "\n";
  out << "\nexit codes: 0 right, 1 a check failed, 2 bad usage or bad input, 3 unsupported\n";
}

bool asks_help(const Args& args) {
  return std::any_of(args.begin(), args.end(), [](const auto& a) { return a == "--help" || a == "-h"; });
}
void print_help(const Command& c) { std::cout << "usage: plumb " << c.name << " " << c.synopsis << "\n" << c.what << (c.run ? "" : later) << "\n"; }

int run_subcommand(const Args& args) {
  if (args.empty()) {
    usage(std::cerr);
    return 2;
  }
  if (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    usage(std::cout);
    return 0;
  }
  if (args[0] == "--version") {
    std::cout << "plumb 0.1.0\n";
    return 0;
  }
  const auto& c = command(args[0]);
  const Args rest(args.begin() + 1, args.end());
  if (c.run) return c.run(rest);
  if (!asks_help(rest)) fail_unsupported("this version has no plumb " + c.name + " yet");
  print_help(c);
  return 0;
}

/// The length of the UTF-8 character at s[i], 0 where there is none.
std::size_t utf8_length(const std::string& s, std::size_t i) {
  const auto byte = [&](std::size_t k) { return k < s.size() ? static_cast<unsigned char>(s[k]) : 0U; };
  const unsigned lead = byte(i);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
  for (std::size_t k = 1; k < length; ++k)
    if ((byte(i + k) & 0xc0) != 0x80) return 0;
  return length;
}
/// Messages quote files and names: bytes that are no text, and those that steer a terminal, appear as \xHH.
std::string printable(const std::string& s) {
  std::string r;
  for (std::size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    const bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    const auto length = control ? 0 : utf8_length(s, i);
    r += length ? s.substr(i, length) : fmt::format("\\x{:02x}", c);
    i += std::max<std::size_t>(length, 1);
  }
  return r;
}

/// What a machine reads on stdout when there is no result.
void print_failure(const std::string& result, const std::string& message, bool json) {
  if (json)
    std::cout << nlohmann::json{{"result", result}, {"kernels", 0}, {"elements", 0}, {"decided", 0.0}, {"error", message}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  else if (result == "unsupported")
    std::cout << "RESULT unsupported kernels=0 elements=0 decided=0.0%\n";
}

}  // namespace

bool parse_options(const Command& c, const Args& args, const po::options_description& options, const po::positional_options_description& positional, po::variables_map& to) {
  if (asks_help(args)) {
    print_help(c);
    std::cout << "\n" << options;
    return false;
  }
  try {
    // No abbreviations: a flag that is added later must not change what a script means.
    const auto style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(args).options(options).positional(positional).style(style).run(), to);
    po::notify(to);
  } catch (const po::error& e) {
    fail_input(std::string(e.what()) + "; plumb " + c.name + " --help says what it takes");
  }
  return true;
}

int dispatch(const Args& args) {
  const bool running = !args.empty() && args[0] == "run", json = std::find(args.begin(), args.end(), "--json") != args.end();
  std::string message;
  int code = 3;
  try {
    code = run_subcommand(args);
    std::cout.flush();
    if (std::cout) return code;
    message = "the output could not be written";
    code = 2;
  } catch (const Error& e) {
    message = e.what();
    code = e.kind() == ErrorKind::input ? 2 : 3;
  } catch (const std::bad_alloc&) {
    message = "out of memory: the program, its inputs or its results do not fit this machine";
  } catch (const std::filesystem::filesystem_error& e) {
    message = e.what();
    code = 2;
  } catch (const std::exception& e) {
    message = std::string("internal error: ") + e.what();
  }
  message = printable(message);
  std::cerr << "plumb: " << message << "\n";
  if (running) print_failure(code == 2 ? "invalid" : "unsupported", message, json);
  return code;
}

}  // namespace plumb::tools
