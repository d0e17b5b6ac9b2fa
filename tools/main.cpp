#include <cstdio>
#include <iostream>
#include <new>

#include "ir/support/error.h"
#include "tools/cli.h"

namespace plumb::tools {
namespace {

template <int issue> int later(const Args&) { fail_unsupported("this version of plumb has no such command yet"); }

void usage(std::ostream& out) {
  out << "plumb: a tensor compiler checked against a reference interpreter\n\nusage: plumb COMMAND …   (plumb COMMAND --help says more)\n\n";
  for (const auto& c : commands()) out << "  " << c.name << std::string(10 - c.name.size(), ' ') << c.what << "\n";
  out << "\nexit codes: 0 right, 1 a check failed, 2 bad usage or bad input, 3 unsupported\n";
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> list{
      {"run", "FILE|DIR [--inputs F… | --random SEED] [--expect F…] [--target T] [--check off|sample|kernel|full] [--contract C] [--output DIR]", "run a program, checked", &run_command},
      {"explain", "FILE --stage S [--target T]", "print a stage of the compilation", &explain_command},
      {"targets", "", "list the targets of this machine", &targets_command},
      {"compile", "FILE -o OUT [--target T]", "ahead of time (not in this version)", &later<5>},
      {"fuzz", "[--targets T,…] [--seconds N | --programs N] [--seed S] [--out DIR]", "random programs, every kernel checked", &fuzz_command},
      {"reduce", "REPRO", "shrink a failure (not in this version)", &later<7>},
      {"bisect", "REPRO", "name the step that is wrong (not in this version)", &later<7>},
      {"faults", "", "score the checks on seeded faults (not in this version)", &later<7>},
      {"prove", "", "prove rules and kernels (not in this version)", &later<6>},
      {"equal", "A B", "are two programs equal (not in this version)", &later<6>},
      {"gate", "DIR", "regression gate (not in this version)", &later<7>},
      {"bench", "[CASE…]", "benchmarks (not in this version)", &later<4>},
  };
  return list;
}

const Command& command(const std::string& name) {
  for (const auto& c : commands())
    if (c.name == name) return c;
  fail_input("there is no command '" + name + "'; plumb --help lists them");
}

bool parse_options(const Command& c, const Args& args, const po::options_description& options, const po::positional_options_description& positional, po::variables_map& to) {
  for (const auto& a : args)
    if (a == "--help" || a == "-h") {
      std::cout << "usage: plumb " << c.name << " " << c.synopsis << "\n" << c.what << "\n\n" << options;
      return false;
    }
  try {
    po::store(po::command_line_parser(args).options(options).positional(positional).run(), to);
    po::notify(to);
  } catch (const po::error& e) {
    fail_input(std::string(e.what()) + "; plumb " + c.name + " --help says what it takes");
  }
  return true;
}

namespace {

int dispatch(const Args& args) {
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
  const bool help = rest.size() == 1 && (rest[0] == "--help" || rest[0] == "-h");
  if (help && c.what.ends_with("(not in this version)")) {
    std::cout << "usage: plumb " << c.name << " " << c.synopsis << "\n" << c.what << "\n";
    return 0;
  }
  return c.run(rest);
}

int guarded(const Args& args) {
  const bool running = !args.empty() && args[0] == "run";
  try {
    return dispatch(args);
  } catch (const Error& e) {
    std::cerr << "plumb: " << e.what() << "\n";
    if (e.kind() == ErrorKind::input) return 2;
  } catch (const std::bad_alloc&) {
    std::cerr << "plumb: out of memory\n";
  } catch (const std::exception& e) {
    std::cerr << "plumb: internal error: " << e.what() << "\n";
  }
  bool json = false;
  for (const auto& a : args) json = json || a == "--json";
  if (running) std::cout << (json ? "{\"result\": \"unsupported\", \"kernels\": 0, \"elements\": 0, \"decided\": 0}\n" : "RESULT unsupported kernels=0 elements=0 decided=0.0%\n");
  return 3;
}

}  // namespace
}  // namespace plumb::tools

int main(int argc, char** argv) { return plumb::tools::guarded(plumb::tools::Args(argv + 1, argv + argc)); }
